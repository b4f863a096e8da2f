"""Sorting of few numbers, with NaN last: Shell's sort needs no memory, and is an insertion sort of a window."""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from appyc.library.primitives import refuse
from appyc.library.searching import precedes
from appyc.library.table import list_loop


def widest_gap(n):
    """The first gap of Shell's sort of n elements: of 1, 4, 13, 40, ..., the first that is at least a third of n."""
    step = 1
    while step < n // 3:
        step = 3 * step + 1
    return step


def sort_vector(a, n):
    """Sorts the first n elements of a vector in place."""
    step = widest_gap(n)
    while step >= 1:
        for i in range(step, n):
            moved = a[i]
            j = i
            while j >= step:
                if not precedes(moved, a[j - step]):
                    break
                a[j] = a[j - step]
                j -= step
            a[j] = moved
        step //= 3


def order_of(keys, backwards):
    """The indices of a list's items in order, by merging; those of equal items in their own order."""
    n = len(keys)
    order, merged = np.arange(n), np.empty(n, np.int64)
    width = 1
    while width < n:
        for low in range(0, n, 2 * width):
            middle, high = min(low + width, n), min(low + 2 * width, n)
            left, right = low, middle
            for at in range(low, high):
                takes_right = left >= middle
                if left < middle and right < high:
                    one, other = keys[order[left]], keys[order[right]]
                    takes_right = one < other if backwards else other < one
                if takes_right:
                    merged[at] = order[right]
                    right += 1
                else:
                    merged[at] = order[left]
                    left += 1
        for at in range(n):
            order[at] = merged[at]
        width *= 2
    return order


def put_in_order(items, order):
    """Permutes the items of a list in place, by the cycles of the permutation `order`, which is overwritten."""
    for start in range(len(order)):
        at = start
        moved = items[start]
        while order[at] != start:
            source = order[at]
            items[at] = items[source]
            order[at] = at
            at = source
        items[at] = moved
        order[at] = at


@list_loop
def arrange(items, keys, backwards):
    """Sorts a list by the keys of its items."""
    put_in_order(items, order_of(keys, backwards))


@list_loop
def sort_items(items):
    """Sorts a list of tuples."""
    put_in_order(items, order_of(items, False))


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


def argsort(a):
    """The indices of a vector's elements in order, those of equal elements in their own order."""
    out = np.arange(len(a))
    step = widest_gap(len(a))
    while step >= 1:
        for i in range(step, len(a)):
            moved = out[i]
            j = i
            while j >= step:
                before, after = a[out[j - step]], a[moved]
                if precedes(before, after) or (not precedes(after, before) and out[j - step] < moved):
                    break
                out[j] = out[j - step]
                j -= step
            out[j] = moved
        step //= 3
    return out


def quantile(a, q):
    """The value below which a fraction of the elements is, linear between two elements; NaN where an element is."""
    if a.dtype.name == "float32":
        refuse("np.quantile of float32 is not compiled")
    if not 0 <= q <= 1:
        raise ValueError("Quantiles must be in the range [0, 1]")
    ordered = sort(np.ravel(a))
    n = len(ordered)
    found = np.nan
    if n > 0 and not np.isnan(ordered[n - 1]):
        position = q * (n - 1)
        first = int(position)
        share = position - first
        low, high = np.float64(ordered[first]), np.float64(ordered[min(first + 1, n - 1)])
        found = low + (high - low) * share if share < 0.5 else high - (high - low) * (1 - share)
    return found


def percentile(a, q):
    """The value below which so many percent of the elements are, linear between two elements."""
    if not 0 <= q <= 100:
        raise ValueError("Percentiles must be in the range [0, 100]")
    return quantile(a, q / 100)


def unique(ar):
    """The distinct elements in order; NaN is one of them at most once."""
    ordered = sort(np.ravel(ar))
    kept = np.ones(len(ordered), np.bool_)
    kept[1:] = (ordered[1:] != ordered[:-1]) & ~np.isnan(ordered[:-1])
    return ordered[kept]
