"""Remainders of indices that are less than one period out of range: selects, without a division."""

from __future__ import annotations

import numpy as np
import pytest

import appyc
from appyc import pipeline
from appyc.ir.nodes import Binary, Function
from appyc.ir.printer import print_function
from appyc.ir.visit import walk
from appyc.passes.pass_context import PassContext
from appyc.passes.simplify.reduce_remainders import reduce_remainders
from tests.e2e.harness import run_everywhere
from tests.lowering import after, lowered
from tests.printed import run_printed

UP_TO = (*pipeline.SIMPLIFY, *pipeline.ANALYSE[: pipeline.ANALYSE.index(reduce_remainders)])


def neighbours(a, b, m):
    n = a.shape[0]
    for i in range(n):
        b[i] = a[(i + 1) % n] - a[(i - 1) % n]


def both_axes(a, b, m):
    g = a.reshape(2, -1)
    rows, columns = g.shape
    for i in range(rows):
        up = (i + 1) % rows
        for j in range(columns):
            b[i * columns + j] = g[up, j] + g[i, (j - 1) % columns]


def two_away(a, b, m):
    n = a.shape[0]
    for i in range(n):
        b[i] = a[(i + 2) % n] * a[(i - 2) % n]


def around(a, b, m):
    n = a.shape[0]
    for i in range(n):
        for d in range(-1, 2):
            if d != 0:
                b[i] += a[(i + d) % n]


def all_around(a, b, m):
    n = a.shape[0]
    for i in range(n):
        for d in (-1, 0, 1):
            if d:
                b[i] += a[(i + d) % n]


def inside(a, b, m):
    n = a.shape[0]
    for i in range(1, n - 1):
        b[i] = a[i % n] + a[(i + 1) % n] + a[(i + 2) % n]


def up_to_a_parameter(a, b, m):
    for i in range(m):
        b[i] = a[(i + 1) % m]


def stored(a, b, m):
    n = a.shape[0]
    for i in range(n):
        b[(i + 1) % n] = a[i]


def carried(a, b, m):
    n = a.shape[0]
    for i in range(n):
        b[i] = a[i] + b[(i - 1) % n]


REDUCED = (neighbours, both_axes, two_away, around, all_around, inside, up_to_a_parameter, stored, carried)


def scaled(a, b, m):
    n = a.shape[0]
    for i in range(n):
        b[i] = a[(2 * i) % n]


def shifted_by_a_parameter(a, b, m):
    n = a.shape[0]
    for i in range(n):
        b[i] = a[(i + m) % n]


def another_length(a, b, m):
    for i in range(a.shape[0]):
        b[i] = a[(i + 1) % m]


def negative_start(a, b, m):
    n = a.shape[0]
    for i in range(-3, n):
        b[(i + 1) % n] += a[i % n]


def length_that_changes(a, b, m):
    n = a.shape[0]
    for i in range(n):
        b[i] = a[(i + 1) % n]
        n = n - i % 2


LEFT = (scaled, shifted_by_a_parameter, another_length, negative_start, length_that_changes)
SIZES = (2, 4, 6, 12)


def arguments(size: int) -> tuple[np.ndarray, np.ndarray, int]:
    return np.linspace(1.0, 2.0, size), np.zeros(size), size


def prepared(fn) -> Function:
    return after(lowered(fn, *arguments(4)), *UP_TO)


def remainders(fn: Function) -> int:
    return sum(isinstance(n, Binary) and n.op == "%" for n in walk(fn.body))


@pytest.mark.parametrize("fn", REDUCED, ids=lambda fn: fn.__name__)
def test_no_remainder_is_left(fn):
    before = prepared(fn)
    assert remainders(before)
    found = after(before, reduce_remainders)
    assert remainders(found) == (2 if fn is both_axes else 0)  # those of its reshape
    for size in SIZES:
        given, expected = arguments(size), arguments(size)
        fn(*expected)
        run_printed(found, *given)
        np.testing.assert_array_equal(given[1], expected[1])


@pytest.mark.parametrize("fn", LEFT, ids=lambda fn: fn.__name__)
def test_what_may_be_further_out_stays(fn):
    before = prepared(fn)
    assert reduce_remainders(before, PassContext()) is before


def test_a_larger_offset_is_guarded():
    assert not reduce_remainders(prepared(neighbours), PassContext()).guards
    (guard,) = reduce_remainders(prepared(two_away), PassContext()).guards
    assert guard.reason == "an index is less than one period out of range"


def rolled(a, b, m):
    c = a.reshape(2, -1) if m % 2 == 0 else a.reshape(1, -1)
    d = np.roll(np.roll(c, 1, 1), -1, 0) + np.roll(c, -3, 1) * 2.0
    b[:] = d.ravel()


def rolled_around(a, b, m):
    for k in (-1, 0, 2):
        b += np.roll(a, k) * (k + 3)


@pytest.mark.sampled
@pytest.mark.parametrize("size", [1, 2, 3, 4, 40])
@pytest.mark.parametrize("fn", [rolled, rolled_around], ids=lambda fn: fn.__name__)
def test_shifts_by_constants_are_differences(fn, size):
    run_everywhere(fn, *arguments(size))
    found = reduce_remainders(prepared(rolled_around), PassContext())
    assert remainders(found) == 0
    assert "an index is less than one period out of range" in {guard.reason for guard in found.guards}


@pytest.mark.sampled
@pytest.mark.parametrize("size", [1, 2, 3, 4, 40])
@pytest.mark.parametrize("fn", [*REDUCED, *LEFT], ids=lambda fn: fn.__name__)
def test_everywhere(fn, size):
    if fn is both_axes and size % 2:
        size += 1
    run_everywhere(fn, *arguments(size))


def test_no_elements():
    run_everywhere(neighbours, *arguments(0))


def test_the_inner_loop_loads_neighbours():
    f = appyc.jit(neighbours, cache=False)
    f(*arguments(40))
    text = f.source("c")
    assert "omp simd" in text
    assert " % " not in text.split("kernel_")[-1]
    assert "at(" not in text


def test_golden(golden):
    before = prepared(neighbours)
    found = after(before, reduce_remainders)
    golden("loops/periodic.txt", f"{print_function(before)}\n# after\n\n{print_function(found)}")
