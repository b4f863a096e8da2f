"""Loops over multi-dimensional indices: `np.ndindex`, `np.ndenumerate`, `a.flat`, `itertools.product`.

    for i, j in np.ndindex(n, m):           for k in range(n):
        out[i, j] = a[i, j]          ->         for l in range(m):
                                                    i, j = k, l
                                                    out[i, j] = a[i, j]

The indices are in C order (row-major), so the loop is equivalent to a loop nest, and all loop-nest
transformations apply. A pragma applies to the outermost loop.

Does not handle: `break` and `else`, which concern the whole nest; products of ranges with a step other than 1.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np

from appyc.errors import Loc, UnsupportedError
from appyc.frontend.arrays.array_creation import shape_from
from appyc.frontend.arrays.tensors import as_tensor, as_value, is_array, kept
from appyc.frontend.control.iterables import Range, is_outer, may_unroll, refuse_changed, what_it_runs_over
from appyc.frontend.control.joins import end_path
from appyc.frontend.control.loop_bodies import LoopBody
from appyc.frontend.expressions import expressions
from appyc.frontend.expressions.arithmetic import integer
from appyc.frontend.expressions.assignments import assign_to
from appyc.frontend.facts import LoopFrame
from appyc.frontend.pragmas.clauses import loop_clauses
from appyc.frontend.pragmas.pragma_nodes import LoopPragma
from appyc.frontend.scope import Scope
from appyc.frontend.syntax.tree import leaves_loop
from appyc.frontend.types.values import ArrayRef, Number, Opaque, TupleValue, Value
from appyc.ir.nodes import Binary, Clauses, Compare, Const, Expr, Extent, For, Var
from appyc.ir.types import DType, Layout
from appyc.library.primitives import in_memory_order


@dataclass(frozen=True, slots=True)
class IndexSpace:
    """An iteration space of multi-dimensional indices: the lengths of its axes, and the target's value at an index."""

    extents: tuple[Expr, ...]
    item: Callable[[tuple[Expr, ...]], Value]


def index_space_of(scope: Scope, node: ast.expr) -> IndexSpace | None:
    """The multi-dimensional iteration space of a loop over this expression; None if it has none."""
    loc = scope.loc(node)
    match node:
        case ast.Attribute(value=owner, attr="flat"):
            value = expressions.lower_expression(scope, owner)
            return _elements(scope, value, loc) if is_array(value) else None
        case ast.Call(
            func=ast.Attribute() | ast.Name() | ast.Constant() as func,
            args=args,
            keywords=[] | [ast.keyword(arg="repeat", value=ast.Constant())] as keywords,
        ):
            callee = expressions.lower_expression(scope, func) if is_outer(scope, func) else None
            obj = callee.obj if isinstance(callee, Opaque) else None
            if obj is in_memory_order:
                return _in_memory_order(expressions.lower_expression(scope, args[0]), loc)
            if obj is np.ndindex:
                return _indices(scope, args, loc)
            if obj is itertools.product and args:
                times = next((ast.literal_eval(word.value) for word in keywords), 1)
                return _pairs(scope, args * times, loc) if isinstance(times, int) and times > 0 else None
            if keywords:
                return None
            if obj is np.ndenumerate and len(args) == 1:
                value = expressions.lower_expression(scope, args[0])
                return _numbered(_elements(scope, value, loc)) if is_array(value) else None
    return None


def _indices(scope: Scope, args: list[ast.expr], loc: Loc) -> IndexSpace:
    args = expressions.unstarred(scope, args)
    values = [expressions.pack_masked(scope, v, loc) for v in expressions.lower_operands(scope, args)]
    shape = values[0] if len(values) == 1 else TupleValue(tuple(values))
    extents = shape_from(scope, shape, loc)
    for extent in extents:
        if isinstance(extent, Extent) or (isinstance(extent, Const) and extent.value.real >= 0):
            continue
        negative = Compare("<", extent, integer(0, loc), loc=loc)
        scope.fail_if(negative, "ValueError", "negative dimensions are not allowed", loc)
    return IndexSpace(extents, lambda at: TupleValue(tuple(Number(var, python=True) for var in at)))


def _in_memory_order(value: Value, loc: Loc) -> IndexSpace:
    """The indices of an array, along its columns first if these are contiguous."""
    if not isinstance(value, ArrayRef) or value.symbol.array.layout is Layout.STRIDED:
        raise UnsupportedError("the order in memory of these elements is not known before the call", loc,
                               "iterate in order='C', or pass a contiguous array")  # fmt: skip
    step = -1 if value.symbol.array.layout is Layout.F else 1
    return IndexSpace(
        value.extents(loc)[::step], lambda at: TupleValue(tuple(Number(v, python=True) for v in at[::step]))
    )


def _pairs(scope: Scope, args: list[ast.expr], loc: Loc) -> IndexSpace | None:
    """itertools.product of ranges and arrays."""
    sources = [what_it_runs_over(scope, arg) for arg in expressions.unstarred(scope, args)]
    ranges = [s for s in sources if isinstance(s, Range) and s.step == 1 and not s.parallel]
    if len(ranges) < len(sources):
        return None
    starts = [scope.unchanging(r.lo) for r in ranges]
    stops = [scope.unchanging(r.hi) for r in ranges]
    zero = integer(0, loc)
    extents = (
        hi if lo == zero else scope.unchanging(Binary("-", hi, lo, loc=loc))
        for lo, hi in zip(starts, stops, strict=True)
    )

    def item(at: tuple[Expr, ...]) -> Value:
        numbers = [
            var if lo == zero else Binary("+", lo, var, loc=loc) for lo, var in zip(starts, at, strict=True)
        ]
        return TupleValue(tuple(r.item(number) for r, number in zip(ranges, numbers, strict=True)))

    return IndexSpace(tuple(extents), item)


def _elements(scope: Scope, value: Value, loc: Loc) -> IndexSpace:
    tensor = as_tensor(scope, value, loc)
    tensor = as_tensor(scope, kept(scope, tensor, "items", loc), loc)
    return IndexSpace(tensor.extents, lambda at: as_value(tensor.at(dict(enumerate(at))).copied()))


def _numbered(elements: IndexSpace) -> IndexSpace:
    def item(at: tuple[Expr, ...]) -> Value:
        return TupleValue((TupleValue(tuple(Number(var, python=True) for var in at)), elements.item(at)))

    return IndexSpace(elements.extents, item)


def lower_index_loop(
    scope: Scope, node: ast.For, space: IndexSpace, pragma: LoopPragma | None, loc: Loc
) -> None:
    """Lowers a loop over multi-dimensional indices as a loop nest."""
    if node.orelse or leaves_loop(node):
        raise UnsupportedError("a loop over the indices of several axes cannot be left by break", loc,
                               "write one loop for each axis")  # fmt: skip
    if not space.extents:
        raise UnsupportedError("a loop over an index without axes is not compiled", loc)
    _nest(scope, node, space, (), pragma, loc)


def _nest(
    scope: Scope, node: ast.For, space: IndexSpace, at: tuple[Expr, ...], pragma: LoopPragma | None, loc: Loc
) -> None:
    asked = pragma is not None and pragma.request in ("parallel", "simd")
    shape = LoopBody(node, loc, frozenset(), in_order=False, asked=asked)
    source = Range(integer(0, loc), space.extents[len(at)], 1, lambda var: space.item((*at, var)))
    is_innermost = len(at) + 1 == len(space.extents)
    inner = None if is_innermost else lambda var: _nest(scope, node, space, (*at, var), None, loc)
    lower_range(scope, shape, source, pragma, inner)


# ---------------------------------------------------------------- loops over one index


def lower_range(
    scope: Scope,
    shape: LoopBody,
    source: Range,
    pragma: LoopPragma | None,
    inner: Callable[[Var], None] | None = None,
) -> None:
    """Lowers a `for` over a range to an IR loop. inner: lowers what it has for its body instead of the statements."""
    node, loc = shape.node, shape.loc
    assert isinstance(node, ast.For)
    symbol = scope.supply.fresh(variable_name(node.target), DType.INT64)
    var = Var(symbol, loc=scope.loc(node.target))

    def body(frame: LoopFrame) -> None:
        if inner is not None:
            inner(var)
            return
        bind_target(scope, node.target, source.item(var), shape.hidden)
        with may_unroll(scope, source, loc) if pragma is None else nullcontext():
            scope.lower_block(node.body, lambda: end_path(scope, frame, loc))

    frame, block = shape.lower(scope, body)
    refuse_changed(source, block, loc)
    clauses = Clauses("parallel", loc=loc) if source.parallel else None
    if pragma is not None:
        clauses = loop_clauses(scope, node, pragma, frame.head)
    loop = For(symbol, source.lo, source.hi, source.step, block, clauses=clauses, loc=loc)
    shape.finish(scope, frame, loop)


def variable_name(target: ast.expr) -> str:
    if isinstance(target, ast.Name):
        return target.id
    if isinstance(target, ast.Tuple) and target.elts and isinstance(target.elts[0], ast.Name):
        return target.elts[0].id
    return "i"


def bind_target(scope: Scope, target: ast.expr, value: Value, hidden: frozenset[str]) -> None:
    direct = isinstance(value, Number) and isinstance(value.expr, Var | Const)
    if direct and isinstance(target, ast.Name) and target.id in hidden:
        assert isinstance(value, Number)
        scope.env[target.id] = value
        return
    assign_to(scope, target, value, scope.loc(target))
