"""Sums in vectors with a part of a vector at the end: nothing beside the elements counts."""

from __future__ import annotations

import numpy as np
import pytest

import appyc
from appyc.c_gen.lanes.dot_loops import SHORT_VECTORS
from tests.e2e.harness import run_everywhere


def product(x, y):
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i] * y[i]
    return s


def shifted(x, y):
    """Lanes without an element would add something."""
    s, t = 0.0, 0.0
    for i in range(x.shape[0]):
        s += (x[i] * 2.0 + 1.0) / (y[i] + 3.0)
        t += (x[i] - y[i]) ** 2
    return s, t


def descending(x, y):
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i] * y[x.shape[0] - 1 - i]
    return s


def jammed(x, y):
    a = np.zeros((3, 5), x.dtype)
    for i in range(3):
        for j in range(5):
            s = 0.0
            for k in range(x.shape[0] // 5):
                s += x[i + k] * y[j + k]
            a[i, j] = s
    return a


def stored_around(x, y):
    w, t = y.copy(), 0.0
    for _ in range(x.shape[0] // 3 + 1):
        s = 0.0
        for j in range(x.shape[0]):
            s += x[j] * w[j]
        for j in range(x.shape[0]):
            w[j] += x[j] / (1.0 + s * s)
        t += s
    return t


def test_sums_read_what_loops_around_store_in_short_vectors():
    """A load that is longer than the stores before waits until these have reached the cache."""
    x = np.ones(40)
    assert SHORT_VECTORS in appyc.jit(stored_around, target="cpu").source("c", x, x)
    assert SHORT_VECTORS not in appyc.jit(jammed, target="cpu").source("c", x, x)


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("count", [0, 1, 7, 8, 15, 16, 17, 20, 23, 31, 32, 33, 63, 65, 70, 127, 165])
@pytest.mark.parametrize(
    "fn", [product, shifted, descending, jammed, stored_around], ids=lambda fn: fn.__name__
)
def test_parts_of_vectors(fn, count, dtype):
    rng = np.random.default_rng(count)
    x, y = np.full(count + 40, np.nan, dtype), np.full(count + 40, np.inf, dtype)
    x[5 : 5 + count], y[3 : 3 + count] = rng.random(count), rng.random(count)
    run_everywhere(fn, x[5 : 5 + count], y[3 : 3 + count], targets=("cpu", "threads"), joined=True)
