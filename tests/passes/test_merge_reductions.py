"""Reductions that an earlier statement has computed become copies, and others stay."""

from __future__ import annotations

import numpy as np
import pytest

from appyc.ir.nodes import For, Function
from appyc.ir.printer import print_function
from appyc.ir.visit import walk
from appyc.passes.simplify.merge_reductions import merge_reductions
from tests.lowering import around
from tests.printed import run_printed


def loops_in(fn: Function) -> int:
    return sum(isinstance(n, For) for n in walk(fn.body))


def two_selections(x, y, mask):
    return x[mask], y[mask]


def sums_of_planes(x, y, mask):
    first = x.max() - x.min()
    return first / (x.max() + y[0])


def in_a_branch(x, y, mask):
    if y[0] > 0:
        return x.max() + x.max()
    return x.max()


MERGED = [(two_selections, 1), (sums_of_planes, 1), (in_a_branch, 1)]


@pytest.mark.parametrize(("fn", "fewer"), MERGED, ids=lambda p: getattr(p, "__name__", None))
def test_equal_reductions_are_one(fn, fewer):
    args = np.cos(np.arange(9.0)), np.sin(np.arange(9.0)), np.arange(9) % 2 == 0
    before, after = around(merge_reductions, fn, *args)
    assert loops_in(after) == loops_in(before) - fewer
    for ours, theirs in zip(np.atleast_1d(run_printed(after, *args)), np.atleast_1d(fn(*args)), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_golden(golden):
    args = np.ones(4), np.ones(4), np.ones(4, bool)
    golden("loops/merge_reductions.txt", print_function(around(merge_reductions, two_selections, *args)[1]))


def of_other_arrays(x, y, mask):
    return x.max() + y.max()


def stored_between(x, y, mask):
    first = x.max()
    x[0] = y[0]
    return first + x.max()


def with_another_start(x, y, mask):
    a, b = 0.0, 1.0
    for v in x:
        a += v
    for v in x:
        b += v
    return a + b


def changed_between(x, y, mask):
    a = b = 0.0
    for v in x:
        a += v
    a *= 2.0
    b = 0.0
    for v in x:
        b += v
    return a + b


def of_another_length(x, y, mask):
    a = b = 0.0
    n = 3
    for i in range(n):
        a += x[i]
    n = 4
    b = 0.0
    for i in range(n):
        b += x[i]
    return a + b


KEPT = [of_other_arrays, stored_between, with_another_start, changed_between, of_another_length]


@pytest.mark.parametrize("fn", KEPT, ids=lambda fn: fn.__name__)
def test_others_stay(fn):
    args = np.cos(np.arange(9.0)), np.sin(np.arange(9.0)), np.arange(9) % 2 == 0
    before, after = around(merge_reductions, fn, *args)
    assert after.body == before.body
