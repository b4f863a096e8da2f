"""Arrays in expressions: what stands at each place, and when it is put into memory.

An expression of arrays is a `Tensor`: axes, extents, and the element at a place as an
expression of scalars. `a[1:] + b` over vectors is

    axes (i), extents (a.shape[0] - 1), element a[i + 1] + b[i]

so that an operator on arrays is the operator on their elements, and nothing is computed
before somebody stores it: an assignment to elements, or to a name (`materialise`).

Shapes are values of the call. Where two extents are not seen to be equal, the statement tests
them: the test is a `Likely`, and the usual version of the function is guarded with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from appyc.errors import Loc, TypeInferenceError
from appyc.frontend.arithmetic import cast, integer
from appyc.frontend.scope import Scope
from appyc.frontend.values import ArrayRef, Number, Tensor, Value, describe
from appyc.ir.nodes import (
    Alloc,
    Binary,
    Compare,
    Const,
    Expr,
    Extent,
    Fail,
    ForAll,
    If,
    Likely,
    Load,
    Logical,
    Select,
    Symbol,
    Unary,
    Var,
)
from appyc.ir.types import ArrayType, DType
from appyc.ir.visit import substitute

Maker = Callable[[list[Number]], Number]


def is_array(value: Value) -> bool:
    """Whether the value has axes: a 0-dimensional array counts as a number."""
    return isinstance(value, ArrayRef | Tensor) and value.ndim > 0


def as_tensor(scope: Scope, value: Value, loc: Loc, what: str = "this") -> Tensor:
    """The value as a tensor; a number has no axes. Raises TypeInferenceError for what is neither."""
    match value:
        case Tensor():
            return value
        case ArrayRef():
            extents = value.extents(loc)
            axes = tuple(scope.supply.fresh("i", DType.INT64) for _ in extents)
            index = (*value.index, *(Var(axis, loc=loc) for axis in axes))
            return Tensor(
                axes, extents, Load(value.symbol, index, checked=bool(value.index), loc=loc), view=True
            )
        case Number():
            return Tensor((), (), value.expr)
        case _:
            raise TypeInferenceError(f"{what} is {describe(value)}, where an array is needed", loc)


def as_value(tensor: Tensor) -> Value:
    """The tensor, or the number that it is where it has no axes."""
    return tensor if tensor.axes else Number(tensor.element, python=False)


def pinned(scope: Scope, name: str, expr: Expr) -> Expr:
    """The value as it is now, whatever happens to the variables that it is made of."""
    return expr if isinstance(expr, Const | Extent) else scope.temp(name, expr)


# ---------------------------------------------------------------- shapes


@dataclass(frozen=True, slots=True)
class Aligned:
    """Tensors over one set of axes: the elements of each at a place of it."""

    axes: tuple[Symbol, ...]
    extents: tuple[Expr, ...]
    elements: tuple[Expr, ...]


def broadcast(scope: Scope, tensors: Sequence[Tensor], loc: Loc) -> Aligned:
    """The tensors stretched over their common shape, as NumPy stretches axes of length 1.

    Emits the test that raises ValueError where the lengths do not fit.
    """
    rank = max((t.ndim for t in tensors), default=0)
    axes = tuple(scope.supply.fresh("i", DType.INT64) for _ in range(rank))
    places: list[dict[Symbol, Expr]] = [{} for _ in tensors]
    extents = []
    for k in range(rank):
        having = [n for n, t in enumerate(tensors) if t.ndim >= rank - k]
        old = [tensors[n].axes[k - rank] for n in having]
        extent, indices = _common(scope, [tensors[n].extents[k - rank] for n in having], axes[k], loc)
        extents.append(extent)
        for n, axis, index in zip(having, old, indices, strict=True):
            places[n][axis] = index
    elements = tuple(substitute(t.element, p) for t, p in zip(tensors, places, strict=True))
    return Aligned(axes, tuple(extents), elements)


def _common(scope: Scope, lengths: Sequence[Expr], axis: Symbol, loc: Loc) -> tuple[Expr, list[Expr]]:
    """The common length of an axis, and the place along it in each of the tensors that have it."""
    longest = next((e for e in lengths if not _is_one(e)), lengths[0])
    whole = longest
    same: dict[Expr, Likely] = {}
    for extent in lengths:
        if extent == longest or _is_one(extent) or extent in same:
            continue
        if isinstance(extent, Const) and isinstance(longest, Const):
            raise TypeInferenceError(
                f"arrays of lengths {longest.value} and {extent.value} cannot be combined", loc,
                hints=("axes must have one length, or one of them length 1",),
            )  # fmt: skip
        same[extent] = Likely(Compare("==", extent, longest, loc=loc), loc=loc)
        ones = Logical("or", _equals(whole, 1, loc), _equals(extent, 1, loc), loc=loc)
        fail_unless(scope, same[extent], ones, _MISMATCH, loc)
        longer = Select(_equals(whole, 1, loc), extent, whole, loc=loc)
        whole = scope.temp("n", Select(same[extent], whole, longer, loc=loc))
    here = Var(axis, loc=loc)
    indices: list[Expr] = []
    for extent in lengths:
        tests = list(same.values()) if extent == longest else [same[extent]] if extent in same else []
        index: Expr = integer(0, loc) if _is_one(extent) and not _is_one(longest) else here
        for test in tests:
            alone = Select(_equals(extent, 1, loc), integer(0, loc), here, loc=loc)
            index = Select(test, index, alone, loc=loc)
        indices.append(index)
    return whole, indices


_MISMATCH = "operands could not be broadcast together: the lengths of an axis differ"


def fail_unless(scope: Scope, usual: Likely, otherwise: Expr, message: str, loc: Loc) -> None:
    """Emits the test that raises ValueError where neither condition holds."""
    fail = If(_not(otherwise), (Fail("ValueError", message, loc=loc),), loc=loc)
    scope.emit(If(_not(usual), (fail,), loc=loc))


def _is_one(extent: Expr) -> bool:
    return isinstance(extent, Const) and extent.value == 1


def _equals(expr: Expr, value: int, loc: Loc) -> Expr:
    return Compare("==", expr, integer(value, loc), loc=loc)


def _not(cond: Expr) -> Expr:
    return Unary("~", cond, loc=cond.loc)


# ---------------------------------------------------------------- operations and memory


def elementwise(
    scope: Scope, values: Sequence[Value], make: Maker, loc: Loc, what: str = "an operand"
) -> Value:
    """`make` of the elements, place by place. Python's own numbers stay weak in promotion."""
    tensors = [as_tensor(scope, value, loc, what) for value in values]
    shape = broadcast(scope, tensors, loc)
    numbers = [
        Number(element, python=isinstance(value, Number) and value.python)
        for element, value in zip(shape.elements, values, strict=True)
    ]
    return as_value(Tensor(shape.axes, shape.extents, make(numbers).expr))


def materialise(scope: Scope, tensor: Tensor, name: str, loc: Loc) -> ArrayRef:
    """A new C-contiguous array with the tensor's elements."""
    array = scope.supply.fresh(name, ArrayType(tensor.element.dtype, tensor.ndim))
    scope.emit(Alloc(array, tensor.extents, zero=False, loc=loc))
    axes, element = _renamed(scope, tensor)
    index = tuple(Var(axis, loc=loc) for axis in axes)
    scope.emit(ForAll(axes, tensor.extents, array, index, element, loc=loc))
    return ArrayRef(array, shape=tensor.extents)


def _renamed(scope: Scope, tensor: Tensor) -> tuple[tuple[Symbol, ...], Expr]:
    """Axes of its own for one statement: a tensor may be used several times."""
    axes = tuple(scope.supply.fresh(axis.name, axis.type) for axis in tensor.axes)
    places: dict[Symbol, Expr] = {
        old: Var(new, loc=tensor.element.loc) for old, new in zip(tensor.axes, axes, strict=True)
    }
    return axes, substitute(tensor.element, places)


def kept(scope: Scope, tensor: Tensor, name: str, loc: Loc) -> Value:
    """The value as it is now: a view stays one, anything else is computed."""
    if tensor.view or not tensor.axes:
        return as_value(tensor)
    return materialise(scope, tensor, name, loc)


def assign(scope: Scope, target: Value, value: Value, loc: Loc) -> None:
    """`target[...] = value`: the value is stretched to the target's shape, and converted.

    Raises TypeInferenceError where the target is no view, is read-only, or cannot hold the type.
    """
    place = as_tensor(scope, target, loc)
    if not isinstance(place.element, Load):
        raise TypeInferenceError("this is a new array, and assigning to it would change nothing", loc,
                                 hints=("give it a name first",))  # fmt: skip
    array = place.element.array
    if array.array.readonly:
        raise TypeInferenceError(
            f"'{array.name}' is read-only, and this assigns to it", loc,
            hints=("pass an array that may be written, such as a copy of it",),
        )  # fmt: skip
    source = as_tensor(scope, value, loc, "the assigned value")
    source = _without_leading_ones(scope, source, place.ndim, loc)
    dtype = array.dtype
    if source.element.dtype.is_complex and not dtype.is_complex and dtype is not DType.BOOL:
        raise TypeInferenceError(
            f"complex numbers cannot be stored in '{array.name}', an array of {dtype}", loc,
            hints=("store z.real, or use a complex array",),
        )  # fmt: skip
    axes, element = _renamed(scope, place)
    assert isinstance(element, Load)
    offset = place.ndim - source.ndim
    places = {
        old: _stretched_place(scope, extent, place.extents[offset + k], axes[offset + k], loc)
        for k, (old, extent) in enumerate(zip(source.axes, source.extents, strict=True))
    }
    stored = cast(substitute(source.element, places), dtype)
    scope.emit(ForAll(axes, place.extents, array, element.index, stored, loc=loc))


def _stretched_place(scope: Scope, extent: Expr, wanted: Expr, axis: Symbol, loc: Loc) -> Expr:
    """Where along an axis of the assigned value the element for a place of the target is."""
    here = Var(axis, loc=loc)
    if extent == wanted:
        return here
    if _is_one(extent):
        return integer(0, loc)
    same = Likely(Compare("==", extent, wanted, loc=loc), loc=loc)
    message = "could not broadcast input array: the lengths of an axis differ"
    fail_unless(scope, same, _equals(extent, 1, loc), message, loc)
    return Select(same, here, integer(0, loc), loc=loc)


def _without_leading_ones(scope: Scope, tensor: Tensor, ndim: int, loc: Loc) -> Tensor:
    """NumPy drops leading axes of length 1 where the target has fewer axes."""
    while tensor.ndim > ndim:
        extent = tensor.extents[0]
        if isinstance(extent, Const) and not _is_one(extent):
            raise TypeInferenceError(
                f"{describe(tensor)} cannot be assigned to {ndim} dimension{'s' if ndim != 1 else ''}", loc,
                hints=("only axes of length 1 can be left out",),
            )  # fmt: skip
        if not _is_one(extent):
            alone = Likely(_equals(extent, 1, loc), loc=loc)
            message = "could not broadcast input array: it has more axes than the target"
            scope.emit(If(_not(alone), (Fail("ValueError", message, loc=loc),), loc=loc))
        element = substitute(tensor.element, {tensor.axes[0]: integer(0, loc)})
        tensor = Tensor(tensor.axes[1:], tensor.extents[1:], element)
    return tensor


def permuted(tensor: Tensor, order: Sequence[int]) -> Tensor:
    """The tensor with its axes in another order."""
    return replace(
        tensor, axes=tuple(tensor.axes[k] for k in order), extents=tuple(tensor.extents[k] for k in order)
    )


def with_axis(scope: Scope, tensor: Tensor, at: int, loc: Loc) -> Tensor:
    """The tensor with one more axis, of length 1."""
    axes, extents = list(tensor.axes), list(tensor.extents)
    axes.insert(at, scope.supply.fresh("i", DType.INT64))
    extents.insert(at, integer(1, loc))
    return replace(tensor, axes=tuple(axes), extents=tuple(extents))


def product(extents: Sequence[Expr], loc: Loc) -> Expr:
    """How many elements there are."""
    out: Expr = integer(1, loc)
    for extent in extents:
        out = extent if out == integer(1, loc) else Binary("*", out, extent, loc=loc)
    return out
