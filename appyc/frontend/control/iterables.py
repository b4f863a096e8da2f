"""Iterables of loops: ranges, arrays, lists, and `enumerate`, `zip` and `reversed` of them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from appyc.errors import LengthError, Loc, TypeInferenceError, UnsupportedError
from appyc.frontend.arrays import list_of_rows
from appyc.frontend.arrays.item_counts import length_of
from appyc.frontend.arrays.reshaping import ravelled
from appyc.frontend.arrays.tensors import as_tensor, as_value, equals, is_array, kept, materialise, settled
from appyc.frontend.desugar.building import matched
from appyc.frontend.expressions import arithmetic, expressions, structured_arrays
from appyc.frontend.expressions.arithmetic import cast, index_of, integer
from appyc.frontend.expressions.array_list_calls import array_in
from appyc.frontend.expressions.outer_sets import with_items_of_set
from appyc.frontend.pragmas.prange import prange
from appyc.frontend.scope import Scope
from appyc.frontend.syntax.tree import as_tuple
from appyc.frontend.types import values as vals
from appyc.frontend.types.characters import sequence
from appyc.frontend.types.descriptions import describe
from appyc.frontend.types.made_values import ArrayListCall
from appyc.frontend.types.value_parts import item_at
from appyc.ir.nodes import Binary, Compare, Const, Expr, Extent, Select, Stmt, Symbol, Unary, Var
from appyc.ir.types import Container, DType
from appyc.ir.visit import scalars_written

MAX_UNROLLED = 64
"""The most items of a tuple that a loop is unrolled over; a longer tuple is refused."""


@dataclass(frozen=True, slots=True)
class Range:
    """The iteration space of a `for` as an IR range, and the target's value in each iteration. lengths: those of the
    lists that it runs over."""

    lo: Expr
    hi: Expr
    step: int
    item: Callable[[Expr], vals.Value]
    parallel: bool = False
    lengths: frozenset[Symbol] = frozenset()

    @property
    def known(self) -> range:
        """The range where the program tells its bounds; else an empty one."""
        match self.lo, self.hi:
            case Const(value=int(lo)), Const(value=int(hi)) if not self.parallel:
                return range(lo, hi, self.step)
            case _:
                return range(0)

    def unrolled(self, loc: Loc) -> vals.TupleValue:
        """The items one by one, where the range is known."""
        return vals.TupleValue(tuple(self.item(integer(k, loc)) for k in self.known))


@contextmanager
def may_unroll(scope: Scope, source: Range, loc: Loc) -> Iterator[None]:
    """Lowering of a loop that is unrolled if a tuple of arrays is indexed in it, and if it is short."""
    around = scope.unrollable
    scope.unrollable = [*around, loc] if 0 < len(source.known) <= MAX_UNROLLED else around
    try:
        yield
    finally:
        scope.unrollable = around


def refuse_changed(source: Range, block: Sequence[Stmt], loc: Loc) -> None:
    """Raises UnsupportedError where the statements of an iteration change the length of a list that is run over."""
    if source.lengths & scalars_written(block):
        raise UnsupportedError("a list changes while a loop runs over it", loc,
                               "run over a copy of it, or over an index in a while loop")  # fmt: skip


def is_outer(scope: Scope, func: ast.expr) -> bool:
    """Whether a callee is looked up outside the function, as a module's function, and is no method of a local."""
    while isinstance(func, ast.Attribute):
        func = func.value
    return isinstance(func, ast.Constant) or (isinstance(func, ast.Name) and func.id not in scope.locals)


def what_it_runs_over(scope: Scope, node: ast.expr) -> Range | vals.TupleValue:
    loc = scope.loc(node)
    if (counted := _backwards(node)) is not None and scope.lower(counted.func) == vals.Opaque(range):
        return _reversed(scope, what_it_runs_over(scope, counted), loc)
    if isinstance(node, ast.Call):
        callee = expressions.lower_expression(scope, node.func) if is_outer(scope, node.func) else None
        obj = callee.obj if isinstance(callee, vals.Opaque) else None
        node = expressions.with_items(scope, node)
        if obj is range or obj is prange:
            return _range(scope, node, loc, parallel=obj is not range)
        if obj is enumerate:
            return _enumerate(scope, node, loc)
        if obj is zip:
            return _zip(scope, node, loc)
        if isinstance(obj, ArrayListCall):
            return _over_arrays(scope, node, loc, may_be_none=obj is ArrayListCall.PART_OR_NONE)
        if obj is reversed:
            return _reversed(scope, what_it_runs_over(scope, _arguments(scope, node)[0]), loc)
    if isinstance(node, ast.List):
        node = as_tuple(node)
    if isinstance(node, ast.Attribute) and node.attr == "flat" and isinstance(node.value, ast.Name):
        owner = expressions.lower_expression(scope, node.value)
        if is_array(owner):
            return _over_tensor(scope, ravelled(scope, as_tensor(scope, owner, loc), loc), loc)
    value = with_items_of_set(scope, sequence(expressions.lower_expression(scope, node), loc), loc)
    if isinstance(value, vals.DictValue):
        return expressions.keys_of(value, loc)
    if isinstance(value, vals.TupleValue):
        items = settled(scope, value)
        assert isinstance(items, vals.TupleValue)
        return items
    if isinstance(value, vals.ListSlots):
        return _over_list(scope, value, loc)
    if isinstance(value, vals.ListRows | vals.TupleRow):
        owner, count = value, list_of_rows.length(value, loc)
        return Range(integer(0, loc), count, 1, lambda var: list_of_rows.item_at(scope, owner, var, loc))
    if isinstance(value, vals.Records) and value.rows.ndim:
        records, length = value, length_of(value, loc)
        assert length is not None, "it has an axis"
        return Range(integer(0, loc), length.expr, 1, lambda var: structured_arrays.at_position(records, var))
    if isinstance(value, vals.ArrayRef) and value.ndim > 0:
        return _over_array(scope, value, loc)
    if isinstance(value, vals.Tensor) and value.ndim > 0:
        return _over_tensor(scope, value, loc)
    raise expressions.refused(
        value, "a loop over", f"a loop cannot run over {describe(value)}", loc,
        "loop over range(...), an array, enumerate(...) or zip(...)",
    )  # fmt: skip


def _over_tensor(scope: Scope, value: vals.Tensor, loc: Loc) -> Range:
    kept_value = kept(scope, replace(value, python=False), "items", loc)
    assert isinstance(kept_value, vals.ArrayRef | vals.Tensor), "it has axes"
    view = replace(as_tensor(scope, kept_value, loc), python=value.python)
    return Range(integer(0, loc), view.extents[0], 1, lambda var: as_value(view.at({0: var})))


def _over_array(scope: Scope, value: vals.ArrayRef, loc: Loc) -> Range:
    leading = tuple(map(scope.unchanging, value.index))

    def item(var: Expr) -> vals.Value:
        index = (*leading, var)
        if len(index) == value.symbol.array.ndim:
            return arithmetic.element_of(value.symbol, index, loc)
        return vals.ArrayRef(value.symbol, index)

    return Range(integer(0, loc), Extent(value.symbol, len(value.index), loc=loc), 1, item)


def _over_list(scope: Scope, value: vals.ListSlots, loc: Loc) -> Range:
    """The items of a list, whose length is read once, before the loop."""
    count = scope.temp("count", Var(value.count, loc=loc))
    lengths = frozenset({value.count})
    return Range(integer(0, loc), count, 1, lambda var: item_at(value, var, loc), lengths=lengths)


def _over_arrays(scope: Scope, node: ast.Call, loc: Loc, *, may_be_none: bool) -> Range:
    """The arrays of a list of arrays."""
    parts = expressions.lower_operands(scope, node.args)
    starts = parts[1]
    assert isinstance(starts, vals.ListSlots)

    def item(var: Expr) -> vals.Value:
        return array_in(scope, [*parts, vals.Number(var, python=True)], loc, may_be_none=may_be_none)

    return replace(_over_list(scope, starts, loc), item=item)


def _arguments(scope: Scope, node: ast.Call) -> list[ast.expr]:
    if node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
        raise UnsupportedError("keyword and starred arguments cannot be compiled here", scope.loc(node))
    return node.args


def _range(scope: Scope, node: ast.Call, loc: Loc, *, parallel: bool) -> Range:
    args = _arguments(scope, node)
    if not 1 <= len(args) <= 3:
        name = ast.unparse(node.func)
        raise TypeInferenceError(f"{name} takes 1 to 3 arguments, not {len(args)}", loc,
                                 f"{name}(stop) or {name}(start, stop, step)")  # fmt: skip
    values = expressions.lower_operands(scope, args)
    parts = [_bound(v, scope.loc(a)) for v, a in zip(values, args, strict=True)]
    lo = parts[0] if len(parts) > 1 else integer(0, loc)
    hi = parts[1] if len(parts) > 1 else parts[0]
    step = parts[2] if len(parts) > 2 else integer(1, loc)
    if isinstance(step, Const):
        assert isinstance(step.value, int)
        if step.value == 0:
            raise LengthError("range() arg 3 must not be zero", scope.loc(args[2]))
        return Range(lo, hi, step.value, lambda var: vals.Number(var, python=True), parallel)
    return _variable_step(scope, lo, hi, step, loc, parallel=parallel)


def _bound(value: vals.Value, loc: Loc) -> Expr:
    bound = expressions.number(value, loc, "this bound")
    if not bound.type.dtype.is_integer and bound.type.dtype is not DType.BOOL:
        raise TypeInferenceError(
            f"this bound is {describe(bound)}, where an integer is needed", loc, "use // or int(...)"
        )
    return index_of(bound.expr)


def _variable_step(scope: Scope, lo: Expr, hi: Expr, step: Expr, loc: Loc, *, parallel: bool) -> Range:
    """A range of a step known at run time only: a counted loop over the trip count, and the value as an induction
    expression of the counter."""
    first, stop, stride = scope.temp("first", lo), scope.temp("stop", hi), scope.temp("stride", step)
    zero = integer(0, loc)
    scope.fail_if(equals(stride, 0, loc), "ValueError", "range() arg 3 must not be zero", loc)
    up = Compare(">", stride, zero, loc=loc)
    low, high = (Select(up, a, b, loc=loc) for a, b in ((first, stop), (stop, first)))
    # Distances of int64 numbers fit into uint64, and so do their quotients' successors into int64.
    span = Binary("-", cast(high, DType.UINT64), cast(low, DType.UINT64), loc=loc)
    size = Select(up, stride, Unary("-", stride, loc=loc), loc=loc)
    unit = Const(1, DType.UINT64, loc=loc)
    whole = Binary("//", Binary("-", span, unit, loc=loc), cast(size, DType.UINT64), loc=loc)
    some = cast(Binary("+", whole, unit, loc=loc), DType.INT64)
    count = scope.temp("count", Select(Compare("<", low, high, loc=loc), some, zero, loc=loc))

    def item(var: Expr) -> vals.Value:
        return vals.Number(Binary("+", first, Binary("*", var, stride, loc=loc), loc=loc), python=True)

    return Range(zero, count, 1, item, parallel)


def _enumerate(scope: Scope, node: ast.Call, loc: Loc) -> Range | vals.TupleValue:
    match node:
        case ast.Call(args=[over], keywords=[ast.keyword(arg="start", value=first)]):
            args = [over, first]
        case _:
            args = _arguments(scope, node)
    if not 1 <= len(args) <= 2:
        raise TypeInferenceError("enumerate takes 1 or 2 arguments", loc)
    start = (
        expressions.number(settled(scope, expressions.lower_expression(scope, args[1])), loc)
        if len(args) > 1
        else arithmetic.python_number(0, loc)
    )
    inner = what_it_runs_over(scope, args[0])
    if isinstance(inner, vals.TupleValue):
        counts = (
            arithmetic.binary("+", start, arithmetic.python_number(k, loc), loc)
            for k in range(len(inner.items))
        )
        return vals.TupleValue(tuple(vals.TupleValue(pair) for pair in zip(counts, inner.items, strict=True)))
    counted = _counted(scope, inner, loc)

    def item(var: Expr) -> vals.Value:
        count = (
            arithmetic.binary("+", vals.Number(var, python=True), start, loc)
            if start.constant != 0
            else vals.Number(var, True)
        )
        return vals.TupleValue((count, counted.item(var)))

    return replace(counted, item=item)


def _counted(scope: Scope, over: Range, loc: Loc) -> Range:
    """The range counted by position: with the same items, from 0 on, in steps of 1."""
    if (over.lo, over.step) == (integer(0, loc), 1):
        return over

    def of(op: str, left: Expr, right: Expr) -> Expr:
        return arithmetic.binary(op, vals.Number(left, True), vals.Number(right, True), loc).expr

    first, step = scope.unchanging(over.lo), integer(over.step, loc)
    beyond = of("-", of("+", of("-", over.hi, first), step), integer(1 if over.step > 0 else -1, loc))
    return replace(
        over,
        lo=integer(0, loc),
        hi=of("//", beyond, step),
        step=1,
        item=lambda var: over.item(of("+", first, of("*", var, step))),
    )


def _zip(scope: Scope, node: ast.Call, loc: Loc) -> Range | vals.TupleValue:
    args = _arguments(scope, node)
    parts = [what_it_runs_over(scope, a) for a in args]
    tuples = [p.items for p in parts if isinstance(p, vals.TupleValue)]
    if tuples and len(tuples) == len(parts):
        return vals.TupleValue(tuple(vals.TupleValue(items) for items in zip(*tuples, strict=False)))
    parts = [_in_an_array(scope, p, loc) if isinstance(p, vals.TupleValue) else p for p in parts]
    ranges = [_counted(scope, p, loc) for p in parts if isinstance(p, Range)]
    if not ranges or len(ranges) != len(parts):
        raise UnsupportedError("zip of a tuple and something else is not compiled", loc, "loop over an index")
    hi = ranges[0].hi
    for r in ranges[1:]:
        if r.hi != hi:
            hi = Binary("min", hi, r.hi, loc=loc)
    lengths = frozenset().union(*(r.lengths for r in ranges))
    return Range(
        integer(0, loc),
        hi,
        1,
        lambda var: vals.TupleValue(tuple(r.item(var) for r in ranges)),
        lengths=lengths,
    )


def _in_an_array(scope: Scope, value: vals.TupleValue, loc: Loc) -> Range | vals.TupleValue:
    """A tuple of numbers of one type as what is run over with a variable index; others as they are."""
    numbers = [item for item in value.items if isinstance(item, vals.Number) and item.is_int is None]
    if not numbers or len(numbers) < len(value.items) or len({n.type for n in numbers}) > 1:
        return value
    container = Container.LIST if numbers[0].python else Container.ARRAY
    items = replace(as_tensor(scope, value, loc), python=numbers[0].python)
    return _over_array(scope, materialise(scope, items, "items", loc, container), loc)


def _backwards(node: ast.expr) -> ast.Call | None:
    """The call in `range(...)[::-1]`."""
    over = (matched("over[::-1]", node) or {}).get("over")
    return over if isinstance(over, ast.Call) and isinstance(over.func, ast.Name) else None


def _reversed(scope: Scope, inner: Range | vals.TupleValue, loc: Loc) -> Range | vals.TupleValue:
    if isinstance(inner, vals.TupleValue):
        return vals.TupleValue(inner.items[::-1])
    inner = inner if inner.step == 1 else _counted(scope, inner, loc)
    one = integer(1, loc)
    last = arithmetic.binary("-", vals.Number(inner.hi, True), vals.Number(one, True), loc).expr
    stop = arithmetic.binary("-", vals.Number(inner.lo, True), vals.Number(one, True), loc).expr
    return replace(inner, lo=last, hi=stop, step=-1)
