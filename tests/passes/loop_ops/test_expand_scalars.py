"""A loop cut in two, with arrays for the scalars that connect them, does what the loop does."""

from __future__ import annotations

import numpy as np
import pytest

from appyc.ir.names import NameSupply
from appyc.passes.loop_ops.expand_scalars import expand_scalars
from tests.loop_operations import agrees, analysed, text, the_loop, with_loop


def connected(a, b):
    for i in range(1, min(a.shape[0], b.shape[0])):
        x = a[i] * 2.0
        y = x + 1.0
        b[i] = x - y
        y = y * x
        a[i] = y


@pytest.mark.parametrize("at", [1, 2, 3, 4])
def test_expand_scalars(at):
    fn = analysed(connected, np.ones(9), np.ones(9))
    loop = the_loop(fn, "i")
    allocs, first, rest = expand_scalars(loop, at, NameSupply.after(fn))
    new = with_loop(fn, loop, *allocs, first, rest)
    assert 1 <= len(allocs) <= 2, text(new)
    agrees(new, connected, np.arange(7.0), np.arange(8.0))
    agrees(new, connected, np.arange(1.0), np.arange(0.0))
