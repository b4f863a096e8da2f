"""Other shapes and arrangements of the same elements: reshape, ravel, joined arrays, diagonals, moved, dropped and
stretched axes, rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from appyc.errors import AxisError, LengthError, Loc, TypeInferenceError, UnsupportedError
from appyc.frontend.arrays import array_creation
from appyc.frontend.arrays.tensors import (
    as_tensor,
    as_value,
    divisor,
    equals,
    fail_unless,
    permuted,
    pinned,
    product,
    with_axis,
)
from appyc.frontend.expressions.arithmetic import cast, integer
from appyc.frontend.expressions.left_calls import leave_unless
from appyc.frontend.library.axis_arguments import Arguments, integer_argument, integers
from appyc.frontend.scope import Scope
from appyc.frontend.types.numbers import promoted_dtype
from appyc.frontend.types.values import ArrayRef, Tensor, TupleValue, Value
from appyc.ir.nodes import Binary, Compare, Const, Expr, Load, Logical, Select, Symbol, Var
from appyc.ir.types import DType, Layout
from appyc.ir.visit import substitute


def normalised(axis: int, rank: int, loc: Loc) -> int:
    """An axis counted from the first. Raises AxisError for one that is not there."""
    if not -rank <= axis < rank:
        raise AxisError(f"axis {axis} is out of bounds for array of dimension {rank}", loc,
                        f"axes are 0 to {rank - 1}, or -1 for the last")  # fmt: skip
    return axis % rank


def reshaped(scope: Scope, tensor: Tensor, shape: Sequence[Expr], loc: Loc) -> Tensor:
    """The elements in C order, in another shape; one of its lengths may be the constant -1. Where it is an argument
    that is -1, the call is left to Python.

    Of a whole C-contiguous array it is a view, of a view it may be one. Emits the test that raises
    ValueError where the number of elements differs.
    """
    total = pinned(scope, "size", product(tensor.extents, loc))
    lengths = list(shape)
    unknown = [k for k, n in enumerate(lengths) if isinstance(n, Const) and n.value == -1]
    if len(unknown) > 1:
        raise LengthError("can only specify one unknown dimension", loc)
    for k in unknown:
        known = [*lengths[:k], *lengths[k + 1 :]]
        elements = product(known, loc)
        if not isinstance(elements, Const) or elements.value == 0:
            message = "cannot reshape an array with a length of -1 beside one of 0"
            fail_unless(scope, Compare(">", elements, integer(0, loc), loc=loc), None, message, loc)
        lengths[k] = pinned(scope, "n", _what_is_left(total, tensor.extents, known, loc))
    for length in lengths:
        if isinstance(length, Var) and length.symbol in scope.fixed:
            given = Compare(">=", length, integer(0, loc), loc=loc)
            leave_unless(scope, given, "a length to be found", loc)
    count = product(lengths, loc)
    if count != total:
        same = Compare("==", count, total, loc=loc)
        usual = _same_size(lengths, tensor.extents, loc)
        message = "cannot reshape array of {value} elements into {extent}"
        fail_unless(scope, usual, same, message, loc, lengths=(total, count))
    axes = tuple(scope.supply.fresh("i", DType.INT64) for _ in lengths)
    position = linear_position([Var(axis, loc=loc) for axis in axes], lengths, loc)
    indices = dict(zip(tensor.axes, _index_at(position, tensor.extents, loc), strict=True))
    view = tensor.view and _is_whole(tensor)
    unsettled = tensor.unsettled or (tensor.view and not view)
    return Tensor(axes, tuple(lengths), substitute(tensor.element, indices), view, unsettled)


def _what_is_left(total: Expr, extents: Sequence[Expr], known: Sequence[Expr], loc: Loc) -> Expr:
    """The length for -1, without a division where the others are lengths of the array."""
    rest = list(extents)
    for length in known:
        if length in rest:
            rest.remove(length)
        elif length != integer(1, loc):
            return Binary("//", total, divisor(product(known, loc), loc), loc=loc)
    return product(rest, loc)


def _same_size(lengths: Sequence[Expr], extents: Sequence[Expr], loc: Loc) -> Expr:
    """Whether two shapes have equally many elements, which they also may if a length of both is 0.

    Only the lengths that they do not share are asked about: that says which of them are equal.
    """
    left, right = list(lengths), list(extents)
    for length in lengths:
        if length in right:
            left.remove(length)
            right.remove(length)
    return Compare("==", product(left, loc), product(right, loc), loc=loc)


def ravelled(scope: Scope, tensor: Tensor, loc: Loc) -> Tensor:
    """All elements along one axis, in C order."""
    if tensor.ndim < 2:
        return tensor if tensor.ndim else with_axis(scope, tensor, 0, loc)
    return reshaped(scope, tensor, (integer(-1, loc),), loc)


def _is_whole(tensor: Tensor) -> bool:
    """Whether it is all of a C-contiguous array, or all of one of its rows or planes."""
    element = tensor.element
    if not isinstance(element, Load) or element.array.array.layout is not Layout.C:
        return False
    first = len(element.index) - len(tensor.axes)
    rest = [i.symbol if isinstance(i, Var) else None for i in element.index[first:]]
    return rest == list(tensor.axes) and all(isinstance(i, Const | Var) for i in element.index[:first])


def whole_or_row(scope: Scope, value: Value | None, loc: Loc) -> tuple[Symbol, tuple[Expr, ...]] | None:
    """The array that the value is all of, or a row of, and the index of the row; None for what is neither."""
    if not isinstance(value, ArrayRef | Tensor):
        return None
    tensor = as_tensor(scope, value, loc)
    if not tensor.view or tensor.unsettled or not _is_whole(tensor):
        return None
    assert isinstance(tensor.element, Load)
    return tensor.element.array, tensor.element.index[: len(tensor.element.index) - tensor.ndim]


def linear_position(indices: Sequence[Expr], extents: Sequence[Expr], loc: Loc) -> Expr:
    """The linear position of an index in C order; along an axis of length 1 the index is 0."""
    out: Expr = integer(0, loc)
    for index, extent in zip(indices, extents, strict=True):
        if extent == integer(1, loc):
            continue
        scaled = Binary("*", out, extent, loc=loc) if out != integer(0, loc) else out
        out = index if scaled == integer(0, loc) else Binary("+", scaled, index, loc=loc)
    return out


def _index_at(position: Expr, extents: Sequence[Expr], loc: Loc) -> list[Expr]:
    """The index of the element at a linear position in C order."""
    if len(extents) == 1:
        return [position]
    out: list[Expr] = []
    for extent in reversed(extents[1:]):
        if extent == integer(1, loc):
            out.insert(0, integer(0, loc))
            continue
        length = divisor(extent, loc)
        out.insert(0, Binary("%", position, length, loc=loc))
        position = Binary("//", position, length, loc=loc)
    return [position, *out]


# ---------------------------------------------------------------- joining


def concatenated(scope: Scope, tensors: Sequence[Tensor], axis: int, loc: Loc) -> Tensor:
    """Arrays of one rank, one behind the other along an axis."""
    first = tensors[0]
    if any(t.ndim != first.ndim for t in tensors) or not first.ndim:
        raise LengthError("arrays to be joined must have one number of axes, and at least one", loc)
    axis = normalised(axis, first.ndim, loc)
    dtype = promoted_dtype(tensor.element.dtype for tensor in tensors)
    for tensor in tensors[1:]:
        for k, (one, other) in enumerate(zip(first.extents, tensor.extents, strict=True)):
            if k != axis and one != other:
                same = Compare("==", one, other, loc=loc)
                message = (
                    "all the input array dimensions except for the concatenation axis must match exactly"
                )
                fail_unless(scope, same, None, message, loc)
    axes = tuple(scope.supply.fresh("i", DType.INT64) for _ in first.axes)
    here: Expr = Var(axes[axis], loc=loc)
    starts: list[Expr] = []
    end: Expr = integer(0, loc)
    for tensor in tensors:
        starts.append(end)
        length = tensor.extents[axis]
        end = length if end == integer(0, loc) else pinned(scope, "end", Binary("+", end, length, loc=loc))
    element: Expr | None = None
    for tensor, start in zip(reversed(tensors), reversed(starts), strict=True):
        indices: dict[Symbol, Expr] = {
            old: Var(new, loc=loc) for old, new in zip(tensor.axes, axes, strict=True)
        }
        indices[tensor.axes[axis]] = Binary("-", here, start, loc=loc) if start != integer(0, loc) else here
        mine = cast(substitute(tensor.element, indices), dtype)
        if element is None:
            element = mine
        else:
            stop = Binary("+", start, tensor.extents[axis], loc=loc)
            element = Select(Compare("<", here, stop, loc=loc), mine, element, loc=loc)
    assert element is not None
    extents = tuple(end if k == axis else n for k, n in enumerate(first.extents))
    return Tensor(axes, extents, element)


def stacked(scope: Scope, tensors: Sequence[Tensor], axis: int, loc: Loc) -> Tensor:
    """Arrays of one shape along a new axis."""
    axis = normalised(axis, tensors[0].ndim + 1, loc)
    return concatenated(scope, [with_axis(scope, t, axis, loc) for t in tensors], axis, loc)


# ---------------------------------------------------------------- diagonals


def diagonal_of(scope: Scope, tensor: Tensor, offset: int, axes: tuple[int, int], loc: Loc) -> Tensor:
    """The elements (i, i + offset) of two axes, along a last one."""
    if tensor.ndim < 2:
        raise LengthError("diag requires an array of at least two dimensions", loc)
    first, second = (normalised(axis, tensor.ndim, loc) for axis in axes)
    if first == second:
        raise LengthError("axis1 and axis2 cannot be the same", loc)
    down, right = max(-offset, 0), max(offset, 0)
    lengths = [
        Binary("-", tensor.extents[k], integer(skipped, loc), loc=loc) if skipped else tensor.extents[k]
        for k, skipped in ((first, down), (second, right))
    ]
    count: Expr = lengths[0]
    if lengths[0] != lengths[1]:
        count = Binary("min", lengths[0], lengths[1], loc=loc)
    count = pinned(scope, "n", Binary("max", count, integer(0, loc), loc=loc))
    axis = scope.supply.fresh("i", DType.INT64)
    indices: dict[Symbol, Expr] = {
        tensor.axes[k]: Binary("+", Var(axis, loc=loc), integer(skipped, loc), loc=loc)
        if skipped
        else Var(axis, loc=loc)
        for k, skipped in ((first, down), (second, right))
    }
    rest = [k for k in range(tensor.ndim) if k not in (first, second)]
    return replace(
        tensor,
        axes=(*(tensor.axes[k] for k in rest), axis),
        extents=(*(tensor.extents[k] for k in rest), count),
        element=substitute(tensor.element, indices),
    )


def diagonal(scope: Scope, given: Arguments, loc: Loc) -> Value:
    axes = integer_argument(given, "axis1", 0, loc), integer_argument(given, "axis2", 1, loc)
    tensor = as_tensor(scope, given["a"], loc)
    return diagonal_of(scope, tensor, integer_argument(given, "offset", 0, loc), axes, loc)


# ---------------------------------------------------------------- axes


def reordered(permute: Callable[..., np.ndarray], scope: Scope, given: Arguments, loc: Loc) -> Value:
    """The array with its axes in the order in which one of NumPy's functions puts them."""
    tensor = as_tensor(scope, given["a"], loc)
    axes = {name: integers(value, loc, name) for name, value in given.items() if name != "a"}
    single = {name: found[0] if found and len(found) == 1 else found for name, found in axes.items()}
    try:  # the shape tells the order: no two axes are equally long
        order = permute(np.empty(tuple(range(tensor.ndim)), []), **single).shape
    except np.exceptions.AxisError as error:
        raise AxisError(str(error), loc, f"axes are 0 to {tensor.ndim - 1}, or -1 for the last") from None
    except ValueError as error:
        raise LengthError(str(error), loc) from None
    except TypeError as error:
        raise TypeInferenceError(str(error), loc) from None
    return permuted(tensor, order)


def squeeze(scope: Scope, given: Arguments, loc: Loc) -> Value:
    """Without axes of length 1: those that are named, or all where the lengths are known."""
    tensor = as_tensor(scope, given["a"], loc)
    axes = integers(given.get("axis"), loc, "axis")
    if axes is None:
        raise UnsupportedError("np.squeeze without an axis: which axes go only the run shows", loc,
                               "name the axis: np.squeeze(a, axis=0)")  # fmt: skip
    dropped = {normalised(n, tensor.ndim, loc) for n in axes}
    message = "cannot select an axis to squeeze out which has size not equal to one"
    for k in sorted(dropped):
        if not (isinstance(tensor.extents[k], Const) and tensor.extents[k] == integer(1, loc)):
            fail_unless(scope, equals(tensor.extents[k], 1, loc), None, message, loc)
    return as_value(tensor.at({k: integer(0, loc) for k in dropped}))


def atleast(rank: int, scope: Scope, given: Arguments, loc: Loc) -> Value:
    """np.atleast_1d, 2d and 3d: where the new axes go is NumPy's."""
    tensor = as_tensor(scope, given["a"], loc)
    if rank == 3 and tensor.ndim in (1, 2):
        tensor = with_axis(scope, tensor, tensor.ndim, loc)
    while tensor.ndim < rank:
        tensor = with_axis(scope, tensor, 0, loc)
    return tensor


def broadcast_to(scope: Scope, given: Arguments, loc: Loc) -> Value:
    tensor = as_tensor(scope, given["a"], loc)
    shape = array_creation.shape_from(scope, given["shape"], loc)
    if tensor.ndim > len(shape):
        raise LengthError("input operand has more dimensions than allowed by the axis remapping", loc)
    axes = tuple(scope.supply.fresh("i", DType.INT64) for _ in shape)
    offset = len(shape) - tensor.ndim
    indices: dict[Symbol, Expr] = {}
    for k, (old, extent) in enumerate(zip(tensor.axes, tensor.extents, strict=True)):
        here: Expr = Var(axes[offset + k], loc=loc)
        wanted = shape[offset + k]
        if extent != wanted:
            one = equals(extent, 1, loc)
            message = "operands could not be broadcast together with the remapped shape"
            fits = Logical("or", Compare("==", extent, wanted, loc=loc), one, loc=loc)
            fail_unless(scope, fits, None, message, loc)
            here = Select(one, integer(0, loc), here, loc=loc)
        indices[old] = here
    return as_value(Tensor(axes, tuple(shape), substitute(tensor.element, indices)))


def rows(scope: Scope, value: Value, count: int, loc: Loc) -> TupleValue:
    """The items of an array along its first axis, of which there have to be so many."""
    tensor = as_tensor(scope, value, loc)
    extent = tensor.extents[0]
    if extent != integer(count, loc):
        message = f"the array cannot be unpacked into {count} values: it has another length"
        fail_unless(scope, equals(extent, count, loc), None, message, loc)
    return TupleValue(tuple(as_value(tensor.at({0: integer(number, loc)})) for number in range(count)))
