"""Scalars that hold what an earlier iteration set them to: the first iteration runs apart."""

from __future__ import annotations

import numpy as np
import pytest

from appyc.ir.nodes import For, Stmt
from appyc.ir.printer import print_function
from appyc.ir.types import DType
from appyc.ir.visit import loops_of
from appyc.passes.pass_context import PassContext
from appyc.passes.simplify.peel_wrap_around import peel_wrap_around
from tests.ir_makers import (
    Program,
    add,
    assign,
    compare,
    continue_,
    expr,
    for_,
    if_,
    load,
    mul,
    parallel,
    store,
    sub,
)
from tests.printed import run_printed

N = 12

p = Program()
n = p.integer("n")
a, b = p.array("a", 1), p.array("b", 1)
i, j, k, m = p.index("i"), p.index("j"), p.local("k", DType.INT64), p.local("m", DType.INT64)
x, s = p.local("x"), p.local("s")


class Case:
    def __init__(self, *body: Stmt, lo=0, step=1, hi=None) -> None:
        start = [assign(k, 5), assign(m, 7), assign(x, 2.0)]
        loop = for_(i, lo, n if hi is None else hi, list(body), step)
        self.before = p.function(*start, loop, results=[k, m, x])
        self.after = peel_wrap_around(self.before, PassContext())

    @property
    def changed(self) -> bool:
        return self.before != self.after

    def outcome(self, fn, size):
        arrays = np.zeros(N), np.arange(1.0, N + 1)
        return run_printed(fn, size, *arrays), arrays[0].tolist()

    def check(self, apart: int = 1) -> None:
        assert print_function(self.after).count("if ") == apart
        for size in (0, 1, 2, 3, N):
            assert self.outcome(self.before, size) == self.outcome(self.after, size)


def put(value) -> Stmt:
    return store(a, [i], value)


@pytest.mark.parametrize(
    ("lo", "hi", "step"), [(0, None, 1), (3, None, 1), (0, None, 2), (9, 0, -1), (9, 0, -3)]
)
def test_an_index(lo, hi, step):
    Case(put(add(load(b, i), load(b, k))), assign(k, i), lo=lo, hi=hi, step=step).check()


def test_a_value():
    Case(put(x), assign(x, load(b, i))).check()


def test_a_value_by_way_of_a_scalar():
    Case(assign(s, mul(load(b, i), 2.0)), put(add(expr(s), expr(x))), assign(x, s)).check()


def test_two_iterations_before():
    Case(put(add(load(b, k), load(b, m))), assign(m, k), assign(k, i)).check(apart=2)


def test_read_before_and_after_it_is_set():
    Case(put(x), assign(x, load(b, i)), store(a, [i], add(load(a, i), expr(x)))).check()


def test_read_under_a_condition():
    Case(if_(compare(">", i, 3), [put(x)]), assign(x, load(b, i))).check(apart=3)


def test_the_text_of_it():
    case = Case(put(load(b, k)), assign(k, i))
    text = print_function(case.after)
    assert [line.strip() for line in text.splitlines()][7:13] == [
        "if 0 < n:",
        "a[0] = b[k]",
        "k = 0",
        "for i in range(1, n):",
        "a[i] = b[i - 1]",
        "k = i",
    ]


def test_under_a_pragma():
    loop = parallel(i, 0, n, [put(x), assign(x, load(b, i))])
    after = peel_wrap_around(p.function(assign(x, 2.0), loop), PassContext())
    assert len(after.body) == 3
    assert loops_of(after.body)[0].clauses == loop.clauses


@pytest.mark.parametrize(
    "body",
    [
        [put(x), assign(x, load(a, i))],
        [put(x), assign(x, mul(expr(x), 0.5))],
        [put(x), if_(compare(">", i, 3), [assign(x, load(b, i))])],
        [put(x), assign(x, load(b, i)), assign(x, 3.0)],
        [assign(x, load(b, i)), put(x)],
        [put(x), if_(compare(">", i, 3), [continue_()]), assign(x, load(b, i))],
        [for_(j, 0, 2, [put(x)]), assign(x, load(b, i))],
        [put(add(expr(x), expr(s))), assign(s, mul(expr(s), expr(x))), assign(x, load(b, i))],
    ],
    ids=[
        "written array",
        "itself",
        "condition",
        "twice",
        "private",
        "continue",
        "loop inside",
        "another one",
    ],
)
def test_stays(body):
    assert not Case(*body).changed


def test_bounds_that_the_loop_changes_stay():
    assert not Case(put(load(b, k)), assign(k, i), hi=k).changed


def test_the_loop_keeps_its_end():
    case = Case(put(x), assign(x, load(b, i)), hi=sub(n, 2))
    loop = next(s for s in case.after.body if isinstance(s, For))
    assert loop.hi == sub(n, 2)
