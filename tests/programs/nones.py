"""Names and results that are numbers on some paths and None on others; nothing is left to Python."""
# ruff: noqa: RET503  (the end of a function gives None)

from functools import partial

import numpy as np

from tests.programs.registry import Programs, floats, ints

PROGRAMS = Programs(strict=True)
_on = partial(PROGRAMS.on, targets=("cpu", "interpret"))


@_on(floats(20))
@_on(floats(0))
@_on(ints(20, dtype=np.int32))
def greatest(x):
    best = None
    for i in range(x.shape[0]):
        if best is None or x[i] > best:
            best = x[i]
    return best


@_on(floats(20), 1.9)
@_on(floats(20), 0.5)
@_on(floats(20), 3.0)
def first_above(x, limit):
    for i in range(x.shape[0]):
        if x[i] > limit:
            return i


def _place(x, limit):
    found = None
    k = 0
    while found is None and k < x.shape[0]:
        if x[k] > limit:
            found = k
        k += 1
    return found


@_on(floats(20), 1.0, None)
@_on(floats(20), 3.0, None)
@_on(floats(20), 1.0, 2.0)
def of_a_callee(x, limit, other):
    """The callee's None is tested here, where one is passed too."""
    if other is None:
        other = -1.0
    if first_above(x, limit) is not None:
        other += 1
    k = _place(x, limit)
    if k is None:
        return other, None
    return other, x[k]


@_on(floats(20), 0.5)
@_on(floats(20), 3.0, joined=True)
def extremes(x, limit):
    low = high = None
    for v in x:
        if v > limit:
            if not low or v < low:
                low = v
            if high != None and v <= high:  # noqa: E711
                continue
            high = v
    asked = 0
    if low:
        asked += 1
    if not high:
        asked += 10
    other = low
    span = high - low if low is not None and high is not None else 0.0
    return low, high, asked, other, span


@_on(floats(20), 1.0)
@_on(floats(20), 3.0)  # raises TypeError
def used(x, limit):
    k = None
    for i in range(x.shape[0]):
        if x[i] > limit:
            k = i
    return k + 1


@_on(floats(30))
@_on(floats(2))
def runs(x):
    start = None
    lengths = []
    for i in range(x.shape[0]):
        if x[i] > 0.0:
            if start is None:
                start = i
        elif start is not None:
            lengths.append(i - start)
            start = None
    while start is not None:
        lengths.append(x.shape[0] - start)
        start = None
    return lengths, start
