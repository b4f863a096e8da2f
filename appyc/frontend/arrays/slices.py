"""Subscripts with slices, None, `...` and index arrays: views, and gathers."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from appyc.errors import LengthError, Loc, SubscriptError, UnsupportedError
from appyc.frontend.arrays import slice_bounds as bounds
from appyc.frontend.arrays.masks import nonzero
from appyc.frontend.arrays.tensors import (
    as_tensor,
    as_value,
    broadcast,
    element_type,
    equals,
    fail_unless,
    is_array,
    materialise,
    permuted,
)
from appyc.frontend.expressions import expressions
from appyc.frontend.expressions.arithmetic import cast, integer
from appyc.frontend.expressions.inlining import inlined
from appyc.frontend.scope import Scope
from appyc.frontend.syntax.tree import as_tuple
from appyc.frontend.types.descriptions import describe
from appyc.frontend.types.values import ArrayRef, Masked, Number, Opaque, Tensor, TupleValue, Value
from appyc.ir.nodes import Compare, Const, Expr, Load, Symbol
from appyc.ir.types import DType
from appyc.ir.visit import rename, substitute
from appyc.library.arranging import positions_within

Item: TypeAlias = Value | ast.Slice
"""One part of a subscript: a value (of `None` and `...` too), or a slice as written."""


def lower_items(scope: Scope, index: ast.expr) -> list[Item]:
    """The parts of a subscript, values from left to right."""
    nodes = expressions.unstarred(scope, index.elts) if isinstance(index, ast.Tuple) else [index]
    values = iter(
        expressions.lower_operands(
            scope,
            [
                as_tuple(n) if isinstance(n, ast.List) else n  # an index array
                for n in nodes
                if not isinstance(n, ast.Slice)
            ],
        )
    )
    items: list[Item] = []
    for n in nodes:
        if isinstance(n, ast.Slice):
            items.append(n)
            continue
        value = expressions.pack_masked(scope, next(values), scope.loc(n))
        if n is index and isinstance(value, TupleValue) and not isinstance(n, ast.List):
            items += value.items  # a name for several parts, `np.ix_(...)`
            continue
        items.append(as_value(as_tensor(scope, value, scope.loc(n))) if isinstance(n, ast.List) else value)
    return items


def is_element(items: list[Item]) -> bool:
    """Whether every part is a single position."""
    return not any(isinstance(i, ast.Slice | Opaque) or is_array(i) for i in items)


@dataclass(frozen=True, slots=True)
class _Mask:
    """A mask over as many axes of the owner as it has itself."""

    tensor: Tensor


_Part: TypeAlias = bounds.SliceRange | Number | Tensor | _Mask | None
"""The index of one axis of the owner; None for a new axis."""


def subscript(
    scope: Scope, owner: ArrayRef | Tensor, items: list[Item], loc: Loc, *, stored: bool = False
) -> Value:
    """`owner[items]`: a view, a gather, what a mask chooses, or an element. stored: to be assigned to.

    Raises TypeInferenceError for too many indices and for what is no index; emits the tests
    that raise IndexError.
    """
    tensor = as_tensor(scope, owner, loc)
    parts = _parts(scope, tensor, items, loc)
    masks = [part for part in parts if isinstance(part, _Mask)]
    if len(masks) == 1 and not any(isinstance(part, Tensor) for part in parts):
        return _masked(scope, owner, tensor, parts, masks[0], loc)
    return _indexed(scope, owner, tensor, _without_masks(scope, tensor, parts, loc), loc, stored=stored)


def _indexed(
    scope: Scope, owner: ArrayRef | Tensor, tensor: Tensor, parts: list[_Part], loc: Loc, *, stored: bool
) -> Value:
    """The owner (`tensor`) with slices, positions and index arrays on its axes."""
    arrays = [part for part in parts if isinstance(part, Tensor)]
    in_view = isinstance(owner, Tensor) and stored
    if arrays and in_view:
        parts = _within_view(scope, tensor, parts, loc)
        arrays = [part for part in parts if isinstance(part, Tensor)]
    elif arrays and isinstance(owner, Tensor):
        owner = materialise(scope, tensor, "indexed", loc)
        tensor = as_tensor(scope, owner, loc)
    gathered = broadcast(scope, arrays, loc, "IndexError") if arrays else None
    elements = list(gathered.elements) if gathered is not None else []
    axes: list[Symbol] = []
    extents: list[Expr] = []
    indices: dict[Symbol, Expr] = {}
    at = 0  # the owner's axis
    first_array: int | None = None
    apart = _stand_apart(parts)
    checked = False
    is_view = not all(isinstance(part, Number) for part in parts)
    lengths = [part.extent for part in parts if isinstance(part, bounds.SliceRange)]
    for part in parts:
        if part is None:
            axes.append(scope.supply.fresh("i", DType.INT64))
            extents.append(integer(1, loc))
            continue
        old, extent = tensor.axes[at], tensor.extents[at]
        at += 1
        match part:
            case bounds.SliceRange():
                axis = scope.supply.fresh("i", DType.INT64)
                axes.append(axis)
                extents.append(part.extent)
                if part.written is not None:
                    scope.found_slice(axis, part.written, part.extent)
                scope.same_axis(old, axis)
                indices[old] = bounds.index_on(part, axis, loc)
            case _Mask():
                raise AssertionError("masks are looked for first")
            case Number():
                if isinstance(owner, ArrayRef):
                    indices[old] = position = bounds.checked_position(scope, part, extent)
                    if is_view:
                        bounds.check_bounds(scope, owner.symbol, len(owner.index) + at - 1, position, extent)
                    checked = True
                elif scope.source.trusted:
                    indices[old] = bounds.checked_position(scope, part, extent)
                else:
                    indices[old] = bounds.tested_position(
                        scope, part, extent, loc, bounds.out_of_bounds(at - 1)
                    )
            case Tensor():
                if first_array is None:
                    first_array = 0 if apart else len(axes)
                indices[old] = cast(elements.pop(0), DType.INT64)
                checked = not in_view
                if isinstance(owner, ArrayRef):
                    own_axis = len(owner.index) + at - 1
                    bounds.check_positions(scope, owner.symbol, own_axis, part, extent, lengths)
    if gathered is not None:
        assert first_array is not None
        axes[first_array:first_array] = gathered.axes
        extents[first_array:first_array] = gathered.extents
    element = substitute(tensor.element, indices)
    if checked:
        assert isinstance(element, Load), "an array's own element"
        element = replace(element, checked=True)
    out = replace(tensor, axes=tuple(axes), extents=tuple(extents), element=element)
    return as_value(out.copied() if arrays else out)


def _within_view(scope: Scope, tensor: Tensor, parts: list[_Part], loc: Loc) -> list[_Part]:
    """Index arrays counted from the start of a view's axes, after a test that they lie in it.

    What lies outside the view may lie in its array, whose own test would pass it.
    """
    if tensor.unsettled:
        raise UnsupportedError("whether this is a view in another shape only its strides would tell", loc,
                               "assign to the array itself")  # fmt: skip
    out: list[_Part] = []
    at = 0
    for part in parts:
        if isinstance(part, Tensor):
            arguments: dict[str, Value] = {
                "positions": part, "n": Number(tensor.extents[at], python=True)
            }  # fmt: skip
            part = as_tensor(scope, inlined(scope, positions_within, arguments, loc), loc)
        at += part is not None
        out.append(part)
    return out


def _masked(
    scope: Scope, owner: ArrayRef | Tensor, tensor: Tensor, parts: list[_Part], mask: _Mask, loc: Loc
) -> Masked:
    """The owner under one mask, with slices and positions on its other axes."""
    at = parts.index(mask)
    front = sum(part is not None for part in parts[:at])
    rank = mask.tensor.ndim
    first = sum(not isinstance(part, Number) for part in parts[:at])
    lengths = tensor.extents[front : front + rank]
    _test_lengths(scope, lengths, mask.tensor.extents, loc)
    whole: list[_Part] = [bounds.SliceRange(integer(0, loc), 1, extent) for extent in mask.tensor.extents]
    out = _indexed(scope, owner, tensor, [*parts[:at], *whole, *parts[at + 1 :]], loc, stored=True)
    assert isinstance(out, Tensor), "the mask's axes are left"
    if _stand_apart(parts):
        chosen = range(first, first + rank)
        out = permuted(out, [*chosen, *(k for k in range(out.ndim) if k not in chosen)])
        first = 0
    axes = dict(zip(mask.tensor.axes, out.axes[first : first + rank], strict=True))
    return Masked(out, first, rank, rename(mask.tensor.element, axes))


def _test_lengths(scope: Scope, lengths: Sequence[Expr], wanted: Sequence[Expr], loc: Loc) -> None:
    """Emits the test that a mask fits its axes. As in NumPy one of no length fits any, and chooses nothing."""
    for length, own in zip(lengths, wanted, strict=True):
        if length == own:
            continue
        if isinstance(length, Const) and isinstance(own, Const) and own.value != 0:
            raise LengthError(f"a mask of length {own.value} for an axis of length {length.value}", loc,
                              "a mask has the lengths of the axes that it is for")  # fmt: skip
        same = Compare("==", length, own, loc=loc)
        message = (
            "boolean index did not match indexed array: an axis has length {extent}, and the mask {value}"
        )
        fail_unless(scope, same, equals(own, 0, loc), message, loc, "IndexError", (own, length))


def _without_masks(scope: Scope, tensor: Tensor, parts: list[_Part], loc: Loc) -> list[_Part]:
    """The parts with index arrays instead of masks."""
    out: list[_Part] = []
    at = 0
    for part in parts:
        if isinstance(part, _Mask):
            mask = part.tensor
            _test_lengths(scope, tensor.extents[at : at + mask.ndim], mask.extents, loc)
            at += mask.ndim
            out += [as_tensor(scope, array, loc) for array in nonzero(scope, mask, loc)]
        else:
            at += part is not None
            out.append(part)
    return out


def _stand_apart(items: list[_Part]) -> bool:
    """Whether index arrays have a slice or a new axis between them: NumPy puts their axes first then."""
    at = [k for k, item in enumerate(items) if isinstance(item, Tensor | Number | _Mask)]
    arrays = any(isinstance(item, Tensor | _Mask) for item in items)
    return arrays and at[-1] - at[0] + 1 != len(at)


def _parts(scope: Scope, tensor: Tensor, items: list[Item], loc: Loc) -> list[_Part]:
    """One part for each axis of the owner, and None for each new axis."""
    taken = sum(_width(item) for item in items)
    if taken > tensor.ndim:
        raise SubscriptError(f"too many indices: {taken}, but this is {describe(tensor)}", loc,
                             f"{tensor.ndim} can be given, and None for new axes")  # fmt: skip
    whole = [bounds.SliceRange(integer(0, loc), 1, extent) for extent in tensor.extents]
    out: list[_Part] = []
    at = 0
    for item in items:
        match item:
            case Opaque(obj=None):
                out.append(None)
                continue
            case Opaque(obj=obj) if obj is ...:
                rest = tensor.ndim - taken
                out += whole[at : at + rest]
                at += rest
                continue
            case ast.Slice():
                out.append(bounds.lowered_slice(scope, tensor.extents[at], item, scope.loc(item)))
            case _:
                out.append(_index(scope, item, loc))
        at += _width(item)
    return [*out, *whole[at:]]


def _width(item: Item) -> int:
    """The number of axes of the owner that an item of the subscript indexes."""
    match item:
        case ArrayRef() | Tensor() if element_type(item) is DType.BOOL:
            return item.ndim
        case Opaque(obj=obj) if obj is None or obj is ...:
            return 0
        case _:
            return 1


def _index(scope: Scope, value: Value, loc: Loc) -> Number | Tensor | _Mask:
    if is_array(value):
        tensor = as_tensor(scope, value, loc)
        if tensor.element.dtype is DType.BOOL:
            return _Mask(tensor)
        if not tensor.element.dtype.is_integer:
            raise SubscriptError(f"an index array of {tensor.element.dtype}, where integers are needed", loc,
                                 "convert it with .astype(np.int64)")  # fmt: skip
        return tensor
    return expressions.single_index(value, loc)
