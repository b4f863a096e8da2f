"""Allocations that resize: what they keep, and that analyses see them as reads and writes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from appyc.analysis.accesses.access_relations import accesses_of
from appyc.analysis.dependences.dependences import Dependences
from appyc.analysis.sets.presburger import Presburger
from appyc.ir.nodes import Alloc, Function
from appyc.ir.types import DType
from appyc.ir.verify import verify
from appyc.ir.visit import arrays_read, arrays_written, loops_of
from tests.ir_makers import Program, alloc, assign, compare, expr, for_, if_, mul, store
from tests.printed import run_printed


def growing() -> tuple[Function, Alloc]:
    """A function that appends the numbers below n to an array of doubling capacity, and the statement that grows it."""
    p = Program()
    n, i, room, xs = p.integer("n"), p.index("i"), p.index("room"), p.local_array("xs", 1, DType.INT64)
    wider = replace(alloc(xs, room), zero=False, kept=expr(i))
    body = [
        assign(room, 1),
        alloc(xs, room),
        for_(i, 0, n, [if_(compare("==", i, room), [assign(room, mul(room, 2)), wider]), store(xs, [i], i)]),
    ]
    return p.function(*body, results=(xs,)), wider


def test_what_is_kept():
    fn, _ = growing()
    assert not verify(fn)
    assert np.array_equal(run_printed(fn, 9)[:9], np.arange(9))


def test_it_reads_and_writes_its_array():
    _, wider = growing()
    assert arrays_read(wider) == arrays_written(wider) == {wider.array}
    fresh = replace(wider, kept=None)
    assert not arrays_read(fresh)
    assert not arrays_written(fresh)


def test_no_iteration_has_such_an_array_of_its_own():
    """Each iteration stores an element of its own; what resizes the array touches those of others."""
    fn, wider = growing()
    found = Dependences(accesses_of(fn, Presburger()))
    (loop,) = loops_of(fn)
    assert any(conflict.source.array == wider.array for conflict in found.conflicts(loop))


@pytest.mark.parametrize("change", [{"zero": True}, {"in_frame": True}, {"kept": expr(1.0)}])
def test_what_cannot_be_resized(change):
    p = Program()
    xs = p.local_array("xs", 1, DType.INT64)
    wider = replace(alloc(xs, 4), zero=False, kept=expr(2))
    assert not verify(p.function(alloc(xs, 2), wider))
    assert verify(p.function(alloc(xs, 2), replace(wider, **change)))
