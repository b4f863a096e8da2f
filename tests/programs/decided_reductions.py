"""Reductions whose result is known before their end: any, all and first places, over several parts of a loop."""

import numpy as np

from tests.programs.registry import Programs, floats

PROGRAMS = Programs(strict=True)

_N = 2100


def _marked(*places, dtype=np.float64):
    """Zeros with ones at these places."""
    out = np.zeros(_N, dtype)
    out[list(places)] = 1
    return out


@PROGRAMS.on(_marked())
@PROGRAMS.on(_marked(0))
@PROGRAMS.on(_marked(1023))
@PROGRAMS.on(_marked(1024, 2000))
@PROGRAMS.on(_marked(_N - 1))
@PROGRAMS.on(_marked(1500, dtype=np.float32))
@PROGRAMS.on(_marked(1500, dtype=np.int16))
@PROGRAMS.on(_marked(1500, dtype=bool))
@PROGRAMS.on(_marked(1500, dtype=np.complex128))
@PROGRAMS.on(_marked(1500)[::-3])
@PROGRAMS.on(np.zeros(0))
def any_and_all(a):
    return np.any(a), np.all(a == 0), (a != 1).any()


@PROGRAMS.on(_marked(3, 1700))
@PROGRAMS.on(_marked(1700, 1701))
@PROGRAMS.on(_marked())
def two_questions_in_one_loop(a):
    first = False
    every = True
    for i in range(len(a)):
        first = first or a[i] > 0
        every = every and a[i] < 1
    return first, every


@PROGRAMS.on(_marked(0))
@PROGRAMS.on(_marked(1024))
@PROGRAMS.on(_marked(1030, 1029, 2099))
@PROGRAMS.on(_marked(2099))
@PROGRAMS.on(_marked(1500, dtype=np.int32))
@PROGRAMS.on(_marked(1500, dtype=bool))
@PROGRAMS.on(np.where(np.arange(_N) > 1100, np.nan, floats(_N)))
@PROGRAMS.on(np.where(np.arange(_N) == 2000, -np.inf, floats(_N, dtype=np.float32)))
def first_places(a):
    return a.argmax(), a.argmin(), (-a if a.dtype != bool else ~a).argmax()


@PROGRAMS.on(floats(3, 1200))
@PROGRAMS.on(np.abs(floats(3, 1200)) + 1)
def along_rows(a):
    return (a > 1.9).any(axis=1), (a > 0).all(axis=1), a.argmin(axis=1)


@PROGRAMS.on(np.array([1.0, np.nan, -3.0]), np.array([np.nan, 2.0, -4.0]))
@PROGRAMS.on(np.array([np.nan, np.nan]), np.array([1.0, np.nan]))
@PROGRAMS.on(np.where(np.arange(100) == 37, np.nan, floats(100)), floats(100, seed=1))
@PROGRAMS.on(floats(100), np.where(np.arange(100) == 99, np.nan, floats(100)).astype(np.float64))
def extremes_with_nan(a, b):
    return (
        a.min(), b.max(), np.minimum(a, b), np.maximum(b, a), np.clip(a, -1, 1), np.minimum(a, 0.5),
        np.maximum(0.5, b), np.clip(a, b, 3.0), a[1:].min(), b[:-1].max(),
    )  # fmt: skip


@PROGRAMS.on(floats(_N))
@PROGRAMS.on(floats(_N, dtype=np.float32))
@PROGRAMS.on(floats(2 * _N)[::-2])
@PROGRAMS.on(np.where(np.arange(_N) == 10, np.nan, floats(_N)))
@PROGRAMS.on(np.where(np.arange(_N) == 1200, np.nan, floats(_N)))
@PROGRAMS.on(np.where(np.arange(_N) == _N - 1, np.nan, floats(_N)))
@PROGRAMS.on(np.arange(515.0))
@PROGRAMS.on(-np.arange(511.0))
@PROGRAMS.on(np.arange(9.0))
def extremes_of_many(a):
    low, high = np.inf, -np.inf
    for i in range(len(a)):
        x = a[i] * a[i] - a[i]
        low = min(low, x)
        high = max(high, x + 1)
    return a.min(), a.max(), np.ptp(a * 2), (-a).max(), a[3:].min(), low, high
