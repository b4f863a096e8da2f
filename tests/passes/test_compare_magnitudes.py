"""Sizes of complex numbers are compared by their squares, with the answers that roots give."""

from __future__ import annotations

import math

import numpy as np
import pytest

from appyc.ir.nodes import Compare, Function, Intrinsic
from appyc.ir.types import DType
from appyc.ir.visit import walk
from appyc.options import Options
from appyc.passes.pass_context import PassContext
from appyc.passes.simplify.compare_magnitudes import compare_magnitudes, squares_around
from tests.ir_makers import Program, binary, compare, here, load, store
from tests.printed import run_printed

OPS = ("<", "<=", ">", ">=")


def comparison(op: str, limit: float, *, mirrored: bool = False, computed: bool = False) -> Function:
    p = Program()
    a, out, i = p.array("a", 1, DType.COMPLEX128), p.array("out", 1, DType.BOOL), p.integer("i")
    number = load(a, i, checked=False)
    number = binary("+", number, number) if computed else number
    size = Intrinsic("abs", (number,), DType.FLOAT64, loc=here())
    sides = (limit, size) if mirrored else (size, limit)
    return p.function(store(out, [i], compare(op, *sides)))


def sizes(fn: Function) -> list[Intrinsic]:
    return [
        n for n in walk(fn) if isinstance(n, Intrinsic) and n.name == "abs" and n.args[0].dtype.is_complex
    ]


@pytest.mark.sampled
@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("op", OPS)
def test_sizes_are_gone_and_the_answers_are_the_same(op, mirrored):
    parts = [0.0, 1.0, -2.0, math.inf, -math.inf, math.nan, 1e200, 1e-200, 1.2, 1.6]
    out = compare_magnitudes(comparison(op, 2.0, mirrored=mirrored), PassContext())
    assert not sizes(out)
    for number in [complex(re, im) for re in parts for im in parts]:
        before, after = np.zeros(1, bool), np.zeros(1, bool)
        run_printed(comparison(op, 2.0, mirrored=mirrored), np.array([number]), before, 0)
        run_printed(out, np.array([number]), after, 0)
        assert before[0] == after[0], number


@pytest.mark.parametrize("dtype", [DType.FLOAT64, DType.FLOAT32])
@pytest.mark.parametrize("limit", [2.0, 0.1, 3.3, 1e-10, 7e10])
def test_limits_are_where_rounded_roots_change_sides(limit, dtype):
    rounded = (lambda x: float(np.float32(math.sqrt(x)))) if dtype is DType.FLOAT32 else math.sqrt
    limit = float(np.float32(limit)) if dtype is DType.FLOAT32 else limit
    least, most = squares_around(limit, dtype)
    assert rounded(least) >= limit > rounded(math.nextafter(least, 0))
    assert rounded(most) <= limit < rounded(math.nextafter(most, math.inf))


@pytest.mark.parametrize(
    "fn", [comparison("<", 1e200), comparison("==", 2.0), comparison("<", 2.0, computed=True)]
)
def test_what_stays(fn):
    assert compare_magnitudes(fn, PassContext()) == fn


def test_exact_digits_are_the_librarys():
    fn = comparison("<", 2.0)
    assert compare_magnitudes(fn, PassContext(Options(exact=True))) is fn


def test_it_is_a_comparison_still():
    out = compare_magnitudes(comparison("<", 2.0), PassContext())
    assert any(isinstance(n, Compare) and n.op == "<" for n in walk(out))
