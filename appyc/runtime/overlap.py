"""Run-time alias tests: whether the arrays that a kernel writes overlap other arguments or themselves.

Compiled code assumes that what it writes is reached through one argument only. Two tests:
one by byte ranges, cheap and conservative, which `_dispatch.c` makes too; and an exact
one for calls that it rejects, such as the odd and the even elements of one array.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

_MAX_WORK = 100_000
"""Steps for NumPy's exact solver: milliseconds at most."""

_MAX_ELEMENTS = 1 << 20
"""Addresses that are listed at most, to see whether an array meets itself."""


@dataclass(frozen=True, slots=True)
class Overlap:
    """Positions of a written array and of one that shares its memory; equal where it meets itself."""

    written: int
    other: int


def find_overlap(values: Sequence[object], written: frozenset[int]) -> Overlap | None:
    """The first written array that shares memory with another argument, or with itself.

    Exact but where that would take long; then they count as sharing.
    """
    arrays = {i: v for i, v in enumerate(values) if isinstance(v, np.ndarray)}
    if len(arrays) < len(values) and (found := _find_on_gpu(values, written)) is not None:
        return found
    for i in sorted(written & arrays.keys()):
        for j, other in arrays.items():
            if i != j and _shares_memory(arrays[i], other):
                return Overlap(i, j)
        if _overlaps_itself(arrays[i]):
            return Overlap(i, i)
    return None


def byte_range(value: object) -> tuple[int, int] | None:
    """The first byte of an array's memory and one past the last; None for what is no array."""
    if isinstance(value, np.ndarray):
        return _range(value)
    return _gpu_range(value) if hasattr(value, "__cuda_array_interface__") else None


def _find_on_gpu(values: Sequence[object], written: frozenset[int]) -> Overlap | None:
    """The same for arrays on a GPU, by address ranges alone."""
    ranges = {i: _gpu_range(v) for i, v in enumerate(values) if hasattr(v, "__cuda_array_interface__")}
    for i in sorted(written & ranges.keys()):
        lo, hi = ranges[i]
        for j, (other_lo, other_hi) in ranges.items():
            if i != j and lo < other_hi and other_lo < hi:
                return Overlap(i, j)
    return None


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


def _shares_memory(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
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
