"""`x.shape = n` of arrays that the function has made, and of their rows."""

from __future__ import annotations

import numpy as np
import pytest

import appyc
from appyc.errors import UnsupportedError
from tests.e2e.harness import run_everywhere


def flattened(n, m):
    x, y = np.mgrid[0:n, 0:m]
    c = x + y * 2.0
    x.shape = y.shape = c.shape = n * m
    return x * 1, y[1:] - x[:-1], c


def a_row(n, m):
    v = np.arange(6.0 * n * m).reshape(2, n, 3 * m)
    x = v[1]
    x.shape = (3, n, m)
    x[0, 0] = 7.0
    v[0] += 1.0
    return v


def until_few_are_left(n, m):
    x, y = np.mgrid[0:n, 0:m]
    x.shape = y.shape = n * m
    steps = 0
    while len(x) > 2:
        chosen = (x + y + steps) % 3 != 0
        x, y = x[chosen], y[chosen]
        steps += 1
    return x * 1, y * 1, steps


@pytest.mark.sampled
@pytest.mark.parametrize("fn", [flattened, a_row, until_few_are_left], ids=lambda fn: fn.__name__)
@pytest.mark.parametrize(("n", "m"), [(3, 4), (1, 1), (4, 1), (5, 6)])
def test_as_in_python(fn, n, m):
    run_everywhere(fn, n, m, strict=True)


def another_name(n, m):
    v = np.zeros((2, n, m))
    x = v[0]
    y = x
    x.shape = n * m
    return y.shape


def the_callers(x):
    x.shape = x.size
    return x


def a_row_that_a_number_picks(n, m):
    v = np.zeros((2, n, m))
    x = v[n % 2]
    y = v[m % 2]
    x.shape = n * m
    return x.ndim + y.ndim


@pytest.mark.parametrize("fn", [another_name, a_row_that_a_number_picks], ids=lambda fn: fn.__name__)
def test_others_that_might_see_it_are_refused(fn):
    with pytest.raises(UnsupportedError, match="shape"):
        appyc.jit(fn, strict=True, cache=False)(2, 3)
    run_everywhere(fn, 2, 3)


def test_the_callers_array():
    with pytest.raises(UnsupportedError, match="shape"):
        appyc.jit(the_callers, strict=True, cache=False)(np.zeros((2, 3)))
    run_everywhere(the_callers, np.arange(6.0).reshape(2, 3))
