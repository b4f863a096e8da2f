"""A temporary of which every iteration uses its own row becomes the row."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from appyc.ir.nodes import Alloc, For, Function
from appyc.ir.printer import print_function
from appyc.ir.visit import walk
from appyc.options import Options
from appyc.passes.checks.check_bounds import check_bounds
from appyc.passes.checks.guard_assumptions import guard_assumptions
from appyc.passes.fuse.fuse_loops import fuse_loops
from appyc.passes.pass_context import PassContext
from appyc.passes.simplify.copy_propagation import copy_propagation
from appyc.passes.simplify.dead_code_elimination import dead_code_elimination
from appyc.passes.simplify.expand_tensors import expand_tensors
from appyc.passes.storage.contract_arrays import contract_arrays
from tests.ir_makers import Program
from tests.lowering import after, lowered
from tests.printed import run_printed

BEFORE = (
    expand_tensors, copy_propagation, dead_code_elimination,
    guard_assumptions, copy_propagation, dead_code_elimination, check_bounds, fuse_loops,
)  # fmt: skip

PLANE = np.linspace(-1.0, 1.0, 15).reshape(3, 5)


def contracted(fn, *args: object, options: Options | None = None) -> tuple[Function, PassContext]:
    context = PassContext(options or Options(target="cpu"))
    return after(lowered(fn, *args), *BEFORE, contract_arrays, context=context), context


def ranks(fn: Function) -> list[int]:
    return sorted(n.array.array.ndim for n in walk(fn) if isinstance(n, Alloc))


def softmax(x, y):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    y[:] = e / e.sum(axis=1, keepdims=True)


def zeros_that_are_updated(x, y):
    t = np.zeros(x.shape)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            t[i, x.shape[1] - 1 - j] += x[i, j]
        for j in range(1, x.shape[1]):
            t[i, j] += t[i, j - 1]
        for j in range(x.shape[1]):
            y[i, j] = t[i, j]


def rows_of_columns(x, y):
    t = np.empty(x.shape)
    for j in range(x.shape[1]):
        for i in range(x.shape[0]):
            t[i, j] = x[i, j] * 2.0
        for i in range(x.shape[0]):
            y[i, j] = t[x.shape[0] - 1 - i, j]


def row_of_another_iteration(x, y):
    t = np.zeros(x.shape)
    for i in range(1, x.shape[0]):
        for j in range(x.shape[1]):
            t[i, j] = x[i, j]
        for j in range(x.shape[1]):
            y[i, j] = t[i - 1, x.shape[1] - 1 - j]


def kept_from_pass_to_pass(x, y):
    t = np.zeros(x.shape)
    for _ in range(3):
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                y[i, j] += t[i, x.shape[1] - 1 - j]
            for j in range(x.shape[1]):
                t[i, j] = x[i, j]


def kept_from_pass_to_pass_of_a_while(x, y):
    t = np.zeros(x.shape)
    k = 9
    while k > 0:
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                y[i, j] += t[i, x.shape[1] - 1 - j]
            for j in range(x.shape[1]):
                t[i, j] = x[i, j]
        k = k // 2


def read_behind_the_loop(x, y):
    t = np.empty(x.shape)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            t[i, j] = x[i, j]
        for j in range(x.shape[1]):
            y[i, j] = t[i, x.shape[1] - 1 - j]
    y[0, 0] = t[2, 1]


# function, axes of the arrays that are made
CASES = [
    (softmax, [1]),
    (zeros_that_are_updated, [1]),
    (rows_of_columns, [1]),
    (row_of_another_iteration, [2]),
    (kept_from_pass_to_pass, [2]),
    (kept_from_pass_to_pass_of_a_while, [2]),
    (read_behind_the_loop, [2]),
]


@pytest.mark.parametrize(("fn", "expected"), CASES, ids=[case[0].__name__ for case in CASES])
@pytest.mark.parametrize("shape", [(3, 5), (3, 1), (1, 4)])
def test_axes_that_are_left(fn, expected, shape):
    if fn is read_behind_the_loop and shape != (3, 5):
        return  # it reads that element
    x, y = np.resize(PLANE, shape), np.zeros(shape)
    program, _ = contracted(fn, x, y)
    assert ranks(program) == expected, print_function(program)
    found, wanted = copy.copy(y), copy.copy(y)
    run_printed(program, x, found)
    fn(x, wanted)
    np.testing.assert_allclose(found, wanted)


def test_row_is_made_inside_the_loop_and_told_of():
    program, context = contracted(softmax, PLANE, PLANE.copy())
    (outer,) = (stmt for stmt in program.body if isinstance(stmt, For))
    assert any(isinstance(stmt, Alloc) for stmt in outer.body)
    assert any("a row of it at a time" in r.text for r in context.remarks)


def test_gpu_keeps_the_whole():
    assert ranks(contracted(softmax, PLANE, PLANE.copy(), options=Options(target="gpu"))[0]) == [2]


def test_empty_function():
    fn = Program().function()
    assert contract_arrays(fn, PassContext()) is fn


def test_element_that_a_while_keeps_stays_in_memory():
    """It was taken for a scalar that starts as 0 each time."""

    def passes(a, out, k):
        t = np.zeros(a.shape[0])
        while k > 0:
            for i in range(a.shape[0]):
                out[i] += t[i]
                t[i] = a[i] + k
            k = k // 2

    a, found, wanted = np.arange(4.0), np.zeros(4), np.zeros(4)
    run_printed(contracted(passes, a, found, 9)[0], a, found, 9)
    passes(a, wanted, 9)
    np.testing.assert_array_equal(found, wanted)


def factor_of_a_product(x, y, z):
    z[:] = (x * 2.0) @ y + z


def test_row_that_is_read_anew_for_each_column_stays_a_whole_array():
    """A product works on several rows at a time, and needs all of them."""
    x, y, z = np.arange(16.0).reshape(4, 4), np.ones((4, 4)) + np.eye(4), np.ones((4, 4))
    fn, _ = contracted(factor_of_a_product, x, y, z)
    assert ranks(fn) == [2]
    expected = 2.0 * x @ y + z
    run_printed(fn, x, y, z)
    np.testing.assert_array_equal(z, expected)
