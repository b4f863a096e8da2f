"""Loops that put side by side what fulfils a condition, over several parts of a loop."""

import numpy as np

from tests.programs.registry import Programs, bools, floats, ints

PROGRAMS = Programs(strict=True)

_LONG = floats(1300)
_SELDOM = np.where(np.isin(np.arange(1300), (0, 63, 64, 127, 700, 701, 703, 1279, 1280, 1299)), 3.0, -_LONG**2)
"""Pieces of 64 with one or few that are above 0, at their ends too, and pieces with none."""


@PROGRAMS.on(_LONG)
@PROGRAMS.on(np.abs(_LONG))
@PROGRAMS.on(-np.abs(_LONG))
@PROGRAMS.on(_LONG.astype(np.float32)[::-2])
@PROGRAMS.on(ints(1300))
@PROGRAMS.on(_SELDOM)
@PROGRAMS.on((_SELDOM > 0).astype(np.uint8))
@PROGRAMS.on(floats(512))
@PROGRAMS.on(floats(0))
def chosen_by_numpy(a):
    return np.flatnonzero(a > 0), a[a > 0], np.where(a < 0.5)[0], (a * 2)[a > 1]


@PROGRAMS.on(floats(30, 50))
@PROGRAMS.on(floats(3, 700) > 1)
def places_of_several_axes(a):
    return np.nonzero(a > 0)


@PROGRAMS.on(_LONG, bools(1300))
@PROGRAMS.on(_LONG, np.ones(1300, bool))
@PROGRAMS.on(_LONG, _SELDOM > 0)
def several_arrays(a, m):
    n = len(a)
    values, places, small = np.zeros(n), np.zeros(n, np.int64), np.zeros(n, np.float32)
    k = 0
    for i in range(n):
        if m[i]:
            values[k] = a[i] * 2 + 1
            places[k] = i
            small[k] = a[i]
            k += 1
    return values, places, small, k


@PROGRAMS.on(_LONG.copy())
def packed_in_place(a):
    k = 0
    for i in range(len(a)):
        if a[i] > 0:
            a[k] = a[i]
            k += 1
    return k


@PROGRAMS.on(_LONG, floats(1300, seed=1))
def condition_that_guards_an_index(a, b):
    out = np.zeros(len(a))
    k = 0
    for i in range(len(a)):
        if i + 1 < len(b) and a[i] > 0:
            out[k] = b[i + 1]
            k += 1
    return out, k


@PROGRAMS.on(_LONG, ints(1300, lo=-1300, hi=1300))
def elements_by_an_index(a, idx):
    out = np.zeros(len(a))
    k = 0
    for i in range(len(a)):
        if a[i] > 0.5:
            out[k] = a[idx[i]]
            k += 1
    return out, k


@PROGRAMS.on(_LONG, np.zeros(4))
@PROGRAMS.on(_SELDOM, np.zeros(9))
def no_room_for_all(a, out):
    k = 0
    for i in range(len(a)):
        if a[i] > 1.99:
            out[k] = a[i]
            k += 1
    return k


@PROGRAMS.on(_LONG, 3)
def begins_further_on(a, k):
    out = np.zeros(len(a) + 3)
    for i in range(10, len(a) - 5):
        if a[i] > 0:
            out[k] = i
            k += 1
    return out, k
