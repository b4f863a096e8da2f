"""Contraction, staging and coalescing do what the loops do."""

from __future__ import annotations

import numpy as np
import pytest

from appyc.analysis.accesses.boxes import Axis
from appyc.analysis.dependences.fusion_legality import EqualExtents
from appyc.ir.names import NameSupply
from appyc.ir.nodes import Alloc, LoopMode
from appyc.ir.types import DType
from appyc.ir.visit import rewrite, walk
from appyc.passes.loop_ops.coalesce import coalesce
from appyc.passes.loop_ops.contract import contracted
from appyc.passes.loop_ops.nests import perfect_nest
from appyc.passes.loop_ops.stage import part_of
from appyc.passes.node_builders import integer
from tests.loop_operations import agrees, analysed, text, the_loop, with_loop


def doubled(a):
    t = np.zeros(1)
    for i in range(a.shape[0]):
        t[0] = a[i] * 2.0
        t[0] += 1.0
        a[i] = t[0]


def scaled(a):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] = a[i, j] * 2.0


def numbered(a):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] = a[i, j] + j


def last_rows(a):
    for i in range(2, a.shape[0]):
        a[i] = a[i] + a[1]


@pytest.mark.parametrize("length", [0, 1, 5])
def test_an_array_of_one_element_becomes_a_scalar(length):
    fn = analysed(doubled, np.zeros(3))
    array = next(n.array for n in walk(fn) if isinstance(n, Alloc))
    scalar = NameSupply.after(fn).fresh("t", DType.FLOAT64)
    loop = the_loop(fn, "i")
    new = rewrite(loop, lambda node: contracted(node, array, scalar, lambda index: index))
    fn = with_loop(fn, loop, new)
    assert text(fn).splitlines()[1:] == ["    t = a[i] * 2.0", "    t = t + 1.0", "    a[i] = t"]
    agrees(fn, doubled, np.arange(float(length)))


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


@pytest.mark.parametrize("length", [2, 3, 7])
def test_staged(length):
    fn = analysed(last_rows, np.zeros(4))
    loop, names = the_loop(fn, "i"), NameSupply.after(fn)
    (array,) = [symbol for symbol in fn.params if symbol.is_array]
    box = (Axis(integer(1, loop.loc), integer(1, loop.loc), False),)
    part = part_of(array, box, "row", names, loop.loc, moves=False)
    new = with_loop(
        fn, loop, *part.firsts, *part.sizes, *part.allocation(loop.loc), part.copied(names, loop.loc), loop
    )
    assert "row[at] = a[at + 1]" in text(new)
    agrees(new, last_rows, np.arange(float(length)))
