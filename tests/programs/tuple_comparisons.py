"""Tuples are compared item by item."""

from __future__ import annotations

import numpy as np

from tests.programs.registry import C_ONLY, Programs, floats, ints

PROGRAMS = Programs(strict=True)


@PROGRAMS.on(floats(4), floats(4))
@PROGRAMS.on(floats(4), floats(5))
@PROGRAMS.on(floats(0), floats(0))
def refused_unless_alike(a, b):
    if a.shape != b.shape:
        raise ValueError("shape")
    return a + b


@PROGRAMS.on(floats(3, 3), floats(3, 2))
@PROGRAMS.on(floats(2, 4), floats(2, 4))
def shapes(a, b):
    return a.shape == b.shape, a.shape == (3, 3), a.shape[:1] == b.shape[:1], a.shape == (), a.shape != (2, 4, 1)


@PROGRAMS.on(ints(6, 6, lo=0, hi=2))
def neighbours(cells):
    """A step of life: all of the nine but the middle."""
    new = np.zeros_like(cells)
    for i in range(1, cells.shape[0] - 1):
        for j in range(1, cells.shape[1] - 1):
            total = 0
            for di in range(-1, 2):
                for dj in range(-1, 2):
                    if (di, dj) != (0, 0):
                        total += cells[i + di, j + dj]
            new[i, j] = total == 3 or (total == 2 and cells[i, j] == 1)
    return new


@PROGRAMS.on(1, 2, 1.0, 3)
@PROGRAMS.on(2, 2, 2.0, 2)
@PROGRAMS.on(3, 0, 2.5, 9)
def in_order(a, b, c, d):
    one, other = (a, b), (c, d)
    orders = one < other, one <= other, one > other, one >= other
    longer = (a, b) < (a, b, c), (a, b, c) <= (a, b), (a,) > (c, d), (a,) > ()
    nested = ((a, b), c) < ((c, d), a), ((a, b), 1) == ((c, d), 1)
    return orders, longer, nested, one == other, (0, 0) <= one < (9, 9)


@PROGRAMS.on(1, 2)
@PROGRAMS.on(4, 2)
def among(a, b):
    return (a, b) in ((3, 2), (4, 2)), (a, b) not in ((1, 2),), a in ((1, 2), 1)


@PROGRAMS.on(3, 2.0)
def with_others(a, b):
    return (a, b) == a, (a, "x") == (a, "x"), (a, None) != (a, b), (a, "x") == (b, "y"), (a, b) != "ab"


@PROGRAMS.on(ints(12, lo=-5, hi=5), 2)
@PROGRAMS.on(floats(9), 0.0)
@PROGRAMS.on(np.array([1.0, np.nan, 2.0]), 0.0)
@PROGRAMS.on(floats(0), 0.0)  # raises ValueError
def extremes_of_tuples(x, least):
    best, at = max((v, i) for i, v in enumerate(x))
    near = min((abs(x[i] - x[j]), -i, j) for i in range(len(x)) for j in range(i))
    pairs = [(i % 3, i * 0.5) for i in range(len(x))]
    return best, at, near, max(pairs), min(pairs), max(pairs, key=lambda p: p[1] - p[0])


@PROGRAMS.on(ints(12, lo=-5, hi=5), 2)
@PROGRAMS.on(ints(12, lo=-5, hi=5), 9, joined=True)
@PROGRAMS.on(floats(0), 0.0, joined=True)
def extremes_with_a_default(x, least):
    pairs = [(i % 3, i * 0.5) for i in range(len(x))]
    whole = max((v for v in x if v > least), default=-1), min(x, default=7)
    return whole, min(((v, i) for i, v in enumerate(x) if v > least), default=None), max(pairs, default=(0, 0.5))


@PROGRAMS.on(floats(30), ints(30, lo=0, hi=4))
@PROGRAMS.on(np.array([1.0, 1.0, np.nan, 0.5]), ints(4))
@PROGRAMS.on(np.zeros(0), ints(0))
def extremes_of_several(a, b):
    best, last = (1e9, -1), (-1, 0)
    steps = 0
    for i in range(len(a)):
        best = min(best, (float(a[i]), i))
        last = max((int(b[i]), -i), last)
        steps += min((int(b[i]), 0), (int(b[i - 1]), 1), (2, 2))[1]
    return best, last, steps


@PROGRAMS.on(ints(30, lo=0, hi=4), targets=C_ONLY)
@PROGRAMS.on(ints(0), targets=C_ONLY)
def tuples_looked_for_among_tuples(a):
    seen = []
    for i in range(1, len(a)):
        edge = (a[i - 1], a[i])
        if edge not in seen and (a[i], a[i - 1]) not in seen:
            seen.append(edge)
    return seen, (1, 1) in seen, (a.sum(), 2) in seen


@PROGRAMS.on(5, 2)
@PROGRAMS.on(0, 0)
def steps_looked_for_among_steps(n, m):
    path = [(0, 0.0)]
    for k in range(n):
        path.append((k, k * m / 2))
    while (len(path) % 3, 2) in path:
        path.pop()
    return path, (m, m) in path, (m, 0.5) not in path
