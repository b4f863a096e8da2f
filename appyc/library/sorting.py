"""Sorting of numbers, with NaN last, and selection among them.

Shell's sort needs no memory, and is an insertion sort of a window. Of many numbers, code for a CPU calls NumPy's sort,
which uses vectors.
"""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from appyc.library.primitives import each, refuse
from appyc.library.searching import precedes
from appyc.library.table import ANY, FEW, in_library, list_loop, of

MANY = 4096
"""The most elements that a GPU's program sorts where the whole function would run in Python else."""


def widest_gap(n):
    """The first gap of Shell's sort of n elements: of 1, 4, 13, 40, ..., the first that is at least a third of n."""
    step = 1
    while step < n // 3:
        step = 3 * step + 1
    return step


@in_library("numpy_sort")
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


@in_library("numpy_argsort")
def order_vector(a, out, n):
    """Sorts indices by the elements of a vector that they name; `out` has those of the first n elements in order."""
    stable_order(a, out, n)


@in_library("numpy_stable_argsort")
def stable_order(a, out, n):
    """The same; indices of equal elements stay in order."""
    step = widest_gap(n)
    while step >= 1:
        for i in range(step, n):
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


def _vector(a, axis):
    """The array, which is to be a vector of numbers in an order."""
    if a.ndim != 1 or (axis is not None and axis not in (-1, 0)) or a.dtype.kind == "c":
        refuse("this is compiled for vectors of real numbers")
    return a


@of(np.sort, in_loops=FEW, inlined=MANY, on_cpu=True)
def sort(a: np.ndarray, axis=-1, kind=None):
    """The elements of a vector in order."""
    out = _vector(a, axis).copy()
    sort_vector(out, len(out))
    return out


@of(method="sort", in_loops=FEW, inlined=MANY, on_cpu=True)
def sort_in_place(a: np.ndarray, axis=-1, kind=None):
    """Sorts a vector in place."""
    sort_vector(_vector(a, axis), len(a))


@of(np.argsort, method="argsort", in_loops=FEW, inlined=MANY, on_cpu=True)
def argsort(a: np.ndarray, axis=-1, kind=None):
    """The indices of a vector's elements in order."""
    out = np.arange(len(_vector(a, axis)))
    if kind is None or kind == "quicksort":
        order_vector(np.ascontiguousarray(a), out, len(out))
    else:
        stable_order(np.ascontiguousarray(a), out, len(out))
    return out


def _select(a, k):
    """The k-th smallest element of a vector without NaN, all before it no larger and all behind it no smaller
    (C. A. R. Hoare, Algorithm 65: Find, 1961)."""
    low, high = 0, len(a) - 1
    while low < high:
        pivot = a[k]
        i, j = low, high
        while i <= j:
            while a[i] < pivot:
                i += 1
            while pivot < a[j]:
                j -= 1
            if i <= j:
                a[i], a[j] = a[j], a[i]
                i += 1
                j -= 1
        if j < k:
            low = i
        if k < i:
            high = j
    return a[k]


def _has_nan(a):
    return np.any(np.isnan(a)) if a.dtype.kind == "f" else False


def _flat(a, axis):
    """A copy of all elements, as a vector."""
    if (axis is not None and (a.ndim != 1 or axis not in (-1, 0))) or a.dtype.kind == "c":
        refuse("this is compiled for all elements of real numbers together")
    return np.ravel(a).copy()


@of(np.median, in_loops=ANY)
def median(a: np.ndarray, axis=None):
    """The mean of the two elements in the middle, NaN where one is, or where there is none."""
    real = a.dtype.type if a.dtype.kind == "f" else np.float64
    values = _flat(a, axis)
    n = len(values)
    middle = real(np.nan)
    if n > 0 and not _has_nan(values):
        high = real(_select(values, n // 2))
        low = high if n % 2 else real(np.max(values[: n // 2]))
        middle = (low + high) / real(2)
    return middle


def _of_joined_type(number, a, q):
    """The number in the float type that elements of `a` and fractions `q` meet in."""
    joined = np.result_type(a, q)
    return joined.type(number) if joined.kind == "f" else np.float64(number)


def _quantile(a, q, may_be_empty):
    """The values below which fractions of the elements are, linear between two elements; NaN where an element is."""
    if a.dtype.kind == "b" or (a.dtype.kind != "f" and q.dtype.kind != "f"):
        refuse("np.quantile is compiled for numbers, and for fractions that are floats")
    is_known = len(a) > 0 and not _has_nan(a)

    def at(share):
        if not 0 <= share <= 1:
            raise ValueError("Quantiles must be in the range [0, 1]")
        if len(a) == 0 and not may_be_empty:
            if a.dtype.kind == "f":
                raise IndexError("index -1 is out of bounds for axis 0 with size 0")
            raise IndexError("index 0 is out of bounds for axis 0 with size 0")
        found = _of_joined_type(np.nan, a, q)
        if is_known:
            position = np.float64(share) * (len(a) - 1)
            first = int(position)
            part = position - first
            low = _select(a, first)
            high = low if first + 1 == len(a) else np.min(a[first + 1 :])
            ahead, back = _of_joined_type(part, a, q), _of_joined_type(1 - part, a, q)
            found = low + (high - low) * ahead if part < 0.5 else high - (high - low) * back
        return found

    return each(at, q)


@of(np.quantile, in_loops=ANY)
def quantile(a: np.ndarray, q: np.ndarray, axis=None):
    """The values below which fractions of the elements are."""
    return _quantile(_flat(a, axis), q, False)


def _fraction(percent):
    if np.any(percent < 0) or np.any(percent > 100):
        raise ValueError("Percentiles must be in the range [0, 100]")
    return percent / 100


@of(np.percentile, in_loops=ANY)
def percentile(a: np.ndarray, q: np.ndarray, axis=None):
    """The values below which so many percent of the elements are."""
    return _quantile(_flat(a, axis), _fraction(q), False)


@of(np.unique, in_loops=FEW, inlined=MANY, on_cpu=True)
def unique(ar: np.ndarray):
    """The distinct elements in order; NaN is one of them at most once."""
    ordered = _flat(ar, None)
    sort_vector(ordered, len(ordered))
    kept = np.ones(len(ordered), np.bool_)
    kept[1:] = (ordered[1:] != ordered[:-1]) & ~np.isnan(ordered[:-1])
    return ordered[kept]


def _numbers(a, axis):
    """A copy of the elements but NaN."""
    values = _flat(a, axis)
    return values[~np.isnan(values)].copy()


@of(np.nanmedian, in_loops=ANY)
def nanmedian(a: np.ndarray, axis=None):
    """The median of the elements that are numbers."""
    return median(_numbers(a, axis))


@of(np.nanquantile, in_loops=ANY)
def nanquantile(a: np.ndarray, q: np.ndarray, axis=None):
    """The quantiles of the elements that are numbers."""
    return _quantile(_numbers(a, axis), q, True)


@of(np.nanpercentile, in_loops=ANY)
def nanpercentile(a: np.ndarray, q: np.ndarray, axis=None):
    """The percentiles of the elements that are numbers."""
    return _quantile(_numbers(a, axis), _fraction(q), True)


@of(np.union1d, in_loops=FEW, inlined=MANY, on_cpu=True)
def union1d(ar1: np.ndarray, ar2: np.ndarray):
    """The distinct elements of two arrays in order."""
    return unique(np.concatenate((np.ravel(ar1), np.ravel(ar2))))


@of(np.intersect1d, in_loops=FEW, inlined=MANY, on_cpu=True)
def intersect1d(ar1: np.ndarray, ar2: np.ndarray):
    """The distinct elements that two arrays have in common, in order."""
    ordered = np.concatenate((unique(ar1), unique(ar2)))
    sort_vector(ordered, len(ordered))
    return ordered[:-1][ordered[1:] == ordered[:-1]]


@of(np.setdiff1d, in_loops=FEW, inlined=MANY, on_cpu=True)
def setdiff1d(ar1: np.ndarray, ar2: np.ndarray):
    """The distinct elements of an array that another one lacks, in order."""
    distinct = unique(ar1).copy()
    return distinct[~np.isin(distinct, ar2)]
