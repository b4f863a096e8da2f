"""Peeled loops do what the loops do."""

from __future__ import annotations

import numpy as np
import pytest

from appyc.passes.loop_ops.peel import peel, why_not_peel
from tests.loop_operations import agrees, analysed, text, the_loop, with_loop


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


@pytest.mark.parametrize("length", [0, 1, 2, 3, 9])
@pytest.mark.parametrize("program", [running, backwards])
def test_peeling_keeps_the_results(program, length):
    fn = analysed(program, np.ones(9))
    loop = the_loop(fn, "i")
    assert why_not_peel(loop) is None
    agrees(with_loop(fn, loop, *peel(loop)), program, np.arange(float(length)))


def test_peeled():
    fn = analysed(running, np.ones(9))
    loop = the_loop(fn, "i")
    first, others = peel(loop)
    assert text(with_loop(fn, loop, others, first)).splitlines() == [
        "for i in range(2, a.shape[0]):",
        "    a[i] = a[i] + a[i - 1]",
        "if 1 < a.shape[0]:",
        "    a[1] = a[1] + a[1 - 1]",
    ]


def test_peeling_refuses_a_search():
    assert why_not_peel(the_loop(analysed(ends_early, np.ones(9)), "i")) == "an iteration may end early"
