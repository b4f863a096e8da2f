"""Types of library results: grids, spaced numbers, lists of parts, numbers of Python's."""

import numpy as np

from tests.programs.registry import Programs, bools, complexes, floats, ints

PROGRAMS = Programs(strict=True)

_NAN = np.array([[0.5, np.nan, -1.5, 2.0], [np.nan, 1.0, np.nan, np.nan], [3.0, -0.0, np.inf, 1.0]])


@PROGRAMS.on(_NAN)
@PROGRAMS.on(_NAN * np.nan)
@PROGRAMS.on(_NAN.astype(np.float32).T)
@PROGRAMS.on(ints(3, 4))
@PROGRAMS.on(_NAN[:0])
def indices_without_nan(a):
    return np.nanargmax(a), np.nanargmin(a, axis=1), np.nanargmax(a, axis=0, keepdims=True)


@PROGRAMS.on(_NAN[0], 1.0)
@PROGRAMS.on(ints(8), 3)
@PROGRAMS.on(ints(8, lo=0, dtype=np.uint8), 3)
def clipped_by_keywords(a, k):
    b, c = a.copy(), a.copy()
    np.clip(b, 1, k, out=b)
    c.clip(0, k, out=c)
    return np.clip(a, max=k), np.clip(a, min=k), a.clip(max=k), a.clip(min=1, max=k), b, c


@PROGRAMS.on(ints(8), ints(8, seed=2))
@PROGRAMS.on(floats(8), floats(8, seed=2))
@PROGRAMS.on(ints(8, lo=0, dtype=np.uint8), ints(8, lo=0, seed=2, dtype=np.uint8))
def quotients_and_rests(a, b):
    q, r = divmod(a, b)
    s, t = np.divmod(a, 3)
    a[:], b[:] = divmod(a, b)
    return q, r, s, t, divmod(7, a), np.divmod(7, 3)


@PROGRAMS.on(floats(8))
@PROGRAMS.on(floats(1))
@PROGRAMS.on(floats(0))
def lists_of_parts(a):
    first, second, third = np.array_split(a, 3)
    total = 0.0
    for part in np.array_split(a, 3):
        total += part.sum()
    return np.array_split(a, 3), np.split(a, [2, 5]), first + 0, second.sum() + third.sum(), total


@PROGRAMS.on(complexes(3, dtype=np.complex64))
@PROGRAMS.on(floats(3, dtype=np.float32))
@PROGRAMS.on(ints(3, dtype=np.int8))
@PROGRAMS.on(bools(3))
def numbers_of_python(a):
    return a[0].item(), a[1].item() + 1, a[2].item() == a[2]


@PROGRAMS.on(np.float32(3))
@PROGRAMS.on(np.float16(3))
@PROGRAMS.on(np.int32(3))
@PROGRAMS.on(3.0)
@PROGRAMS.on(3)
def grids_of_a_bound(x):
    return np.mgrid[0:x, 0:3], np.mgrid[0:x], np.ogrid[0:x:3j, 0:2], np.mgrid[0:x:0.5, 0:3.0]


@PROGRAMS.on(np.float32(1.5))
@PROGRAMS.on(np.int8(1))
@PROGRAMS.on(1.5)
def spaced_numbers(x):
    return np.linspace(0, x, 4), np.linspace(x, x + 1, 3, endpoint=False), np.logspace(x, 2, 3)


@PROGRAMS.on(bools(8), bools(3))
@PROGRAMS.on(complexes(8, dtype=np.complex64), complexes(3, dtype=np.complex64))
def correlated(a, v):
    return np.correlate(a, v, "valid")
