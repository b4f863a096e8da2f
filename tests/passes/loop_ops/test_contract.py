"""Loops over a contracted array do what the loops do."""

from __future__ import annotations

import numpy as np
import pytest

from appyc.ir.names import NameSupply
from appyc.ir.nodes import Alloc
from appyc.ir.types import DType
from appyc.ir.visit import rewrite, walk
from appyc.passes.loop_ops.contract import contracted
from tests.loop_operations import agrees, analysed, text, the_loop, with_loop


def doubled(a):
    t = np.zeros(1)
    for i in range(a.shape[0]):
        t[0] = a[i] * 2.0
        t[0] += 1.0
        a[i] = t[0]


@pytest.mark.parametrize("length", [0, 1, 5])
def test_an_array_of_one_element_becomes_a_scalar(length):
    fn = analysed(doubled, np.zeros(3))
    array = next(n.array for n in walk(fn) if isinstance(n, Alloc))
    scalar = NameSupply.after(fn).fresh("x", DType.FLOAT64)
    loop = the_loop(fn, "i")
    new = rewrite(loop, lambda node: contracted(node, array, scalar, lambda index: index))
    fn = with_loop(fn, loop, new)
    assert text(fn).splitlines()[1:] == ["    x = a[i] * 2.0", "    x = x + 1.0", "    a[i] = x"]
    agrees(fn, doubled, np.arange(float(length)))
