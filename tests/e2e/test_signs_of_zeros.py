"""With `exact`, minima and maxima have the zero that Python has, of 0.0 and -0.0, which are equal."""

import math

import numpy as np
import pytest

import appyc

ZEROS = np.random.default_rng(0).choice([0.0, -0.0], 400)
POSITIVE = np.random.default_rng(0).choice([0.0, -0.0, 1.0], 400)


def first_largest(x, best):
    for i in range(len(x)):
        if x[i] > best:  # noqa: PLR1730
            best = x[i]
    return best


def last_largest(x, best):
    for i in range(len(x)):
        if x[i] >= best:  # noqa: PLR1730
            best = x[i]
    return best


def last_largest_of_two(x, best):
    for i in range(len(x)):
        best = x[i] if x[i] >= best else best
    return best


def smallest(x, best):
    for i in range(len(x)):
        best = min(best, x[i])
    return best


@pytest.mark.parametrize("target", ["cpu", "interpret"])
@pytest.mark.parametrize(
    ("fn", "best"), [(first_largest, -1.0), (last_largest, 0.0), (last_largest_of_two, -1.0), (smallest, 1.0)]
)
def test_signs(fn, best, target):
    compiled = appyc.jit(cache=False, exact=True, target=target)(fn)
    for x in (ZEROS, ZEROS[::-1], -ZEROS, POSITIVE, -POSITIVE):
        for start in (best, 0.0, -0.0):
            assert math.copysign(1.0, compiled(x, start)) == math.copysign(1.0, fn(x, start))
