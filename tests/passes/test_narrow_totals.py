"""Reductions of small integers in lanes are computed in 32 bits or fewer, for as many iterations as that holds."""

from __future__ import annotations

import numpy as np
import pytest

from appyc import pipeline
from appyc.ir.types import DType
from appyc.ir.visit import loops_of
from appyc.options import Options
from appyc.passes.pass_context import PassContext
from tests.e2e.harness import run_everywhere
from tests.lowering import after, lowered


def total(a, b):
    s = 0
    for i in range(len(a)):
        s += int(a[i])
    return s


def count(a, b):
    n = 0
    for i in range(len(a)):
        if a[i] > 5:
            n += 1
    return n


def twice(a, b):
    n = 7
    for i in range(len(a)):
        if a[i] > b[i]:
            n += 3
        n += int(a[i] == b[i])
    return n


def distance(a, b):
    s = 0
    for i in range(len(a)):
        s += abs(int(a[i]) - int(b[i]))
    return s


def product(a, b):
    s = 10**15
    for i in range(len(a)):
        s += int(a[i]) * int(b[i])
    return s


def extremes(a, b, low, high):
    for i in range(len(a)):
        low = min(low, int(a[i]))
        high = max(high, int(b[i]) * 2)
    return low, high


def extremes_of_some(a, b, low, high):
    for i in range(len(a)):
        if a[i] > 100:
            low = min(low, int(b[i]))
        if b[i] < a[i]:
            high = max(high, int(b[i]))
    return low, high


def rows(a, b):
    out = np.zeros(3, np.int64)
    for k in range(3):
        s = 0
        for i in range(len(a)):
            s += int(a[i]) * (k + 1)
        out[k] = s
    return out


def read_inside(a, b):
    s = 0
    for i in range(len(a)):
        s += int(a[i])
        b[i] = s % 3
    return s


SUMS = (total, count, twice, distance, product, rows)


def totals(fn, dtype, *more):
    """What is narrow in the loops of a function, and the iterations of a block."""
    a = np.zeros(9, dtype)
    context = PassContext(Options(target="cpu"))
    ready = after(
        lowered(fn, a, a.copy(), *more),
        *pipeline.SIMPLIFY,
        *pipeline.ANALYSE,
        *pipeline.FOR_C,
        context=context,
    )
    found = [ready.schedule[loop.var].narrow for loop in loops_of(ready.body)]
    return [({part.dtype for _, part in each.parts}, each.block) for each in found if each is not None]


def test_sums_of_bytes_are_taken_in_32_bits():
    for fn in (total, count, twice, distance, product):
        assert totals(fn, np.uint8)[0] == ({DType.INT32}, 4096), fn.__name__


def test_blocks_are_as_long_as_32_bits_hold():
    assert totals(product, np.int16) == [], "two products may exceed 32 bits"
    assert totals(total, np.uint16)[0] == ({DType.INT32}, 4096)
    assert totals(total, np.int32) == []
    assert totals(total, np.int64) == []
    assert totals(count, np.float32)[0] == ({DType.INT32}, 4096)
    assert totals(count, np.float64) == [], "lanes of comparisons are as wide as the sums"


def test_extremes_have_the_type_of_their_elements():
    assert totals(extremes, np.uint8, 0, 0)[0][0] == {DType.UINT8, DType.UINT16}
    assert totals(extremes_of_some, np.uint8, 0, 0) == []


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int16, np.bool_, np.float32])
@pytest.mark.parametrize("fn", [*SUMS, read_inside], ids=lambda f: f.__name__)
def test_results_stay(fn, dtype):
    if fn in (distance, read_inside) and dtype in (np.bool_, np.float32):
        return
    for size in (0, 1, 300, 9000):
        low, high = (
            (0, 2) if dtype in (np.bool_, np.float32) else (np.iinfo(dtype).min, np.iinfo(dtype).max + 1)
        )
        a, b = np.random.default_rng(size).integers(low, high, (2, size)).astype(dtype)
        run_everywhere(fn, a, b, targets=("threads",) if size > 300 else ("threads", "interpret"))
        run_everywhere(fn, np.full_like(a, high - 1), np.full_like(a, low), targets=("threads",))


@pytest.mark.parametrize("ends", [(0, 0), (10**9, -(10**9)), (-(10**12), 10**12)])
@pytest.mark.parametrize("size", [0, 1, 500])
def test_extremes_begin_with_any_number(ends, size):
    a, b = np.random.default_rng(size).integers(-128, 128, (2, size)).astype(np.int8)
    run_everywhere(extremes, a, b, *ends)
    run_everywhere(extremes_of_some, a, b, *ends)
    run_everywhere(extremes_of_some, np.minimum(a, 100), np.maximum(a, b), *ends)
