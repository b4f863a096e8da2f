"""Loops that raise leave behind what Python leaves."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

import appyc
from tests.counting import calls_of


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


def test_an_exception_that_is_raised_again_and_again_reads_its_line_once():
    def reciprocal(x):
        return 1 / x

    compiled = appyc.jit(strict=True)(reciprocal)

    def caught():
        with pytest.raises(ZeroDivisionError) as found:
            compiled(0)
        return found.value.__notes__

    assert caught() == caught()
    assert "return 1 / x" in caught()[0]

    def many():
        for _ in range(100):
            with contextlib.suppress(ZeroDivisionError):
                compiled(0)

    assert calls_of(many) < 3000
