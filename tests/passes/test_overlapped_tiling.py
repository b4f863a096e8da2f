"""Temporaries that stencils read are computed a block at a time, just before they are read."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from appyc import pipeline
from appyc.analysis.sets.evaluate import evaluate
from appyc.ir.nodes import Alloc, For, Function
from appyc.ir.printer import print_function
from appyc.ir.visit import walk
from appyc.options import Options
from appyc.passes.fuse import tiled_chains
from appyc.passes.fuse.overlapped_tiling import overlapped_tiling
from appyc.passes.pass_context import PassContext
from tests.ir_makers import Program
from tests.lowering import lowered
from tests.printed import run_printed

UP_TO = pipeline.ANALYSE[: [p.__name__ for p in pipeline.ANALYSE].index("overlapped_tiling") + 1]


def blocked(fn, *args: object, options: Options | None = None) -> tuple[Function, PassContext]:
    context = PassContext(options or Options(target="cpu"))
    return pipeline.run(lowered(fn, *args), (*pipeline.SIMPLIFY, *UP_TO), context, verify=True), context


def is_blocked(context: PassContext) -> bool:
    texts = ("is never stored whole: it is computed in blocks", "run together in blocks")
    return any(text in r.text for r in context.remarks for text in texts)


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    monkeypatch.setattr(tiled_chains, "ROWS", {1: 4, 2: 4, 3: 4})


def line(x):
    t = np.exp(x)
    return t[:-3] + t[1:-2] * t[2:-1] - t[3:] / (1.0 + t[:-3] * t[2:-1])


def plane(x):
    t = np.exp(x)
    return t[:-2, :-2] + t[1:-1, 1:-1] + t[2:, 2:] + t[2:, :-2] + t[:-2, 2:]


def rooms(x):
    t = np.exp(x)
    return t[:-2] + t[1:-1] + t[:-2] * t[2:] + 1.0 / (2.0 + t[1:-1])


def across(x, y):
    """Within a row any elements may be read."""
    t = np.exp(x)
    m = x.shape[1]
    for i in range(1, x.shape[0] - 1):
        for j in range(m):
            y[i, j] = t[i - 1, m - 1 - j] + t[i + 1, j] + t[i, 0] + t[i, j] + t[i - 1, j]


def with_a_sum(x):
    t = np.exp(x)
    total = 0.0
    for i in range(x.shape[0] - 2):
        for j in range(x.shape[1]):
            total += t[i, j] * t[i + 1, j] - t[i + 2, j] * t[i + 2, 0] + t[i, 0] * t[i + 1, 0]
    return total


def rows_ahead(x, y):
    """From a place on that is not the first, and none of the rows that are read is the reader's own."""
    t = np.sqrt(x * x + 1.0)
    for i in range(2, x.shape[0] - 4):
        for j in range(x.shape[1]):
            y[i, j] = t[i + 3, j] + t[i + 4, j] + t[i + 3, 0] + t[i + 4, 0] + t[i + 4, x.shape[1] - 1]


SHAPES = [(0, 3), (1, 3), (2, 3), (3, 3), (5, 2), (6, 5), (9, 1), (13, 4)]


def compared(fn, *args) -> None:
    program, context = blocked(fn, *args)
    assert is_blocked(context), print_function(program)
    ours, theirs = copy.deepcopy(args), copy.deepcopy(args)
    found, expected = run_printed(program, *ours), fn(*theirs)
    results = zip(found, expected, strict=True) if isinstance(expected, tuple) else [(found, expected)]
    for a, b in (*zip(ours, theirs, strict=True), *results):
        if b is not None:
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)


@pytest.mark.sampled
@pytest.mark.parametrize("fn", [plane, across, with_a_sum, rows_ahead], ids=lambda fn: fn.__name__)
@pytest.mark.parametrize("shape", SHAPES)
def test_rows_of_planes(fn, shape):
    x = np.cos(np.arange(float(np.prod(shape)))).reshape(shape)
    if fn is plane and min(shape) < 2:
        return  # what NumPy does with such slices, the guards leave to the plain version
    compared(fn, x, *((np.zeros(shape),) if fn in (across, rows_ahead) else ()))


@pytest.mark.parametrize("n", [3, 4, 5, 7, 8, 12, 31])
def test_lines(n):
    compared(line, np.cos(np.arange(float(n))))


@pytest.mark.parametrize("shape", [(2, 1, 1), (3, 2, 3), (6, 3, 2), (9, 2, 5)])
def test_rooms(shape):
    compared(rooms, np.cos(np.arange(float(np.prod(shape)))).reshape(shape))


def test_a_block_has_an_array_of_its_own():
    program, context = blocked(plane, np.zeros((9, 9)))
    (loop,) = [stmt for stmt in program.body if isinstance(stmt, For)]
    (made,) = [n for n in walk(loop) if isinstance(n, Alloc)]
    assert evaluate(made.shape[0], {program.params[0]: np.zeros((9, 9))}) == 6
    assert made.array.name == "t"
    assert set(context.contracted.values()) == {loop.var}


def returned(x):
    t = np.exp(x)
    return t, t[:-2] + t[1:-1] * t[2:] - t[2:] * t[2:]


def in_order(x, y):
    t = np.exp(x)
    for i in range(1, x.shape[0] - 1):
        y[i] = y[i - 1] * t[i] + t[i + 1] * t[i - 1] + t[i - 1]


def changed_before_it_is_read(x):
    t = np.exp(x)
    x[:] = 0.0
    return t[:-2] + t[1:-1] * t[2:] - t[2:] * t[1:-1]


def changed_by_the_reader(x):
    t = np.exp(x)
    for i in range(1, x.shape[0] - 1):
        x[i] = t[i - 1] + t[i] * t[i + 1] - t[i - 1] * t[i + 1]


def backwards(x, y):
    t = np.exp(x)
    for i in range(x.shape[0]):
        y[i] = t[x.shape[0] - 1 - i] * t[i] + t[0] + t[x.shape[0] - 1]


def from_afar(x):
    """The rows that blocks share are more than those that they have alone."""
    t = np.exp(x)
    return t[:-60] + t[60:] + t[:-60] * t[60:] + t[30:-30] * t[29:-31]


def transposed(x):
    t = np.exp(x)
    return t.T[1:] + t.T[:-1] * t.T[1:] - 2.0 / t.T[1:]


def operand(x):
    """Tiles share the other matrix, and blocks would cut them."""
    return (2.0 * x) @ x.T


def little_beside_the_rest(x):
    """Of what the loops move, the vector between them is next to nothing."""
    return np.exp(-(x @ x[0]))


LINE, PLANE = np.linspace(0.0, 1.0, 80), np.linspace(0.0, 1.0, 80).reshape(10, 8)

REFUSED = [
    (returned, LINE), (in_order, LINE, LINE.copy()), (changed_before_it_is_read, LINE),
    (changed_by_the_reader, LINE), (backwards, LINE, LINE.copy()), (from_afar, LINE), (transposed, PLANE),
    (operand, PLANE), (little_beside_the_rest, PLANE),
]  # fmt: skip


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case[0].__name__)
def test_other_arrays_stay(case):
    fn, *args = case
    args = copy.deepcopy(args)
    program, context = blocked(fn, *args)
    assert not is_blocked(context), print_function(program)
    ours, theirs = copy.deepcopy(args), copy.deepcopy(args)
    found, expected = run_printed(program, *ours), fn(*theirs)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b)
    several = isinstance(expected, tuple)
    for a, b in zip(found if several else (found,), expected if several else (expected,), strict=True):
        if b is not None:
            np.testing.assert_allclose(a, b)


def test_on_a_gpu_the_loops_stay_kernels_of_their_own():
    _, context = blocked(plane, PLANE, options=Options(target="gpu"))
    assert not is_blocked(context)
    _, context = blocked(plane, PLANE, options=Options(target="cpu", auto=False))
    assert not is_blocked(context)


def test_blocks_run_in_parallel():
    context = PassContext(Options(target="cpu"))
    passes = (*pipeline.SIMPLIFY, *pipeline.ANALYSE)
    program = pipeline.run(lowered(plane, PLANE), passes, context, verify=True)
    (loop,) = [stmt for stmt in program.body if isinstance(stmt, For)]
    assert loop.mode.value == "parallel"


def test_empty_function():
    fn = Program().function()
    assert overlapped_tiling(fn, PassContext(Options(target="cpu"))) is fn


def test_text(golden):
    before = pipeline.run(lowered(plane, PLANE), (*pipeline.SIMPLIFY, *UP_TO[:-1]), PassContext())
    after, _ = blocked(plane, PLANE)
    golden("tensors/rows_in_blocks.txt", f"{print_function(before)}\n# after\n\n{print_function(after)}")
