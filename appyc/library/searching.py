"""Binary search in sorted vectors: np.searchsorted, np.digitize, and `bisect` in lists and vectors.

The index is a sum of powers of two, the largest first: a step is taken where it ends at or before an element that
is still less. All values take the same number of steps, so that the search runs in lanes.
"""

# mypy: ignore-errors

from __future__ import annotations

import bisect

import numpy as np

from appyc.library.primitives import each, refuse
from appyc.library.table import of


def precedes(x, y):
    """Whether x comes before y in NumPy's order, in which NaN is last."""
    return x < y or (not isinstance(x, str) and np.isnan(y) and not np.isnan(x))


def insertion_points(a, v, side, rises):
    """The number of elements of a sorted vector, or one that falls, before each value, or not behind it."""
    n = len(a)
    rounds = n.bit_length()

    def insertion_point(x):
        at, step = 0, (1 << rounds) // 2
        for _ in range(rounds):
            if at + step <= n:
                element = a[at + step - 1 if rises else n - at - step]
                if precedes(element, x) if side == "left" else not precedes(x, element):
                    at += step
            step //= 2
        return at if rises else n - at

    return each(insertion_point, v)


@of(np.searchsorted, method="searchsorted")
def searchsorted(a: np.ndarray, v: np.ndarray, side="left", sorter=None):
    """The number of elements of a sorted vector before each value; with side="right", not behind it."""
    if side not in ("left", "right") or a.ndim != 1 or a.dtype.kind == "c":
        refuse("np.searchsorted of this is not compiled")
    return insertion_points(a if sorter is None else a[sorter], v, side, True)


@of(np.digitize)
def digitize(x: np.ndarray, bins: np.ndarray, right=False):
    """The number of the bin that each value is in; the bins' edges rise or fall."""
    if bins.ndim != 1 or bins.dtype.kind == "c":
        refuse("np.digitize of this is not compiled")
    rises, falls = np.all(bins[:-1] <= bins[1:]), np.all(bins[:-1] >= bins[1:])
    if not (rises or falls):
        raise ValueError("bins must be monotonically increasing or decreasing")
    return insertion_points(bins, x, "left" if right else "right", rises)


def bisected(a, x, lo, hi, behind):
    """The first index of a part of a sorted vector whose item is not less than a value, or `behind` it, is greater."""
    if lo < 0:
        raise ValueError("lo must be non-negative")
    first, end = lo, len(a) if hi is None else hi
    while first < end:
        middle = (first + end) // 2
        if not x < a[middle] if behind else a[middle] < x:
            first = middle + 1
        else:
            end = middle
    return first


@of(bisect.bisect_left, tested=True)
def bisect_left(a: list | np.ndarray, x, lo=0, hi=None):
    """The first index at which a value may be inserted."""
    return bisected(a, x, lo, hi, False)


@of(bisect.bisect_right, bisect.bisect, tested=True)
def bisect_right(a: list | np.ndarray, x, lo=0, hi=None):
    """The last index at which a value may be inserted."""
    return bisected(a, x, lo, hi, True)


def move_last(items, behind):
    """Puts the last item where it belongs among the others, which are sorted: before the equal ones, or `behind`."""
    last = len(items) - 1
    item = items[last]
    at = bisected(items, item, 0, last, behind)
    for k in range(last, at, -1):
        items[k] = items[k - 1]
    items[at] = item
