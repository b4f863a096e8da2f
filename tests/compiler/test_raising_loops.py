"""Loops that raise leave behind what Python leaves."""

from __future__ import annotations

import numpy as np
import pytest

import appyc


def test_iterations_behind_the_one_that_raises_have_not_happened():
    def f(a, b):
        for i in range(a.shape[0]):
            if a[i] < 0.0:
                raise ValueError("negative")
            b[i] = a[i]

    a = np.ones(100_000)
    a[10] = -1.0
    b = np.zeros(100_000)
    with pytest.raises(ValueError, match="negative"):
        appyc.jit(f)(a, b)
    assert b.sum() == 10.0
