"""Unroll-and-jam: a legal one does what the nest does, and the others are refused."""

from __future__ import annotations

import pytest

from appyc.ir.names import NameSupply
from appyc.passes.loop_ops.unroll_and_jam import unroll_and_jam, why_not_unroll_and_jam
from tests.loop_operations import (
    SHAPES,
    agrees,
    backwards,
    crossing,
    down,
    matrix,
    nest_of,
    scaled,
    text,
    triangle,
    with_loop,
)


def test_jammed():
    fn, loops, _ = nest_of(scaled)
    main, _ = unroll_and_jam(loops, 2, NameSupply.after(fn))
    assert text(with_loop(fn, loops[0], main)) == (
        "for i in range(0, a.shape[0] - 1, 2):\n"
        "    for j in range(0, a.shape[1]):\n"
        "        a[i, j] = (a[i, j] * 2.0) + np.float64(i)\n"
        "        a[i + 1, j] = (a[i + 1, j] * 2.0) + np.float64(i + 1)"
    )


@pytest.mark.sampled
@pytest.mark.parametrize("factor", [2, 3, 5])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("program", [scaled, down, backwards])
def test_jamming_keeps_the_results(program, shape, factor):
    fn, loops, legality = nest_of(program)
    assert why_not_unroll_and_jam(loops, legality, exact=True) is None
    new = unroll_and_jam(loops, factor, NameSupply.after(fn))
    agrees(with_loop(fn, loops[0], *new), program, matrix(shape))


def test_jamming_refuses_a_triangle():
    _, loops, legality = nest_of(triangle)
    refusal = why_not_unroll_and_jam(loops, legality, exact=False)
    assert refusal is not None
    assert refusal.reason == "the loop over 'j' has other iterations each time"


def test_a_dependence_that_crosses_is_named():
    _, loops, legality = nest_of(crossing)
    refusal = why_not_unroll_and_jam(loops, legality, exact=False)
    assert refusal is not None
    assert "it would reverse a dependence: iteration i=1 writes a[1, 1]" in refusal.reason
    assert len(refusal.notes) == 2
