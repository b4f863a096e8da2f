"""Copies that hold what another array holds all the time, and those that do not."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from appyc.ir.nodes import Alloc
from appyc.ir.visit import walk
from appyc.passes.checks.check_bounds import check_bounds
from appyc.passes.checks.guard_assumptions import guard_assumptions
from appyc.passes.pass_context import PassContext
from appyc.passes.simplify.copy_propagation import copy_propagation
from appyc.passes.simplify.dead_code_elimination import dead_code_elimination
from appyc.passes.simplify.expand_tensors import expand_tensors
from appyc.passes.storage.forward_copies import forward_copies
from tests.ir_makers import Program
from tests.lowering import after, lowered
from tests.printed import run_printed

BEFORE = (expand_tensors, copy_propagation, dead_code_elimination, guard_assumptions, check_bounds)


def mask_that_may_be_stored_to(a, m):
    a[m] = 0.0


def index_that_may_be_stored_to(a, at):
    a[at] = 7


def values_that_may_be_stored_to(a, m, v):
    a[m] = v


def source_is_written_in_between(a, b):
    c = a.copy()
    a[0] = 5.0
    b[:] = c


def copy_is_written(a, b):
    c = a.copy()
    c[0] = 5.0
    b[:] = c


def copy_is_returned(a, b):
    c = a.copy()
    b[:] = c
    return c


def source_has_strides(a, b):
    c = a.copy()
    b[:] = c * 2.0


def in_another_order(a, b):
    c = a[::-1].copy()
    b[:] = c * 2.0


def source_is_written_while_read(a, b):
    c = a.copy()
    for i in range(a.shape[0] - 1):
        a[i + 1] = c[i]


def copy_of_a_part(a, b):
    c = a[1:].copy()
    b[1:] = c * 2.0


A, B, M = np.arange(6.0), np.arange(6.0) + 1.0, np.arange(6) % 2 == 0

FORWARDED = [
    (mask_that_may_be_stored_to, (A, M)),
    (index_that_may_be_stored_to, (np.arange(6), np.array([1, 0, 3]))),
]
KEPT = [
    (source_is_written_in_between, (A, B)),
    (copy_is_written, (A, B)),
    (copy_is_returned, (A, B)),
    (source_has_strides, (np.arange(12.0)[::2], B)),
    (in_another_order, (A, B)),
    (source_is_written_while_read, (A, B)),
    (copy_of_a_part, (A, B)),
]


def allocations(fn):
    return sum(isinstance(n, Alloc) for n in walk(fn))


@pytest.mark.parametrize(("fn", "args"), FORWARDED, ids=[fn.__name__ for fn, _ in FORWARDED])
def test_copy_that_nothing_changes_is_gone(fn, args):
    before = after(lowered(fn, *args), *BEFORE)
    assert allocations(before) == 1
    assert allocations(after(before, forward_copies)) == 0


@pytest.mark.parametrize(("fn", "args"), KEPT, ids=[fn.__name__ for fn, _ in KEPT])
def test_copy_that_is_needed_stays(fn, args):
    before = after(lowered(fn, *args), *BEFORE)
    assert allocations(before) >= 1
    assert forward_copies(before, PassContext()) == before


def test_one_copy_of_several():
    values = np.array([7.0, 8.0, 9.0])
    before = after(lowered(values_that_may_be_stored_to, A, M, values), *BEFORE)
    assert allocations(before) == 2
    assert allocations(after(before, forward_copies)) == 0


@pytest.mark.parametrize("length", [1, 2, 6])
@pytest.mark.parametrize(
    ("fn", "args"), [*FORWARDED, *KEPT], ids=[fn.__name__ for fn, _ in [*FORWARDED, *KEPT]]
)
def test_results_stay(fn, args, length):
    given = tuple(array[:length] for array in args)
    if fn is index_that_may_be_stored_to:
        given = (args[0], args[1][:length])
    program = after(lowered(fn, *given), *BEFORE, forward_copies)
    one, two = copy.deepcopy(given), copy.deepcopy(given)
    expected, found = fn(*one), run_printed(program, *two)
    for x, y in zip(one, two, strict=True):
        np.testing.assert_array_equal(y, x)
    if expected is not None:
        np.testing.assert_array_equal(found, expected)


def test_function_without_arrays_is_left_alone():
    empty = Program().function()
    assert forward_copies(empty, PassContext()) is empty
