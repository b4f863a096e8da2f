"""Arrays that a function makes: np.zeros and its kin, ranges, and the identity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from appyc.errors import Loc, TypeInferenceError
from appyc.frontend.arrays.tensors import materialise, pinned
from appyc.frontend.expressions import arithmetic
from appyc.frontend.expressions.arithmetic import cast, integer
from appyc.frontend.scope import Scope
from appyc.frontend.types.descriptions import describe
from appyc.frontend.types.values import ArrayRef, Number, Tensor, TupleValue, Value
from appyc.frontend.types.weak_ints import require_fit
from appyc.ir.affine import linear_form, written
from appyc.ir.nodes import Binary, Cast, Expr, For, Intrinsic, Stmt, Symbol, Var
from appyc.ir.types import DType


def shape_from(scope: Scope, value: Value, loc: Loc) -> tuple[Expr, ...]:
    """A shape argument: an integer, or a tuple of integers."""
    items = value.items if isinstance(value, TupleValue) else (value,)
    return tuple(pinned(scope, "n", _length(item, loc)) for item in items)


def _length(value: Value, loc: Loc) -> Expr:
    if not isinstance(value, Number) or not value.type.dtype.is_integer:
        raise TypeInferenceError(f"a shape is made of integers, not of {describe(value)}", loc,
                                 "convert it with int(...)")  # fmt: skip
    return cast(value.expr, DType.INT64)


def allocate(
    scope: Scope, shape: Sequence[Expr], dtype: DType, loc: Loc, *, zero: bool, name: str = "made"
) -> ArrayRef:
    """A new array, of zeros or of anything."""
    return ArrayRef(scope.new_array(name, dtype, shape, loc, zero=zero), shape=tuple(shape))


def filled(scope: Scope, shape: Sequence[Expr], value: Number, dtype: DType | None, loc: Loc) -> Value:
    """`value` for every element; without axes, an array and no number."""
    axes = tuple(scope.supply.fresh("i", DType.INT64) for _ in shape)
    require_fit(scope, value, dtype or value.type.dtype, loc)
    stored = pinned(scope, "value", cast(value.expr, dtype or value.type.dtype))
    out = Tensor(axes, tuple(shape), stored)
    return out if shape else materialise(scope, out, "made", loc)


def arange(scope: Scope, bounds: Sequence[Number], dtype: DType | None, loc: Loc) -> Tensor:
    """np.arange(stop), (start, stop) or (start, stop, step)."""
    zero, one = arithmetic.python_number(0, loc), arithmetic.python_number(1, loc)
    start, stop, step = (
        (zero, bounds[0], one) if len(bounds) == 1 else (*bounds, one) if len(bounds) == 2 else bounds
    )
    numbers = [replace(n, expr=pinned(scope, "bound", n.expr)) for n in (start, stop, step)]
    start, stop, step = numbers
    axis = scope.supply.fresh("i", DType.INT64)
    here = Number(Var(axis, loc=loc), python=True)
    distance = arithmetic.binary("-", stop, start, loc)
    is_integer = all(n.type.dtype.is_integer for n in numbers)
    if is_integer and step.constant == 1:
        length = cast(distance.expr, DType.INT64)
    elif is_integer:
        # The quotient rounded up, which is minus that of minus the distance rounded down.
        back = arithmetic.binary("//", arithmetic.negative(distance, loc), step, loc)
        length = cast(arithmetic.negative(back, loc).expr, DType.INT64)
    else:
        quotient = cast(arithmetic.binary("/", distance, step, loc).expr, DType.FLOAT64)
        length = Cast(Intrinsic("ceil", (quotient,), DType.FLOAT64, loc=loc), DType.INT64, loc=loc)
    count = pinned(scope, "n", Binary("max", length, integer(0, loc), loc=loc))
    if isinstance(count, Var):
        scope.memory.usual[count.symbol] = written(linear_form(length), loc)
    moved = arithmetic.binary("*", here, step, loc) if step.constant != 1 else here
    value = arithmetic.binary("+", start, moved, loc) if start.constant != 0 else moved
    wanted = dtype or (value.type.dtype if is_integer else DType.FLOAT64)
    return Tensor((axis,), (count,), cast(value.expr, wanted))


def loops_over(
    axes: Sequence[Symbol], extents: Sequence[Expr], body: tuple[Stmt, ...], loc: Loc
) -> tuple[Stmt, ...]:
    """The statements in a loop for each axis, the first one outermost."""
    for axis, extent in zip(reversed(axes), reversed(extents), strict=True):
        body = (For(axis, integer(0, loc), extent, 1, body, implied=True, loc=loc),)
    return body
