"""Interchange: a legal one does what the nest does, and the others are refused."""

from __future__ import annotations

import pytest

from appyc.passes.loop_ops.interchange import interchange, why_not_interchange
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
    agrees(with_loop(fn, loops[0], new), program, matrix(shape))


def test_a_dependence_that_crosses_is_named():
    _, loops, legality = nest_of(crossing)
    refusal = why_not_interchange(loops, (1, 0), legality, exact=False)
    assert refusal is not None
    assert "it would reverse a dependence: iteration i=1 writes a[1, 1]" in refusal.reason
    assert len(refusal.notes) == 2
