"""Loops over a staged part of an array do what the loops do."""

from __future__ import annotations

import numpy as np
import pytest

from appyc.analysis.accesses.boxes import Axis
from appyc.ir.names import NameSupply
from appyc.passes.loop_ops.stage import part_of
from appyc.passes.node_builders import integer
from tests.loop_operations import agrees, analysed, text, the_loop, with_loop


def last_rows(a):
    for i in range(2, a.shape[0]):
        a[i] = a[i] + a[1]


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
