"""Loops in functions that pass arrays to compiled callees: none of them runs in parallel."""

from __future__ import annotations

import numpy as np
import pytest

import appyc
from appyc.errors import DependenceError
from appyc.ir.nodes import LoopMode
from appyc.ir.visit import loops_of
from appyc.passes.checks.check_calls import passes_arrays
from tests.lowering import lowered


def clear(a, n):
    if n > 0:
        a[n - 1] = 0.0
        clear(a, n - 1)


def clear_rows(a):
    for i in range(a.shape[0]):
        clear(a[i], a.shape[1])


def fill(a):
    for i in range(a.shape[0]):
        a[i] = 1.0


def test_a_pragma_on_a_loop_that_calls_a_recursive_function_is_refused():
    @appyc.jit(cache=False)
    def asked(a):
        # pragma parallel for
        for i in range(a.shape[0]):
            clear(a[i], a.shape[1])

    with pytest.raises(DependenceError, match="iterations call a recursive function with 'a'"):
        asked(np.ones((5, 5)))


def test_a_pragma_on_another_loop_of_such_a_function_is_refused():
    @appyc.jit(cache=False)
    def asked(a):
        clear(a, a.shape[0])
        # pragma parallel for
        for i in range(a.shape[0]):
            a[i] += 1.0

    with pytest.raises(DependenceError, match="the function calls a recursive one with 'a'"):
        asked(np.ones(5))


def test_without_a_pragma_the_loop_is_sequential():
    fn = lowered(clear_rows, np.ones((5, 5)))
    assert passes_arrays(fn)
    assert all(loop.mode is LoopMode.SEQUENTIAL for loop in loops_of(fn))
    a = np.ones((5, 5))
    appyc.jit(cache=False, strict=True)(clear_rows)(a)
    assert not a.any()
    assert not passes_arrays(lowered(fill, np.ones(3)))
