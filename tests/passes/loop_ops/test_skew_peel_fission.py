"""Skewing, peeling and fission do what the loops do."""

from __future__ import annotations

import numpy as np
import pytest

from appyc.analysis.dependences.legality import Legality
from appyc.analysis.dependences.statement_graph import statement_graph
from appyc.ir.names import NameSupply
from appyc.passes.loop_ops.fission import fission, why_not_fission
from appyc.passes.loop_ops.peel import peel, why_not_peel
from appyc.passes.loop_ops.skew import skew, why_not_skew
from tests.loop_operations import agrees, analysed, text, the_loop, with_loop


def smoothed(a):
    for i in range(1, a.shape[0]):
        for j in range(1, a.shape[1]):
            a[i, j] = (a[i - 1, j] + a[i, j - 1]) * 0.5


def triangle(a):
    for i in range(a.shape[0]):
        for j in range(min(i, a.shape[1])):
            a[i, j] = 0.0


def running(a):
    for i in range(1, a.shape[0]):
        a[i] = a[i] + a[i - 1]


def backwards(a):
    for i in range(a.shape[0] - 2, -1, -1):
        a[i] = a[i] + a[i + 1]


def ends_early(a):
    for i in range(a.shape[0]):
        if a[i] > 3.0:
            break
        a[i] = 0.0


def two_parts(a, b):
    for i in range(1, min(a.shape[0], b.shape[0])):
        a[i] = a[i] * 2.0
        b[i] = b[i - 1] + a[i]


A, B = np.arange(1.0, 13.0).reshape(3, 4), np.arange(9.0)


def pair(program):
    fn = analysed(program, A)
    return fn, the_loop(fn, "i"), the_loop(fn, "j")


def test_wavefronts():
    fn, outer, inner = pair(smoothed)
    shown = text(with_loop(fn, outer, skew(outer, inner, 1, NameSupply.after(fn)))).splitlines()
    assert shown[1] == (
        "    for i in range(max(1, front - (a.shape[1] - 1)), min(a.shape[0], (front - 1) + 1)):"
    )
    assert shown[2].startswith("        a[i, front - i] = ")


@pytest.mark.parametrize("factor", [1, 2, 3])
@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (2, 5), (5, 2), (6, 7)])
def test_skewing_keeps_the_results(factor, shape):
    fn, outer, inner = pair(smoothed)
    assert why_not_skew(outer, inner) is None
    skewed = with_loop(fn, outer, skew(outer, inner, factor, NameSupply.after(fn)))
    agrees(skewed, smoothed, np.random.default_rng(1).uniform(size=shape))


def test_a_triangle_refuses():
    _, outer, inner = pair(triangle)
    assert why_not_skew(outer, inner) == "the bounds of the inner loop depend on the outer one"


@pytest.mark.parametrize("length", [0, 1, 2, 3, 9])
@pytest.mark.parametrize("program", [running, backwards])
def test_peeling_keeps_the_results(program, length):
    fn = analysed(program, B)
    loop = the_loop(fn, "i")
    assert why_not_peel(loop) is None
    agrees(with_loop(fn, loop, *peel(loop)), program, np.arange(float(length)))


def test_peeled():
    fn = analysed(running, B)
    loop = the_loop(fn, "i")
    first, others = peel(loop)
    assert text(with_loop(fn, loop, others, first)).splitlines() == [
        "for i in range(2, a.shape[0]):",
        "    a[i] = a[i] + a[i - 1]",
        "if 1 < a.shape[0]:",
        "    a[1] = a[1] + a[1 - 1]",
    ]


def test_peeling_refuses_a_search():
    assert why_not_peel(the_loop(analysed(ends_early, B), "i")) == "an iteration may end early"


def test_fission():
    fn = analysed(two_parts, B, B)
    loop = the_loop(fn, "i")
    graph = statement_graph(Legality.of(fn), loop)
    assert graph is not None
    assert why_not_fission(graph, [(0,), (1,)]) is None
    new = with_loop(fn, loop, *fission(loop, [(0,), (1,)], NameSupply.after(fn)))
    assert [line for line in text(new).splitlines() if line.startswith("for")] == [
        "for i in range(1, min(a.shape[0], b.shape[0])):",
        "for i_2 in range(1, min(a.shape[0], b.shape[0])):",
    ]
    agrees(new, two_parts, np.arange(7.0), np.arange(8.0))
    assert (
        why_not_fission(graph, [(1,), (0,)])
        == f"line {graph.body[1].loc.line} needs what line {graph.body[0].loc.line} does"
    )
