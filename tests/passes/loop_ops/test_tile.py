"""Tiling: legal tiles do what the nest does, and the others are refused."""

from __future__ import annotations

import pytest

from appyc.ir.names import NameSupply
from appyc.passes.loop_ops.tile import tile, why_not_tile
from tests.loop_operations import (
    SHAPES,
    agrees,
    backwards,
    band_matrix,
    crossing,
    down,
    matrix,
    nest_of,
    scaled,
    text,
    triangle,
    with_loop,
)


def test_tiles():
    fn, loops, _ = nest_of(scaled)
    new = tile(loops, (32, 64), NameSupply.after(fn))
    assert new is not None
    assert text(with_loop(fn, loops[0], new)) == (
        "for i_tile in range(0, a.shape[0], 32):\n"
        "    for j_tile in range(0, a.shape[1], 64):\n"
        "        for i in range(i_tile, min(i_tile + 32, a.shape[0])):\n"
        "            for j in range(j_tile, min(j_tile + 64, a.shape[1])):\n"
        "                a[i, j] = (a[i, j] * 2.0) + np.float64(i)"
    )


@pytest.mark.sampled
@pytest.mark.parametrize("sizes", [(2, 3), (1, 2), (4, 4), (2,)])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("program", [scaled, down, triangle, band_matrix, backwards])
def test_tiling_keeps_the_results(program, shape, sizes):
    fn, loops, legality = nest_of(program)
    assert why_not_tile(loops[: len(sizes)], legality, exact=True) is None
    new = tile(loops[: len(sizes)], sizes, NameSupply.after(fn))
    assert new is not None
    agrees(with_loop(fn, loops[0], new), program, matrix(shape))


def test_a_dependence_that_crosses_is_named():
    _, loops, legality = nest_of(crossing)
    refusal = why_not_tile(loops, legality, exact=False)
    assert refusal is not None
    assert "it would reverse a dependence: iteration i=1 writes a[1, 1]" in refusal.reason
    assert len(refusal.notes) == 2
