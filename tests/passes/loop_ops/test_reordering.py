"""Interchange, tiling, and unroll-and-jam: legal ones do what the nest does, and the others are refused."""

from __future__ import annotations

import numpy as np
import pytest

from appyc.analysis.dependences.legality import Legality
from appyc.ir.names import NameSupply
from appyc.passes.loop_ops.interchange import interchange, why_not_interchange
from appyc.passes.loop_ops.nests import perfect_nest
from appyc.passes.loop_ops.tile import tile, why_not_tile
from appyc.passes.loop_ops.unroll_and_jam import unroll_and_jam, why_not_unroll_and_jam
from tests.loop_operations import agrees, analysed, text, the_loop, with_loop


def scaled(a):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] = a[i, j] * 2.0 + i


def down(a):
    for i in range(1, a.shape[0]):
        for j in range(1, a.shape[1]):
            a[i, j] = a[i, j] + a[i - 1, j] * 0.5 - a[i, j - 1]


def crossing(a):
    for i in range(1, a.shape[0]):
        for j in range(a.shape[1] - 1):
            a[i, j] = a[i, j] + a[i - 1, j + 1]


def triangle(a):
    for i in range(min(a.shape[0], a.shape[1])):
        for j in range(i):
            a[i, j] = a[i, j] + a[j, i] + i


def band_matrix(a):
    for i in range(a.shape[0]):
        for j in range(max(i - 2, 0), min(i + 3, a.shape[1])):
            a[i, j] = a[i, j] * 3.0 + j


def backwards(a):
    for i in range(a.shape[0] - 2, -1, -1):
        for j in range(a.shape[1]):
            a[i, j] = a[i, j] + a[i + 1, j]


def carried(a):
    s = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            s = s * 0.5 + a[i, j]
            a[i, j] = s


A = np.arange(1.0, 13.0).reshape(3, 4)
SHAPES = [(0, 3), (1, 1), (3, 4), (5, 5), (7, 4), (8, 9)]


def nest_of(program):
    fn = analysed(program, A)
    return fn, perfect_nest(the_loop(fn, "i")), Legality.of(fn)


def array(shape):
    return np.arange(1.0, 1.0 + shape[0] * shape[1]).reshape(shape) % 7.0


def test_interchanged():
    fn, loops, legality = nest_of(triangle)
    new = interchange(fn, loops, (1, 0), legality)
    assert new is not None
    assert text(with_loop(fn, loops[0], new)).splitlines()[1:] == [
        "    for i in range(j + 1, min(a.shape[0], a.shape[1])):",
        "        a[i, j] = (a[i, j] + a[j, i]) + np.float64(i)",
    ]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("program", [scaled, down, triangle, backwards])
def test_interchange_keeps_the_results(program, shape):
    fn, loops, legality = nest_of(program)
    assert why_not_interchange(loops, (1, 0), legality, exact=True) is None
    new = interchange(fn, loops, (1, 0), legality)
    assert new is not None
    agrees(with_loop(fn, loops[0], new), program, array(shape))


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


@pytest.mark.parametrize("sizes", [(2, 3), (1, 2), (4, 4), (2,)])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("program", [scaled, down, triangle, band_matrix, backwards])
def test_tiling_keeps_the_results(program, shape, sizes):
    fn, loops, legality = nest_of(program)
    assert why_not_tile(loops[: len(sizes)], legality, exact=True) is None
    new = tile(loops[: len(sizes)], sizes, NameSupply.after(fn))
    assert new is not None
    agrees(with_loop(fn, loops[0], new), program, array(shape))


def test_jammed():
    fn, loops, _ = nest_of(scaled)
    main, _ = unroll_and_jam(loops, 2, NameSupply.after(fn))
    assert text(with_loop(fn, loops[0], main)) == (
        "for i in range(0, a.shape[0] - 1, 2):\n"
        "    for j in range(0, a.shape[1]):\n"
        "        a[i, j] = (a[i, j] * 2.0) + np.float64(i)\n"
        "        a[i + 1, j] = (a[i + 1, j] * 2.0) + np.float64(i + 1)"
    )


@pytest.mark.parametrize("factor", [2, 3, 5])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("program", [scaled, down, backwards])
def test_jamming_keeps_the_results(program, shape, factor):
    fn, loops, legality = nest_of(program)
    assert why_not_unroll_and_jam(loops, legality, exact=True) is None
    new = unroll_and_jam(loops, factor, NameSupply.after(fn))
    agrees(with_loop(fn, loops[0], *new), program, array(shape))


@pytest.mark.parametrize("gate", ["interchange", "tile", "jam"])
def test_a_dependence_that_crosses_is_named(gate):
    _, loops, legality = nest_of(crossing)
    refusal = {
        "interchange": lambda: why_not_interchange(loops, (1, 0), legality, exact=False),
        "tile": lambda: why_not_tile(loops, legality, exact=False),
        "jam": lambda: why_not_unroll_and_jam(loops, legality, exact=False),
    }[gate]()
    assert refusal is not None
    assert "it would reverse a dependence: iteration i=1 writes a[1, 1]" in refusal.reason
    assert len(refusal.notes) == 2


def test_a_scalar_that_is_carried_is_named():
    _, loops, legality = nest_of(carried)
    refusal = why_not_tile(loops, legality, exact=False)
    assert refusal is not None
    assert refusal.reason == "the value of 's' is carried from one iteration to the next"


def test_jamming_refuses_a_triangle():
    _, loops, legality = nest_of(triangle)
    refusal = why_not_unroll_and_jam(loops, legality, exact=False)
    assert refusal is not None
    assert refusal.reason == "the loop over 'j' has other iterations each time"
