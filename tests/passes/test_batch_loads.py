"""Loads of several iterations before the first store: as printed IR, in the interpreter, as cubins."""

from __future__ import annotations

import numpy as np
import pytest

from appyc import pipeline
from appyc.ir.nodes import Function
from appyc.ir.printer import print_function
from appyc.options import Options
from appyc.passes.gpu.batch_loads import batch_loads
from appyc.passes.pass_context import PassContext
from tests.ir_makers import Program
from tests.lowering import lowered
from tests.printed import run_printed
from tests.triton_gen.source_runner import compare


def batched(fn, *args: object) -> tuple[Function, PassContext]:
    context = PassContext(Options(target="gpu"))
    passes = (*pipeline.SIMPLIFY, *pipeline.ANALYSE, *pipeline.FOR_GPU)
    return pipeline.run(lowered(fn, *args), passes, context, verify=True), context


def along_columns(y, x, k):
    for i in range(y.shape[1]):
        for j in range(1, y.shape[0]):
            y[j, i] = y[j - 1, i] * x[j, i] + x[j - 1, i]


def two_back(y, x, k):
    for i in range(y.shape[1]):
        for j in range(y.shape[0] - 3, -1, -1):
            y[j, i] = y[j + 2, i] - x[j, i] * y[j + 1, i]


def carried(y, x, k):
    for i in range(y.shape[1]):
        old, older = 0.5, 0.25
        for j in range(y.shape[0]):
            new = x[j, i] + 0.5 * old - 0.25 * older
            y[j, i] = new
            older = old
            old = new


def from_both_sides(y, x, k):
    """What an iteration loads, the one after it overwrites."""
    for i in range(y.shape[1]):
        for j in range(1, y.shape[0] - 1):
            y[j, i] = y[j - 1, i] + y[j + 1, i] * x[j, 0]


def at_indices(y, x, k):
    """Which element is stored, the data decide."""
    for i in range(y.shape[1]):
        for j in range(1, y.shape[0]):
            y[k[j] % y.shape[0], i] += y[j - 1, i] + x[j, i]


def through_an_index(y, x, k):
    for i in range(y.shape[1]):
        for j in range(1, y.shape[0]):
            y[j, i] = y[j - 1, i] + x[k[j] % x.shape[0], i]


def two_loops(y, x, k):
    for i in range(y.shape[1]):
        y[0, i] = 1.0
        for j in range(1, y.shape[0]):
            y[j, i] = y[j - 1, i] * 0.5 + x[j, i]
        for j in range(y.shape[0] - 2, -1, -1):
            y[j, i] = y[j, i] + y[j + 1, i] * x[j, i]


BATCHED = [along_columns, two_back, carried, from_both_sides, through_an_index, two_loops]


def arrays(n: int) -> tuple[np.ndarray, ...]:
    y, x = (np.cos(np.arange(float(3 * n)) + at).reshape(n, 3) for at in range(2))
    return y, x, (np.arange(n) * 7) % max(n, 1)


def check(fn, n: int) -> None:
    args = arrays(n)
    ours, theirs = ([a.copy() for a in args] for _ in range(2))
    run_printed(batched(fn, *args)[0], *ours)
    fn(*theirs)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(a, b)
    compare(fn, *args, exact=False, build=False)


@pytest.mark.sampled
@pytest.mark.parametrize("n", [1, 2, 3, 8, 9, 17, 26, 39])
@pytest.mark.parametrize("fn", BATCHED, ids=lambda fn: fn.__name__)
def test_recurrences_of_all_lengths(fn, n):
    _, context = batched(fn, *arrays(n))
    assert any("at once" in r.text for r in context.remarks)
    check(fn, n)


@pytest.mark.sampled
@pytest.mark.parametrize("fn", [along_columns, two_loops], ids=lambda fn: fn.__name__)
def test_kernels_compile(fn):
    compare(fn, *arrays(17), exact=False)


def sums(y, x, k):
    """No iteration stores."""
    for i in range(y.shape[1]):
        s = 0.0
        for j in range(y.shape[0]):
            s = s * 0.5 + x[j, i]
        y[0, i] = s


def lanes_of_their_own_length(y, x, k):
    for i in range(y.shape[1]):
        for j in range(1, k[i]):
            y[j, i] = y[j - 1, i] * 0.5 + x[j, i]


@pytest.mark.parametrize("fn", [sums, at_indices, lanes_of_their_own_length], ids=lambda fn: fn.__name__)
def test_other_loops_stay(fn):
    _, context = batched(fn, *arrays(9))
    assert not any("at once" in r.text for r in context.remarks)
    check(fn, 9)


def test_empty_function():
    fn = Program().function()
    assert batch_loads(fn, PassContext(Options(target="gpu"))) is fn


def test_text(golden):
    golden("ir/batch_loads.txt", print_function(batched(carried, *arrays(9))[0]))
