"""The iterations that conflict are named where a call is refused, and the refusal stands where they cannot be found."""

from __future__ import annotations

import numpy as np
import pytest

import appyc
from appyc import prange


def shifted(a, k):
    for i in prange(a.shape[0] - 8):
        a[i + k] = a[i]


def beside_a_power(a, ix, k, s):
    for i in prange(a.shape[0] - 8):
        a[i + k] = a[i]
        s = s - (ix[i] + k**2)
    return s


def test_the_iterations_have_the_values_of_the_call():
    with pytest.raises(appyc.DependenceError, match=r"k = 3: iteration i=0 writes a\[3\]"):
        appyc.jit(shifted)(np.zeros(20), 3)


def test_values_that_are_not_evaluated_do_not_hide_the_refusal():
    with pytest.raises(appyc.DependenceError, match=r"carries a dependence|may carry"):
        appyc.jit(beside_a_power)(np.zeros(20), np.arange(20), 3, 2)
