"""Nests that go through arrays against each other's order run in tiles, and do what they did."""

from __future__ import annotations

import numpy as np
import pytest

from appyc import pipeline
from appyc.ir.visit import loops_of
from appyc.options import Options
from appyc.passes.locality.tile_transpositions import tile_transpositions
from appyc.passes.pass_context import PassContext
from tests.lowering import lowered
from tests.printed import run_printed

PLANE, CUBE = (
    np.cos(np.arange(133.0 * 35)).reshape(133, 35),
    np.cos(np.arange(40.0 * 3 * 131)).reshape(40, 3, 131),
)


def tiled(fn, *args: object, **options: object) -> str:
    """The variables of the function's loops after the pass, which did not change its results."""
    context = PassContext(Options(**options))  # type: ignore[arg-type]
    passes = (*pipeline.SIMPLIFY, *pipeline.ANALYSE[: pipeline.ANALYSE.index(tile_transpositions)])
    before = pipeline.run(lowered(fn, *args), passes, context)
    after = pipeline.run(before, (tile_transpositions,), context, verify=True)
    outcomes = []
    for program in (before, after):
        arrays = [arg.copy() for arg in args]  # type: ignore[attr-defined]
        result = run_printed(program, *arrays)
        outcomes.append([array.tolist() for array in (*arrays, np.asarray(result))])
    assert outcomes[0] == outcomes[1]
    assert any("run in tiles" in remark.text for remark in context.remarks) == (before != after)
    return " ".join(loop.var.name for loop in loops_of(after))


def stores_across(a, b):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[j, i] = a[i, j]


def loads_across(a, b):
    for j in range(a.shape[1]):
        for i in range(a.shape[0]):
            b[j, i] = a[i, j]


def added(a, b):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[j, i] += a[i, j]


def beside_contiguous_ones(a, b):
    for j in range(a.shape[1]):
        for i in range(a.shape[0]):
            b[j, i] = b[j, i] * 0.5 + a[i, j]


@pytest.mark.parametrize("fn", [stores_across, loads_across, added, beside_contiguous_ones])
def test_the_loop_with_contiguous_stores_is_inside_the_tiles(fn):
    assert tiled(fn, PLANE, np.ones(PLANE.T.shape)) == "j_tile i_tile j i"


def marked(a, b):
    # pragma parallel for
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[j, i] = a[i, j]


def test_threads_that_are_asked_for_share_tiles():
    assert tiled(marked, PLANE, np.ones(PLANE.T.shape)) == "i_tile j_tile j i"


def triangle(a):
    for i in range(a.shape[1]):
        for j in range(i):
            a[j, i] = a[i, j]


def test_a_triangle_is_left_alone():
    assert tiled(triangle, PLANE) == "j i"


def last_axis_first(a, b):
    for k in range(a.shape[2]):
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                b[k, i, j] = a[i, j, k]


def test_a_loop_between_is_moved_outside():
    assert tiled(last_axis_first, CUBE, np.ones((131, 40, 3))) == "i k_tile j_tile k j"


def rows(a, b):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[i, j] = a[i, j]


def few_columns(a, b):
    for j in range(3):
        for i in range(a.shape[0]):
            b[j, i] = a[i, j]


def sum_of_products(a, b):
    total = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            total += a[i, j] * b[j, i]
    return total


def chain(a, b):
    for i in range(1, a.shape[1]):
        for j in range(1, a.shape[1]):
            a[i, j] = a[i - 1, j] + a[i, j - 1] + b[j, i]


def simd(a, b):
    for i in range(a.shape[0]):
        # pragma simd
        for j in range(a.shape[1]):
            b[j, i] = a[i, j]


@pytest.mark.parametrize("fn", [rows, few_columns, sum_of_products, chain, simd])
def test_others_stay(fn):
    shape = PLANE.shape if fn is rows else PLANE.T.shape
    assert "_tile" not in tiled(fn, PLANE, np.ones(shape))


def test_a_gpu_has_blocks_of_its_own():
    assert "_tile" not in tiled(stores_across, PLANE, np.ones(PLANE.T.shape), target="gpu")
