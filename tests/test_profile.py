"""`fn.profile()`: what was predicted for each loop that threads may share, beside what it took."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import appyc
from appyc.ir.machine_model import Machine, Work
from appyc.runtime.machine_rates import using
from appyc.runtime.threads import get_num_threads, set_num_threads

SLOW = Machine(vector=10.0, scalar=10.0, fork=1.0, wake=1.0)
"""One on which every loop of some length is worth sharing."""

LAZY = Machine(fork=1e8, wake=1e8)


@pytest.fixture
def two_threads():
    before = get_num_threads()
    set_num_threads(2)
    yield
    set_num_threads(before)


@appyc.jit(cache=False)
def steps(a, b, n):
    for _ in range(n):
        for i in range(1, len(a) - 1):
            b[i] = a[i - 1] + a[i + 1]
        for i in range(1, len(a) - 1):
            a[i] = b[len(a) - 1 - i]  # from the other end: the two do not go together in blocks


@pytest.mark.parametrize(("found", "where"), [(SLOW, 5), (LAZY, 0)])
def test_each_loop_has_its_runs_iterations_and_times(two_threads, found, where):
    a, b = np.ones(1002), np.zeros(1002)
    with using(found):
        report = steps.profile(a, b, 5)
    first, second = report.times
    assert (first.runs, first.iterations, first.threads, first.shared) == (5, 5000, 2, where)
    assert first.operations > second.operations
    assert (first.bytes, second.bytes) == (24, 24)
    work = Work(first.operations * 1000, 0, 0, 24e3)
    assert first.alone == pytest.approx(5e-9 * found.alone(work))
    assert first.together == pytest.approx(5e-9 * found.together(work, 2))
    assert 0 < first.took < report.seconds
    assert f"line {first.line}" in str(report)
    assert "5 times 1,000 iterations" in str(report)
    assert ("on one thread\n" in f"{report}\n") == (where == 0)


def test_arguments_stay_as_they_are(two_threads):
    a, b = np.arange(50.0), np.zeros(50)
    steps.profile(a, b, 3)
    assert np.array_equal(a, np.arange(50.0))
    assert not b.any()


def test_loops_that_do_not_run_and_functions_without_any(two_threads):
    report = steps.profile(np.ones(10), np.ones(10), 0)
    assert [t.runs for t in report.times] == [0, 0]
    assert "did not run" in str(report)

    @appyc.jit(cache=False)
    def nothing(x):
        return x + 1

    report = nothing.profile(3)
    assert report.times == ()
    assert report.seconds is not None


def test_sums_and_nests_are_timed_too(two_threads):
    @appyc.jit(cache=False)
    def total(a):
        s = 0.0
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                s += a[i, j]
        return s

    with using(SLOW):
        (nest,) = total.profile(np.ones((300, 800))[:, ::2]).times
        (flat,) = total.profile(np.ones((300, 400))).times  # a nest over all of its memory is one loop
    assert (nest.runs, nest.iterations, nest.shared) == (1, 300, 1)
    assert (flat.runs, flat.iterations, flat.shared) == (1, 300 * 400, 1)


def test_a_text_and_an_object_may_be_arguments(two_threads):
    @appyc.jit(cache=False)
    def total(a, mode, given):
        out = 0.0
        for i in range(len(a)):
            out += a[i] * given.scale if mode == "scaled" else a[i]
        return out

    (loop,) = total.profile(np.ones(500), "scaled", SimpleNamespace(scale=2.0)).times
    assert loop.iterations == 500


def test_what_the_call_raises_is_raised(two_threads):
    @appyc.jit(cache=False)
    def gather(a, k):
        for i in range(len(k)):
            a[i] = a[k[i]]

    with pytest.raises(IndexError):
        gather.profile(np.ones(5), np.array([0, 1, 7, 2, 3]))


def test_other_targets_have_no_profile():
    with pytest.raises(ValueError, match="for the CPU"):
        appyc.jit(target="python")(steps.py_func).profile(np.ones(5), np.ones(5), 1)


def test_plain_explanation_has_no_times():
    report = steps.explain(np.ones(5), np.ones(5), 1)
    assert report.seconds is None
    assert "timed" not in str(report)
