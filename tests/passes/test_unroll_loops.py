"""Short loops inside others are written out, and the program computes the same."""

from __future__ import annotations

import numpy as np
import pytest

from appyc import pipeline
from appyc.ir.nodes import Function, Load
from appyc.ir.printer import print_function
from appyc.ir.verify import check
from appyc.ir.visit import loops_of, walk
from appyc.passes.pass_context import PassContext
from appyc.passes.simplify.unroll_loops import MOST_TRIPS, unroll_loops
from tests.lowering import after, lowered
from tests.printed import run_printed

A, OUT = np.arange(20.0).reshape(4, 5) ** 1.5, np.zeros((4, 5))


def simple(fn, *args: object) -> Function:
    return after(lowered(fn, *args), *pipeline.SIMPLIFY)


def unrolled(fn, *args: object, context: PassContext | None = None) -> Function:
    """The function after the pass, which leaves the same behind, bit for bit."""
    before = simple(fn, *args)
    out = unroll_loops(before, context or PassContext())
    check(out, "unroll_loops")
    results = []
    for program in (before, out):
        own = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
        results.append((run_printed(program, *own), own))
    np.testing.assert_equal(results[1], results[0])
    return out


def mean(a, b):
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            s = 0.0
            for di in range(-1, 2):
                for dj in range(-1, 2):
                    s += a[i + di, j + dj]
            b[i, j] = s / 9


def test_neighbours(golden):
    context = PassContext()
    out = unrolled(mean, A, OUT, context=context)
    assert [loop.var.name for loop in loops_of(out.body)] == ["i", "j"]
    assert sum(isinstance(n, Load) for n in walk(out)) == 9
    assert [r.text for r in context.remarks] == [
        "loop over 'dj': its 3 iterations are written out",
        "loop over 'di': its 3 iterations are written out",
    ]
    golden("ir/unroll_loops.txt", print_function(out))


def neighbours(a, b):
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            s = 0.0
            for di in range(-1, 2):
                for dj in range(1, -2, -1):
                    if di == 0 and dj == 0:
                        continue
                    if di + dj != 2:
                        s += a[i + di, j + dj]
            b[i, j] = s


def test_conditions_that_are_decided_are_gone():
    assert sum(isinstance(n, Load) for n in walk(unrolled(neighbours, A, OUT))) == 7


def under_condition(a, b):
    for i in range(a.shape[0]):
        if a[i, 0] > 1.0:
            for k in range(3):
                b[i, k] = a[i, k + 1] * k
        for k in range(2, 2):
            b[i, k] = 5.0


def test_under_a_condition_and_never():
    assert len(loops_of(unrolled(under_condition, A, OUT))) == 1


# ---------------------------------------------------------------- refusals


def never_assigned(a, b):
    for i in range(a.shape[0]):
        for _ in range(0):
            last = a[i]
    for i in range(0 * a.shape[0]):
        b[i] = last


def test_a_loop_that_never_runs_keeps_the_scalars_that_it_assigns():
    a, b = np.ones(3), np.zeros(3)
    run_printed(simple(never_assigned, a, b), a, b)


def left_early(a, b):
    for i in range(a.shape[0]):
        for k in range(3):
            if a[i, k] > 4.0:
                break
            b[i, k] = a[i, k]


def collapsed(a, b):
    # pragma parallel for collapse(2)
    for i in range(3):
        for k in range(3):
            b[i, k] = a[i, k]


def many(a, b):
    for i in range(a.shape[0]):
        for _ in range(MOST_TRIPS + 1):
            b[i, 0] = b[i, 0] + a[i, 0]


def beside_another(a, b):
    for i in range(a.shape[0]):
        for k in range(3):
            b[i, k] = a[i, k]
        for j in range(a.shape[1]):
            b[i, j] = b[i, j] + 1.0


def asked_for(a, b):
    for i in range(a.shape[0]):
        # pragma simd
        for k in range(3):
            b[i, k] = a[i, k]


def outermost(a, b):
    for k in range(3):
        b[0, k] = a[0, k]


def long_body(a, b):
    for i in range(a.shape[0]):
        for k in range(9):
            for m in range(9):
                b[i, 0] = b[i, 0] * 0.5 + a[i, 1] * k - a[i, 2] * m


@pytest.mark.parametrize("fn", [left_early, collapsed, many, beside_another, asked_for, outermost])
def test_what_stays_a_loop(fn):
    before = simple(fn, A, OUT)
    assert unroll_loops(before, PassContext()) == before


def test_what_would_be_long_keeps_a_loop():
    assert len(loops_of(unrolled(long_body, A, OUT))) == 2
