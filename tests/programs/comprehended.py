"""Comprehensions and generators with several loops, functions that are passed, items of flat arrays."""

import math
from functools import partial

import numpy as np

from tests.programs.registry import Programs, floats, ints

PROGRAMS = Programs(strict=True)
_on = partial(PROGRAMS.on, targets=("cpu", "interpret"))


@_on(floats(20, 2), floats(3, 2), 2)
def k_means(points, centres, steps):
    n, d = points.shape
    k = centres.shape[0]
    for _ in range(steps):
        distance = np.array(
            [[math.sqrt(np.sum((points[i, :] - centres[j, :]) ** 2)) for j in range(k)] for i in range(n)]
        )
        nearest = np.array([distance[i, :].argmin() for i in range(n)])
        centres = np.array(
            [[np.sum(points[nearest == i, j]) / np.sum(nearest == i) for j in range(d)] for i in range(k)]
        )
    return centres, distance


@_on(5)
@_on(1)
def hilbert(n):
    return np.array([[1.0 / (i + j + 1) for j in range(n)] for i in range(n)]), np.array(
        [[i * j for j in (1, 2, 3)] for i in range(n) if i != 2]
    )


@_on(ints(9, 11, lo=0, hi=2).astype(bool), 3)
@_on(ints(1, 1, lo=0, hi=2).astype(bool), 2)
@_on(ints(1, 5, lo=0, hi=2).astype(bool), 2)
@_on(ints(4, 2, lo=0, hi=2).astype(bool), 2)
@_on(ints(0, 3, lo=0, hi=2).astype(bool), 2)
def game_of_life(board, steps):
    for _ in range(steps):
        around = sum(
            np.roll(np.roll(board, i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i != 0 or j != 0)
        )
        board = (around == 3) | (board & (around == 2))
    return board


@_on(floats(6, 7))
@_on(ints(2, 3))
def sums_over_pairs(a):
    n, m = a.shape
    apart = sum(a[i, j] for i in range(n) for j in range(m) if i != j)
    below = sum([a[i, j] * 2 for i in range(n) for j in range(min(i, m))], 1)
    greatest = max(a[i, j] * j for i in range(n) for j in range(i + 1) if j < m)
    return apart, below, greatest


def _root(f, low, high, tolerance):
    at_low = f(low)
    while (high - low) / 2 > tolerance:
        middle = (low + high) / 2
        here = f(middle)
        if at_low * here < 0:
            high = middle
        else:
            low, at_low = middle, here
    return (low + high) / 2


# Two in one line are told apart by what they compute.
_SQUARE, _CUBE = lambda x: x * x - 2, lambda x: x * x * x - 2


@_on(_SQUARE, 0.0, 2.0)
@_on(_CUBE, 0.0, 2.0)
@_on(lambda x: np.cos(x) - x, 0.0, 2.0)
def roots(f, low, high):
    return _root(f, low, high, 1e-9), _root(_CUBE, low, high, 1e-9)


@_on(floats(4, 5))
def flat_items(z):
    part = z.flat[2:9]
    part[0] = 100.0
    w = np.array([4 / 9] + [1 / 9] * 4)
    value = 0.0
    for c in reversed([0.3, -0.2, 1.5]):
        value = value * z[0, 0] + c
    return z.flat[np.abs(z - 0.5).argmin()], z.flat[-1], part, z.flat[3] + 1, z @ w, value


@PROGRAMS.on(4, 2)
def names_of_their_own(n, x):
    y = n
    pair = tuple(x + 1 for x in (n, y))
    total = sum(x * y for x in range(n) for y in range(3))
    grown = [x * k for x in range(x) for k in range(2)]
    found = any(x + y > 100 for x, y in ((1, 2), (3, n)))
    return x, y, pair[0], pair[1], total, len(grown), found


@_on(floats(0), floats(0), 0)
@_on(floats(3), floats(0), 0)
@_on(floats(3), floats(2), 1)
@_on(floats(0), floats(2), 5)
def elements_of_no_iteration(a, w, n):
    scaled = np.array([x * w[n] for x in a])
    greater = [w[n] for x in a if x > 2.0]
    smaller = np.array([x for x in a if x < w[n]])
    return scaled, len(greater), smaller


@_on(floats(3, 4))
@_on(floats(4, 3).T)
@_on(floats(0, 4), joined=True)
def reductions_of_views(m):
    """The reduction was made once, of no row, in front of the loop."""
    return (
        [column.sum() for column in m.T],
        [row.mean() for row in m[:, 1:]],
        np.array([row.max() + k for k, row in enumerate(m[::-1])]),
        sum(np.dot(row, row) for row in m[1:]),
    )
