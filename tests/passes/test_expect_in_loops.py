"""Loops over views of lengths that the run shows have a version without tests of their indices."""

from __future__ import annotations

import numpy as np
import pytest

from appyc import pipeline
from appyc.ir.nodes import Likely
from appyc.ir.printer import print_function
from appyc.ir.visit import contains, loops_of
from appyc.options import Options
from appyc.passes.checks.expect_in_loops import expect_in_loops
from appyc.passes.pass_context import PassContext
from tests.e2e.harness import run_everywhere
from tests.lowering import after, lowered
from tests.printed import run_printed

UP_TO = (*pipeline.SIMPLIFY, *pipeline.ANALYSE[: pipeline.ANALYSE.index(expect_in_loops)])
_BOUNDS = np.array([0, 4, 9, 16])


def smoothed(x, bounds):
    for k in range(1, len(bounds) - 1):
        u = x[bounds[k] : bounds[k + 1]]
        v = x[bounds[k - 1] : bounds[k]]
        for i in range(len(v) - 2):
            u[i + 1] = 0.5 * (v[i] + v[i + 2])


def backwards(x, bounds):
    u = x[bounds[0] : bounds[2]]
    for i in range(bounds[1] - 1, -1, -1):
        for j in range(i):
            u[i - j] += u[j] + u[i]


def too_far(x, bounds):  # IndexError, behind stores
    u = x[bounds[0] : bounds[1]]
    for i in range(bounds[2]):
        u[i] += 1.0


def from_the_end(x, bounds):
    u = x[bounds[0] : bounds[1]]
    for i in range(bounds[1]):
        u[-i] += u[i - 1]


def under_a_condition(x, bounds):
    u = x[bounds[0] : bounds[1]]
    for i in range(bounds[1]):
        if i > 0:
            x[10 + i] = u[i - 1]


def gathered(x, bounds):
    u = x[bounds[0] : bounds[3]]
    s = 0.0
    for k in range(len(bounds) - 1):
        s += u[bounds[k]]
    return s


ALL = [smoothed, backwards, too_far, from_the_end, under_a_condition, gathered]
VERSIONED = [smoothed, backwards, too_far]


@pytest.mark.parametrize("fn", ALL, ids=lambda fn: fn.__name__)
def test_the_same_as_in_python(fn):
    run_everywhere(fn, np.arange(16.0), _BOUNDS)
    run_everywhere(fn, np.arange(16.0), np.array([0, 0, 1, 1]))


@pytest.mark.parametrize("fn", ALL, ids=lambda fn: fn.__name__)
def test_one_version_without_tests(fn):
    before = after(lowered(fn, np.arange(16.0), _BOUNDS), *UP_TO)
    function = after(before, expect_in_loops)
    free = [n for n in loops_of(function.body) if not contains(n, Likely)]
    assert (len(free) > 0) == (fn in VERSIONED or not contains(before, Likely))
    if fn is not too_far:
        x, y = np.arange(16.0), np.arange(16.0)
        fn(x, _BOUNDS)
        run_printed(function, y, _BOUNDS)
        np.testing.assert_array_equal(x, y)


def test_not_on_a_gpu():
    fn = after(lowered(smoothed, np.arange(16.0), _BOUNDS), *UP_TO)
    assert after(fn, expect_in_loops, context=PassContext(options=Options(target="gpu"))) is fn


def test_golden(golden):
    fn = after(lowered(smoothed, np.arange(16.0), _BOUNDS), *UP_TO)
    text = f"{print_function(fn)}\n# after\n\n{print_function(after(fn, expect_in_loops))}"
    golden("loops/expected_in_loops.txt", text)
