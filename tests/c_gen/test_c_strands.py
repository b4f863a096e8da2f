"""Extremes of floats that are looked for in four parts side by side."""

from __future__ import annotations

import numpy as np

import appyc
from appyc.api import JitFunction
from appyc.options import Options
from tests.c_gen.c_runner import generate


def text_of(fn, *args) -> str:
    jitted = appyc.jit(cache=False, target="cpu")(fn)
    assert isinstance(jitted, JitFunction)
    analysed = jitted._analyse(jitted._wanted(args, {}))
    return generate(analysed.function, Options(), sequential=False).text


def smallest(a):
    return a.min()


def smallest_and_sum(a):
    low = np.inf
    total = 0.0
    for i in range(len(a)):
        low = np.minimum(low, a[i])
        total += a[i]
    return low, total


def test_four_parts_of_a_long_loop():
    text = text_of(smallest, np.ones(3))
    assert "reduction(reduce_minimum_float64 : total, total_" in text
    assert "/ 4;" in text


def test_integers_and_sums_are_left_as_they_are():
    assert "quarter" not in text_of(smallest, np.ones(3, int))
    assert "quarter" not in text_of(smallest_and_sum, np.ones(3))
