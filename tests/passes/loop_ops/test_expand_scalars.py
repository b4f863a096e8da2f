"""A loop cut in several, with arrays for the scalars that connect them, does what the loop does."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from appyc.ir.names import NameSupply
from appyc.ir.nodes import Alloc, Var
from appyc.passes.loop_ops.expand_scalars import expand_scalars
from appyc.passes.node_builders import copy_of, iterations_of, trip_count
from tests.loop_operations import agrees, analysed, text, the_loop, with_loop


def connected(a, b):
    for i in range(1, min(a.shape[0], b.shape[0])):
        x = a[i] * 2.0
        y = x + 1.0
        b[i] = x - y
        y = y * x
        a[i] = y


@pytest.mark.parametrize("as_elements", [True, False])
@pytest.mark.parametrize("cuts", [(1,), (2,), (3,), (4,), (1, 2), (2, 4), (1, 2, 3, 4)])
def test_expand_scalars(cuts, as_elements):
    fn = analysed(connected, np.ones(9), np.ones(9))
    loop, names = the_loop(fn, "i"), NameSupply.after(fn)
    ends = (0, *cuts, len(loop.body))
    groups = [loop.body[lo:hi] for lo, hi in pairwise(ends)]
    index = (trip_count(loop.lo, Var(loop.var, loc=loop.loc), loop.step),)
    bodies, kept = expand_scalars(groups, index, names, as_elements=as_elements)
    made = [Alloc(a, (iterations_of(loop),), zero=False, loc=loop.loc) for a in kept.values()]
    new = with_loop(fn, loop, *made, *(copy_of(replace(loop, body=body), names) for body in bodies))
    assert 1 <= len(kept) <= 3, text(new)
    agrees(new, connected, np.arange(7.0), np.arange(8.0))
    agrees(new, connected, np.arange(1.0), np.arange(0.0))
