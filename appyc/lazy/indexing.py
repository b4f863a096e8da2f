"""Indexing: basic indices give views, others are recorded as gathers and scatters, or run in NumPy."""

from __future__ import annotations

import math
import operator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from appyc.lazy import arrays
from appyc.lazy._nodes import basic_items
from appyc.lazy.evaluation import LeftToNumPy, changing, evaluated, plain, require
from appyc.lazy.operations import COMPILED_DTYPES, Scatter, broadcast, gather, pointwise, ufunc_dtype
from appyc.lazy.order import inverse, memory_order
from appyc.lazy.recorder import asarray, record, record_store, turned
from appyc.lazy.ufuncs import as_operand, fits, is_compiled, type_of


def basic_index(key: Any, shape: tuple[int, ...]) -> tuple[int | slice | None, ...] | None:
    """The items of a basic index, all bounds in range; None for any other. Raises IndexError.

    A bound is counted from the end it is nearer to: `1:-1` is the same for all sizes.
    """
    items = tuple(map(_as_basic, key if type(key) is tuple else (key,)))
    return None if any(i is NotImplemented for i in items) else basic_items(items, shape)


def _as_basic(item: Any) -> Any:
    if item is None or item is Ellipsis or type(item) is slice:
        return item
    if isinstance(item, arrays.number):
        return operator.index(item) if item.dtype.kind in "iu" else NotImplemented
    if isinstance(item, bool | np.bool_ | np.ndarray | list | tuple) or not hasattr(item, "__index__"):
        return NotImplemented
    return operator.index(item)


@dataclass(frozen=True, slots=True)
class IndexArrays:
    """An index with arrays of indices, all of them in range: the view whose first axes they index, the common shape
    of the arrays, and where the result has its axes, of what lies in memory in the order (theirs, the rest)."""

    view: Any
    indices: tuple[Any, ...]
    shape: tuple[int, ...]
    order: tuple[int, ...]

    @property
    def is_turned(self) -> bool:
        return self.order != tuple(range(len(self.order)))


def index_arrays(source: Any, key: Any) -> IndexArrays:
    """The arrays of indices in a key without masks. Raises LeftToNumPy for another one."""
    items = list(key) if type(key) is tuple else [key]
    dots = [k for k, item in enumerate(items) if item is Ellipsis]
    left = source.ndim - sum(1 for i in items if i is not None and i is not Ellipsis)
    require(left >= 0, len(dots) < 2, not source.is_window, source.size)
    if dots:
        items[dots[0] : dots[0] + 1] = [slice(None)] * left
    found = [_indices(item) for item in items]
    advanced = [k for k, item in enumerate(items) if found[k] is not None or type(item) is int]
    is_known = all(
        f is not None or i is None or type(i) in (int, slice) for i, f in zip(items, found, strict=True)
    )
    require(is_known, any(f is not None for f in found))
    together = advanced[-1] - advanced[0] == len(advanced) - 1
    require(together or not any(type(items[k]) is int for k in advanced))
    view = source[(*[i if f is None else slice(None) for i, f in zip(items, found, strict=True)], ...)]
    axes = [
        k
        for k, f in enumerate(f for i, f in zip(items, found, strict=True) if type(i) is not int)
        if f is not None
    ]
    indices = tuple([f for f in found if f is not None])
    shape = broadcast(*(f.shape for f in indices))
    extents = [view.shape[a] for a in axes]
    if shape is None or math.prod(shape) == 0 or not all(map(_in_range, indices, extents)):
        raise LeftToNumPy
    outer_first = memory_order([view.ghost()], view.ndim)
    rest = [a for a in outer_first if a not in axes]  # as they lie in memory, so does the result
    first = axes[0] if together else 0
    last = [len(shape) + rest.index(a) for a in sorted(rest)]
    order = (*last[:first], *range(len(shape)), *last[first:])
    return IndexArrays(view.transpose((*axes, *rest)), indices, shape, order)


def _indices(item: Any) -> Any:
    """An array of indices; None for anything else."""
    if isinstance(item, list):
        item = np.asarray(plain(item)) if item else None
    if type(item) is np.ndarray and item.dtype.kind in "iu" and item.ndim:
        return asarray(item.astype(np.int64))
    if type(item) is arrays.ndarray and item.dtype.kind in "iu" and item.shape:
        return item.compilable().astype(np.int64, copy=False)
    return None


def _in_range(indices: arrays.ndarray, extent: int) -> bool:
    values = indices.computed()
    return -extent <= int(values.min()) and int(values.max()) < extent


def fancy_load(source: arrays.Array, key: Any) -> Any:
    """An index with arrays of integers is recorded; one with masks, or anything else, is NumPy's."""
    with suppress(LeftToNumPy):
        require(source.dtype in COMPILED_DTYPES)
        found = index_arrays(source, key)
        if len(found.indices) < found.view.ndim:
            return gathered(source, found)
        # The result lies in memory as the indices do.
        order = memory_order([i.ghost() for i in found.indices], len(found.shape))
        shape = tuple(found.shape[axis] for axis in order)
        operands = (found.view, *(turned(i, order) for i in found.indices))
        return record(gather(len(found.indices)), operands, shape, source.dtype).transpose(inverse(order))
    return evaluated(np.ndarray.__getitem__, (source, key), {})


def gathered(source: arrays.Array, found: IndexArrays) -> Any:
    """The gather of the elements at these indices."""
    shape = found.shape + found.view.shape[len(found.indices) :]
    out = record(gather(len(found.indices)), (found.view, *found.indices), shape, source.dtype)
    return out.transpose(found.order) if found.is_turned else out


def fancy_store(target: arrays.Array, key: Any, value: Any, ufunc: np.ufunc | None = None) -> None:
    """Records a store through arrays of indices, or of one value through a mask; other stores run in NumPy.

    ufunc: for its `at`, which combines a value once for each occurrence of an index.
    """
    with suppress(LeftToNumPy):
        require(target.dtype in COMPILED_DTYPES, not target.is_window)
        operand = as_operand(value, None if ufunc else target.dtype)
        require(operand is not None and _goes_into(operand, target, ufunc))
        if type(operand) in (bool, int, float):
            operand = target.dtype.type(operand)
        _store(target, key, operand, ufunc)
        return
    change: Any = np.ndarray.__setitem__ if ufunc is None else ufunc.at
    changing(target, change, key, value)


def _store(target: arrays.Array, key: Any, operand: Any, ufunc: np.ufunc | None) -> None:
    """Records the store."""
    shape = getattr(operand, "shape", ())
    mask = _mask(target, key)
    if mask is not None:
        rest = target.shape[mask.ndim :]
        # The values of the mask may tell which element goes where.
        require(ufunc is None, len(shape) <= len(rest) and broadcast(shape, rest) == rest)
        whole = mask[(..., *(None,) * len(rest))] if rest else mask.compilable()
        record_store(pointwise(np.where), (whole, operand, target), target, target.shape)
        return
    found = index_arrays(target, key)
    turned = found.shape + found.view.shape[len(found.indices) :]
    whole = tuple(turned[axis] for axis in found.order)
    require(broadcast(shape, whole) == whole)
    if found.is_turned and shape:
        operand = operand[(*(None,) * (len(whole) - len(shape)), ...)].transpose(inverse(found.order))
    record_store(Scatter(ufunc), (as_operand(operand), *found.indices), found.view, turned)


def _mask(target: arrays.Array, key: Any) -> Any:
    """A mask of the target's first axes; None for any other key."""
    if type(key) is np.ndarray and key.dtype == bool:
        key = asarray(key)
    is_mask = type(key) is arrays.ndarray and key.dtype == bool and key.shape
    return key if is_mask and key.shape == target.shape[: key.ndim] else None


def _goes_into(value: Any, target: arrays.Array, ufunc: np.ufunc | None) -> bool:
    """Whether a store into the target, or an update of it, converts the value as compiled code does."""
    if type(value) is complex or not is_compiled((target, value)) or not fits((target, value)):
        return False
    if ufunc is not None:
        return ufunc_dtype(ufunc, target.dtype, type_of(value)) == target.dtype
    return type(value) in (bool, int, float) or np.can_cast(value.dtype, target.dtype, "same_kind")
