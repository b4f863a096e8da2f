"""Loops over several sequences, which must be of one length."""

import numpy as np

from tests.programs.registry import Programs, floats, ints

PROGRAMS = Programs(strict=True)


@PROGRAMS.on(floats(4), floats(4, seed=1))
@PROGRAMS.on(floats(4), floats(3, seed=1))
@PROGRAMS.on(floats(4), ints(6))
@PROGRAMS.on(floats(0), floats(0), joined=True)
def weighed(a, b):
    total = 0.0
    largest = -np.inf
    for i, (x, y) in enumerate(zip(a, b)):
        total += i * x * y
    for x, y in zip(a, b, strict=True):
        total += x * y
        if x > largest:
            largest = x
        if total > 100:
            break
    else:
        total += 1
    return total, largest


@PROGRAMS.on(ints(4), ints(4), ints(5))
@PROGRAMS.on(ints(4), ints(3), ints(5))
@PROGRAMS.on(ints(4), ints(5), ints(3))
@PROGRAMS.on(ints(4), ints(4), ints(6))
@PROGRAMS.on(ints(3), ints(3), ints(5))
def of_three(a, b, c):
    out = np.zeros(10, np.int64)
    for k, (x, y, z) in enumerate(zip(a, b, c[1:], strict=True)):
        out[k] = x + y * z
    return out


@PROGRAMS.on(ints(4), ints(3))
@PROGRAMS.on(ints(0), ints(3), joined=True)
def of_the_shortest(a, b):
    total = 0
    for x, y in zip(a, b, strict=False):
        total += x * y
    return total, sum(x - y for x, y in zip(b, a, strict=False))
