"""Strips run the iterations of a loop in their order."""

from __future__ import annotations

import numpy as np
import pytest

from appyc.ir.names import NameSupply
from appyc.ir.types import DType
from appyc.passes.loop_ops.cut import cut
from appyc.passes.loop_ops.strip_mine import Strips, strip_mine, why_not_strip_mine
from tests.loop_operations import agrees, analysed, text, the_loop, with_loop


def running(a):
    for i in range(1, a.shape[0]):
        a[i] = a[i] + a[i - 1]


def strided(a):
    for i in range(1, a.shape[0], 3):
        a[i] = a[i] + a[i - 1]


def backwards(a):
    for i in range(a.shape[0] - 2, -1, -1):
        a[i] = a[i] + a[i + 1]


def ends_early(a):
    for i in range(a.shape[0]):
        if a[i] > 3.0:
            break
        a[i] = 0.0


A = np.arange(9.0)


def test_a_loop_in_strips():
    fn = analysed(running, A)
    loop = the_loop(fn, "i")
    assert text(with_loop(fn, loop, strip_mine(loop, 4, NameSupply.after(fn)))) == (
        "for strip in range(1, a.shape[0], 4):\n"
        "    for i in range(strip, min(strip + 4, a.shape[0])):\n"
        "        a[i] = a[i] + a[i - 1]"
    )


@pytest.mark.parametrize("program", [running, strided, backwards])
@pytest.mark.parametrize("length", [0, 1, 2, 5, 8, 9, 13])
def test_strips_run_every_iteration_once_and_in_order(program, length):
    fn = analysed(program, A)
    loop = the_loop(fn, "i")
    agrees(with_loop(fn, loop, strip_mine(loop, 4, NameSupply.after(fn))), program, np.arange(float(length)))


@pytest.mark.parametrize("length", [0, 1, 2, 5, 8, 9, 13])
def test_counted_strips_cover_the_range(length):
    fn = analysed(running, A)
    loop, names = the_loop(fn, "i"), NameSupply.after(fn)
    strips = Strips(loop.lo, loop.hi, 4, names.fresh("block", DType.INT64), loop.loc)
    blocks = strips.loop([cut(loop, strips.start, strips.end)])
    agrees(with_loop(fn, loop, blocks), running, np.arange(float(length)))


def test_a_loop_that_may_end_early_refuses():
    assert why_not_strip_mine(the_loop(analysed(ends_early, A), "i")) == "it may end early"
    assert why_not_strip_mine(the_loop(analysed(running, A), "i")) is None
