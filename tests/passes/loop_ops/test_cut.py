"""A loop in parts does what the whole loop does."""

from __future__ import annotations

import numpy as np
import pytest

from appyc.ir.names import NameSupply
from appyc.passes.loop_ops.cut import cut, split, why_not_cut
from appyc.passes.node_builders import integer
from tests.loop_operations import agrees, analysed, text, the_loop, with_loop


def running(a):
    for i in range(1, a.shape[0]):
        a[i] = a[i] + a[i - 1]


def strided(a):
    for i in range(0, a.shape[0], 2):
        a[i] = a[i] + 1.0


A = np.arange(7.0)


def test_a_window_keeps_the_bounds_as_conditions():
    fn = analysed(running, A)
    loop = the_loop(fn, "i")
    window = cut(loop, integer(2, loop.loc), integer(4, loop.loc))
    assert (
        text(with_loop(fn, loop, window))
        == "for i in range(2, min(4, a.shape[0])):\n    a[i] = a[i] + a[i - 1]"
    )


@pytest.mark.parametrize("points", [(0,), (3,), (9,), (2, 5), (5, 5), (-4, 3)])
@pytest.mark.parametrize("length", [0, 1, 2, 4, 7])
def test_parts_run_every_iteration_once_and_in_order(points, length):
    fn = analysed(running, A)
    loop = the_loop(fn, "i")
    places = [(f"cut{at}", integer(point, loop.loc)) for at, point in enumerate(points)]
    before, parts = split(fn, loop, places, NameSupply.after(fn))
    assert len(parts) == len(points) + 1
    agrees(with_loop(fn, loop, *before, *parts), running, np.arange(float(length)))


def left_early(a):
    for i in range(a.shape[0]):
        if a[i] > 3.0:
            break
        a[i] = a[i] + 1.0


def test_a_step_and_a_jump_refuse():
    assert why_not_cut(the_loop(analysed(left_early, A), "i")) == "it may end early"
    assert why_not_cut(the_loop(analysed(running, A), "i")) is None
    assert why_not_cut(the_loop(analysed(strided, A), "i")) == "its step is 2"
