"""Sorting of few numbers, with NaN last: Shell's sort needs no memory, and is an insertion sort of a window."""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np


def sort_vector(a, n):
    """Sorts the first n elements of a vector in place, with the gaps ..., 40, 13, 4, 1."""
    step = 1
    while step < n // 3:
        step = 3 * step + 1
    while step >= 1:
        for i in range(step, n):
            moved = a[i]
            j = i
            while j >= step:
                if not (a[j - step] > moved or (np.isnan(a[j - step]) and not np.isnan(moved))):
                    break
                a[j] = a[j - step]
                j -= step
            a[j] = moved
        step //= 3


def sort(a):
    """The elements of a vector in order."""
    out = a.copy()
    sort_vector(out, len(out))
    return out


def median(a):
    """The mean of the two elements in the middle, NaN where one is, or where there is none."""
    real = a.dtype.type if a.dtype.kind == "f" else np.float64
    ordered = sort(np.ravel(a))
    n = len(ordered)
    middle = real(np.nan)
    if n > 0 and not np.isnan(ordered[n - 1]):
        middle = (real(ordered[(n - 1) // 2]) + real(ordered[n // 2])) / real(2)
    return middle
