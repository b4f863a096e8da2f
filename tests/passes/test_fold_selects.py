"""Conditions on integers that the next iteration reads become masks."""

from __future__ import annotations

import numpy as np
import pytest

import appyc
from appyc import pipeline
from appyc.c_gen.lanes.simd import KEEP_IN_ORDER
from appyc.ir.nodes import If, Likely, Select
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


def codec(data):
    expected, step, codes = 0, 16, 0
    for i in range(len(data)):
        d = data[i] - expected
        code = 0
        if d < 0:
            code = 8
            d = -d
        change = step >> 3
        if d >= step:
            code |= 4
            d -= step
            change += step
        if code & 8:
            expected = (expected - change) & 1023
        else:
            expected = (expected + change) & 1023
        codes = (codes * 3 + code) & 0xFFFF
    return codes + expected


def square_roots(data):
    total = 0
    for i in range(len(data)):
        n, root, bit = (int(data[i]) ^ total) & 0xFF, 0, 64
        while bit != 0:
            if n >= root + bit:
                n -= root + bit
                root = (root >> 1) + bit
            else:
                root >>= 1
            bit >>= 2
        total = (total + root) & 0xFFFF
    return total


def products_by_halves(data):
    total = 0
    for i in range(len(data)):
        a, b, r = int(data[i]) & 0x7F, (i * 5) & 0x7F, 0
        while b > 0:
            if b & 1:
                r = (r + a) & 0xFFF
                if r >= 131:
                    r -= 131
            a = (a << 1) & 0xFFF
            if a >= 131:
                a -= 131
            b >>= 1
        total = (total + r) & 0xFFFF
    return total


def one_reads_the_other(data):
    a, b = np.uint8(3), np.uint8(200)
    for i in range(len(data)):
        if (int(a) ^ data[i]) & 2:
            a = b
            b = a - np.uint8(7)
        else:
            b = a
            a = b | np.uint8(65)
    return int(a) * 256 + int(b)


def reads_its_own(data):
    s, t, u = 3, 5, 0
    for i in range(len(data)):
        if (s ^ data[i]) & 1:
            u = t
            s = s ^ 5
        else:
            t = (s + 3) & 127
            u = t
        s = (s + u) & 255
    return s + t + u


def assigned_here_only(data):
    s = 3
    for i in range(len(data)):
        if (s ^ data[i]) & 1:
            k = (s >> 1) ^ 9
            s = s ^ k
        s = (s + data[i]) & 255
    return s


def ring(data):
    k = out = 0
    for _ in range(len(data)):
        k += 1
        out = (out ^ data[k & 0]) & 0xFF
        if k == 3:
            k = 0
    return out + k


def latest_extreme(data):
    best, at, s = -1, 0, 1
    for i in range(len(data)):
        s = ((s << 1) ^ data[i]) & 0xFF
        if s > best:
            best = s
            at = i
    return best * 100 + at


def of_flags(data):
    flag, s = False, 1
    for i in range(len(data)):
        s = ((s << 1) ^ data[i]) & 0xFF
        if s & 1:
            flag = not flag
    return flag


def of_floats(data):
    s = -0.0
    for i in range(len(data)):
        if data[i] > 0 and s < 4:
            s = s + 1.0
    return s


def outermost(data):
    q = 0
    for i in range(1, len(data)):
        turn = (q + 1.0) * (data[i] - 128.0) - (i + 1.0) * (data[q] - 128.0)
        if turn < 0.0:
            q = i
    return q


def outermost_by_steps(data):
    q = s = 0
    for i in range(1, len(data)):
        if (q + 1.0) * data[i] < (i + 1.0) * data[q]:
            s = s ^ i
            q = (q + 1) & i
    return q + s


FOLDED = (
    checksum,
    shift_register,
    other_side,
    of_narrow,
    other_targets,
    codec,
    square_roots,
    products_by_halves,
    outermost_by_steps,
)
KEPT = (of_floats, ring, latest_extreme, of_flags, one_reads_the_other, reads_its_own, assigned_here_only)


def prepared(fn):
    return after(lowered(fn, np.arange(4)), *UP_TO, context=PassContext(Options(target="cpu")))


@pytest.mark.parametrize("fn", FOLDED, ids=lambda f: f.__name__)
def test_conditions_become_masks(fn):
    before = prepared(fn)
    assert contains(before.body, If | Select)
    assert not contains(after(before, fold_selects).body, If | Select)


@pytest.mark.parametrize("fn", KEPT, ids=lambda f: f.__name__)
def test_conditions_that_stay(fn):
    before = prepared(fn)
    assert after(before, fold_selects) == before


def test_a_choice_of_an_element_is_unlikely():
    """A select would let each iteration wait for the loads at the index that the one before has set."""
    before = prepared(outermost)
    found = after(before, fold_selects)
    assert not contains(before.body, Likely)
    assert contains(found.body, If)
    assert contains(found.body, Likely)
    text = appyc.jit(outermost, target="cpu").source("c", np.arange(4))
    assert KEEP_IN_ORDER in text


@pytest.mark.parametrize("fn", [*FOLDED, *KEPT, outermost], ids=lambda f: f.__name__)
@pytest.mark.parametrize("size", [1, 2, 30])
def test_results_stay(fn, size):
    data = np.random.default_rng(size).integers(0, 256, size)
    assert run_printed(after(prepared(fn), fold_selects), data) == fn(data)
    run_everywhere(fn, data)


@pytest.mark.parametrize("fn", [checksum, codec], ids=lambda f: f.__name__)
def test_golden(golden, fn):
    before = prepared(fn)
    found = after(before, fold_selects)
    name = "folded_selects" if fn is checksum else "folded_branches"
    golden(f"loops/{name}.txt", f"{print_function(before)}\n# after\n\n{print_function(found)}")
