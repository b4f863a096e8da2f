"""Widened nests do what the nests do."""

from __future__ import annotations

import numpy as np
import pytest

from appyc.analysis.dependences.fusion_legality import EqualExtents
from appyc.ir.nodes import Alloc
from appyc.ir.visit import walk
from appyc.passes.loop_ops.widen import widen, zeros_before
from tests.loop_operations import agrees, analysed, text, the_loop, with_loop


def interior(a):
    t = np.zeros(a.shape[0])
    for i in range(1, a.shape[0] - 1):
        t[i] = a[i - 1] + a[i + 1]
    return t


def rows_and_columns(a):
    t = np.zeros((a.shape[0], 4))
    for i in range(2, a.shape[0]):
        for j in range(3):
            t[i, j] = a[i - 2] * j
    return t


def shifted_store(a):
    t = np.zeros(a.shape[0] + 1)
    for i in range(1, a.shape[0]):
        t[i + 1] = a[i]
    return t


def under_a_condition(a):
    t = np.zeros(a.shape[0])
    for i in range(1, a.shape[0]):
        if a[i] > 2.0:
            t[i] = a[i]
    return t


def triangle(a):
    t = np.zeros((a.shape[0], a.shape[0]))
    for i in range(1, a.shape[0]):
        for j in range(i):
            t[i, j] = a[j]
    return t


def widened(fn):
    loop = the_loop(fn, "i")
    alloc = next(n for n in walk(fn) if isinstance(n, Alloc))
    assert zeros_before({alloc.array}, fn.body[: fn.body.index(loop)]) is alloc
    return loop, widen(loop, alloc, EqualExtents.of(fn.guards))


@pytest.mark.parametrize("length", [0, 1, 2, 3, 9])
@pytest.mark.parametrize("program", [interior, rows_and_columns])
def test_widening_keeps_the_results(program, length):
    fn = analysed(program, np.ones(9))
    loop, wider = widened(fn)
    assert wider is not None
    agrees(with_loop(fn, loop, wider), program, np.arange(float(length)))


def test_widened():
    fn = analysed(interior, np.ones(9))
    loop, wider = widened(fn)
    assert text(with_loop(fn, loop, wider)).splitlines() == [
        "for i in range(0, a.shape[0]):",
        "    if (i >= 1) & (i < (a.shape[0] - 1)):",
        "        t[i] = a[i - 1] + a[i + 1]",
        "    else:",
        "        t[i] = 0.0",
    ]


@pytest.mark.parametrize("program", [shifted_store, under_a_condition, triangle])
def test_other_nests_stay(program):
    assert widened(analysed(program, np.ones(9)))[1] is None


def test_an_array_that_something_stored_into_has_no_zeros_left():
    fn = analysed(interior, np.ones(9))
    alloc = next(n for n in walk(fn) if isinstance(n, Alloc))
    assert zeros_before({alloc.array}, fn.body) is None
