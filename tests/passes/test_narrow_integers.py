"""Python ints that are cut to 32 bits are computed in 32 bits."""

from __future__ import annotations

import numpy as np
import pytest

from appyc import pipeline
from appyc.ir.nodes import Binary
from appyc.ir.printer import print_function
from appyc.ir.types import DType
from appyc.ir.visit import walk
from appyc.options import Options
from appyc.passes.pass_context import PassContext
from appyc.passes.simplify.narrow_integers import narrow_integers
from tests.e2e.harness import run_everywhere
from tests.lowering import after, lowered
from tests.printed import run_printed

UP_TO = (*pipeline.SIMPLIFY, *pipeline.ANALYSE, *pipeline.FOR_C[: pipeline.FOR_C.index(narrow_integers)])


def rotated(data):
    h = 42
    for i in range(len(data)):
        k = (int(data[i]) * 3432918353) & 0xFFFFFFFF
        k = ((k << 15) | (k >> 17)) & 0xFFFFFFFF
        h = ((h ^ k) * 5 - 3864292196) & 0xFFFFFFFF
    return h


def rotated_by_variables(data):
    h = 0x9E3779B9
    for i in range(len(data)):
        by = int(data[i]) & 31
        h = ((h >> by) | (h << (-by & 31))) & 0xFFFFFFFF
        h = (h + i) & 0xFFFFFFFF
    return h


def under_conditions(data):
    h = int(data[0]) & 0xFFFF
    for i in range(len(data)):
        if h & 4:
            h = ((h << 3) ^ (h >> 2) ^ data[i]) & 0xFFFFFFFF
        else:
            h = (h - 7 * data[i]) & 0xFFFFFFFF
    return h


def of_wide_numbers(data):
    x, h = 1 << 40, 0
    for i in range(len(data)):
        x = (x * 6364136223846793005 + i) & 0x7FFFFFFFFFFFFFFF
        h = ((x >> 18 ^ x) >> 27 ^ h << 40) & 0xFFFFFFFF
        x ^= h
    return h


def apart(data):
    for i in range(len(data)):
        data[i] = (data[i] * 5 + 1) & 0xFFFFFFFF
    return data[0]


NARROWED = (rotated, rotated_by_variables, under_conditions)


def prepared(fn):
    return after(lowered(fn, np.arange(4)), *UP_TO, context=PassContext(Options(target="cpu")))


def wide(fn):
    """The operators of what is computed in 64 bits and is no index."""
    return {n.op for n in walk(fn.body) if isinstance(n, Binary) and n.dtype is DType.INT64}


@pytest.mark.parametrize("fn", NARROWED, ids=lambda f: f.__name__)
def test_what_is_cut_is_narrow(fn):
    before = prepared(fn)
    assert {"<<", ">>", "*", "-"} & wide(before)
    assert not {"<<", ">>", "*", "-"} & (wide(after(before, narrow_integers)) - {"-"})


def test_what_has_more_bits_is_shifted_in_full():
    assert {">>", "<<", "*"} <= wide(after(prepared(of_wide_numbers), narrow_integers))


def test_loops_that_lanes_are_made_of_stay():
    before = prepared(apart)
    assert after(before, narrow_integers) == before


@pytest.mark.parametrize("fn", [*NARROWED, of_wide_numbers, apart], ids=lambda f: f.__name__)
@pytest.mark.parametrize("size", [1, 2, 33])
def test_results_stay(fn, size):
    data = np.random.default_rng(size).integers(-(2**31), 2**32, size)
    assert run_printed(after(prepared(fn), narrow_integers), data.copy()) == fn(data.copy())
    run_everywhere(fn, data)


def test_golden(golden):
    before = prepared(rotated)
    found = after(before, narrow_integers)
    golden("loops/narrow_integers.txt", f"{print_function(before)}\n# after\n\n{print_function(found)}")
