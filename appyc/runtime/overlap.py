"""Run-time alias tests: whether the arrays that a kernel writes overlap other arguments or themselves.

Compiled code assumes that what it writes is reached through one argument only. Two tests:
one by byte ranges, cheap and conservative, which `_dispatch.c` makes too; and an exact
one for calls that it rejects, such as the odd and the even elements of one array.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

_MAX_WORK = 100_000
"""Steps for NumPy's exact solver: milliseconds at most."""

_MAX_ELEMENTS = 1 << 20
"""Addresses that are listed at most, to see whether an array meets itself."""


def any_overlap(values: Sequence[object], written: frozenset[int]) -> bool:
    """Whether a written array shares memory with another argument, or with itself.

    Exact but where that would take long; then they count as sharing.
    """
    groups = {i: group for group in touching(values, written) for i in group if i in written}
    for i in sorted(written):
        array = values[i]
        for j in groups.get(i, ()):
            if i != j and _shares_memory(array, values[j]):
                return True
        if isinstance(array, np.ndarray) and _overlaps_itself(array):
            return True
    return False


def touching(values: Sequence[object], written: frozenset[int]) -> Iterator[tuple[int, ...]]:
    """Arrays whose byte ranges touch, with those that touch these, where one of them is written. A structured array is
    asked for its length alone; its fields are among the arrays."""
    arrays = ((n, v) for n, v in enumerate(values) if not (isinstance(v, np.ndarray) and v.dtype.names))
    for _, _, group in touching_spans(arrays):
        if written & set(group):
            yield tuple(sorted(group))


def touching_spans(values: Iterable[tuple[int, object]]) -> Iterator[tuple[int, int, list[int]]]:
    """The range of addresses of arrays whose byte ranges touch, two of them and more, and the keys of these arrays."""
    ranges = ((byte_range(value), key) for key, value in values)
    groups: list[tuple[int, int, list[int]]] = []
    for (low, high), key in sorted(
        (span, key) for span, key in ranges if span is not None and span[0] < span[1]
    ):
        if groups and low < groups[-1][1]:
            start, end, members = groups.pop()
            groups.append((start, max(end, high), [*members, key]))
        else:
            groups.append((low, high, [key]))
    return (group for group in groups if len(group[2]) > 1)


def interface_of(value: object) -> Mapping[str, Any] | None:
    """The array interface of an array, by which address, shape and strides are told; None for what is no array."""
    if isinstance(value, np.ndarray):
        return value.__array_interface__
    return getattr(value, "__cuda_array_interface__", None)


def byte_range(value: object) -> tuple[int, int] | None:
    """The first byte of an array's memory and one past the last; None for what is no array."""
    face = interface_of(value)
    if face is None:
        return None
    shape, strides, start = tuple(face["shape"]), face.get("strides"), int(face["data"][0])
    itemsize = np.dtype(face["typestr"]).itemsize
    if strides is None:
        return start, start + itemsize * math.prod(shape)
    return bytes_from(start, shape, strides, itemsize)


def bytes_from(start: int, shape: Sequence[int], strides: Sequence[int], itemsize: int) -> tuple[int, int]:
    """The first byte of the elements that begin at an address, and one past the last."""
    if 0 in shape:
        return start, start
    reaches = [(extent - 1) * stride for extent, stride in zip(shape, strides, strict=True)]
    return start + sum(r for r in reaches if r < 0), start + sum(r for r in reaches if r > 0) + itemsize


def may_overlap_itself(array: np.ndarray[Any, Any]) -> bool:
    """False only where each element has bytes of its own."""
    if array.size == 0 or array.flags.c_contiguous or array.flags.f_contiguous:
        return False
    return not are_apart(array.shape, array.strides, array.itemsize)


def are_apart(shape: Sequence[int], strides: Sequence[int], itemsize: int) -> bool:
    """Whether elements surely have bytes of their own: axes sorted by stride, each steps over all that the smaller ones
    reach."""
    covered = itemsize
    for stride, extent in sorted((abs(s), n) for s, n in zip(strides, shape, strict=True) if n != 1):
        if stride < covered:
            return False
        covered += stride * (extent - 1)
    return True


def _shares_memory(a: object, b: object) -> bool:
    if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray):
        one, other = byte_range(a), byte_range(b)
        return one is not None and other is not None and one[0] < other[1] and other[0] < one[1]
    try:
        return bool(np.shares_memory(a, b, max_work=_MAX_WORK))  # type: ignore[arg-type]  # the stub lists two
    except np.exceptions.TooHardError:
        return True


def _overlaps_itself(array: np.ndarray[Any, Any]) -> bool:
    if not may_overlap_itself(array):
        return False
    if array.size > _MAX_ELEMENTS:
        return True
    offsets = np.zeros(1, np.int64)
    for extent, stride in zip(array.shape, array.strides, strict=True):
        offsets = np.add.outer(offsets, np.arange(extent, dtype=np.int64) * stride).ravel()
    offsets.sort()
    return bool((np.diff(offsets) < array.itemsize).any())


def lists_are_apart(values: Sequence[object], written: frozenset[int]) -> bool:
    """Whether no list that the function stores into is there twice, as an argument or a row, and no array that it
    stores into shares memory with one of a list: a change by one name would not be seen by the other."""
    times: Counter[int] = Counter()
    stored: set[int] = set()
    for number, value in enumerate(values):
        if type(value) is list:
            own = [id(value), *(map(id, value) if value and type(value[0]) is list else ())]
            times.update(own)
            stored.update(own if number in written else ())
    items = [a for v in values if type(v) is list and v and type(v[0]) is np.ndarray for a in v]
    arrays = [values[number] for number in written if items and isinstance(values[number], np.ndarray)]
    return all(times[one] == 1 for one in stored) and not any(
        np.may_share_memory(a, b) for a in items for b in arrays
    )
