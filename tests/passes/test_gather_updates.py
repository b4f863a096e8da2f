"""Conditional updates of one scalar: gcc 12 makes wrong vectors of two of them in an iteration."""

from __future__ import annotations

import numpy as np
import pytest

from tests.e2e.harness import run_everywhere


def counted_twice(a, k):
    n = 0
    for i in range(a.shape[0]):
        if a[i] < k:
            n += 1
        if k != a[i]:
            n += 10
    return n


def flags(a, k):
    n = 0
    for i in range(a.shape[0]):
        if a[i] < k:
            n |= 1
        elif a[i] > 50:
            n |= 4
        if a[i] == k:
            n |= 2
    return n


def nested(a, k):
    s = 0.0
    for i in range(a.shape[0]):
        if a[i] < 70:
            s += 1.0
            if a[i] > k:
                s += 0.5
        if a[i] > 20:
            s += 0.25
    return s


@pytest.mark.sampled
@pytest.mark.parametrize("fn", [counted_twice, flags, nested])
@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.float32, np.float64])
def test_sums_of_two_conditions_are_right(fn, dtype):
    run_everywhere(fn, np.arange(100).astype(dtype), 3, targets=("cpu", "threads"))
