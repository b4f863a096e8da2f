"""Loops whose first iterations stand before them, and what becomes of calls in which they do not run."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import appyc
from tests.e2e.harness import call, compare


def _summed(rows):
    total = 0
    for i in range(rows.shape[0]):
        total = total + rows[i]
    return total


def _stored_before(rows, out, counts):
    out[0] = 7.0
    total = 0
    for i in range(counts[0]):
        total = total + rows[i]
    return total


def _never_settles(x, n):
    for _ in range(n):
        x = np.stack((x, x))
    return x


def _asked_for(rows, n):
    total = 0
    # pragma parallel for
    for i in range(n):
        total = total + rows[i]
    return total


def test_a_call_without_iterations_runs_in_python_each_time() -> None:
    function = appyc.jit(cache=False, strict=True)(_summed)
    rows = np.arange(12.0).reshape(3, 4)
    for given in (rows, rows[:0], rows, rows[:0], np.asfortranarray(rows)):
        compare(call(_summed, (given,)), call(function, (given,)), "cpu")


def test_nothing_may_have_been_stored_where_only_elements_tell() -> None:
    rows, out, counts = np.ones((3, 4)), np.zeros(2), np.array([3])
    function = appyc.jit(cache=False, strict=True)(_stored_before)
    with pytest.raises(appyc.UnsupportedError, match="'out' has been stored into by then"):
        function(rows, out, counts)
    left = appyc.jit(cache=False)(_stored_before)
    for count in (3, 0):
        given = (rows, out, np.array([count]))
        compare(call(_stored_before, given), call(left, given), "cpu")


def test_types_that_do_not_settle_run_in_python() -> None:
    x = np.arange(3.0)
    with pytest.raises(appyc.UnsupportedError, match=r"on one path and a .* on another"):
        appyc.jit(cache=False, strict=True)(_never_settles)(x, 4)
    compare(call(_never_settles, (x, 4)), call(appyc.jit(cache=False)(_never_settles), (x, 4)), "cpu")


def test_a_loop_that_is_asked_to_run_in_parallel_keeps_its_iterations() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(appyc.CompileError, match="'total' is a Python int on one path"):
            appyc.jit(cache=False)(_asked_for)(np.ones((3, 4)), 3)


def _returns_two_kinds(a, flag):
    if flag:
        x = a.sum()
    else:
        x = a * 2
    return x + 1


def _too_many_branches(a, flags, out):
    p, q, r, s, t = a, a, a, a, a
    if flags[0]:
        p = 1.0
    if flags[1]:
        q = 1.0
    if flags[2]:
        r = 1.0
    if flags[3]:
        s = 1.0
    if flags[4]:
        t = 1.0
    out[:] = p + q + r + s + t
    return out


@pytest.mark.parametrize(
    ("fn", "args", "what"),
    [
        (_returns_two_kinds, (np.arange(3.0), True), "and another path returns"),
        (_too_many_branches, (np.arange(3.0), np.arange(5) % 2, np.zeros(3)), "on one path and"),
    ],
)
def test_branches_that_do_not_go_together_run_in_python(fn, args, what) -> None:
    with pytest.raises(appyc.UnsupportedError, match=what):
        appyc.jit(cache=False, strict=True)(fn)(*args)
    compare(call(fn, args), call(appyc.jit(cache=False)(fn), args), "cpu")


def test_a_profile_of_a_call_that_python_runs_says_nothing_of_loops() -> None:
    report = appyc.jit(cache=False, target="cpu")(_summed).profile(np.ones((0, 4)))
    assert report.times == ()
