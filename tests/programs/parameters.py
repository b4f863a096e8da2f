"""Parameters of all kinds, and questions about their types."""

import itertools

import numpy as np

from tests.programs.registry import Programs, floats, ints

PROGRAMS = Programs(strict=True)


@PROGRAMS.on(floats(5), floats(7))
@PROGRAMS.on(floats(5))
@PROGRAMS.on(joined=True)
def any_number_of_arrays(*arrays):
    total = 0.0
    for x in arrays:
        for v in x:
            total += v
    return total, len(arrays)


@PROGRAMS.on(2, floats(5), ints(5))
@PROGRAMS.on(2.5, floats(5))
def first_of_several(k, *arrays, scale=2.0):
    out = np.zeros_like(arrays[0])
    for x in arrays:
        out += x * k
    return out * scale, arrays[-1].sum()




@PROGRAMS.on(floats(5), 3)
def handed_on(x, n, *rest):
    return _sum_of(x, *rest, x, n), len(rest)


def _sum_of(first, *others):
    out = first * 1
    for other in others:
        out = out + other
    return out


@PROGRAMS.on(floats(5))
@PROGRAMS.on(2.0)
@PROGRAMS.on(3)
@PROGRAMS.on(np.float32(3))
@PROGRAMS.on((1, 2.0))
@PROGRAMS.on("text")
@PROGRAMS.on(None)
def what_kind(x):
    if isinstance(x, np.ndarray):
        return x.sum()
    if isinstance(x, bool):
        return 7
    if isinstance(x, (int, float)):
        return x + 1
    if isinstance(x, np.floating):
        return x * 2
    if isinstance(x, tuple):
        return x[0]
    return -1 if isinstance(x, str) else -2


@PROGRAMS.on(floats(3, 4))
@PROGRAMS.on(floats(0, 4), joined=True)
def pairs_of_places(a):
    total = 0.0
    for i, j in itertools.product(range(a.shape[0]), range(1, a.shape[1])):
        if j == 2:
            continue
        total += a[i, j] * (i + 10 * j)
    for place in itertools.product(range(2), range(3), range(2)):
        total += place[0] * 100 + place[1] * 10 + place[2]
    return total


@PROGRAMS.on(floats(3), floats(4), 3, 1)
def pairs_of_elements(a, b, lo, hi):
    total = 0.0
    for x, y in itertools.product(a, b):
        total += x * y
    for i, x in itertools.product(range(lo, hi), a):
        total += i * x
    return total
