"""Rows that are short enough stay in the lanes of a program: in the interpreter, and as cubins."""

from __future__ import annotations

import numpy as np
import pytest

from appyc import pipeline
from appyc.ir.nodes import For, Function
from appyc.ir.printer import print_function
from appyc.ir.visit import walk
from appyc.options import Options
from appyc.passes.gpu import keep_rows_on_chip as module
from appyc.passes.gpu.keep_rows_on_chip import keep_rows_on_chip
from appyc.passes.pass_context import PassContext
from tests.ir_makers import Program
from tests.lowering import lowered
from tests.printed import run_printed
from tests.triton_gen.source_runner import compare

REGISTERS = 65_536
"""Of a multiprocessor, from sm_70 on."""


def kept(fn, *args: object) -> tuple[Function, PassContext]:
    context = PassContext(Options(target="gpu"))
    passes = (*pipeline.SIMPLIFY, *pipeline.ANALYSE, keep_rows_on_chip)
    return pipeline.run(lowered(fn, *args), passes, context, verify=True), context


def lanes(fn: Function) -> set[int]:
    decided = (fn.schedule[n.var].row_lanes for n in walk(fn) if isinstance(n, For))
    return {count for count in decided if count is not None}


def softmax(x, y):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    y[:] = e / e.sum(axis=1, keepdims=True)


def layer_norm(x, g, b, y):
    m = x.mean(axis=1, keepdims=True)
    v = ((x - m) ** 2).mean(axis=1, keepdims=True)
    y[:] = (x - m) / np.sqrt(v + 1e-5) * g + b


def batches(x):
    e = np.exp(x - x.max(axis=2)[:, :, None])
    return e / e.sum(axis=2)[:, :, None]


def with_conditions(x, y):
    """A temporary that not every place of a row sets, and a range that does not start at 0."""
    n, m = x.shape
    t = np.zeros((n, m))
    for i in range(n):
        for j in range(1, m):
            if x[i, j] > 0.0:
                t[i, j] = x[i, j] * 2.0
        s = 0.0
        for j in range(1, m):
            s += t[i, j]
        for j in range(1, m):
            y[i, j] = t[i, j] - s


def columns(x, y):
    """Rows along the other axis."""
    n, m = x.shape
    for j in range(m):
        s = 0.0
        for i in range(n):
            s += x[i, j]
        for i in range(n):
            y[i, j] = x[i, j] - s


def counts_of_rows(x):
    """Integers, and a loop that stores something for the whole row."""
    n, m = x.shape
    out = np.zeros(n, np.int64)
    high = np.zeros((n, m), np.int64)
    for i in range(n):
        top = x[i, 0]
        for j in range(m):
            top = max(top, x[i, j])
        c = 0
        for j in range(m):
            if x[i, j] == top:
                c += 1
            high[i, j] = top - x[i, j]
        out[i] = c
    return out, high


def plane(*shape: int) -> np.ndarray:
    return np.cos(np.arange(float(np.prod(shape)))).reshape(shape)


CASES = [
    (softmax, lambda n, m: (plane(n, m), np.zeros((n, m)))),
    (layer_norm, lambda n, m: (plane(n, m), plane(m), plane(m) + 1.0, np.zeros((n, m)))),
    (with_conditions, lambda n, m: (plane(n, m), np.zeros((n, m)))),
    (counts_of_rows, lambda n, m: ((plane(n, m) * 3).astype(np.int64),)),
]


@pytest.mark.sampled
@pytest.mark.parametrize(("fn", "make"), CASES, ids=[case[0].__name__ for case in CASES])
@pytest.mark.parametrize(
    "shape", [(0, 4), (1, 1), (3, 2), (2, 31), (3, 32), (2, 33), (1, 64), (2, 65), (1, 131)]
)
def test_rows_of_all_lengths(fn, make, shape, monkeypatch):
    monkeypatch.setattr(module, "SIZES", (32, 64))
    monkeypatch.setattr("appyc.passes.gpu.grid_kernels.LANES_OF_A_WARP", 32)
    args = make(*shape)
    program, _ = kept(fn, *args)
    assert lanes(program) == {32, 64}, print_function(program)
    compare(fn, *args, exact=False, build=False)
    ours, theirs = ([a.copy() for a in args] for _ in range(2))
    found, expected = run_printed(program, *ours), fn(*theirs)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
    for a, b in zip(found or (), expected or (), strict=True):
        np.testing.assert_array_equal(a, b)


def test_rows_of_batches(monkeypatch):
    monkeypatch.setattr(module, "SIZES", (32, 64))
    program, _ = kept(batches, plane(2, 3, 5))
    assert lanes(program) == {32, 64}
    for length in (1, 32, 33, 70):
        compare(batches, plane(2, 3, length), exact=False, build=False)


@pytest.mark.parametrize("length", [1024, 1025, 4096, 4097])
def test_rows_about_the_sizes_that_there_are(length):
    compare(
        layer_norm,
        plane(1, length),
        plane(length),
        plane(length),
        np.zeros((1, length)),
        exact=False,
        build=False,
    )


def test_remark_says_so():
    _, context = kept(softmax, plane(3, 5), plane(3, 5))
    assert any("rows of up to 4096 elements stay in the registers" in r.text for r in context.remarks)


@pytest.mark.parametrize("target", ["gpu", "auto"])
def test_rows_that_are_made_inside_stay_too(target):
    """A function that may run on either device has the rows that the C back end wants."""
    context = PassContext(Options(target=target))
    passes = (*pipeline.SIMPLIFY, *pipeline.ANALYSE, keep_rows_on_chip)
    program = pipeline.run(lowered(softmax, plane(3, 5), plane(3, 5)), passes, context, verify=True)
    assert lanes(program) == set(module.SIZES)


def element_for_all(x, y):
    """What one lane has put into the temporary, all of them read."""
    t = np.zeros(x.shape)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            t[i, j] = x[i, j] * 2.0
        s = t[i, 0]
        for j in range(x.shape[1]):
            y[i, j] = t[i, j] - s


def one_loop(x, y):
    for i in range(x.shape[0]):
        s = 0.0
        for j in range(x.shape[1]):
            s += x[i, j]
        y[i, 0] = s


def triangle(x, y):
    """How long a row is, the iteration decides."""
    for i in range(x.shape[0]):
        s = 0.0
        for j in range(i):
            s += x[i, j]
        for j in range(i):
            y[i, j] = x[i, j] - s


def other_ranges(x, y):
    for i in range(x.shape[0]):
        s = 0.0
        for j in range(x.shape[1]):
            s += x[i, j]
        for j in range(1, x.shape[1]):
            y[i, j] = x[i, j] - s


def neighbours(x, y):
    """An element of another lane's."""
    t = np.zeros(x.shape)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            t[i, j] = x[i, j] * 2.0
        for j in range(x.shape[1]):
            y[i, j] = t[i, x.shape[1] - 1 - j]


def nothing_in_common(x, y):
    for i in range(x.shape[0]):
        s = 0.0
        for j in range(x.shape[1]):
            s += x[i, j]
        for j in range(x.shape[1]):
            y[i, j] = s


@pytest.mark.parametrize(
    "fn",
    [element_for_all, one_loop, triangle, other_ranges, neighbours, nothing_in_common],
    ids=lambda fn: fn.__name__,
)
def test_other_nests_stay(fn):
    args = plane(4, 5), np.zeros((4, 5))
    assert not lanes(kept(fn, *args)[0])
    compare(fn, *args, exact=False, build=False)


def test_empty_function():
    fn = Program().function()
    assert keep_rows_on_chip(fn, PassContext(Options(target="gpu"))) is fn


def test_text(golden):
    program, _ = kept(softmax, plane(2, 3), plane(2, 3))
    golden("tensors/softmax_rows.txt", print_function(program))
