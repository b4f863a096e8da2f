"""Divisors that are parameters: a guard tests them once."""

from __future__ import annotations

import numpy as np
import pytest

import appyc
from appyc import pipeline
from appyc.ir.printer import print_function
from appyc.ir.raising import may_raise
from appyc.passes.checks.check_bounds import check_bounds
from appyc.passes.checks.check_divisors import MAX_DIVISORS, check_divisors
from appyc.passes.pass_context import PassContext
from tests.e2e.harness import run_everywhere
from tests.lowering import after, lowered
from tests.printed import run_printed

BEFORE = (*pipeline.SIMPLIFY, *pipeline.ANALYSE[: pipeline.ANALYSE.index(check_divisors)])
BEHIND = pipeline.ANALYSE[: pipeline.ANALYSE.index(check_bounds) + 1]

A = np.linspace(1.0, 2.0, 7)


def by_a_float(a, b, h, n):
    for i in range(a.shape[0]):
        b[i] = a[i] * (i / h)


def by_a_length(a, b, h, n):
    for i in range(a.shape[0]):
        b[i] = i / (n - 1) + i // n + i % a.shape[0]


def by_two(a, b, h, n):
    s, k = 0.0, 0
    while k < 3:
        s += 1.0 / h + 1.0 / (2 * n)
        k += 1
    b[0] = s


def under_another_condition(a, b, h, n):
    for i in range(a.shape[0]):
        if a[i] > 1.5:
            b[i] = a[i] * (i / h)


GUARDED = (by_a_float, by_a_length, by_two, under_another_condition)


def outside_loops(a, b, h, n):
    b[0] = 1 / h


def behind_its_own_test(a, b, h, n):
    for i in range(a.shape[0]):
        b[i] = i / h if h > 0.0 else a[i]
        if n != 0 and i / n > 3.0:
            b[i] = 0.0


def computed_inside(a, b, h, n):
    for i in range(a.shape[0]):
        h = h - 0.5
        b[i] = i / h + 1.0 / (n - i)


LEFT = (outside_loops, behind_its_own_test, computed_inside)


def before(fn):
    return after(lowered(fn, A, A, 0.5, 3), *BEFORE)


@pytest.mark.parametrize("fn", GUARDED, ids=lambda f: f.__name__)
def test_a_guard_tests_the_divisor(fn):
    found = after(before(fn), check_divisors)
    assert [guard.reason for guard in found.guards].count("a divisor is not zero") >= 1
    one, other = np.zeros(7), np.zeros(7)
    fn(A, one, 0.5, 3)
    run_printed(found, A, other, 0.5, 3)
    assert one.tolist() == other.tolist()


def test_nothing_raises_behind_the_guards():
    assert not may_raise(after(lowered(by_a_length, A, A, 0.5, 3), *pipeline.SIMPLIFY, *BEHIND).body)


@pytest.mark.parametrize("fn", LEFT, ids=lambda f: f.__name__)
def test_left(fn):
    fn = before(fn)
    assert check_divisors(fn, PassContext()) is fn


@pytest.mark.sampled
@pytest.mark.parametrize("fn", [*GUARDED, *LEFT], ids=lambda f: f.__name__)
@pytest.mark.parametrize(("h", "n"), [(0.5, 3), (0.0, 3), (0.5, 1), (0.5, 0), (-0.25, -2)])
def test_everywhere(fn, h, n):
    run_everywhere(fn, A, np.zeros(7), h, n)


def test_the_guards_of_a_function_stay_few():
    def many(a, b, h, n):
        for i in range(a.shape[0]):
            b[i] = 1 / (n + 1) + 1 / (n + 2) + 1 / (n + 3) + 1 / (n + 4) + 1 / (n + 5) + 1 / (n + 6)
            b[i] += 1 / (h + 1) + 1 / (h + 2) + 1 / (h + 3) + 1 / (h + 4) + 1 / (h + 5) + 1 / (h + 6)

    fn = before(many)
    found = check_divisors(fn, PassContext())
    assert len(found.guards) - len(fn.guards) == MAX_DIVISORS
    assert may_raise(found.body)


def test_a_loop_divided_by_a_parameter_runs_in_parallel():
    def scaled(a, h):
        out = np.empty_like(a)
        for i in range(a.shape[0]):
            out[i] = int(a[i] * 3) / h
        return out

    compiled = appyc.jit(scaled)
    compiled(A, 2.0)
    assert compiled.explain().loops[0].mode == "parallel"
    with pytest.raises(ZeroDivisionError):
        compiled(A, 0.0)


def test_golden(golden):
    fn = before(by_a_length)
    found = check_divisors(fn, PassContext())
    golden("loops/divisors.txt", f"{print_function(fn)}\n# after\n\n{print_function(found)}")
