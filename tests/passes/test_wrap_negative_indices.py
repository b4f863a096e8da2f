"""Affine indices that are negative in some iterations: selects, which count from the end."""

from __future__ import annotations

import numpy as np
import pytest

import appyc
from appyc import pipeline
from appyc.ir.nodes import Function, Select
from appyc.ir.printer import print_function
from appyc.ir.visit import walk
from appyc.options import Options
from appyc.passes.checks.wrap_negative_indices import wrap_negative_indices
from appyc.passes.pass_context import PassContext
from tests.e2e.harness import run_everywhere
from tests.lowering import after, lowered
from tests.printed import run_printed

UP_TO = (*pipeline.SIMPLIFY, *pipeline.ANALYSE[: pipeline.ANALYSE.index(wrap_negative_indices)])


def backwards(a, b, m):
    for i in range(a.shape[0]):
        b[i] = a[i] - a[i - 1]


def two_axes(a, b, m):
    g = a.reshape(2, -1)
    for i in range(g.shape[0]):
        for j in range(g.shape[1]):
            b[i * g.shape[1] + j] = g[i - 1, j] + g[i, j - 2]


def stored(a, b, m):
    for i in range(a.shape[0]):
        b[i - 1] = a[i]


def added(a, b, m):
    for i in range(a.shape[0]):
        b[i - 1] += a[i]


def carried(a, b, m):
    for i in range(a.shape[0]):
        b[i] = a[i] + b[i - 1]


def two_away(a, b, m):
    for i in range(a.shape[0]):
        b[i] = a[i - 2] * 2.0


WRAPPED = (backwards, two_axes, stored, added, carried, two_away)


def behind_a_test(a, b, m):
    for i in range(a.shape[0]):
        if i > 0:
            b[i] = a[i - 1]


def from_the_second(a, b, m):
    for i in range(1, a.shape[0]):
        b[i] = a[i - 1]


def always_negative(a, b, m):
    for i in range(a.shape[0]):
        b[i] = a[-1 - i]


def by_a_parameter(a, b, m):
    for i in range(a.shape[0]):
        b[i] = a[i - m]


LEFT = (behind_a_test, from_the_second)


def arguments(size: int) -> tuple[np.ndarray, np.ndarray, int]:
    return np.linspace(1.0, 2.0, size), np.zeros(size), 1


def prepared(fn) -> Function:
    return after(lowered(fn, *arguments(4)), *UP_TO)


@pytest.mark.parametrize("fn", WRAPPED, ids=lambda fn: fn.__name__)
def test_a_select_counts_from_the_end(fn):
    found = after(prepared(fn), wrap_negative_indices)
    assert any(isinstance(n, Select) for n in walk(found.body))
    for size in (4, 12):
        given, expected = arguments(size), arguments(size)
        fn(*expected)
        run_printed(found, *given)
        np.testing.assert_array_equal(given[1], expected[1])


@pytest.mark.parametrize("fn", LEFT, ids=lambda fn: fn.__name__)
def test_what_is_never_negative_stays(fn):
    before = prepared(fn)
    assert wrap_negative_indices(before, PassContext()) is before


def test_unchecked_indices_stay():
    before = prepared(backwards)
    assert wrap_negative_indices(before, PassContext(Options(boundscheck=False))) is before


@pytest.mark.sampled
@pytest.mark.parametrize("size", [1, 2, 3, 4, 40])
@pytest.mark.parametrize("fn", [*WRAPPED, *LEFT, always_negative, by_a_parameter], ids=lambda fn: fn.__name__)
def test_everywhere(fn, size):
    if fn is two_axes and size % 2:
        size += 1
    run_everywhere(fn, *arguments(size))


def test_further_out_than_the_length_raises():
    def last_of(a, b, m):
        for i in range(m):
            b[i] = a[i - 2]

    run_everywhere(last_of, np.ones(1), np.zeros(9), 3)
    run_everywhere(last_of, np.ones(2), np.zeros(9), 3)
    run_everywhere(last_of, np.ones(0), np.zeros(9), 0)


def test_the_loop_has_lanes_and_no_tests():
    f = appyc.jit(backwards, cache=False)
    f(*arguments(40))
    text = f.source("c")
    assert "omp simd" in text
    assert "at(" not in text


def test_golden(golden):
    before = prepared(backwards)
    found = after(before, wrap_negative_indices)
    golden("loops/negative_indices.txt", f"{print_function(before)}\n# after\n\n{print_function(found)}")
