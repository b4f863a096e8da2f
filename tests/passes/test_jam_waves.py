"""A skewed nest runs the rows of a strip together, and any other nest stays."""

from __future__ import annotations

import numpy as np
import pytest

from appyc.ir.nodes import For, Function, LoopMode
from appyc.ir.printer import print_function
from appyc.ir.verify import verify
from appyc.ir.visit import loops_of
from appyc.options import Options
from appyc.passes.checks.check_bounds import check_bounds
from appyc.passes.parallelise.skew_loops import skew_loops
from appyc.passes.pass_context import PassContext
from appyc.passes.simplify.copy_propagation import copy_propagation
from appyc.passes.vectorise.jam_waves import ROWS, jam_waves
from tests.ir_makers import Program
from tests.lowering import after, lowered
from tests.printed import run_printed


def smooth(a):
    n, m = a.shape
    for i in range(1, n):
        for j in range(1, m):
            a[i, j] = (a[i - 1, j] + a[i, j - 1]) * 0.5


def waves(a):
    n, m = a.shape
    for i in range(1, n):
        for j in range(1, m):
            a[i, j] = np.sin(a[i - 1, j] + a[i, j - 1])


def free(a):
    n, m = a.shape
    for i in range(n):
        for j in range(m):
            a[i, j] = a[i, j] * 0.5


def jammed(fn) -> tuple[Function, Function]:
    context = PassContext(Options(target="cpu"))
    before = after(lowered(fn, np.zeros((3, 3))), copy_propagation, check_bounds, skew_loops, context=context)
    return before, jam_waves(before, context)


@pytest.mark.parametrize("fn", [smooth, waves])
@pytest.mark.parametrize(
    "shape", [(1, 1), (2, 9), (9, 2), (ROWS + 1, 3), (2 * ROWS + 3, 20), (20, 2 * ROWS + 1)]
)
def test_each_size_has_the_results_of_the_nest_in_order(fn, shape):
    _, program = jammed(fn)
    assert verify(program) == []
    found = np.random.default_rng(3).uniform(-1, 1, shape)
    wanted = found.copy()
    run_printed(program, found)
    fn(wanted)
    np.testing.assert_array_equal(found, wanted)


def lanes_of(program: Function) -> list[For]:
    return [loop for loop in loops_of(program) if loop.mode is LoopMode.SIMD]


def test_a_function_of_mathematics_gets_lanes_and_arithmetic_is_written_for_each_row():
    assert lanes_of(jammed(waves)[1])
    assert not lanes_of(jammed(smooth)[1])


def test_a_nest_that_is_not_skewed_stays():
    before, program = jammed(free)
    assert program is before


def test_empty_function():
    fn = Program().function()
    assert jam_waves(fn, PassContext()) is fn


def test_text(golden):
    golden("ir/jam_waves.txt", print_function(jammed(smooth)[1]))
