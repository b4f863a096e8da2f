"""Loops whose iterations need their neighbours in another loop run block by block, with the ends peeled off."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from appyc import pipeline
from appyc.ir.nodes import For, Function, LoopMode
from appyc.ir.printer import print_function
from appyc.ir.visit import loops_of
from appyc.options import Options
from appyc.passes.fuse import shifted_fusion as module
from appyc.passes.fuse.shifted_fusion import shifted_fusion
from appyc.passes.pass_context import PassContext
from tests.ir_makers import Program
from tests.lowering import lowered
from tests.printed import run_printed

UP_TO = pipeline.ANALYSE[: [p.__name__ for p in pipeline.ANALYSE].index("shifted_fusion") + 1]


def blocked(fn, *args: object, passes=UP_TO, options: Options | None = None) -> tuple[Function, PassContext]:
    context = PassContext(options or Options(target="cpu"))
    return pipeline.run(lowered(fn, *args), (*pipeline.SIMPLIFY, *passes), context, verify=True), context


def is_blocked(context: PassContext) -> bool:
    return any(r.text.startswith("runs in blocks of") for r in context.remarks)


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    monkeypatch.setattr(module, "ROWS", {1: 4, 2: 4, 3: 4})
    monkeypatch.setattr(module, "MOST_PEELED", 0.9)


def behind(x, y, z):
    for i in range(x.shape[0]):
        y[i] = x[i] * 2.0
    for i in range(1, x.shape[0]):
        z[i] = y[i - 1] + x[i]


def ahead(x, y, z):
    for i in range(x.shape[0]):
        y[i] = x[i] * 2.0
    for i in range(x.shape[0] - 2):
        z[i] = y[i + 2] + x[i]


def both_sides(x, y, z):
    """And the second loop changes what the first one has read."""
    n = x.shape[0]
    for i in range(1, n - 1):
        y[i] = x[i - 1] + x[i + 1]
    for i in range(1, n - 1):
        x[i] = y[i - 1] - y[i + 1]


def longer_by_one(x, y, z):
    """One loop runs once more than the other."""
    for i in range(x.shape[0] - 1):
        y[i] = y[i] + x[i + 1] - x[i]
    for i in range(x.shape[0]):
        x[i] = x[i] + y[i]


def written_by_both(x, y, z):
    for i in range(x.shape[0] - 1):
        y[i + 1] = x[i] * 2.0
    for i in range(x.shape[0]):
        y[i] = y[i] + x[i]


def with_sums(x, y, z):
    s = 0.0
    for i in range(x.shape[0]):
        y[i] = x[i] * 2.0
        s += y[i]
    q = 0.0
    for i in range(1, x.shape[0]):
        q += y[i - 1] * x[i]
    z[0] = s
    z[1] = q


def planes(x, y, z):
    for i in range(1, x.shape[0] - 1):
        for j in range(x.shape[1]):
            y[i, j] = x[i - 1, j] + x[i + 1, x.shape[1] - 1 - j]
    for i in range(x.shape[0] - 1):
        for j in range(x.shape[1]):
            z[i, j] = y[i, 0] - y[i + 1, j] + x[i, j]


LINES = [behind, ahead, both_sides, longer_by_one, written_by_both, with_sums]


def compared(fn, *args: np.ndarray) -> None:
    for passes in (UP_TO, pipeline.ANALYSE):
        program, context = blocked(fn, *args, passes=passes)
        assert is_blocked(context), print_function(program)
        ours, theirs = copy.deepcopy(args), copy.deepcopy(args)
        run_printed(program, *ours)
        fn(*theirs)
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.mark.sampled
@pytest.mark.parametrize("fn", LINES, ids=lambda fn: fn.__name__)
@pytest.mark.parametrize("n", [2, 3, 4, 5, 7, 8, 9, 13, 16])
def test_lines(fn, n):
    rng = np.random.default_rng(n)
    compared(fn, *(rng.uniform(1, 2, n) for _ in range(3)))


@pytest.mark.parametrize("shape", [(1, 3), (2, 2), (4, 1), (5, 3), (9, 2), (13, 4)])
def test_planes(shape):
    rng = np.random.default_rng(0)
    compared(planes, *(rng.uniform(1, 2, shape) for _ in range(3)))


@pytest.mark.parametrize("fn", LINES, ids=lambda fn: fn.__name__)
def test_blocks_are_free(fn):
    """That no block waits for another one is the dependence analysis' word, not this pass's."""
    program, _ = blocked(fn, *(np.ones(9) for _ in range(3)), passes=pipeline.ANALYSE)
    blocks = [loop for loop in loops_of(program.body) if loop.var.name == "block"]
    assert blocks
    assert all(loop.mode is LoopMode.PARALLEL for loop in blocks)


def test_iterations_that_are_peeled():
    for fn, low, high in ((behind, 1, 0), (ahead, 0, 2), (both_sides, 1, 1)):
        _, context = blocked(fn, *(np.ones(9) for _ in range(3)))
        (text,) = [r.text for r in context.remarks if r.text.startswith("runs in blocks")]
        assert f"of each, {low + high} at its ends" in text


def in_order(x, y, z):
    for i in range(x.shape[0]):
        y[i] = x[i] * 2.0
    for i in range(1, x.shape[0]):
        z[i] = z[i - 1] * y[i - 1] + 1.0 / x[i]


def mirrored(x, y, z):
    n = x.shape[0]
    for i in range(n):
        y[i] = x[i] * 2.0
    for i in range(n):
        z[i] = y[n - 1 - i] + x[i]


def from_afar(x, y, z):
    for i in range(x.shape[0]):
        y[i] = x[i] * 2.0
    for i in range(4, x.shape[0]):
        z[i] = y[i - 4] + x[i]


def left_in_a_scalar(x, y, z):
    s = 0.0
    for i in range(x.shape[0]):
        y[i] = x[i] * 2.0
        s += x[i]
    for i in range(1, x.shape[0]):
        z[i] = y[i - 1] + s


def nothing_in_common(x, y, z):
    for i in range(x.shape[0]):
        y[i] = 2.0
    for i in range(1, x.shape[0]):
        z[i] = x[i - 1]


REFUSED = [in_order, mirrored, from_afar, left_in_a_scalar, nothing_in_common]


@pytest.mark.parametrize("fn", REFUSED, ids=lambda fn: fn.__name__)
def test_other_loops_stay(fn):
    args = [np.linspace(1.0, 2.0, 9) for _ in range(3)]
    program, context = blocked(fn, *args)
    assert not is_blocked(context), print_function(program)
    ours, theirs = copy.deepcopy(args), copy.deepcopy(args)
    run_printed(program, *ours)
    fn(*theirs)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b)


def test_products_of_matrices_stay():
    def product(a, b):
        c = a @ b
        for i in range(1, a.shape[0]):
            for j in range(b.shape[1]):
                b[i, j] = c[i - 1, j] + a[i, j]
        return c

    assert not is_blocked(blocked(product, np.ones((5, 5)), np.ones((5, 5)))[1])


def test_few_may_be_peeled(monkeypatch):
    monkeypatch.setattr(module, "MOST_PEELED", 0.25)
    assert not is_blocked(blocked(both_sides, *(np.ones(9) for _ in range(3)))[1])
    assert is_blocked(blocked(behind, *(np.ones(9) for _ in range(3)))[1])


def test_not_where_it_is_not_wanted():
    args = [np.ones(9) for _ in range(3)]
    assert not is_blocked(blocked(behind, *args, options=Options(target="gpu"))[1])
    assert not is_blocked(blocked(behind, *args, options=Options(target="cpu", auto=False))[1])
    assert is_blocked(blocked(with_sums, *args)[1])
    assert not is_blocked(blocked(with_sums, *args, options=Options(target="cpu", exact=True))[1])


def test_empty_function():
    fn = Program().function()
    assert shifted_fusion(fn, PassContext(Options(target="cpu"))) is fn


def test_text(golden):
    args = [np.ones(9) for _ in range(3)]
    before, _ = blocked(both_sides, *args, passes=UP_TO[:-1])
    after, _ = blocked(both_sides, *args)
    assert sum(isinstance(stmt, For) for stmt in after.body) == 2
    golden("tensors/loops_in_blocks.txt", f"{print_function(before)}\n# after\n\n{print_function(after)}")


def test_a_second_loop_whose_last_iteration_is_live_out_keeps_its_order():
    def last_of(x, y):
        t = 0.0
        for i in range(x.shape[0]):
            y[i] = x[i] * 2.0
        for i in range(1, x.shape[0]):
            t = y[i - 1] + x[i]
            x[i] = t
        return t

    assert not is_blocked(blocked(last_of, np.zeros(9), np.zeros(9))[1])
