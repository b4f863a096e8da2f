"""Bounds of slices and single indices along an axis, clipped or tested as Python does.

`a[lo:hi:step]` clips its bounds as Python does. A bound is nearly always inside the array, so
the clipping is behind a `Likely`, and the usual version, guarded, has none. One that is written with a minus
in front, as in `a[:-n]`, most likely counts from the end, any other one from the start.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

from appyc.errors import Loc, TypeInferenceError
from appyc.frontend.arrays.array_creation import loops_over
from appyc.frontend.arrays.tensors import equals, mostly_one, pinned, renamed
from appyc.frontend.expressions import expressions
from appyc.frontend.expressions.arithmetic import cast, index_of, integer
from appyc.frontend.scope import Scope
from appyc.frontend.types.values import Number, Tensor, is_none
from appyc.ir import nodes as ir
from appyc.ir.affine import difference, written
from appyc.ir.types import DType


@dataclass(frozen=True, slots=True)
class SliceRange:
    """written: the slice's text, where it has one."""

    start: ir.Expr
    step: int | ir.Expr
    extent: ir.Expr
    written: ast.Slice | None = None


def lowered_slice(scope: Scope, extent: ir.Expr, node: ast.Slice, loc: Loc) -> SliceRange:
    known = 1 if node.step is None else _step(scope, node.step)
    lo = None if node.lower is None else _bound(scope, node.lower)
    hi = None if node.upper is None else _bound(scope, node.upper)
    if not isinstance(known, int):
        return replace(_variable_step(scope, extent, (lo, hi), known, loc), written=node)
    size = abs(known)
    if known > 0:
        start = integer(0, loc) if lo is None else _clipped(scope, lo, extent, 0, loc)
        stop = extent if hi is None else _clipped(scope, hi, extent, 0, loc)
        distance = stop if start == integer(0, loc) else ir.Binary("-", stop, start, loc=loc)
    else:
        last = ir.Binary("-", extent, integer(1, loc), loc=loc)
        start = last if lo is None else _clipped(scope, lo, extent, -1, loc)
        stop = integer(-1, loc) if hi is None else _clipped(scope, hi, extent, -1, loc)
        distance = ir.Binary("-", start, stop, loc=loc)
    if lo is None and hi is None and size == 1:
        return SliceRange(start, known, extent, node)
    if size > 1:
        more = ir.Binary("+", distance, integer(size - 1, loc), loc=loc)
        distance = ir.Binary("//", more, integer(size, loc), loc=loc)
    count = ir.Binary("max", distance, integer(0, loc), loc=loc)
    first, length = pinned(scope, "start", start), pinned(scope, "count", count)
    if isinstance(length, ir.Var) and hi is not None and known == 1:
        scope.memory.usual[length.symbol] = hi if lo is None else written(difference(hi, lo), loc)
    return SliceRange(
        first, known, mostly_one(length, loc) if known > 0 and _is_narrow(lo, hi) else length, node
    )


def _is_narrow(lo: ir.Expr | None, hi: ir.Expr | None) -> bool:
    """Whether there is one index between the bounds: `:1`, `2:3`, `-1:`, `k : k + 1`."""
    match lo, hi:
        case None, ir.Const(value=1):
            return True
        case ir.Const(value=-1), None:
            return True
        case ir.Const(value=int(low)), ir.Const(value=int(high)):
            return high - low == 1 and (low < 0) == (high < 0)
        case _, ir.Binary(op="+", lhs=base, rhs=ir.Const(value=1)) if base == lo:
            return True
        case ir.Binary(op="-", lhs=base, rhs=ir.Const(value=1)), _ if base == hi:
            return True
        case _:
            return False


def _variable_step(
    scope: Scope, extent: ir.Expr, bounds: tuple[ir.Expr | None, ir.Expr | None], step: ir.Expr, loc: Loc
) -> SliceRange:
    """A step that the run shows, most likely a positive one."""
    zero, one = integer(0, loc), integer(1, loc)
    step = pinned(scope, "step", step)
    scope.fail_if(equals(step, 0, loc), "ValueError", "slice step cannot be zero", loc)
    up = ir.Likely(ir.Compare(">", step, zero, loc=loc), loc=loc)
    last = ir.Binary("-", extent, one, loc=loc)
    lo, hi = (None if bound is None else pinned(scope, "bound", bound) for bound in bounds)
    start = ir.Select(
        up, zero if lo is None else _clipped(scope, lo, extent, 0, loc),
        last if lo is None else _counted_from_start(lo, extent, -1, loc), loc=loc,
    )  # fmt: skip
    stop = ir.Select(
        up, extent if hi is None else _clipped(scope, hi, extent, 0, loc),
        integer(-1, loc) if hi is None else _counted_from_start(hi, extent, -1, loc), loc=loc,
    )  # fmt: skip
    first = pinned(scope, "start", start)
    ahead, back = ir.Binary("-", stop, first, loc=loc), ir.Binary("-", first, stop, loc=loc)
    distance = ir.Select(up, ahead, back, loc=loc)
    size = ir.Select(up, step, ir.Unary("-", step, loc=loc), loc=loc)
    # One less first: the sum of a distance and a step may not fit.
    whole = ir.Binary(
        "//", ir.Binary("-", distance, one, loc=loc), ir.Binary("max", size, one, loc=loc), loc=loc
    )
    count = ir.Binary("max", ir.Binary("+", whole, one, loc=loc), zero, loc=loc)
    return SliceRange(first, step, pinned(scope, "count", count))


def _step(scope: Scope, node: ast.expr) -> int | ir.Expr:
    loc = scope.loc(node)
    value = expressions.lower_expression(scope, node)
    if is_none(value):
        return 1
    number = expressions.number(value, loc, "this step")
    if not isinstance(number.constant, int):
        return expressions.as_index(number, loc)
    if number.constant == 0:
        raise TypeInferenceError("slice step cannot be zero", loc)
    return int(number.constant)


def _bound(scope: Scope, node: ast.expr) -> ir.Expr | None:
    """A bound's value; None for `None`."""
    value = expressions.lower_expression(scope, node)
    if is_none(value):
        return None
    loc = scope.loc(node)
    return expressions.as_index(expressions.number(value, loc, "this bound"), loc)


def _clipped(scope: Scope, bound: ir.Expr, extent: ir.Expr, low: int, loc: Loc) -> ir.Expr:
    """The bound counted from the start and kept in [low, extent + low]."""
    top = extent if low == 0 else ir.Binary("+", extent, integer(low, loc), loc=loc)
    floor = integer(low, loc)
    if isinstance(bound, ir.Const):
        value = int(bound.value.real)
        if value >= 0:
            if value == 0 and low == 0:
                return bound
            inside = ir.Likely(ir.Compare("<=", bound, top, loc=loc), loc=loc)
            return pinned(scope, "bound", ir.Select(inside, bound, top, loc=loc))
        from_end = ir.Binary("-", extent, integer(-value, loc), loc=loc)
        inside = ir.Likely(ir.Compare(">=", from_end, floor, loc=loc), loc=loc)
        return pinned(scope, "bound", ir.Select(inside, from_end, floor, loc=loc))
    zero = integer(0, loc)
    back = back_from_end(bound)
    bound = pinned(scope, "bound", bound)
    general = _counted_from_start(bound, extent, low, loc)
    if back is not None:
        counted = scope.temp("bound", ir.Binary("-", extent, pinned(scope, "back", back), loc=loc))
        negative, above = ir.Compare("<", bound, zero, loc=loc), ir.Compare(">=", counted, floor, loc=loc)
        inside = ir.Likely(ir.Logical("and", negative, above, loc=loc), loc=loc)
        return pinned(scope, "bound", ir.Select(inside, counted, general, loc=loc))
    above, below = ir.Compare(">=", bound, zero, loc=loc), ir.Compare("<=", bound, top, loc=loc)
    inside = ir.Likely(ir.Logical("and", above, below, loc=loc), loc=loc)
    return pinned(scope, "bound", ir.Select(inside, bound, general, loc=loc))


def back_from_end(index: ir.Expr) -> ir.Expr | None:
    """The distance from the end of an index that begins with a minus, `-n` or `-1 - i`; None for others."""
    match index:
        case ir.Unary(op="-", arg=arg):
            return arg
        case ir.Const(value=int(value)) if value < 0:
            return integer(-value, index.loc)
        case ir.Binary(op="-", lhs=lhs, rhs=rhs) if (back := back_from_end(lhs)) is not None:
            return ir.Binary("+", back, rhs, loc=index.loc)
        case _:
            return None


def _counted_from_start(bound: ir.Expr, extent: ir.Expr, low: int, loc: Loc) -> ir.Expr:
    """Any bound, counted from the start and kept in [low, extent + low]."""
    top = extent if low == 0 else ir.Binary("+", extent, integer(low, loc), loc=loc)
    is_negative = ir.Compare("<", bound, integer(0, loc), loc=loc)
    counted = ir.Select(is_negative, ir.Binary("+", bound, extent, loc=loc), bound, loc=loc)
    return ir.Binary("min", ir.Binary("max", counted, integer(low, loc), loc=loc), top, loc=loc)


def index_on(item: SliceRange, axis: ir.Symbol, loc: Loc) -> ir.Expr:
    """The owner's index for the axis's value."""
    out: ir.Expr = ir.Var(axis, loc=loc)
    if item.step != 1:
        step = integer(item.step, loc) if isinstance(item.step, int) else item.step
        out = ir.Binary("*", out, step, loc=loc)
    return out if item.start == integer(0, loc) else ir.Binary("+", item.start, out, loc=loc)


def tested_position(scope: Scope, number: Number, extent: ir.Expr, loc: Loc, message: str) -> ir.Expr:
    """A position along an axis: a negative one counts from the end, one outside raises IndexError.

    message: of that error; `{value}` and `{extent}` in it stand for the index and the extent.
    """
    index = pinned(scope, "at", index_of(number.expr))
    fail = ir.Fail("IndexError", message, (index, extent) if "{" in message else (), loc=loc)
    zero = integer(0, loc)
    if isinstance(index, ir.Const):
        value = int(index.value.real)
        least = integer(value + 1 if value >= 0 else -value, loc)
        enough = ir.Likely(ir.Compare(">=", extent, least, loc=loc), loc=loc)
        scope.emit(ir.If(ir.Unary("~", enough, loc=loc), (fail,), loc=loc))
        return index if value >= 0 else scope.temp("at", ir.Binary("-", extent, least, loc=loc))
    above, below = ir.Compare(">=", index, zero, loc=loc), ir.Compare("<", index, extent, loc=loc)
    inside = ir.Likely(ir.Logical("and", above, below, loc=loc), loc=loc)
    wrapped = ir.Binary("+", index, extent, loc=loc)
    from_end = ir.Logical(
        "and", ir.Compare("<", index, zero, loc=loc), ir.Compare(">=", wrapped, zero, loc=loc), loc=loc
    )
    outside = ir.If(ir.Unary("~", from_end, loc=loc), (fail,), loc=loc)
    scope.emit(ir.If(ir.Unary("~", inside, loc=loc), (outside,), loc=loc))
    return scope.temp("at", ir.Select(inside, index, wrapped, loc=loc))


def out_of_bounds(axis: int) -> str:
    """NumPy's message of an IndexError."""
    return f"index {{value}} is out of bounds for axis {axis} with size {{extent}}"


def checked_position(scope: Scope, number: Number, extent: ir.Expr) -> ir.Expr:
    """The position that an index means along an array's own axis, where the access itself is tested."""
    index = index_of(number.expr)
    return constant_position(index, extent) if isinstance(index, ir.Const) else pinned(scope, "at", index)


def check_bounds(scope: Scope, array: ir.Symbol, axis: int, index: ir.Expr, extent: ir.Expr) -> None:
    """Emits the test of an index of a view along an array's own axis. Library functions index within bounds."""
    if not scope.source.trusted:
        scope.emit(ir.BoundsCheck(index, extent, array.name, axis, loc=index.loc))


def check_positions(
    scope: Scope, array: ir.Symbol, axis: int, positions: Tensor, extent: ir.Expr, lengths: Sequence[ir.Expr]
) -> None:
    """Emits the tests of an index array beside slices of these lengths where one of them is empty; where none is,
    the elements that are accessed tell."""
    if scope.source.trusted or not lengths:
        return
    loc = positions.element.loc
    zero = integer(0, loc)
    filled: list[ir.Expr] = [ir.Compare(">", length, zero, loc=loc) for length in lengths]
    usual = ir.Likely(reduce(lambda a, b: ir.Logical("and", a, b, loc=loc), filled), loc=loc)
    axes, position = renamed(scope, positions)
    test = ir.BoundsCheck(cast(position, DType.INT64), extent, array.name, axis, loc=loc)
    scope.emit(
        ir.If(ir.Unary("~", usual, loc=loc), loops_over(axes, positions.extents, (test,), loc), loc=loc)
    )


def constant_position(index: ir.Const, extent: ir.Expr) -> ir.Expr:
    """A constant index of a checked access; a negative one as a distance from the start, so that the access is affine.

    In an array of three elements `a[-4]` must not become `a[-1]`, which is in range: it stays as it is there.
    """
    value, loc = int(index.value.real), index.loc
    if value >= 0:
        return index
    from_start = ir.Binary("-", extent, integer(-value, loc), loc=loc)
    if value == -1:
        return from_start
    inside = ir.Likely(ir.Compare(">=", extent, integer(-value, loc), loc=loc), loc=loc)
    return ir.Select(inside, from_start, index, loc=loc)
