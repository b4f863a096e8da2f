"""Comprehensions and generators as arguments: `np.array([x * x for x in a])`, `sum(a[i] * b[i] for i in range(n))`.

The items are a tensor expression: an axis for the iterations, and the item as a function of its index. A sum
materialises no items.

A condition is a mask over the iterations; where it is false, the item is not computed.

Several `for` clauses, and items that need statements (as calls of functions with branches do), are lowered to a
loop nest that appends to a list. Comprehensions over tuples are unrolled instead.

Lists of lists of one length become the rows of a two-dimensional tensor.

Does not handle: array items in a loop that appends to a list; such a comprehension runs in Python.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from appyc.errors import Loc, UnsupportedError
from appyc.frontend.arrays.reshaping import rows
from appyc.frontend.arrays.tensors import as_tensor, is_array, pinned
from appyc.frontend.control.conditionals import lower_condition
from appyc.frontend.control.iterables import MAX_UNROLLED, Range, is_outer, may_unroll, what_it_runs_over
from appyc.frontend.desugar.building import Refused
from appyc.frontend.desugar.comprehension_loops import LIST, Comprehension, folded
from appyc.frontend.expressions import expressions
from appyc.frontend.expressions.arithmetic import cast, constant_truth, integer
from appyc.frontend.scope import Scope
from appyc.frontend.syntax.liveness import names_read
from appyc.frontend.syntax.tree import walrus_names
from appyc.frontend.types import values as vals
from appyc.frontend.types.value_parts import numbers_of
from appyc.ir import nodes as ir
from appyc.ir.types import DType
from appyc.ir.visit import rename, rewrite, scalars_read, substitute


def collected(scope: Scope, node: Comprehension, as_tuple: bool = False) -> vals.Value:
    """The items of a comprehension along one axis; a tuple of them where the iterable is a tuple.

    as_tuple: a tuple is wanted, also of the items of a short range that the program tells.
    """
    with scope.collect() as block:
        found = described(scope, node, as_tuple)
    if found is None:
        rows = _rows(scope, node)
        return rows if rows is not None else _in_a_list(scope, node)
    scope.block += block
    return found


def described(scope: Scope, node: Comprehension, as_tuple: bool = False) -> vals.Value | None:
    """The items as a tensor expression, or as a tuple; None where they need a loop."""
    loc = scope.loc(node)
    first, *others = node.generators
    source = what_it_runs_over(scope, first.iter)
    if loc in scope.facts.unrolled and isinstance(source, Range):
        source = source.unrolled(loc)
    if as_tuple:
        source = _as_a_tuple(source, loc)
    if others or isinstance(source, vals.TupleValue):
        if not isinstance(source, vals.TupleValue):
            return None
        try:
            return vals.TupleValue(
                tuple(
                    expressions.in_order(scope, _one_by_one(scope, node, node.generators, source, as_tuple))
                )
            )
        except Refused:
            return None
    here = scope.supply.fresh("at", DType.INT64)
    with may_unroll(scope, source, loc):
        one = _item(scope, node, first, source, here, loc)
    if one is None:
        return None
    value, holds, checks = one
    axis = scope.supply.fresh("i", DType.INT64)
    index: ir.Expr = ir.Var(axis, loc=loc)
    if source.step != 1:
        index = ir.Binary("*", index, integer(source.step, loc), loc=loc)
    if source.lo != integer(0, loc):
        index = ir.Binary("+", pinned(scope, "start", source.lo), index, loc=loc)
    inner = as_tensor(scope, value, loc)
    if here in scalars_read(inner.extents):
        raise UnsupportedError("the items of this comprehension have different lengths", loc, "write a loop")
    element = _read_in_iterations(substitute(inner.element, {here: index}), axis)
    if holds is not None:
        holds = _read_in_iterations(substitute(holds, {here: index}), axis)
    count = _count(scope, source, loc)
    if checks:
        rules = checks if holds is None else [ir.If(holds, tuple(checks), loc=loc)]
        body = tuple(substitute(stmt, {here: index}) for stmt in rules)
        test = ir.For(axis, integer(0, loc), count, 1, body, implied=True, loc=loc)
        scope.emit(rename(test, {axis: scope.supply.fresh("i", DType.INT64)}))
    python = isinstance(value, vals.Number | vals.Tensor) and value.python
    out = vals.Tensor((axis, *inner.axes), (count, *inner.extents), element, python=python)
    return out if holds is None else vals.Masked(out, 0, 1, holds)


def _read_in_iterations(item: ir.Expr, axis: ir.Symbol) -> ir.Expr:
    """The item, whose elements that are the same for all iterations are not read where there is no iteration."""
    is_there = ir.Compare(">=", ir.Var(axis, loc=item.loc), integer(0, item.loc), loc=item.loc)

    def rule(node: ir.Node) -> ir.Node:
        if not isinstance(node, ir.Load) or not node.checked or axis in scalars_read(node):
            return node
        return ir.Select(is_there, node, cast(integer(0, node.loc), node.dtype), loc=node.loc)

    return rewrite(item, rule)


def _as_a_tuple(source: vals.TupleValue | Range, loc: Loc) -> vals.TupleValue | Range:
    """The items of a short range that the program tells one by one; what else is run over as it is."""
    if isinstance(source, Range) and 0 < len(source.known) <= MAX_UNROLLED:
        return source.unrolled(loc)
    return source


def _one_by_one(
    scope: Scope,
    node: Comprehension,
    generators: list[ast.comprehension],
    source: vals.Value | Range,
    as_tuple: bool,
) -> Iterator[vals.Value]:
    """The items of a comprehension whose loops are over tuples, unrolled. Raises Refused for one over another
    iterable, or with a condition that is known at run time. as_tuple: short ranges are unrolled, too."""
    if not isinstance(source, vals.TupleValue):
        raise Refused
    first, *others = generators
    for value in source.items:
        with own_names(scope, node):
            for name, item in _names(scope, first.target, value):
                scope.locals |= {name}
                scope.env.pop(name, None)  # the function's own variable of this name stays as it is
                if isinstance(item, vals.Number) and item.constant is not None:
                    scope.env[name] = item  # a compile-time constant
                else:
                    scope.bind(name, item, scope.loc(first.target))
            holds = [constant_truth(lower_condition(scope, test)) for test in first.ifs]
            if None in holds:
                raise Refused
            if not all(holds):
                continue
            if others:
                inner = what_it_runs_over(scope, others[0].iter)
                inner = _as_a_tuple(inner, scope.loc(node)) if as_tuple else inner
                yield from _one_by_one(scope, node, others, inner, as_tuple)
            else:
                yield _lowered(scope, node.elt)


def _rows(scope: Scope, node: Comprehension) -> vals.Value | None:
    """Inner lists of equal length as rows: `[[f(i, j) for j in range(m)] for i in range(n)]`; None for others."""
    inner = node.elt
    if not isinstance(inner, ast.ListComp) or isinstance(inner.elt, ast.ListComp | ast.List):
        return None
    if len(node.generators) > 1 or len(inner.generators) > 1 or inner.generators[0].ifs:
        return None
    loc = scope.loc(node)
    own = {n.id for n in ast.walk(node.generators[0].target) if isinstance(n, ast.Name)}
    if own & {n.id for n in ast.walk(inner.generators[0].iter) if isinstance(n, ast.Name)}:
        width = _length_of_rows(scope, node.generators[0], inner.generators[0].iter)
        if width is None:
            return None  # the rows may have different lengths
    else:
        source = what_it_runs_over(scope, inner.generators[0].iter)
        if isinstance(source, vals.TupleValue):
            width = integer(len(source.items), loc)
        else:
            width = pinned(scope, "width", _count(scope, source, loc))
    flat = ast.copy_location(ast.ListComp(inner.elt, [*node.generators, *inner.generators]), node)
    items = as_tensor(scope, _in_a_list(scope, flat), loc)
    if items.ndim != 1:
        return None
    some = ir.Binary("max", width, integer(1, loc), loc=loc)
    count = pinned(scope, "rows", ir.Binary("//", items.extents[0], some, loc=loc))
    row, column = (scope.supply.fresh(name, DType.INT64) for name in "ij")
    first = ir.Binary("*", ir.Var(row, loc=loc), width, loc=loc)
    index = ir.Binary("+", first, ir.Var(column, loc=loc), loc=loc)
    element = substitute(items.element, {items.axes[0]: index})
    return vals.Tensor((row, column), (count, width), element, python=items.python)


def _length_of_rows(scope: Scope, outer: ast.comprehension, over: ast.expr) -> ir.Expr | None:
    """The length of what the inner of two comprehensions runs over, where these are the rows of an array."""
    match outer.target, over, outer.iter:
        case ast.Name(id=row), ast.Name(id=name), ast.Name() if row == name:
            rows = scope.lower(outer.iter)
            is_array = isinstance(rows, vals.ArrayRef | vals.Tensor) and rows.ndim > 1
            return (
                pinned(scope, "width", as_tensor(scope, rows, scope.loc(over)).extents[1])
                if is_array
                else None
            )
        case _:
            return None


def _in_a_list(scope: Scope, node: Comprehension) -> vals.Value:
    """The items computed by a loop, in a list (`frontend/expressions/lists.py`)."""
    name = f"items_in_line_{node.lineno}_{node.col_offset}"  # the same in every round of lowering
    scope.list_names |= {name}
    return value_of_loops(scope, node, name, folded(node, name, LIST))


def value_of_loops(scope: Scope, node: Comprehension, name: str, loops: list[ast.stmt]) -> vals.Value:
    """The value that a name has behind the loops of a comprehension."""
    with own_names(scope, node):
        targets = {n.id for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
        scope.locals |= {name, *targets}
        _renew(scope, targets, node.generators[0].iter)
        for stmt in loops:
            scope.lower_statement(stmt)
        return scope.read_maybe(name, scope.loc(node))


def _renew(scope: Scope, names: set[str], runs_over: ast.expr) -> None:
    """Gives the names of a comprehension variables of their own: those that the function has of these names stay as
    they are. What it runs over is read from the latter."""
    for name in sorted(names & scope.env.keys()):
        value = scope.read(name, scope.loc(runs_over)) if name in names_read(runs_over) else None
        del scope.env[name]
        if value is not None:
            scope.bind(name, value, scope.loc(runs_over))


@contextmanager
def own_names(scope: Scope, node: Comprehension) -> Iterator[None]:
    """A scope for a comprehension's names: restores the bindings and locals behind it, but those that `:=` binds."""
    env, names = dict(scope.env), scope.locals
    try:
        yield
        env |= {name: scope.env[name] for name in walrus_names(node) & scope.env.keys()}
    finally:
        scope.env, scope.locals = env, names


def _lowered(scope: Scope, item: ast.expr) -> vals.Value:
    if isinstance(item, ast.ListComp):
        return collected(scope, item)
    return expressions.lower_expression(scope, item)


def _item(
    scope: Scope,
    node: Comprehension,
    generator: ast.comprehension,
    source: Range,
    here: ir.Symbol,
    loc: Loc,
) -> tuple[vals.Value, ir.Expr | None, list[ir.Stmt]] | None:
    """The comprehension's item in iteration `here`, the condition under which it exists, and the tests of indices that
    it makes.

    None where the item needs other statements.
    """
    values: dict[ir.Symbol, ir.Expr] = {}
    holds: ir.Expr | None = None
    if walrus_names(node):
        return None
    own = scope.supply.number
    with own_names(scope, node), scope.collect() as block:
        value = source.item(ir.Var(here, loc=loc))
        for name, part in _names(scope, generator.target, value):
            scope.locals |= {name}
            scope.env[name] = _binding(scope, name, part, values, loc)
        for test in generator.ifs:
            cond = lower_condition(scope, test)
            holds = cond if holds is None else ir.Logical("and", holds, cond, loc=loc)
        item = _lowered(scope, node.elt)
    block = expressions.without_invariants(scope, block, {here, *values}, own)
    if not expressions.only_tests(block) or not (isinstance(item, vals.Number) or is_array(item)):
        return None
    if any(number.is_int is not None for number in (*numbers_of(value), *numbers_of(item))):
        return None
    holds = substitute(holds, values) if holds is not None else None
    checks = [substitute(stmt, values) for stmt in block]
    if isinstance(item, vals.Number):
        return replace(item, expr=substitute(item.expr, values)), holds, checks
    tensor = as_tensor(scope, item, loc)
    return replace(tensor, element=substitute(tensor.element, values)), holds, checks


def _names(scope: Scope, target: ast.expr, value: vals.Value) -> Iterator[tuple[str, vals.Value]]:
    """The names of a target, each with the value that it is bound to."""
    match target, value:
        case ast.Name(id=name), _:
            yield name, value
        case ast.Tuple(elts=elts), vals.ArrayRef() | vals.Tensor() if value.ndim:
            yield from _names(scope, target, rows(scope, value, len(elts), scope.loc(target)))
        case ast.Tuple(elts=elts), vals.TupleValue(items=items) if len(elts) == len(items):
            for part, item in zip(elts, items, strict=True):
                yield from _names(scope, part, item)
        case _:
            raise UnsupportedError("this target of a comprehension cannot be compiled", scope.loc(target),
                                   "write a loop that fills an array")  # fmt: skip


def _binding(
    scope: Scope, name: str, value: vals.Value, values: dict[ir.Symbol, ir.Expr], loc: Loc
) -> vals.Binding:
    """The binding of a comprehension's name. values: filled with the numbers' symbols and their expressions."""
    match value:
        case vals.Number():
            symbol = scope.supply.fresh(name, value.type.dtype)
            values[symbol] = value.expr
            return vals.Slot(symbol, value.python)
        case vals.TupleValue():
            return vals.TupleSlots(tuple(_binding(scope, name, v, values, loc) for v in value.items))
        case vals.ArrayRef() | vals.Tensor() | vals.Records():
            return value
        case _:
            raise UnsupportedError("a comprehension over this cannot be compiled", loc, "write a loop")


def length_of_range(scope: Scope, node: ast.expr, loc: Loc) -> vals.Number | None:
    """`len(range(...))`; None for another argument."""
    if not isinstance(node, ast.Call) or not is_outer(scope, node.func):
        return None
    if scope.lower(node.func) != vals.Opaque(range):
        return None
    source = what_it_runs_over(scope, node)
    assert isinstance(source, Range)
    return vals.Number(_count(scope, source, loc), python=True)


def _count(scope: Scope, source: Range, loc: Loc) -> ir.Expr:
    """The trip count of a range."""
    if isinstance(source.lo, ir.Const) and isinstance(source.hi, ir.Const):
        return integer(len(range(int(source.lo.value.real), int(source.hi.value.real), source.step)), loc)
    low, high = (source.lo, source.hi) if source.step > 0 else (source.hi, source.lo)
    size = abs(source.step)
    count: ir.Expr = high if low == integer(0, loc) else ir.Binary("-", high, low, loc=loc)
    if size > 1:
        count = ir.Binary(
            "//", ir.Binary("+", count, integer(size - 1, loc), loc=loc), integer(size, loc), loc=loc
        )
    return pinned(scope, "count", ir.Binary("max", count, integer(0, loc), loc=loc))
