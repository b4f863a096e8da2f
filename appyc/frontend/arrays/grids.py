"""Grids of coordinates that slices describe: `np.mgrid` and `np.ogrid`."""

from __future__ import annotations

from collections.abc import Sequence

from appyc.errors import Loc, UnsupportedError
from appyc.frontend.arrays import array_creation
from appyc.frontend.arrays.reshaping import stacked
from appyc.frontend.arrays.tensors import pinned, with_axis
from appyc.frontend.expressions.arithmetic import binary, cast, integer
from appyc.frontend.scope import Scope
from appyc.frontend.types.numbers import promoted_dtype
from appyc.frontend.types.values import Number, Tensor, TupleValue, Value
from appyc.ir.nodes import Const, Var
from appyc.ir.types import DType


def _along(scope: Scope, vector: Tensor, axis: int, rank: int, loc: Loc) -> Tensor:
    """A vector along one of so many axes, the others of length 1."""
    out = vector.copied()
    for k in range(rank):
        if k != axis:
            out = with_axis(scope, out, k, loc)
    return out


def grid(
    scope: Scope, ranges: Sequence[Sequence[Number]], loc: Loc, *, is_open: bool, is_tuple: bool
) -> Value:
    """np.mgrid, or np.ogrid where `is_open` is set, of slices: start, stop and step of each axis.

    A step of `6j` stands for 6 coordinates, the last of them the stop. is_tuple: the slices are a tuple's.
    """
    vectors = [_coordinates(scope, bounds, loc) for bounds in ranges]
    if not is_tuple:
        return vectors[0]
    kind = promoted_dtype([DType.INT64, *(vector.element.dtype for vector in vectors)])
    assert kind is not None, "numbers of 64 bits have a common type"
    vectors = [Tensor(v.axes, v.extents, cast(v.element, kind)) for v in vectors]
    if is_open:
        return TupleValue(tuple(_along(scope, v, k, len(vectors), loc) for k, v in enumerate(vectors)))
    axes = tuple(v.axes[0] for v in vectors)
    extents = tuple(v.extents[0] for v in vectors)
    return stacked(scope, [Tensor(axes, extents, v.element) for v in vectors], 0, loc)


def _coordinates(scope: Scope, bounds: Sequence[Number], loc: Loc) -> Tensor:
    """The coordinates along one axis."""
    if not any(n.type.dtype.is_complex for n in bounds):
        return array_creation.arange(scope, bounds, None, loc)
    count = bounds[2].constant if len(bounds) == 3 else None
    if not isinstance(count, complex) or any(n.type.dtype.is_complex for n in bounds[:2]):
        raise UnsupportedError("a grid with a complex bound, or with a number of points that is no constant, "
                               "is not compiled", loc, hints=("np.linspace makes that many points",))  # fmt: skip
    start, stop = (
        Number(pinned(scope, "bound", cast(n.expr, DType.FLOAT64)), python=False) for n in bounds[:2]
    )
    n = int(abs(count))
    gaps = Number(Const(float(n - 1), DType.FLOAT64, loc=loc), python=False)
    distance = binary("-", stop, start, loc)
    step = Number(Const(1.0, DType.FLOAT64, loc=loc), python=False)
    if n != 1:
        step = Number(scope.temp("step", binary("/", distance, gaps, loc).expr), python=False)
    axis = scope.supply.fresh("i", DType.INT64)
    here = Number(cast(Var(axis, loc=loc), DType.FLOAT64), python=False)
    value = binary("+", binary("*", here, step, loc), start, loc)
    return Tensor((axis,), (integer(n, loc),), value.expr)
