"""Functions of whole arrays that look for places, run along an axis, or count; nothing is left to Python."""

import numpy as np

from tests.programs.registry import C_ONLY, Programs, bools, complexes, floats, ints

PROGRAMS = Programs(strict=True)

_NAN = np.array([1.0, np.nan, -2.0, np.nan, 3.0, -0.0])
_TIES = np.array([2, 5, 1, 5, 1, 5])


# ---------------------------------------------------------------- where the extremes are


@PROGRAMS.on(floats(11))
@PROGRAMS.on(floats(11, dtype=np.float32)[::-1])
@PROGRAMS.on(_TIES)
@PROGRAMS.on(_TIES.astype(np.uint8))
@PROGRAMS.on(_NAN)
@PROGRAMS.on(np.array([-np.inf, -np.inf]))
@PROGRAMS.on(np.array([np.nan]))
@PROGRAMS.on(floats(1))
@PROGRAMS.on(floats(0))
@PROGRAMS.on(floats(4, 5))
@PROGRAMS.on(bools(9))
@PROGRAMS.on(floats(40_000), targets=C_ONLY)
def first_extremes(a):
    return a.argmin(), np.argmax(a), np.argmax(1 - a), (a * 2).argmin()


@PROGRAMS.on(floats(4, 5))
@PROGRAMS.on(np.asfortranarray(floats(4, 5)))
@PROGRAMS.on(ints(4, 5, lo=0, hi=3, dtype=np.int32))
@PROGRAMS.on(floats(1, 1))
@PROGRAMS.on(floats(0, 3))
@PROGRAMS.on(floats(3, 0))
def first_extremes_along_axes(a):
    return a.argmax(axis=0), np.argmin(a, axis=1), a.argmax(axis=-1, keepdims=True)


@PROGRAMS.on(floats(3, 4, 5), bools(3))
def first_extremes_of_planes(a, m):
    return a.argmin(axis=1), a[1].argmax(), a[m].argmax(axis=0), a[a > 0].argmin()


@PROGRAMS.on(_NAN)
@PROGRAMS.on(np.array([np.nan, np.nan]))
@PROGRAMS.on(np.array([[1.0, np.nan], [np.nan, np.nan], [2.0, -1.0]]))
@PROGRAMS.on(np.array([1.0, np.nan, 3.0], np.float32))
@PROGRAMS.on(ints(5))
@PROGRAMS.on(floats(0))
def without_nan(a):
    return np.nansum(a), np.nanprod(a), np.nanmean(a), np.nansum(a, axis=0), np.nanmean(a * 2, axis=0)


@PROGRAMS.on(_NAN)
@PROGRAMS.on(np.array([np.nan, np.nan]))
@PROGRAMS.on(np.array([[1.0, np.nan], [np.nan, np.nan], [2.0, -1.0]]))
@PROGRAMS.on(ints(5))
@PROGRAMS.on(floats(0))
def extremes_without_nan(a):
    return np.nanmax(a), np.nanmin(a, axis=-1), np.ptp(a)


# ---------------------------------------------------------------- running totals


@PROGRAMS.on(floats(11))
@PROGRAMS.on(floats(11, dtype=np.float32))
@PROGRAMS.on(ints(11, dtype=np.int8))
@PROGRAMS.on(ints(11, lo=0, dtype=np.uint16))
@PROGRAMS.on(bools(11))
@PROGRAMS.on(complexes(7))
@PROGRAMS.on(_NAN)
@PROGRAMS.on(floats(1))
@PROGRAMS.on(floats(0))
@PROGRAMS.on(floats(3, 4))
@PROGRAMS.on(floats(3, 4).T)
@PROGRAMS.on(floats(40_000), targets=C_ONLY)
def running_totals(a):
    return np.cumsum(a), a.cumsum() * 2, np.cumprod(a[:3])


@PROGRAMS.on(floats(3, 4))
@PROGRAMS.on(ints(3, 4, dtype=np.int16))
@PROGRAMS.on(floats(0, 4))
@PROGRAMS.on(floats(3, 0))
@PROGRAMS.on(floats(1, 1))
@PROGRAMS.on(np.asfortranarray(floats(5, 7)))
def running_totals_along_axes(a):
    return a.cumsum(axis=0), a.cumsum(axis=1), np.cumprod(a, axis=-1), np.cumsum(a, axis=0, dtype=np.float32)


@PROGRAMS.on(floats(3, 4, 5))
@PROGRAMS.on(floats(2, 0, 3))
def running_totals_of_planes(a):
    return a.cumsum(axis=1), (a + 1).cumsum(axis=0), np.cumsum(a, axis=2)


@PROGRAMS.on(floats(9), floats(9))
@PROGRAMS.on(ints(9), floats(9))
@PROGRAMS.on(floats(9), floats(8))
def totals_into_arrays(a, out):
    np.cumsum(a, out=out)
    b = np.cumsum(a, out=a)
    return b


@PROGRAMS.on(floats(9))
@PROGRAMS.on(_NAN)
@PROGRAMS.on(ints(9, dtype=np.int32))
@PROGRAMS.on(floats(0))
@PROGRAMS.on(floats(1))
def accumulated(a):
    return (
        np.maximum.accumulate(a), np.minimum.accumulate(a), np.add.accumulate(a), np.multiply.accumulate(a[:4]),
        np.logical_or.accumulate(a > 1), np.logical_and.accumulate(a < 1),
    )  # fmt: skip


@PROGRAMS.on(floats(4, 5))
@PROGRAMS.on(ints(4, 5, dtype=np.int8))
def reduced_by_ufuncs(a):
    return (
        np.add.reduce(a), np.multiply.reduce(a, axis=1), np.maximum.reduce(a, axis=None), np.minimum.reduce(a),
        np.logical_and.reduce(a > 0), np.logical_or.reduce(a > 0, axis=1), np.maximum.accumulate(a, axis=1),
        np.add.accumulate(a), np.add.reduce(a, axis=1, keepdims=True),
    )  # fmt: skip


@PROGRAMS.on(floats(9))
@PROGRAMS.on(ints(9, lo=0, dtype=np.uint8))
@PROGRAMS.on(bools(9))
@PROGRAMS.on(floats(2))
@PROGRAMS.on(floats(1))
@PROGRAMS.on(floats(0))
def differences(a):
    return np.diff(a), np.diff(a, n=2), np.diff(a, n=3)


@PROGRAMS.on(floats(4, 5))
def differences_along_axes(a):
    return np.diff(a), np.diff(a, axis=0), np.diff(a, 2, 1), np.trapezoid(a, axis=0), np.trapezoid(a, dx=0.5)


@PROGRAMS.on(floats(7), np.sort(floats(7, seed=1)))
@PROGRAMS.on(floats(1), floats(1))
@PROGRAMS.on(floats(0), floats(0))
@PROGRAMS.on(floats(3, 7), np.sort(floats(7, seed=1)))
def areas(y, x):
    return np.trapezoid(y, x), np.trapezoid(y)


# ---------------------------------------------------------------- counts


@PROGRAMS.on(floats(6), np.array([0, 3, 3, -1, 5]), floats(5, seed=1))
@PROGRAMS.on(floats(6), np.array([6, 3, 3, -1, 0]), floats(5, seed=1))
@PROGRAMS.on(floats(6), np.zeros(0, int), floats(0))
@PROGRAMS.on(ints(6), np.array([2, 2, 2]), ints(3, dtype=np.int8))
@PROGRAMS.on(floats(6), np.array([2, 2, 2]), 1.5)
@PROGRAMS.on(floats(6), np.array([2, 2, 2]), floats(1))
@PROGRAMS.on(floats(6, dtype=np.float32), np.array([2, 2, 2], np.uint8), floats(3, dtype=np.float32))
@PROGRAMS.on(floats(6), np.array([1, 1, 0]), floats(2))
def combined_into_elements(a, at, values):
    np.add.at(a, at, values)
    np.subtract.at(a, at[::-1], 2)
    np.maximum.at(a, at, values)
    np.minimum.at(a, at, 1)
    np.multiply.at(a, at, 2)


@PROGRAMS.on(ints(4, lo=0, dtype=np.uint8), np.array([1, 1, 3]), -1)
@PROGRAMS.on(ints(4, lo=0, dtype=np.uint8), np.array([], int), 300)  # unlike a[at] += 300, which raises
@PROGRAMS.on(ints(4, dtype=np.int16), np.array([0]), 70000)
def combined_with_wide_ints(a, at, k):
    np.add.at(a, at, k)
    np.subtract.at(a, at, k)
    np.bitwise_xor.at(a, at, k)
    np.multiply.at(a, at, k)


@PROGRAMS.on(floats(4, 5), np.array([1, 1, 3]), np.array([0, 0, 2]), floats(3))
@PROGRAMS.on(ints(4, 5), np.array([1, 1, 3]), np.array([0, 0, 2]), ints(3))
def combined_into_a_grid(a, rows, columns, values):
    np.add.at(a, (rows, columns), values)
    np.add.at(a, rows, 1)
    np.add.at(a, (rows, 2), values)


@PROGRAMS.on(floats(6), floats(6) > 0)
@PROGRAMS.on(np.arange(6), np.arange(6) > 2)
def combined_under_a_mask(a, m):
    np.add.at(a, m, 1)
    np.add.at(a, m, a[m] * 2)


@PROGRAMS.on(np.array([0, 1, 1, 2, 3, 2, 1]), 0)
@PROGRAMS.on(np.array([0, 1, 1, 2, 3, 2, 1], np.uint8), 7)
@PROGRAMS.on(np.array([], int), 0)
@PROGRAMS.on(np.array([], int), 3)
@PROGRAMS.on(np.array([2, -1, 1], np.int8), 0)
@PROGRAMS.on(np.array([2, 0, 1], np.int32), -1)
@PROGRAMS.on(ints(30_000, lo=0, hi=50), 0, targets=C_ONLY)
def counted(x, least):
    return np.bincount(x), np.bincount(x, minlength=least), np.bincount(x[::2] * 2)


@PROGRAMS.on(np.array([0, 1, 1]), floats(3))
@PROGRAMS.on(np.array([0, 1, 1]), floats(2))
@PROGRAMS.on(np.array([0, 1, 1]), ints(3, dtype=np.int32))
def counted_with_weights(x, w):
    return np.bincount(x, weights=w, minlength=2)


@PROGRAMS.on(floats(50))
@PROGRAMS.on(floats(50, dtype=np.float32))
@PROGRAMS.on(ints(50))
@PROGRAMS.on(ints(50, lo=0, dtype=np.uint8))
@PROGRAMS.on(floats(5, 10))
@PROGRAMS.on(np.zeros(4))
@PROGRAMS.on(floats(0))
@PROGRAMS.on(_NAN)
@PROGRAMS.on(np.array([1.0, np.inf]))
@PROGRAMS.on(np.arange(21) / 10.0)
@PROGRAMS.on(floats(40_000), targets=C_ONLY)
def histogram(a):
    return np.histogram(a)


@PROGRAMS.on(floats(50), 4)
@PROGRAMS.on(floats(50), 1)
@PROGRAMS.on(floats(50), 0)
@PROGRAMS.on(floats(0), 3)
@PROGRAMS.on(_NAN, 3)
@PROGRAMS.on(np.arange(30) / 10.0, 20)
def histogram_in_a_range(a, bins):
    counts, edges = np.histogram(a, bins, range=(0.0, 2.0))
    return counts, edges, np.histogram(a, bins=bins, range=(0, 2), weights=a)[0]


@PROGRAMS.on(floats(50), np.array([-1.0, 0.0, 0.25, 2.0]))
@PROGRAMS.on(floats(50), np.array([-1.0, 0.0, 0.0, 0.25, 0.25]))
@PROGRAMS.on(ints(50), np.array([-5, 0, 3, 7]))
@PROGRAMS.on(ints(50), np.array([-5.5, 0, 3, 7]))
@PROGRAMS.on(_NAN, np.array([-2.0, 1.0, 3.0]))
@PROGRAMS.on(floats(50), np.array([1.0, 0.5, 2.0]))
@PROGRAMS.on(floats(50), np.array([1.0]))
@PROGRAMS.on(floats(0), np.array([1.0, 2.0]))
def histogram_between_edges(a, edges):
    counts, same = np.histogram(a, edges)
    return counts, same, np.histogram(a, bins=edges, weights=a * 2.0)[0]


# ---------------------------------------------------------------- places in sorted arrays


@PROGRAMS.on(np.sort(floats(9)), floats(7, seed=1))
@PROGRAMS.on(np.sort(ints(16, lo=0, hi=6)), ints(9, lo=-1, hi=8))
@PROGRAMS.on(np.sort(ints(15, lo=0, hi=6)), floats(9))
@PROGRAMS.on(np.sort(_NAN), _NAN)
@PROGRAMS.on(floats(0), floats(3))
@PROGRAMS.on(floats(1), floats(2, 3))
@PROGRAMS.on(np.sort(floats(8)), floats(0))
@PROGRAMS.on(np.sort(floats(18))[::2], floats(3))
def sorted_places(a, v):
    return np.searchsorted(a, v), a.searchsorted(v, side="right"), np.searchsorted(a, 0), np.searchsorted(a, 1, "right")


@PROGRAMS.on(floats(9), np.array([-1.0, 0.0, 0.5, 1.0]))
@PROGRAMS.on(floats(9), np.array([1.0, 0.5, 0.5, -1.0]))
@PROGRAMS.on(ints(9), np.array([-3, 0, 0, 4]))
@PROGRAMS.on(floats(9), np.array([1.0, 0.5, 0.75]))
@PROGRAMS.on(floats(9), np.array([1.0]))
@PROGRAMS.on(floats(2, 3), np.array([1.0, 2.0]))
def bins_of_values(x, bins):
    return np.digitize(x, bins), np.digitize(x, bins, right=True)


# ---------------------------------------------------------------- chosen elements


@PROGRAMS.on(floats(9))
@PROGRAMS.on(ints(9, lo=0, hi=2))
@PROGRAMS.on(bools(4, 5))
@PROGRAMS.on(floats(0))
@PROGRAMS.on(np.zeros(3))
def places_of_nonzeros(a):
    return np.nonzero(a), np.where(a > 0), a.nonzero()[0], np.flatnonzero(a > 0), np.argwhere(a)


@PROGRAMS.on(floats(5), np.array([0, 4, -1, 2]))
@PROGRAMS.on(floats(5), np.array([0, 5]))
@PROGRAMS.on(floats(5), np.array([[0, 4], [1, 1]]))
@PROGRAMS.on(floats(5, 3), np.array([0, 2, -1]))
def taken(a, at):
    return np.take(a, at), a.take(at, axis=0), np.take(a, 1), np.take(a * 2, at)


@PROGRAMS.on(floats(5, 6), np.array([[0, 2], [1, 1]]))
def taken_along_columns(a, at):
    return np.take(a, at, axis=1), np.take(a, at, axis=0), np.take(a, 3, axis=1), a.take([2, 0, -1], axis=1)


@PROGRAMS.on(floats(5, 6), np.array([1, 0, 1, 1, 0], bool), bools(5, 6))
@PROGRAMS.on(floats(5, 6), np.array([0, 0, 1], bool), bools(5, 6))
@PROGRAMS.on(floats(2, 6), np.array([0, 0, 1], bool), bools(2, 6))
def compressed(a, rows, m):
    return np.compress(rows, a, axis=0), np.compress(rows, a), a.compress(rows, axis=1), np.extract(m, a)
