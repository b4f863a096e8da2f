"""Arrays that are only made to be copied are made in the copy's memory."""

from __future__ import annotations

import numpy as np
import pytest

from appyc.ir.nodes import Alloc, Function
from appyc.ir.visit import walk
from appyc.passes.simplify.coalesce_arrays import coalesce_arrays
from tests.e2e.harness import run_everywhere
from tests.lowering import after, lowered

LINE = np.arange(5.0)


def made(fn: Function) -> int:
    return len({n.array for n in walk(fn) if isinstance(n, Alloc)})


def branches(a, c):
    if c:
        x = np.zeros(len(a) + 1)
        for i in range(len(a)):
            x[i] = a[i] * 2
    else:
        x = a + 1
    return x


def used_behind(a, c):
    y = a * 2
    x = a
    if c:
        x = y
    return x + y


def live_at_once(a, c):
    x = a * 2
    for _ in range(3):
        y = x + a
        y[0] = x[1]
        x = y
    return x


def left_early(a, c):
    x = a * 2
    for i in range(4):
        y = a + i
        if y[0] > c:
            break
        x = y
    return x


@pytest.mark.parametrize(
    ("fn", "fewer"), [(branches, 2), (used_behind, 0), (live_at_once, 1), (left_early, 1)]
)
def test_arrays_that_are_live_with_their_copy_stay(fn, fewer):
    """In both loops only what `x` is before them goes."""
    before = lowered(fn, LINE, 1)
    assert made(before) - made(after(before, coalesce_arrays)) == fewer


@pytest.mark.parametrize("fn", [branches, used_behind, live_at_once, left_early])
@pytest.mark.parametrize("given", [0, 1])
def test_the_results_are_pythons(fn, given):
    run_everywhere(fn, LINE, given)
