"""Boolean masks: the number of elements chosen, their indices, and the elements.

`a[m]` is described, like any expression of arrays (`Masked`). A sum of it is a
sum over the chosen elements, and an assignment to it stores into them, without a temporary. What needs
the elements in an array gets one (`packed`): the chosen elements are counted first, for its length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from appyc.errors import Loc
from appyc.frontend.expressions.arithmetic import cast, integer, truth_of
from appyc.frontend.scope import Scope
from appyc.frontend.types.values import ArrayRef, Masked, Number, Tensor, Value
from appyc.ir import nodes as ir
from appyc.ir.types import DType
from appyc.ir.visit import rename, substitute, walk


def packed(scope: Scope, masked: Masked, loc: Loc) -> ArrayRef | Tensor:
    """The chosen elements in a new array; where there are axes beside the mask's, by their indices."""
    if masked.tensor.ndim > masked.rank:
        return gathered(scope, masked, loc).copied()
    masked = repeatable(scope, masked, loc)
    length = counted(scope, masked, loc)
    array = collected(scope, masked, masked.tensor.element, length, "chosen", loc)
    return ArrayRef(array, shape=(length,))


def gathered(scope: Scope, masked: Masked, loc: Loc) -> Tensor:
    """The chosen elements, by index arrays; of a view, a view."""
    tensor = masked.tensor
    axis = scope.supply.fresh("i", DType.INT64)
    length, arrays = chosen_indices(scope, masked, loc)
    at: dict[ir.Symbol, ir.Expr] = {
        old: ir.Load(array, (ir.Var(axis, loc=loc),), checked=False, loc=loc)
        for old, array in zip(masked.chosen, arrays, strict=True)
    }
    last = masked.first + masked.rank
    return replace(
        tensor,
        axes=(*tensor.axes[: masked.first], axis, *tensor.axes[last:]),
        extents=(*tensor.extents[: masked.first], length, *tensor.extents[last:]),
        element=substitute(tensor.element, at),
    )


def chosen_indices(scope: Scope, masked: Masked, loc: Loc) -> tuple[ir.Expr, list[ir.Symbol]]:
    """The number of chosen elements, and their indices along each of the mask's axes: np.nonzero."""
    masked = repeatable(scope, masked, loc)
    length = counted(scope, masked, loc)
    return length, [
        collected(scope, masked, ir.Var(axis, loc=loc), length, "indices", loc) for axis in masked.chosen
    ]


def nonzero(scope: Scope, tensor: Tensor, loc: Loc) -> list[ArrayRef]:
    """np.nonzero: for each axis, where along it the elements are that are not 0, in C order."""
    masked = Masked(tensor, 0, tensor.ndim, truth_of(tensor.element))
    length, arrays = chosen_indices(scope, masked, loc)
    return [ArrayRef(array, shape=(length,)) for array in arrays]


def counted(scope: Scope, masked: Masked, loc: Loc) -> ir.Var:
    """The number of chosen elements."""
    axes, extents, (holds,) = _renamed(scope, masked, [masked.holds])
    one = cast(holds, DType.INT64)
    return scope.temp("count", ir.Reduce("+", axes, extents, one, integer(0, loc), loc=loc))


def collected(
    scope: Scope, masked: Masked, element: ir.Expr, length: ir.Expr, name: str, loc: Loc
) -> ir.Symbol:
    """A new array of what an expression of the mask's axes is where the mask holds."""
    array = scope.new_array(name, element.dtype, (length,), loc)
    axes, extents, (holds, value) = _renamed(scope, masked, [masked.holds, element])
    position = scope.supply.fresh("position", DType.INT64)
    at = (ir.Var(position, loc=loc),)
    # There are as many as have been counted: the mask is `repeatable`.
    scope.emit(ir.ForAll(axes, extents, array, at, value, holds, position, checked=False, loc=loc))
    return array


def _renamed(
    scope: Scope, masked: Masked, exprs: Sequence[ir.Expr]
) -> tuple[tuple[ir.Symbol, ...], tuple[ir.Expr, ...], list[ir.Expr]]:
    """The mask's axes anew, for one statement, and the expressions over them."""
    new = {axis: scope.supply.fresh(axis.name, axis.type) for axis in masked.chosen}
    extents = masked.tensor.extents[masked.first : masked.first + masked.rank]
    return tuple(new.values()), extents, [rename(e, new) for e in exprs]


def repeatable(scope: Scope, masked: Masked, loc: Loc) -> Masked:
    """The masked array with a mask that is cheap to evaluate twice, and selects the same elements both times.

    Arithmetic on floats may be rounded otherwise where it stands in another loop.
    """
    if all(_is_exact(node) for node in walk(masked.holds)):
        return masked
    axes, extents, (holds,) = _renamed(scope, masked, [masked.holds])
    array = scope.new_array("mask", DType.BOOL, extents, loc)
    at = tuple(ir.Var(axis, loc=loc) for axis in axes)
    scope.emit(ir.ForAll(axes, extents, array, at, holds, checked=False, loc=loc))
    index = tuple(ir.Var(axis, loc=loc) for axis in masked.chosen)
    return replace(masked, holds=ir.Load(array, index, checked=False, loc=loc))


def _is_exact(node: object) -> bool:
    match node:
        case ir.Load() | ir.Var() | ir.Const() | ir.Extent() | ir.Compare() | ir.Logical() | ir.Select():
            return True
        case ir.Unary() | ir.Binary():
            return node.dtype is DType.BOOL or node.dtype.is_integer
        case _:
            return False


# ---------------------------------------------------------------- masks and operators


def under_one_mask(values: Sequence[Value]) -> tuple[Masked, list[Value]] | None:
    """A mask that all arrays among the values are chosen by, and those arrays before they were.

    None where there is none, or where some array is chosen otherwise or not at all.
    """
    lead = next((v for v in values if isinstance(v, Masked)), None)
    if lead is None:
        return None
    whole: list[Value] = []
    for value in values:
        match value:
            case Masked():
                tensor = _over(lead, value)
                if tensor is None:
                    return None
                whole.append(tensor)
            case Number() | ArrayRef(ndim=0) | Tensor(ndim=0):
                whole.append(value)
            case _:
                return None
    return lead, whole


def _over(lead: Masked, other: Masked) -> Tensor | None:
    """The other's tensor over the axes of the first; None where their masks or shapes differ."""
    if other is lead:
        return other.tensor
    same_form = (lead.first, lead.rank) == (other.first, other.rank)
    if not same_form or lead.tensor.extents != other.tensor.extents:
        return None
    axes = dict(zip(other.tensor.axes, lead.tensor.axes, strict=True))
    if rename(other.holds, axes) != lead.holds:
        return None
    return replace(other.tensor, axes=lead.tensor.axes, element=rename(other.tensor.element, axes))
