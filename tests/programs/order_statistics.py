"""Sorting, quantiles and sets of values of windows and rows; nothing is left to Python."""

import numpy as np

from tests.programs.registry import C_ONLY, Programs, floats, ints

PROGRAMS = Programs(strict=True)

_WITH_NAN = floats(14)
_WITH_NAN[3:12:4] = np.nan
_ROWS = floats(5, 6, seed=2)


@PROGRAMS.on(floats(14), 3)
@PROGRAMS.on(floats(14), 4)
@PROGRAMS.on(floats(14)[::-2], 1)
@PROGRAMS.on(floats(4), 9)  # no window is whole
@PROGRAMS.on(ints(14), 4)
@PROGRAMS.on(_WITH_NAN, 3)
@PROGRAMS.on(floats(14, dtype=np.float32), 5)
def rolling_medians(x, w):
    out = np.full(x.shape, np.nan)
    for i in range(w - 1, x.shape[0]):
        out[i] = np.median(x[i - w + 1 : i + 1])
    return out


@PROGRAMS.on(_ROWS)
@PROGRAMS.on(_WITH_NAN.reshape(2, 7))
@PROGRAMS.on(ints(4, 5))
@PROGRAMS.on(floats(3, 4, dtype=np.float32))
@PROGRAMS.on(floats(3, 1))
@PROGRAMS.on(np.array([[0, 200], [255, 1]], np.uint8))
def quantiles(a):
    out = np.zeros((a.shape[0], 6))
    for i in range(a.shape[0]):
        row = a[i]
        out[i, 0] = np.quantile(row, 0.3)
        out[i, 1] = np.percentile(row, 95)
        out[i, 2:4] = np.percentile(row, [25, 75])
        out[i, 4] = np.nanquantile(row, np.float64(0.6))
        out[i, 5] = np.nanmedian(row) + np.nanpercentile(row, 10.0)
    return out


@PROGRAMS.on(_ROWS[0], 0.3, targets=C_ONLY)
@PROGRAMS.on(ints(9), 0.75, targets=C_ONLY)
@PROGRAMS.on(_WITH_NAN, 0.5, targets=C_ONLY)
@PROGRAMS.on(_WITH_NAN[:0], 0.5, targets=C_ONLY)
@PROGRAMS.on(floats(2000), 1.5, targets=C_ONLY)  # raises ValueError
def quantiles_outside_of_loops(a, q):
    return np.median(a), np.nanmedian(a * 2), np.percentile(a, [5, 95]), np.quantile(a, q)


@PROGRAMS.on(_ROWS, 0.5)
@PROGRAMS.on(_ROWS, 1.5)  # raises ValueError
def quantiles_in_parallel(a, q):
    out = np.zeros(a.shape[0])
    #pragma parallel for
    for i in range(a.shape[0]):
        out[i] = np.quantile(a[i], q)
    return out


@PROGRAMS.on(floats(12), 2)
@PROGRAMS.on(ints(12), 1)
@PROGRAMS.on(_WITH_NAN, 3)
def sorted_windows(x, w):
    out = np.zeros((len(x), 4))
    for i in range(w, len(x) - w):
        window = x[i - w : i + w + 1]
        out[i, 0] = np.mean(np.sort(window)[1:-1])
        out[i, 1] = window[np.argsort(window)[w]]
        out[i, 2] = np.unique(window).size
        out[i, 3] = np.interp(0.5, np.sort(window), window)
    return out


@PROGRAMS.on(ints(4, 5), ints(4, 3))
@PROGRAMS.on(floats(4, 5), floats(4, 5))
def sets_of_rows(a, b):
    out = np.zeros((a.shape[0], 3))
    for i in range(a.shape[0]):
        out[i, 0] = np.union1d(a[i], b[i]).sum()
        out[i, 1] = np.intersect1d(a[i], b[i]).size
        out[i, 2] = np.setdiff1d(a[i], b[i]).sum()
    return out


@PROGRAMS.on(floats(6), 2)
@PROGRAMS.on(floats(6), -6)
@PROGRAMS.on(ints(6, dtype=np.int16), -1)
@PROGRAMS.on(floats(6), 6)  # raises IndexError
@PROGRAMS.on(floats(6), -7)  # raises IndexError
def without_and_with(x, at):
    return np.insert(x, at, 2.7), np.insert(x, 1, x[::2]), np.delete(x, at), np.delete(x.reshape(3, -1), at, 0)


@PROGRAMS.on(floats(5), floats(5, seed=3))
@PROGRAMS.on(ints(5), floats(5, seed=3))
def of_two_vectors(x, y):
    return np.cov(x, y), np.corrcoef(x, y), np.cov(x, y, bias=True)


@PROGRAMS.on(floats(5))
@PROGRAMS.on(floats(5, dtype=np.float32))
def limits_of_types(a):
    most = np.finfo(a.dtype).max
    return np.nan_to_num(a / 0.0), np.finfo(np.float64).eps, np.iinfo(np.int32).max, most, np.finfo(a[0]).tiny


_LONG = floats(3, 700, seed=7)
_LONG[1, ::50] = np.nan


@PROGRAMS.on(_LONG, targets=C_ONLY)
@PROGRAMS.on(_LONG.astype(np.float32), targets=C_ONLY)
@PROGRAMS.on(ints(3, 500, lo=-100, hi=100, dtype=np.int8), targets=C_ONLY)
@PROGRAMS.on(ints(2, 100, lo=0, hi=60000, dtype=np.uint16), targets=C_ONLY)
@PROGRAMS.on(ints(3, 200), targets=C_ONLY)
@PROGRAMS.on(floats(2, 130)[:, ::2], targets=C_ONLY)
@PROGRAMS.on(floats(3, 0), targets=C_ONLY)
def long_vectors(a):
    out = np.empty(a.shape, a.dtype)
    order = np.empty((2, *a.shape), np.int64)
    #pragma parallel for
    for i in range(a.shape[0]):
        out[i] = np.sort(a[i])
        order[0, i] = np.argsort(a[i])
        order[1, i] = np.argsort(a[i], kind="stable")
    first = a[0].copy()
    first.sort()
    return out, order, first, np.unique(a[1]), np.union1d(a[0], a[1]), np.setdiff1d(a[0], a[1])


@PROGRAMS.on(ints(300) / 8, 5, targets=C_ONLY)
@PROGRAMS.on(ints(300), 3, targets=C_ONLY)
def sorted_between_loops(a, n):
    total = 0.0
    for k in range(n):
        a *= k + 1
        a[k] = 3
        a.sort()
        a[k:].sort()
        a[::-2].sort()
        for i in range(1, len(a)):
            total += (a[i] - a[i - 1]) * k
    return total, sorted([x for x in a if x > 2])[:3]
