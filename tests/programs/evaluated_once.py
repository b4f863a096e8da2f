"""Numbers that are read once, where a loop or a nested function begins, whatever their names get afterwards."""

import numpy as np

from tests.programs.registry import Programs, ints

PROGRAMS = Programs(strict=True)


@PROGRAMS.on(4)
def defaults(n):
    x = n
    pair = (n, n + 1)

    def added(y, by=x, both=pair):
        return 100 * y + 10 * by + both[0] * both[1]

    times = lambda y, by=x: y * by  # noqa: E731
    x = 7
    pair = (0, 0)
    return added(1), times(2)


@PROGRAMS.on(3)
def defaults_in_a_loop(n):
    total = 0
    while n > 0:

        def before(y, n=n, *, twice=2 * n):
            return y * n + twice

        n -= 1
        total += 10 * before(n) + n
    return total


@PROGRAMS.on(ints(6), [3, 1, 2], 4)
def first_counts(a, xs, k):
    total, start = 0, k
    for i, v in enumerate(a, start):
        start = 0
        total += i * v
    for i, x in enumerate(xs, start=k):
        k += 10
        total += i * x
    return total, start, k


@PROGRAMS.on(3)
def bounds_of_lanes(n):
    total, m = 0, n
    for v in range(n, n + 7):
        n = 0
        total += v
    for v in range(m, m + 7, 3):
        m = 0
        total += v
    return total


@PROGRAMS.on(np.arange(10), 3)
def bounds_of_steps(a, n):
    total, m = 0, n
    for i, v in zip(range(m, -m, -2), a):
        m = 0
        total += i * v
    for v in reversed(range(n, n + 7, 3)):
        n = 0
        total += v
    return total


@PROGRAMS.on(np.arange(6).reshape(2, 3), 1)
def rows_and_columns(a, i):
    total = 0
    for v in a[i]:
        i = 0
        total += v
    for v in a[:, i + 1]:
        i = 1
        total = 3 * total + v
    for k, v in enumerate(a[i]):
        i = (i + 1) % 2
        total += v * k
    return total
