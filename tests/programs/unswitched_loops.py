"""Parallel loops that assign a name under a test that no iteration changes, and read it behind that."""

import numpy as np

from appyc import prange
from tests.programs.registry import Programs, floats

PROGRAMS = Programs(strict=True)


@PROGRAMS.on(floats(5, 4), True)
@PROGRAMS.on(floats(5, 4), False)
def pairs(x, fresh):
    """An array, in an inner loop; one of each path is made before the loop."""
    n = x.shape[0]
    out = np.zeros((n, n))
    if not fresh:
        weights = np.full((4, 4), 0.5)
    for i in prange(n):
        for j in range(i + 1, n):
            if fresh:
                weights = np.full((4, 4), 1.0 + i + j)
            total = 0.0
            for k in range(4):
                # pragma unroll(2)
                for m in range(4):
                    total += abs(x[i, k] - x[j, m]) * weights[k, m]
            out[i, j] = total
            out[j, i] = out[i, j]
    return out


@PROGRAMS.on(floats(9), None)
@PROGRAMS.on(floats(9), 0.5)
def scalars(x, scale):
    out = np.empty(x.size)
    factor = 2.0
    for i in prange(x.size):
        if scale is not None:
            factor = scale * i
        out[i] = x[i] * factor
    return out


@PROGRAMS.on(floats(9), 3)
@PROGRAMS.on(floats(9), 2)
def decided_twice(x, order):
    """The same test and its negation, with an arm of their own each."""
    out = np.empty(x.size)
    is_odd = order % 2 == 1
    shift = 1.0
    for i in prange(x.size):
        if not is_odd:
            out[i] = 0.0
        else:
            shift = x[i]
        if is_odd:
            out[i] = x[i] - 1.0
        if not is_odd:
            out[i] += 3.0
        out[i] += shift
    return out


@PROGRAMS.on(floats(9), True)
@PROGRAMS.on(floats(9), False)
def under_a_pragma(x, fresh):
    out = np.empty(x.size)
    w = 2.0
    # pragma parallel for schedule(static)
    for i in range(x.size):
        if fresh:
            w = x[i]
        out[i] = w * w
    return out


@PROGRAMS.on(floats(9), 0, 1)
@PROGRAMS.on(floats(9), 4, 1)
@PROGRAMS.on(floats(9), 4, 0)
def whose_test_may_be_unassigned(x, n, known):
    """Nothing is tested before a loop without iterations."""
    out = np.zeros(9)
    if n:
        fresh = known > 0
    shift = np.float64(1.0)
    for i in range(n):
        if fresh:
            shift = x[i]
        out[i] = shift
    return out
