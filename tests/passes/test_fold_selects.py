"""Conditions on the bits of integers that the next iteration reads become masks."""

from __future__ import annotations

import numpy as np
import pytest

from appyc import pipeline
from appyc.ir.nodes import If, Select
from appyc.ir.printer import print_function
from appyc.ir.visit import contains
from appyc.options import Options
from appyc.passes.pass_context import PassContext
from appyc.passes.simplify.fold_selects import fold_selects
from tests.e2e.harness import run_everywhere
from tests.lowering import after, lowered
from tests.printed import run_printed

UP_TO = (*pipeline.SIMPLIFY, *pipeline.ANALYSE, *pipeline.FOR_C[: pipeline.FOR_C.index(fold_selects)])


def checksum(data):
    c = 0xFFFF
    for i in range(len(data)):
        c ^= int(data[i]) << 8
        if c & 0x8000:
            c = ((c << 1) ^ 0x1021) & 0xFFFF
        else:
            c = (c << 1) & 0xFFFF
    return c


def shift_register(data):
    state, out = int(data[0]) & 0xFF, 0
    for _ in range(1, len(data)):
        bit = state & 1
        state >>= 1
        if bit:
            state ^= 0xB8
        out = (out ^ state) if state & 2 else out
    return out


def other_side(data):
    s, k = 5, int(data[0]) & 1
    for _ in range(1, len(data)):
        if s & 3 == 0:
            s = (s >> 1) ^ k
        else:
            s = ((s >> 1) ^ k) | 64
    return s


def of_narrow(data):
    s = np.uint8(77)
    for _ in range(len(data)):
        if s & np.uint8(1):
            s = (s >> np.uint8(1)) - np.uint8(3)
        else:
            s = s >> np.uint8(1)
    return s


def other_targets(data):
    s = t = 0
    for i in range(len(data)):
        if (s ^ data[i]) & 1:
            s = t ^ 3
        else:
            t = s ^ 5
    return s + t


def of_floats(data):
    s = -0.0
    for i in range(len(data)):
        if data[i] > 0 and s < 4:
            s = s + 1.0
    return s


FOLDED = (checksum, shift_register, other_side, of_narrow)


def prepared(fn):
    return after(lowered(fn, np.arange(4)), *UP_TO, context=PassContext(Options(target="cpu")))


@pytest.mark.parametrize("fn", FOLDED, ids=lambda f: f.__name__)
def test_conditions_become_masks(fn):
    before = prepared(fn)
    assert contains(before.body, If | Select)
    assert not contains(after(before, fold_selects).body, If | Select)


@pytest.mark.parametrize("fn", [other_targets, of_floats], ids=lambda f: f.__name__)
def test_conditions_that_stay(fn):
    before = prepared(fn)
    assert after(before, fold_selects) == before


@pytest.mark.parametrize("fn", [*FOLDED, other_targets, of_floats], ids=lambda f: f.__name__)
@pytest.mark.parametrize("size", [1, 2, 30])
def test_results_stay(fn, size):
    data = np.random.default_rng(size).integers(0, 256, size)
    assert run_printed(after(prepared(fn), fold_selects), data) == fn(data)
    run_everywhere(fn, data)


def test_golden(golden):
    before = prepared(checksum)
    found = after(before, fold_selects)
    golden("loops/folded_selects.txt", f"{print_function(before)}\n# after\n\n{print_function(found)}")
