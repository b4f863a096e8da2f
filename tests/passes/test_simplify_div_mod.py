"""Positions in C order that are taken apart by the lengths they were put together from, and others."""

from __future__ import annotations

import numpy as np
import pytest

from appyc.ir.nodes import Binary
from appyc.ir.visit import walk
from appyc.passes.checks.guard_assumptions import guard_assumptions
from appyc.passes.pass_context import PassContext
from appyc.passes.simplify.copy_propagation import copy_propagation
from appyc.passes.simplify.dead_code_elimination import dead_code_elimination
from appyc.passes.simplify.expand_tensors import expand_tensors
from appyc.passes.simplify.simplify_div_mod import simplify_div_mod
from tests.e2e.harness import run_everywhere
from tests.lowering import after, lowered
from tests.printed import run_printed

BEFORE = (expand_tensors, copy_propagation, dead_code_elimination, guard_assumptions, copy_propagation)


def axis_of_length_one(a, n, m):
    return a.reshape(a.shape[0], 1, 1, a.shape[1])[:, 0, 0, :] * 1.0


def there_and_back(a, n, m):
    return (a.ravel().reshape(a.shape) + 1.0).reshape(1, a.shape[0], a.shape[1])


def lengths_are_guarded_to_be_equal(a, n, m):
    b = np.zeros((n, m))
    b[:] = a
    return b + a.reshape(n, m)


def positions_of_a_program(a, n, m):
    b = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            b[(i * m + j) // max(m, 1), (i * m + j) % max(m, 1)] = a[i, j]
    return b


def constant_lengths(a, n, m):
    b = np.zeros((n, 6))
    for i in range(n):
        for k in range(6):
            b[i, (i * 6 + k) % 6] = (i * 6 + k) // 6 + a[i, (24 + k // 9) // 6 - 4]
    return b


def two_axes_at_once(a, n, m):
    c = np.zeros((2, n, m))
    for t in range(2):
        for i in range(n):
            for j in range(m):
                place = ((t * n + i) * m + j) % max(n * m, 1)
                c[((t * n + i) * m + j) // max(n * m, 1), i, j] = a[i, j] + place
    return c


def blocks_of_two(a, n, m):
    return a.reshape(a.shape[0] // 2, 2, a.shape[1] // 2, 2)[:, 0, :, 1] * 1.0


def means_of_blocks(a, n, m):
    return a.reshape(a.shape[0] // 2, 2, -1, 2).sum(axis=(1, 3))


def another_order(a, n, m):
    return a.reshape(m, n) * 1.0


def digit_may_reach_the_base(a, n, m):
    b = np.zeros(n + 1)
    for i in range(n + 1):
        b[i] = (i * n + i) % max(n, 1) + (i // max(n, 1))
    return b


def base_changes(a, n, m):
    s = 0
    for i in range(n):
        s += i % max(n, 1)
        n = 2
    return s


def negative_digits(a, n, m):
    s = 0
    for i in range(-n, n):
        s += i % max(n, 1)
    return s


SPLIT = (axis_of_length_one, there_and_back, lengths_are_guarded_to_be_equal, positions_of_a_program,
         constant_lengths, two_axes_at_once)  # fmt: skip
EVEN = (blocks_of_two,)
LEFT = (another_order, digit_may_reach_the_base, base_changes, negative_digits)


def divisions(fn):
    return sum(isinstance(n, Binary) and n.op in ("//", "%") for n in walk(fn.body))


def remainders(fn):
    return sum(isinstance(n, Binary) and n.op == "%" for n in walk(fn.body))


def prepared(fn, n=2, m=3):
    return after(lowered(fn, np.ones((n, m)), n, m), *BEFORE)


@pytest.mark.parametrize("fn", SPLIT, ids=lambda fn: fn.__name__)
def test_nothing_is_divided(fn):
    before = prepared(fn)
    assert divisions(before) > 0
    assert divisions(after(before, simplify_div_mod)) == 0


@pytest.mark.parametrize("fn", EVEN, ids=lambda fn: fn.__name__)
def test_lengths_that_are_multiples(fn):
    before = prepared(fn)
    assert remainders(before) > 0
    assert remainders(after(before, simplify_div_mod)) == 0


@pytest.mark.parametrize("fn", LEFT, ids=lambda fn: fn.__name__)
def test_what_is_not_known_stays(fn):
    before = prepared(fn)
    assert divisions(before) > 0
    assert simplify_div_mod(before, PassContext()) is before


@pytest.mark.parametrize(("n", "m"), [(2, 3), (1, 1), (4, 1), (1, 5), (3, 3), (4, 6), (2, 2)])
@pytest.mark.parametrize("fn", [*SPLIT, *EVEN, *LEFT], ids=lambda fn: fn.__name__)
def test_results_stay(fn, n, m):
    if fn in EVEN and (n % 2 or m % 2):
        return
    a = np.arange(n * m, dtype=float).reshape(n, m)
    found = run_printed(after(prepared(fn, n, m), simplify_div_mod), a.copy(), n, m)
    np.testing.assert_array_equal(found, fn(a, n, m))


@pytest.mark.sampled
@pytest.mark.parametrize("shape", [(4, 6), (5, 6), (4, 7), (0, 6), (3, 0), (0, 0), (1, 4), (2, 8)], ids=str)
@pytest.mark.parametrize("fn", [blocks_of_two, means_of_blocks], ids=lambda fn: fn.__name__)
def test_blocks_as_in_python(fn, shape):
    run_everywhere(fn, np.arange(float(np.prod(shape))).reshape(shape), *shape)
