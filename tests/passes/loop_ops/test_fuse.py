"""Fused loops do what both loops do, where an iteration needs no other iteration."""

from __future__ import annotations

import numpy as np
import pytest

from appyc.analysis.sets.allowance import Allowance
from appyc.ir.visit import loops_of, map_loops
from appyc.passes.loop_ops.fuse import fuse, why_not_fuse
from tests.loop_operations import agrees, analysed, text


def same_element(a, b):
    for i in range(a.shape[0]):
        a[i] = a[i] * 2.0
    for j in range(a.shape[0]):
        b[j] = a[j] + 1.0


def next_element(a, b):
    for i in range(a.shape[0]):
        a[i] = a[i] * 2.0
    for j in range(a.shape[0] - 1):
        b[j] = a[j + 1] + 1.0


A = np.arange(5.0)


@pytest.mark.parametrize("length", [0, 1, 6])
def test_fused(length):
    fn = analysed(same_element, A, A)
    first, second = loops_of(fn.body)
    assert why_not_fuse(first, second, Allowance(), exact=True) is None
    new = map_loops(fn, lambda n: fuse(first, second) if n.var == first.var else ())
    assert text(new) == "for i in range(0, a.shape[0]):\n    a[i] = a[i] * 2.0\n    b[i] = a[i] + 1.0"
    agrees(new, same_element, np.arange(float(length)), np.zeros(length))


def test_an_iteration_that_needs_another_one_refuses():
    first, second = loops_of(analysed(next_element, A, A).body)
    reason = why_not_fuse(first, second, Allowance(), exact=False)
    assert reason == "an iteration of the second needs other iterations of the first"
