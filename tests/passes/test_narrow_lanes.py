"""Lanes compute small integers in the width of the elements that they are made of."""

from __future__ import annotations

import numpy as np
import pytest

from appyc import pipeline
from appyc.ir.nodes import Assign, Compare
from appyc.ir.printer import print_function
from appyc.ir.types import DType
from appyc.ir.visit import walk
from appyc.options import Options
from appyc.passes.pass_context import PassContext
from appyc.passes.vectorise.narrow_lanes import halve_lanes, narrow_lanes
from tests.e2e.harness import run_everywhere
from tests.lowering import after, lowered
from tests.printed import run_printed

UP_TO = (*pipeline.SIMPLIFY, *pipeline.ANALYSE, *pipeline.FOR_C[: pipeline.FOR_C.index(narrow_lanes)])


def dilated(a, o):
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            v = 0
            for di in range(-1, 2):
                for dj in range(-1, 2):
                    v = max(v, a[i + di, j + dj])
            o[i, j] = v


def blurred(a, o):
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            s = 0
            for di in range(-1, 2):
                for dj in range(-1, 2):
                    s += int(a[i + di, j + dj])
            o[i, j] = s // 9


def edges(a, o):
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            x = int(a[i, j + 1]) - int(a[i, j - 1])
            y = int(a[i + 1, j]) - int(a[i - 1, j])
            o[i, j] = min(abs(x) + abs(y), 255)


def clipped(a, o):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            v = int(a[i, j]) * 3 - 40
            if v > 255:
                v = 255
            elif v < 0:
                v = 0
            o[i, j] = v


def looked_up(a, o):
    table = np.arange(256) % 7
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            v = min(int(a[i, j]) + 3, 255)
            o[i, j] = table[v] + (v if v < 100 else 9)


def scaled(a, o):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            v = int(a[i, j]) * 300 - j % 5
            o[i, j] = np.uint8((v >> 9) + (v * 0.001))


def of_a_wide_count(a, o):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            v = int(a[i, j]) + 1000 * i * j
            o[i, j] = v % 251


def kept(a, o):
    v = 0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            v = int(a[i, j]) % 7
            o[i, j] = v
    return v


def compared(a, o, limit):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            v = 0
            if a[i, j] > limit:
                v = v + 1
            if limit >= int(a[i, j]) + 2:
                v = v + 2
            if a[i, j] != limit:
                v = v + 4
            o[i, j] = v


NARROWED = {
    dilated: DType.UINT8,
    blurred: DType.UINT16,
    edges: DType.INT16,
    clipped: DType.INT16,
    looked_up: DType.UINT16,
}


def prepared(fn):
    given = np.zeros((9, 9), np.uint8)
    return after(lowered(fn, given, given.copy()), *UP_TO, context=PassContext(Options(target="cpu")))


def assigned(fn):
    """The types of the scalars that are assigned."""
    return {n.target.dtype for n in walk(fn.body) if isinstance(n, Assign)}


@pytest.mark.parametrize("fn", NARROWED, ids=lambda f: f.__name__)
def test_the_narrowest_type_is_taken(fn):
    before = prepared(fn)
    assert assigned(before) == {DType.INT64}
    assert NARROWED[fn] in assigned(after(before, narrow_lanes))
    assert DType.INT32 in assigned(after(before, halve_lanes))


def test_what_is_wide_stays():
    before = prepared(of_a_wide_count)
    assert after(before, narrow_lanes) == before


@pytest.mark.sampled
@pytest.mark.parametrize("fn", [*NARROWED, scaled, of_a_wide_count, kept], ids=lambda f: f.__name__)
@pytest.mark.parametrize("shape", [(3, 3), (5, 40)])
def test_results_stay(fn, shape):
    a = np.random.default_rng(4).integers(0, 256, shape).astype(np.uint8)
    expected, found = np.zeros_like(a), np.zeros_like(a)
    fn(a, expected)
    run_printed(after(prepared(fn), narrow_lanes), a, found)
    np.testing.assert_array_equal(found, expected)
    run_everywhere(fn, a, np.zeros_like(a))


@pytest.mark.parametrize("limit", [-(2**40), -1, 0, 7, 255, 256, 257, 300, 2**40])
def test_any_number_is_compared(limit):
    a = np.arange(256).astype(np.uint8).reshape(8, 32)
    run_everywhere(compared, a, np.zeros_like(a), limit)
    fn = after(lowered(compared, a, a.copy(), limit), *UP_TO, context=PassContext(Options(target="cpu")))
    sides = [n.lhs.dtype for n in walk(after(fn, narrow_lanes).body) if isinstance(n, Compare)]
    assert sides.count(DType.INT16) >= 3


def test_golden(golden):
    before = prepared(clipped)
    found = after(before, narrow_lanes)
    golden("loops/narrow_lanes.txt", f"{print_function(before)}\n# after\n\n{print_function(found)}")
