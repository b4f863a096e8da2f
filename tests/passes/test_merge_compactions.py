"""Selections by one mask are one loop, and others stay."""

from __future__ import annotations

import numpy as np
import pytest

from appyc.ir.nodes import For, Function
from appyc.ir.printer import print_function
from appyc.ir.visit import loops_of
from appyc.passes.fuse.merge_compactions import merge_compactions
from tests.lowering import around
from tests.printed import run_printed


def arguments() -> tuple[np.ndarray, ...]:
    return np.cos(np.arange(30.0)), np.sin(np.arange(30.0)), np.arange(30) % 3 == 0


def loops_in(fn: Function) -> int:
    return len([loop for loop in loops_of(fn.body) if isinstance(loop, For)])


def of_one_mask(x, y, mask):
    a = x[mask]
    b = y[mask]
    return a, b


def with_positions(x, y, mask):
    at = np.flatnonzero(mask)
    a = x[mask]
    return at, a


def used_between(x, y, mask):
    a = x[mask]
    for i in range(len(a)):
        a[i] += i
    b = y[mask]
    return a, b


MERGED = [of_one_mask, with_positions, used_between]


@pytest.mark.parametrize("fn", MERGED, ids=lambda fn: fn.__name__)
def test_one_loop_packs_both(fn):
    before, after = around(merge_compactions, fn, *arguments())
    assert loops_in(after) == loops_in(before) - 1
    for ours, theirs in zip(run_printed(after, *arguments()), fn(*arguments()), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_golden(golden):
    golden(
        "loops/merge_compactions.txt", print_function(around(merge_compactions, of_one_mask, *arguments())[1])
    )


def of_the_first(x, y, mask):
    a = x[mask]
    keep = np.zeros(30, np.bool_)
    keep[: len(a)] = a > 0.0
    return a, y[keep]


def mask_changed_between(x, y, mask):
    a = x[mask]
    mask[0] = False
    return a, y[mask]


def from_another_start(x, y, mask):
    a, b = np.zeros(31), np.zeros(31)
    k, m = 0, 1
    for i in range(30):
        if mask[i]:
            a[k] = x[i]
            k += 1
    for i in range(30):
        if mask[i]:
            b[m] = y[i]
            m += 1
    return a, b


def of_another_range(x, y, mask):
    a, b = np.zeros(30), np.zeros(30)
    k = 0
    for i in range(30):
        if mask[i]:
            a[k] = x[i]
            k += 1
    m = 0
    for i in range(29):
        if mask[i]:
            b[m] = y[i]
            m += 1
    return a, b


def into_its_source(x, y, mask):
    a = np.zeros(30)
    k = 0
    for i in range(30):
        if mask[i]:
            y[k] = x[i]
            k += 1
    m = 0
    for i in range(30):
        if mask[i]:
            a[m] = y[i]
            m += 1
    return a, y


def refused_between(x, y, mask):
    a = x[mask]
    if a[0] > 5.0:
        raise ValueError("too large")
    return a, y[mask]


KEPT = [
    of_the_first,
    mask_changed_between,
    from_another_start,
    of_another_range,
    into_its_source,
    refused_between,
]


@pytest.mark.parametrize("fn", KEPT, ids=lambda fn: fn.__name__)
def test_others_stay(fn):
    before, after = around(merge_compactions, fn, *arguments())
    assert loops_in(after) == loops_in(before)
    for ours, theirs in zip(run_printed(after, *arguments()), fn(*arguments()), strict=True):
        np.testing.assert_array_equal(ours, theirs)
