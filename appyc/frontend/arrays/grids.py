"""Grids of coordinates: `np.meshgrid`, `np.mgrid`, `np.ogrid`, `np.indices`, `np.ix_`, `np.diag_indices`."""

from __future__ import annotations

from collections.abc import Sequence

from appyc.errors import Loc, TypeInferenceError, UnsupportedError
from appyc.frontend.arrays import array_creation
from appyc.frontend.arrays.masks import nonzero
from appyc.frontend.arrays.rearranging import at_least
from appyc.frontend.arrays.reshaping import stacked
from appyc.frontend.arrays.tensors import as_tensor, pinned, with_axis
from appyc.frontend.expressions.arithmetic import binary, cast, integer
from appyc.frontend.library.axis_arguments import Arguments, flag
from appyc.frontend.scope import Scope
from appyc.frontend.types.descriptions import describe
from appyc.frontend.types.numbers import promoted_dtype
from appyc.frontend.types.values import Number, Opaque, Tensor, TupleValue, Value
from appyc.ir.nodes import Const, Expr, Var
from appyc.ir.types import DType
from appyc.ir.visit import substitute


def meshgrid(scope: Scope, given: Arguments, loc: Loc) -> Value:
    """np.meshgrid of vectors: each of them over all axes, or where `sparse` is set along its own."""
    arrays = given["arrays"]
    values = arrays.items if isinstance(arrays, TupleValue) else (arrays,)
    vectors = [at_least(scope, v, 1, loc) for v in values]
    indexing = given.get("indexing", Opaque("xy"))
    kind = indexing.obj if isinstance(indexing, Opaque) else None
    if any(v.ndim != 1 for v in vectors) or kind not in ("xy", "ij"):
        raise UnsupportedError("np.meshgrid is compiled for vectors", loc)
    order = list(range(len(vectors)))
    if kind == "xy" and len(order) > 1:
        order[0], order[1] = 1, 0
    if flag(given.get("sparse"), loc, "sparse"):
        return TupleValue(
            tuple(_along(scope, v, order.index(k), len(order), loc) for k, v in enumerate(vectors))
        )
    extents = tuple(vectors[k].extents[0] for k in order)
    out = []
    for k, vector in enumerate(vectors):
        axes = tuple(scope.supply.fresh("i", DType.INT64) for _ in order)
        here: Expr = Var(axes[order.index(k)], loc=loc)
        out.append(Tensor(axes, extents, substitute(vector.element, {vector.axes[0]: here})))
    return TupleValue(tuple(out))


def _along(scope: Scope, vector: Tensor, axis: int, rank: int, loc: Loc) -> Tensor:
    """A vector along one of so many axes, the others of length 1."""
    out = vector.copied()
    for k in range(rank):
        if k != axis:
            out = with_axis(scope, out, k, loc)
    return out


def indices(scope: Scope, given: Arguments, loc: Loc) -> Value:
    """np.indices: where each element of a shape is, along each of its axes."""
    shape = array_creation.shape_from(scope, given["dimensions"], loc)
    axes = tuple(scope.supply.fresh("i", DType.INT64) for _ in shape)
    coordinates = [Tensor(axes, tuple(shape), Var(axis, loc=loc)) for axis in axes]
    return stacked(scope, coordinates, 0, loc)


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


def ix_(scope: Scope, given: Arguments, loc: Loc) -> Value:
    """np.ix_: index arrays for all combinations of positions along each axis; a mask for those where it holds."""
    arrays = given["args"]
    values = arrays.items if isinstance(arrays, TupleValue) else (arrays,)
    vectors = []
    for value in values:
        vector = as_tensor(scope, value, loc)
        if vector.ndim != 1:
            raise TypeInferenceError(f"np.ix_ takes vectors, not {describe(value)}", loc)
        if vector.element.dtype is DType.BOOL:
            vector = as_tensor(scope, nonzero(scope, vector, loc)[0], loc)
        vectors.append(vector)
    return TupleValue(tuple(_along(scope, v, k, len(vectors), loc) for k, v in enumerate(vectors)))
