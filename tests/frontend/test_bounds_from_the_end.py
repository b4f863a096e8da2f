"""Bounds of slices, and places, that are written with a minus in front count from the end in the usual version."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest

import appyc
from appyc.compiler.cpu import CpuCompiler
from tests.e2e.harness import run_everywhere


def moving_average(a, n):
    total = np.cumsum(a)
    total[n:] = total[n:] - total[:-n]
    return total[n - 1 :] / n


def inner(a, n):
    return a[n:-n] * 2, a[-n:], a[-1 - n :], a[: -2 * n]


def backwards(a, n):
    return a[::-1][-n - 1 : -1], a[-n - 1 : -n : 1], a[-1 : -n - 1 : -1], a[-n::-1]


def elements(a, n):
    a[-n] += a[-n - 1] * 2
    return a[-n] + a[n - 1], a


def palindrome(a, n):
    total = 0.0
    for i in range(n):
        total += a[-1 - i] * a[i]
        a[-i - 1] = i
    return total, a


def from_zero_on(a, n):
    total = 0.0
    for i in range(n):
        total += a[-i]
    return total


PROGRAMS = (moving_average, inner, backwards, elements, palindrome)


@pytest.mark.sampled
@pytest.mark.parametrize("n", [3, 1, 0, -2, 6, 12, 13, 30])
@pytest.mark.parametrize("fn", [*PROGRAMS, from_zero_on], ids=lambda fn: fn.__name__)
def test_as_in_python(fn, n):
    if fn is moving_average and n <= 0:
        return  # divided by, or lengths that do not fit
    if fn in (palindrome, from_zero_on) and n <= 0:
        return  # the total of nothing has another type
    run_everywhere(fn, np.random.default_rng(n + 2).random(12), n)


@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: fn.__name__)
def test_the_plain_version_is_not_needed(fn):
    """It ran at each call, as no call has an `n` of which `n` and `-n` both count from the start."""
    jitted = appyc.jit(fn, cache=False, target="cpu")
    with mock.patch.object(CpuCompiler, "version", autospec=True, side_effect=CpuCompiler.version) as version:
        jitted(np.arange(12.0), 3)
    assert not any(call.kwargs.get("plain") for call in version.call_args_list)


def row(m, u):
    return m[u[0], :].sum()


def of_a_view(m, u):
    return m[1:, 1:][u[0], u[1]]


def stored_row(m, u):
    m[u[0], :] = 3.0


def stored_in_a_view(m, u):
    view = m[1:]
    view[u[0]] = 3.0


@pytest.mark.sampled
@pytest.mark.parametrize("fn", [row, of_a_view, stored_row, stored_in_a_view], ids=lambda fn: fn.__name__)
@pytest.mark.parametrize("large", [2**64 - 1, 2**64 - 3, 2**63])
def test_an_index_beyond_int64_does_not_count_from_the_end(fn, large):
    m = np.arange(12.0).reshape(3, 4)
    before = m.copy()
    with pytest.raises(IndexError, match="out of bounds"):
        appyc.jit(fn)(m, np.array([large, 0], np.uint64))
    assert np.array_equal(m, before)
    run_everywhere(fn, m, np.array([1, 0], np.uint64))
