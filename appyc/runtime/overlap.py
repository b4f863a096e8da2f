"""Run-time alias tests: whether the arrays that a kernel writes overlap other arguments or themselves.

Compiled code assumes that what it writes is reached through one argument only. Two tests:
one by byte ranges, cheap and conservative, which `_dispatch.c` makes too; and an exact
one for calls that it rejects, such as the odd and the even elements of one array.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
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
    """Arrays whose byte ranges touch, with those that touch these, where one of them is written."""
    ranges = {number: byte_range(value) for number, value in enumerate(values)}
    spans = sorted(
        (*span, number) for number, span in ranges.items() if span is not None and span[0] < span[1]
    )
    groups: list[list[int]] = []
    end = -1
    for lo, hi, number in spans:
        if lo >= end:
            groups.append([])
        groups[-1].append(number)
        end = max(end, hi)
    for group in groups:
        if len(group) > 1 and written & set(group):
            yield tuple(sorted(group))


def byte_range(value: object) -> tuple[int, int] | None:
    """The first byte of an array's memory and one past the last; None for what is no array."""
    if isinstance(value, np.ndarray):
        return _range(value)
    return _gpu_range(value) if hasattr(value, "__cuda_array_interface__") else None


def _gpu_range(value: object) -> tuple[int, int]:
    face = value.__cuda_array_interface__  # type: ignore[attr-defined]
    itemsize = np.dtype(face["typestr"]).itemsize
    shape, lo = tuple(face["shape"]), int(face["data"][0])
    if 0 in shape:
        return lo, lo
    strides = face.get("strides")
    if strides is None:
        return lo, lo + itemsize * int(np.prod(shape, dtype=np.int64))
    reaches = [(extent - 1) * stride for extent, stride in zip(shape, strides, strict=True)]
    return lo + sum(r for r in reaches if r < 0), lo + sum(r for r in reaches if r > 0) + itemsize


def may_overlap_itself(array: np.ndarray[Any, Any]) -> bool:
    """False only where each element has bytes of its own.

    Axes sorted by stride, each must step over all that the smaller ones reach.
    """
    if array.size == 0 or array.flags.c_contiguous or array.flags.f_contiguous:
        return False
    covered = array.itemsize
    steps = sorted((abs(s), n) for s, n in zip(array.strides, array.shape, strict=True) if n != 1)
    for stride, extent in steps:
        if stride < covered:
            return True
        covered += stride * (extent - 1)
    return False


def _range(array: np.ndarray[Any, Any]) -> tuple[int, int]:
    lo = hi = array.__array_interface__["data"][0]
    if array.size == 0:
        return lo, lo
    for extent, stride in zip(array.shape, array.strides, strict=True):
        reach = (extent - 1) * stride
        lo, hi = lo + min(reach, 0), hi + max(reach, 0)
    return lo, hi + array.itemsize


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
    """Whether no list that the function stores into is there twice, as an argument or a row: a change by one name would
    not be seen by the other."""
    times: Counter[int] = Counter()
    stored: set[int] = set()
    for number, value in enumerate(values):
        if type(value) is list:
            own = [id(value), *(map(id, value) if value and type(value[0]) is list else ())]
            times.update(own)
            stored.update(own if number in written else ())
    return all(times[one] == 1 for one in stored)
