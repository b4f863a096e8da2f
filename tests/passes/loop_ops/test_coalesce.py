"""Coalesced nests do what the nests do."""

from __future__ import annotations

import numpy as np
import pytest

from appyc.analysis.dependences.fusion_legality import EqualExtents
from appyc.ir.blocks import perfect_nest
from appyc.ir.names import NameSupply
from appyc.ir.nodes import LoopMode
from appyc.ir.types import DType
from appyc.passes.loop_ops.coalesce import coalesce
from tests.loop_operations import agrees, analysed, text, the_loop, with_loop


def scaled(a):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] = a[i, j] * 2.0


def numbered(a):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] = a[i, j] + j


@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (3, 4)])
def test_coalesced(shape):
    fn = analysed(scaled, np.zeros((2, 2)))
    loops = perfect_nest(the_loop(fn, "i"))
    at = NameSupply.after(fn).fresh("at", DType.INT64)
    new = coalesce(loops, at, EqualExtents.of(fn.guards), LoopMode.SEQUENTIAL)
    assert new is not None
    fn = with_loop(fn, loops[0], new)
    assert text(fn).splitlines()[0] == "for at in range(0, a.shape[0] * a.shape[1]):"
    agrees(fn, scaled, np.arange(float(shape[0] * shape[1])).reshape(shape))


def test_a_variable_that_is_read_for_itself_refuses():
    fn = analysed(numbered, np.zeros((2, 2)))
    loops = perfect_nest(the_loop(fn, "i"))
    at = NameSupply.after(fn).fresh("at", DType.INT64)
    assert coalesce(loops, at, EqualExtents.of(fn.guards), LoopMode.SEQUENTIAL) is None
