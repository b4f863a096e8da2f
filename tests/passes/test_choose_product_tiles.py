"""Tiles of products are in the schedule, a few to choose from or those that a clause asks for."""

from __future__ import annotations

import numpy as np

from appyc import pipeline
from appyc.ir.schedule import ProductTiles
from appyc.ir.visit import loops_of
from appyc.options import Options
from appyc.passes.gpu.choose_product_tiles import STAGES, STEP, TILES, choose_product_tiles
from appyc.passes.pass_context import PassContext
from tests.ir_makers import Program
from tests.lowering import lowered


def tiles_of(fn, *args: object) -> list[tuple[ProductTiles, ...]]:
    context = PassContext(Options(target="gpu"))
    passes = (*pipeline.SIMPLIFY, *pipeline.ANALYSE, *pipeline.FOR_GPU)
    program = pipeline.run(lowered(fn, *args), passes, context, verify=True)
    return [program.schedule[n.var].tiles for n in loops_of(program.body) if n.product is not None]


def triangle(c, a):
    for i in range(c.shape[0]):
        for j in range(i + 1):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * a[j, k]


def exchanged(c, a, b):
    for i in range(c.shape[0]):
        for j in range(i + 1):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[j, k] + b[i, k] * a[j, k]


def one_kind(c, a):
    # pragma parallel for block(20) num_warps(8)
    for i in range(c.shape[0]):
        for j in range(i + 1):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * a[j, k]


def no_product(c, a):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            c[i, j] = a[i, j] * a[j, i]


def square() -> np.ndarray:
    return np.zeros((3, 3))


def test_there_are_some_to_choose_from():
    (tiles,) = tiles_of(triangle, square(), square())
    assert [(t.rows, t.columns) for t in tiles] == list(TILES)
    assert {t.stages for t in tiles} == {STAGES}


def test_two_products_in_one_have_smaller_tiles():
    (tiles,) = tiles_of(exchanged, square(), square(), square())
    assert [(t.rows, t.columns) for t in tiles] == list(TILES[1:])


def test_a_block_is_rounded_to_what_a_warp_can_multiply():
    (tiles,) = tiles_of(one_kind, square(), square())
    assert tiles == (ProductTiles(32, 32, STEP, 8, STAGES),)


def test_other_loops_have_none():
    assert tiles_of(no_product, square(), square()) == []


def test_empty_function():
    fn = Program().function()
    assert choose_product_tiles(fn, PassContext(Options(target="gpu"))) is fn
