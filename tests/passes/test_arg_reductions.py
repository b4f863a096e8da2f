"""The last iteration that sets something, and the first or last with the largest value, as reductions."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import appyc
from appyc.ir.nodes import If, Stmt, Update
from appyc.ir.printer import print_function
from appyc.ir.types import DType
from appyc.ir.verify import verify
from appyc.ir.visit import loops_of, walk
from appyc.passes.parallelise.arg_reductions import arg_reductions
from appyc.passes.pass_context import PassContext
from tests.e2e.harness import run_everywhere
from tests.ir_makers import (
    Program,
    add,
    assign,
    break_,
    compare,
    expr,
    for_,
    if_,
    load,
    mul,
    parallel,
    store,
)
from tests.printed import run_printed

p = Program()
n = p.integer("n")
a, b = p.array("a", 1), p.array("b", 1)
i, k, m = p.index("i"), p.local("k", DType.INT64), p.local("m", DType.INT64)
x, y, t = p.local("x"), p.local("y"), p.local("t")

DATA = (
    [1.0, 5.0, -2.0, 5.0, 3.0, -7.0, -7.0],
    [0.0] * 7,
    [math.nan, 2.0, 9.0, math.nan, 9.0, 1.0, 0.0],
    [9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0],
    [-1.0, -2.0, -3.0, -4.0, -5.0, -6.0, math.inf],
)
RANGES = [(0, None, 1), (2, None, 1), (6, -1, -1), (5, 0, -2), (4, 2, 1), (1, 7, 3)]


class Case:
    def __init__(self, *body: Stmt, first=2.0, lo=0, hi=None, step=1) -> None:
        start = [assign(k, 77), assign(m, 78), assign(x, first), assign(y, 0.5), assign(t, 0.0)]
        loop = for_(i, lo, n if hi is None else hi, list(body), step)
        self.before = p.function(*start, loop, results=[k, m, x, y])
        self.after = arg_reductions(self.before, PassContext())

    @property
    def changed(self) -> bool:
        return self.before != self.after

    def check(self) -> None:
        assert self.changed
        assert verify(self.after) == []
        for data in DATA:
            one, two = (self.outcome(fn, data) for fn in (self.before, self.after))
            assert np.array_equal(one, two, equal_nan=True), data

    def outcome(self, fn, data):
        arrays = np.array(data), np.zeros(len(data))
        return [*run_printed(fn, len(data), *arrays), *arrays[1]]


def best(op: str, *more: Stmt) -> Stmt:
    return if_(compare(op, load(a, i), x), [assign(x, load(a, i)), *more])


@pytest.mark.sampled
@pytest.mark.parametrize(("lo", "hi", "step"), RANGES)
@pytest.mark.parametrize("op", [">", ">=", "<", "<="])
@pytest.mark.parametrize("first", [2.0, math.nan, -math.inf, math.inf])
def test_where_the_best_is(op, first, lo, hi, step):
    Case(best(op, assign(k, i)), first=first, lo=lo, hi=hi, step=step).check()


@pytest.mark.parametrize("op", ["<", ">="])
def test_the_scalar_on_the_left(op):
    Case(if_(compare(op, x, load(a, i)), [assign(k, i), assign(x, load(a, i))])).check()


def test_two_things_about_the_best():
    Case(best(">", assign(k, i), assign(y, mul(load(a, i), 2.0)))).check()


def test_the_value_by_way_of_a_scalar():
    body = [assign(t, mul(load(a, i), -1.0)), if_(compare(">", t, x), [assign(x, t), assign(k, i)])]
    Case(*body).check()


def test_other_work_beside_it():
    Case(store(b, [i], load(a, i)), best(">", assign(k, i))).check()


@pytest.mark.parametrize(("lo", "hi", "step"), RANGES)
def test_the_last_that_holds(lo, hi, step):
    body = if_(compare(">", load(a, i), 2.5), [assign(y, load(a, i)), assign(k, add(i, 10))])
    Case(body, lo=lo, hi=hi, step=step).check()


def test_the_rest_of_the_branch_stays():
    Case(if_(compare(">", load(a, i), 2.5), [store(b, [i], 1.0), assign(k, i)])).check()


def test_two_conditions():
    one = if_(compare(">", load(a, i), 2.5), [assign(k, i)])
    two = if_(compare("<", load(a, i), 0.0), [assign(m, i)])
    Case(one, two).check()


def test_the_text_of_it():
    case = Case(best(">", assign(k, i)))
    lines = [line.strip() for line in print_function(case.after).splitlines()]
    at = lines.index("x_before = x")
    assert lines[at : at + 9] == [
        "x_before = x",
        "for i in range(0, n):",
        "x = max(x, a[i])",
        "if x > x_before:",
        "first = n",
        "for i_2 in range(0, n):",
        "first = min(first, i_2 if (a[i_2] == x) else n)",
        "if first < n:",
        "k = first",
    ]


def test_under_a_pragma_both_loops_are_asked_for():
    fn = p.function(assign(x, 0.0), assign(k, 0), parallel(i, 0, n, [best(">", assign(k, i))]), results=[k])
    after = arg_reductions(fn, PassContext())
    assert [loop.clauses.request for loop in loops_of(after.body)] == ["parallel", "parallel"]


@pytest.mark.parametrize(
    "body",
    [
        [best(">")],
        [best(">", assign(k, i)), store(b, [i], expr(x))],
        [best(">", assign(k, i)), store(b, [k], 1.0)],
        [best(">", assign(k, i), store(b, [i], 1.0))],
        [best(">", assign(k, add(k, 1)))],
        [store(a, [i], 1.0), best(">", assign(k, i))],
        [if_(compare(">", load(a, i), 2.5), [assign(k, i)], [assign(k, 0)])],
        [if_(compare(">", load(a, i), 2.5), [assign(y, load(a, i))]), store(a, [i], 0.0)],
        [if_(compare(">", load(a, i), 2.5), [assign(k, i)]), if_(compare(">", i, 3), [break_()])],
        [if_(compare(">", load(a, i), y), [assign(y, add(load(a, i), 1.0))])],
    ],
    ids=["only a maximum", "maximum read", "place read", "store", "counter", "overwritten",
         "both ways", "value overwritten", "break", "other value"],
)  # fmt: skip
def test_stays(body):
    assert not Case(*body).changed


def test_no_condition_is_left_on_the_maximum():
    loop = loops_of(Case(best(">", assign(k, i))).after.body)[0]
    assert [type(s) for s in loop.body] == [Update]
    assert not any(isinstance(node, If) for node in walk(loop.body))


def test_values_that_double_are_not_written_out():
    chain = [t, *(p.local(f"s{number}") for number in range(40))]
    doubled = [assign(new, add(old, old)) for old, new in itertools.pairwise(chain)]
    assert not Case(if_(compare(">", load(a, i), x), [*doubled, assign(x, load(a, i))])).changed


def down_columns(c, d, o, w):
    for j in range(c.shape[1]):
        best, at = -math.inf, 0
        for i in range(c.shape[0]):
            v = d[i] + c[i, j]
            if v > best:
                best = v
                at = i
        o[j] = best
        w[j] = at


def along_rows(c, d, o, w):
    for j in range(c.shape[0]):
        best, at = -math.inf, 0
        for i in range(c.shape[1]):
            if c[j, i] > best:
                best = c[j, i]
                at = i
        o[j] = best
        w[j] = at


def down_columns_that_depend_on_each_other(c, d, o, w):
    best, at = -math.inf, 0
    for j in range(c.shape[1]):
        for i in range(c.shape[0]):
            if c[i, j] > best:
                best = c[i, j]
                at = i
        o[j] = best
        w[j] = at


@pytest.mark.parametrize(
    ("fn", "lanes"),
    [(down_columns, True), (along_rows, False), (down_columns_that_depend_on_each_other, False)],
)
def test_down_columns_it_is_columns_that_become_lanes(fn, lanes):
    rng = np.random.default_rng(2)
    for rows, columns in ((1, 1), (5, 40), (33, 17)):
        args = rng.integers(0, 9, (rows, columns)) / 2, rng.random(rows), np.zeros(40), np.zeros(40, np.int64)
        run_everywhere(fn, *args)
    assert ("lane  lanes" in appyc.jit(fn).source("schedule", *args)) is lanes
