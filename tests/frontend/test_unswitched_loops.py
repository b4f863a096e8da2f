"""Which parallel loops are unswitched."""

import ast

import numpy as np
import pytest

import appyc
from appyc import prange
from appyc.frontend.desugar.unswitched_loops import with_unswitched_loops
from appyc.frontend.source import capture, read_source


def a_test_that_an_iteration_changes(x, out, fresh):
    w = 1.0
    for i in prange(x.size):
        if fresh:
            w = x[i]
        fresh = x[i] > 0
        out[i] = w


def a_test_that_an_iteration_stores_into(x, out, fresh):
    w = 1.0
    for i in prange(x.size):
        if fresh:
            w = x[i]
        fresh[()] = False
        out[i] = w


def a_test_that_may_be_unassigned(x, out, n):
    if n:
        fresh = n > 2
    w = 1.0
    for i in prange(n):
        if fresh:
            w = x[i]
        out[i] = w


def a_test_with_a_call(x, out, n):
    w = 1.0
    for i in prange(n):
        if abs(n) > 2:
            w = x[i]
        out[i] = w


def no_name_of_its_own(x, out, fresh):
    for i in prange(x.size):
        w = 1.0
        if fresh:
            w = x[i]
        out[i] = w


def an_array_that_is_stored_into(x, out, fresh):
    for i in prange(x.size):
        if fresh:
            out[i] = 1.0
        x[i] = out[i]


def no_read_behind_it(x, out, fresh):
    w = 1.0
    for i in prange(x.size):
        if fresh:
            w = x[i]
            out[i] = w
    return w


def no_parallel_loop(x, out, fresh):
    w = 1.0
    for i in range(x.size):
        if fresh:
            w = x[i]
        out[i] = w


def one_that_is(x, out, fresh):
    w = 1.0
    for i in prange(x.size):
        if fresh:
            w = x[i]
        out[i] = w


def one_that_a_pragma_marks(x, out, fresh):
    w = 1.0
    # pragma parallel for
    for i in range(x.size):
        if not fresh:
            w = x[i]
        out[i] = w


def read_before_it_is_assigned(x, out, fresh):
    w = 1.0
    for i in prange(x.size):
        out[i] = w
        if fresh:
            w = np.sin(w + x[i])


def loops(function):
    """How many loops the function has then."""
    source = read_source(capture(function))
    new = with_unswitched_loops(source, lambda node: globals().get(getattr(node, "id", "")))
    return sum(isinstance(node, ast.For) for node in ast.walk(new.ast))


@pytest.mark.parametrize(
    "function",
    [
        a_test_that_an_iteration_changes,
        a_test_that_an_iteration_stores_into,
        a_test_that_may_be_unassigned,
        a_test_with_a_call,
        no_name_of_its_own,
        an_array_that_is_stored_into,
        no_read_behind_it,
        no_parallel_loop,
    ],
)
def test_it_stays_as_it_is(function):
    assert loops(function) == 1


@pytest.mark.parametrize("function", [one_that_is, one_that_a_pragma_marks])
def test_it_is_unswitched(function):
    assert loops(function) == 2


def test_a_dependence_on_the_branch_that_carries_it_is_an_error():
    with pytest.raises(appyc.DependenceError, match="'w'"):
        appyc.jit(read_before_it_is_assigned)(np.ones(9), np.ones(9), True)
