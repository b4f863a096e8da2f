"""Indices: which are views, and what the others do."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from appyc.lazy import arrays, held
from appyc.lazy.operations import Choose
from appyc.lazy.recorder import changing, evaluated, plain, record_store
from appyc.lazy.ufuncs import as_operand, fits, is_compiled
from appyc.lazy.views import NEAR


def basic_index(key: Any, shape: tuple[int, ...]) -> tuple[int | slice | None, ...] | None:
    """The items of a basic index, all bounds in range; None for any other. Raises IndexError.

    A bound is counted from the end it is nearer to: `1:-1` is the same for all sizes.
    """
    items = key if type(key) is tuple else (key,)
    kinds = [type(i) for i in items]
    if any(
        k is not int and k is not slice and i is not None and i is not Ellipsis
        for k, i in zip(kinds, items, strict=True)
    ):
        items = tuple(_as_basic(i) for i in items)
        if any(i is NotImplemented for i in items):
            return None
    used = sum(1 for i in items if i is not None and i is not Ellipsis)
    dots = sum(1 for i in items if i is Ellipsis)
    if used > len(shape):
        raise IndexError(
            f"too many indices for array: array is {len(shape)}-dimensional, but {used} were indexed"
        )
    if dots > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    out: list[int | slice | None] = []
    axis = 0
    for item in items:
        if item is None:
            out.append(None)
        elif item is Ellipsis:
            rest = len(shape) - used
            out += [slice(None)] * rest
            axis += rest
        elif type(item) is slice:
            out.append(_slice(item, shape[axis]))
            axis += 1
        else:
            extent = shape[axis]
            if not -extent <= item < extent:
                raise IndexError(f"index {item} is out of bounds for axis {axis} with size {extent}")
            out.append(near_index(item, extent))
            axis += 1
    while out and out[-1] == slice(None):
        out.pop()
    return tuple(out)


def near_index(index: int, extent: int) -> int:
    """An index in range, counted from the end where that is near and the start is not."""
    return _near(index % extent, extent)


def _as_basic(item: Any) -> Any:
    if item is None or item is Ellipsis or type(item) is slice:
        return item
    if isinstance(item, arrays.number):
        return operator.index(item) if item.dtype.kind in "iu" else NotImplemented
    if isinstance(item, bool | np.bool_ | np.ndarray | list | tuple) or not hasattr(item, "__index__"):
        return NotImplemented
    if isinstance(item, arrays.ndarray):
        return NotImplemented
    return operator.index(item)


def _slice(item: slice, extent: int) -> slice:
    if item.start is None and item.stop is None and item.step is None:
        return item
    start, stop, step = item.indices(extent)
    if step > 0:
        stop = max(start, stop)
        return slice(
            _near(start, extent) if start else None, None if stop == extent else _near(stop, extent), step
        )
    if start <= stop:
        return slice(0, 0, 1)
    return slice(
        None if start == extent - 1 else _near(start, extent), None if stop < 0 else _near(stop, extent), step
    )


def _near(bound: int, extent: int) -> int:
    """The bound, counted from the end where that is near and the start is not."""
    return bound - extent if 0 < extent - bound <= NEAR < bound else bound


def fancy_load(source: held.Held, key: Any) -> Any:
    """An index with arrays or masks: NumPy's, on computed values."""
    return evaluated(np.ndarray.__getitem__, (source, key), {})


def fancy_store(target: held.Held, key: Any, value: Any) -> None:
    """A store through a mask of the target's shape is recorded, if one number is stored; else NumPy's."""
    number = as_operand(value)
    is_mask = (
        isinstance(key, arrays.ndarray)
        and key.dtype == bool
        and key.shape == target.shape
        and not target.is_window
    )
    if is_mask and number is not None and getattr(number, "shape", ()) == () and _goes_into(number, target):
        cast = target.dtype.type(number) if type(number) in (bool, int, float) else number
        record_store(Choose(), (key, cast, target), target, target.shape)
        return
    index = plain(key)
    changing(target, lambda memory: memory.__setitem__(index, plain(value)))


def _goes_into(number: Any, target: held.Held) -> bool:
    if not is_compiled((target, number)) or not fits((target, number)):
        return False
    return type(number) in (bool, int, float) or np.can_cast(number.dtype, target.dtype, "same_kind")


def resolved_shape(shape: tuple[int, ...], given: Any) -> tuple[int, ...]:
    """What `reshape` makes of a shape with -1 in it. Raises NumPy's error."""
    wanted = (int(given),) if isinstance(given, int | np.integer) else tuple(int(g) for g in given)
    size, known = math.prod(shape), math.prod(e for e in wanted if e != -1)
    if wanted.count(-1) == 1 and known > 0 and size % known == 0:
        return tuple(size // known if e == -1 else e for e in wanted)
    if -1 in wanted or known != size or min(wanted, default=1) < 0:
        raise ValueError(f"cannot reshape array of size {size} into shape {wanted}".replace(", ", ","))
    return wanted
