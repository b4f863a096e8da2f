"""Loops that are independent for some arguments: the call decides."""

from __future__ import annotations

import numpy as np
import pytest

import appyc


def shifted(a, k):
    for i in range(a.shape[0] - k):
        a[i] = a[i + k] * 2.0


def marked(a, k):
    # pragma parallel for
    for i in range(a.shape[0] - k):
        a[i] = a[i + k] * 2.0


@pytest.mark.parametrize("k", [0, 1, 2, 5, 9, 10, 11, -1])
def test_a_shifted_copy_is_right_for_every_distance(k):
    expected, result = np.arange(10.0), np.arange(10.0)
    try:
        shifted(expected, k)
    except IndexError:
        with pytest.raises(IndexError):
            appyc.jit(shifted)(result, k)
    else:
        appyc.jit(shifted)(result, k)
    np.testing.assert_array_equal(result, expected)


def test_both_versions_are_reported():
    jitted = appyc.jit(shifted)
    jitted(np.arange(10.0), 5)
    first, second = jitted.explain().loops
    assert (first.mode, first.verdict) == ("parallel", "independent")
    assert (second.mode, second.verdict) == ("sequential", "independent-if")
    assert "tested at each call" in first.reason


@pytest.mark.parametrize("k", [0, 5, 9, 10])
def test_a_pragma_holds_where_the_arguments_allow_it(k):
    expected, result = np.arange(10.0), np.arange(10.0)
    marked(expected, k)
    appyc.jit(marked)(result, k)
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("k", [1, 4])
def test_a_pragma_is_refused_where_the_arguments_forbid_it(k):
    result = np.arange(10.0)
    with pytest.raises(appyc.DependenceError, match="independent if k == 0") as caught:
        appyc.jit(marked)(result, k)
    assert "pragma parallel for" in str(caught.value)
    np.testing.assert_array_equal(result, np.arange(10.0))


def test_rows_that_are_one_are_refused_at_the_call():
    @appyc.jit
    def between_rows(u, new, old):
        # pragma parallel for
        for i in range(1, u.shape[1]):
            u[new, i] = u[old, i - 1]

    u = np.arange(20.0).reshape(2, 10)
    between_rows(u, 1, 0)
    np.testing.assert_array_equal(u[1, 1:], u[0, :-1])
    with pytest.raises(appyc.DependenceError, match=r"where .*(old|new) = 1") as caught:
        between_rows(u, 1, 1)
    assert "independent if" in str(caught.value)


def test_a_pragma_inside_keeps_the_loop_around_it_as_it_is():
    @appyc.jit
    def nested(a, k):
        for i in range(4):
            # pragma parallel for
            for j in range(a.shape[1] - k):
                a[i, j] = a[i, j + k]

    a = np.arange(40.0).reshape(4, 10)
    nested(a, 5)
    np.testing.assert_array_equal(a[:, :5], a[:, 5:])
    with pytest.raises(appyc.DependenceError):
        nested(a, 2)
