"""Unrolled loops run the iterations in their order."""

from __future__ import annotations

import numpy as np
import pytest

from appyc.ir.blocks import constant_range
from appyc.ir.names import NameSupply
from appyc.passes.loop_ops.unroll import unroll, why_not_unroll, written_out
from tests.loop_operations import agrees, analysed, text, the_loop, with_loop


def running(a):
    for i in range(1, a.shape[0]):
        a[i] = a[i] + a[i - 1]


def backwards(a):
    for i in range(a.shape[0] - 2, -1, -2):
        a[i] = a[i] + a[i + 1]


def with_loops(a):
    for i in range(a.shape[0]):
        for j in range(i):
            a[i] = a[i] + a[j]


def short(a):
    for i in range(3):
        if i == 1:
            continue
        a[i] = a[i] + i


def ends_early(a):
    for i in range(a.shape[0]):
        if a[i] > 3.0:
            break
        a[i] = 0.0


A = np.arange(9.0)


def test_unrolled():
    fn = analysed(running, A)
    loop = the_loop(fn, "i")
    assert text(with_loop(fn, loop, *unroll(loop, 2, NameSupply.after(fn)))) == (
        "for i in range(1, a.shape[0] - 1, 2):\n"
        "    a[i] = a[i] + a[i - 1]\n"
        "    a[i + 1] = a[i + 1] + a[i]\n"
        "for i_2 in range(1 + (max((a.shape[0] - 1) // 2, 0) * 2), a.shape[0]):\n"
        "    a[i_2] = a[i_2] + a[i_2 - 1]"
    )


@pytest.mark.sampled
@pytest.mark.parametrize("factor", [2, 3, 4, 7])
@pytest.mark.parametrize("length", [0, 1, 2, 3, 7, 8, 9, 15])
@pytest.mark.parametrize("program", [running, backwards, with_loops])
def test_unrolling_keeps_the_results(program, length, factor):
    fn = analysed(program, A)
    loop = the_loop(fn, "i")
    agrees(
        with_loop(fn, loop, *unroll(loop, factor, NameSupply.after(fn))), program, np.arange(float(length))
    )


def test_all_iterations_without_a_loop():
    fn = analysed(short, A)
    loop = the_loop(fn, "i")
    assert constant_range(loop) == range(3)
    new = with_loop(fn, loop, *written_out(loop, loop.body))
    agrees(new, short, np.arange(5.0))


def test_a_loop_that_may_end_early_refuses():
    assert why_not_unroll(the_loop(analysed(ends_early, A), "i")) == "an iteration may end early"
    assert why_not_unroll(the_loop(analysed(running, A), "i")) is None
