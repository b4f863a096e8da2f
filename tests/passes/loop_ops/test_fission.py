"""Distributed loops do what the loop does."""

from __future__ import annotations

import numpy as np

from appyc.analysis.dependences.legality import Legality
from appyc.analysis.dependences.statement_graph import statement_graph
from appyc.ir.names import NameSupply
from appyc.passes.loop_ops.fission import fission, why_not_fission
from tests.loop_operations import agrees, analysed, text, the_loop, with_loop


def two_parts(a, b):
    for i in range(1, min(a.shape[0], b.shape[0])):
        a[i] = a[i] * 2.0
        b[i] = b[i - 1] + a[i]


def test_fission():
    fn = analysed(two_parts, np.ones(9), np.ones(9))
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
