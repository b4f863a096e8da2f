"""Loops that share a temporary are joined where they may be, and the temporary is contracted."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from appyc.ir.nodes import Alloc, For, Function
from appyc.ir.printer import print_function
from appyc.ir.visit import walk
from appyc.passes.check_bounds import check_bounds
from appyc.passes.context import PassContext
from appyc.passes.contract_arrays import contract_arrays
from appyc.passes.expand_tensors import expand_tensors
from appyc.passes.fuse_loops import fuse_loops
from appyc.passes.guard_assumptions import guard_assumptions
from appyc.passes.propagate_scalars import propagate_scalars
from appyc.passes.remove_dead_code import remove_dead_code
from tests.ir_makers import Program
from tests.lowering import after, lowered
from tests.printed import run_printed

BEFORE = (
    expand_tensors, propagate_scalars, remove_dead_code,
    guard_assumptions, propagate_scalars, remove_dead_code, check_bounds,
)  # fmt: skip

A, B = np.linspace(-1.0, 1.0, 12).reshape(3, 4), np.linspace(0.5, 2.0, 4)


def fused(fn, *args: object, context: PassContext | None = None) -> Function:
    return after(lowered(fn, *args), *BEFORE, fuse_loops, contract_arrays, context=context)


def outer_loops(fn: Function) -> int:
    return sum(isinstance(stmt, For) for stmt in fn.body)


def arrays_made(fn: Function) -> int:
    return sum(isinstance(n, Alloc) for n in walk(fn))


def chain(a, b):
    t = a * b
    u = t + a
    return np.exp(u) - t


def diamond(a):
    t = a * 2.0
    u, v = t + 1.0, t - 1.0
    return u * v


def into_a_sum(a, b):
    t = a * b
    return t.sum()


def softmax(x, y):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    y[:] = e / e.sum(axis=1, keepdims=True)


def product_and_epilogue(a, b, c):
    c[:] = 2.0 * (a @ b) + c


def stencil_into_another_array(a, b):
    b[1:-1] = (a[:-2] + a[2:]) / 2.0


def column_means(a):
    return a - a.mean(axis=0)


def stencil_of_a_temporary(a):
    t = a * 2.0
    return t[:-1] + t[1:]


def stencil_in_place(a):
    a[1:-1] = (a[:-2] + a[2:]) / 2.0


def temporary_is_returned(a):
    t = a * 2.0
    return t, t + 1.0


# function, arguments, loops right in the function, arrays that stay in memory
CASES = [
    (chain, (B, B + 1.0), 1, 1),
    (diamond, (B,), 1, 1),
    (into_a_sum, (B, B), 1, 0),
    (softmax, (A, A.copy()), 1, 1),
    (product_and_epilogue, (A, A.T.copy(), np.eye(3)), 1, 0),
    (stencil_into_another_array, (B, B.copy()), 1, 0),
    (column_means, (A,), 2, 2),
    (stencil_of_a_temporary, (B,), 2, 2),
    (stencil_in_place, (B,), 2, 1),
    (temporary_is_returned, (B,), 1, 2),
]
NAMES = [case[0].__name__ for case in CASES]


@pytest.mark.parametrize(("fn", "args", "loops", "arrays"), CASES, ids=NAMES)
def test_loops_and_arrays_that_are_left(fn, args, loops, arrays):
    out = fused(fn, *args)
    assert (outer_loops(out), arrays_made(out)) == (loops, arrays), print_function(out)


@pytest.mark.parametrize(("fn", "args"), [case[:2] for case in CASES], ids=NAMES)
def test_result_is_numpys(fn, args):
    own, expected_args = copy.deepcopy(args), copy.deepcopy(args)
    found, expected = run_printed(fused(fn, *args), *own), fn(*expected_args)
    for one, two in zip((expected, *expected_args), (found, *own), strict=True):
        if one is not None:
            np.testing.assert_allclose(two, one)


@pytest.mark.parametrize(
    ("fn", "args", "reason"),
    [
        (stencil_of_a_temporary, (B,), "different ranges"),
        (stencil_in_place, (B,), "other iterations"),
        (column_means, (A,), "different ranges"),
    ],
)
def test_refusal_says_why(fn, args, reason):
    context = PassContext()
    fused(fn, *args, context=context)
    assert any(reason in r.text for r in context.remarks if r.kind == "missed"), context.remarks


def test_text_of_a_softmax(golden):
    golden("tensors/softmax_fused.txt", print_function(fused(softmax, A, A.copy())))


def test_contraction_is_reported():
    context = PassContext()
    fused(chain, B, B, context=context)
    assert any("'t' is never stored" in r.text for r in context.remarks)


def test_zeros_that_are_only_sometimes_written_start_as_zero():
    def sometimes(a, out):
        t = np.zeros(a.shape[0])
        for i in range(a.shape[0]):
            if a[i] > 0.0:
                t[i] = a[i]
            out[i] = t[i] + 1.0

    out, expected = np.empty(4), np.empty(4)
    x = np.array([1.0, -1.0, 2.0, -2.0])
    program = fused(sometimes, x, out)
    assert arrays_made(program) == 0
    run_printed(program, x, out)
    sometimes(x, expected)
    np.testing.assert_array_equal(out, expected)


def test_empty_function():
    fn = Program().function()
    assert contract_arrays(fuse_loops(fn, PassContext()), PassContext()) is fn
