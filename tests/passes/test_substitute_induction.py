"""Counters get a closed form where every iteration moves them alike, and keep their value after the loop."""

from __future__ import annotations

import numpy as np
import pytest

from appyc.ir.nodes import Function, Stmt
from appyc.ir.printer import print_function
from appyc.ir.visit import scalars_written
from appyc.passes.pass_context import PassContext
from appyc.passes.simplify.substitute_induction import substitute_induction
from tests.ir_makers import (
    Program,
    add,
    assign,
    break_,
    compare,
    continue_,
    expr,
    for_,
    if_,
    load,
    parallel,
    store,
    sub,
)
from tests.printed import run_printed

N = 5


class Case:
    """A loop over i in range(n) with a counter k that starts at `first`."""

    def __init__(self, *body: Stmt, lo: object = 0, step: int = 1, hi: object = None) -> None:
        self.before = p.function(
            assign(k, 3), for_(i, lo, n if hi is None else hi, list(body), step), results=[k]
        )
        self.after = substitute_induction(self.before, PassContext())

    @property
    def changed(self) -> bool:
        return self.before != self.after

    def check(self) -> None:
        """The loop no longer moves the counter, and the function does what it did."""
        loop = next(s for s in self.after.body if hasattr(s, "mode"))
        assert k not in scalars_written(loop)
        for size in (0, 1, N):
            assert outcome(self.before, size) == outcome(self.after, size)


p = Program()
n, a = p.integer("n"), p.array("a", 1)
i, j, k, x = p.index("i"), p.index("j"), p.index("k"), p.local("x")


def outcome(fn: Function, size: int) -> tuple[object, list[float]]:
    array = np.zeros(64)
    return run_printed(fn, size, array), array.tolist()


def put(value: float = 1.0) -> Stmt:
    return store(a, [k], value)


@pytest.mark.parametrize(
    ("lo", "hi", "step"), [(0, None, 1), (2, None, 1), (1, 8, 3), (7, 0, -2), (3, 0, 1), (0, 9, 4)]
)
@pytest.mark.parametrize("move", [add(k, 2), add(1, k), sub(k, 1)])
def test_moved_before_and_after_its_use(lo, hi, step, move):
    Case(assign(k, move), put(), lo=lo, hi=hi, step=step).check()
    Case(put(), assign(k, move), lo=lo, hi=hi, step=step).check()


def test_moved_twice_in_one_iteration():
    Case(assign(k, add(k, 1)), put(2.0), assign(k, add(k, 3)), put(3.0)).check()


def test_both_branches_move_it_alike():
    then, orelse = [assign(k, add(k, 1)), put(2.0)], [put(3.0), assign(k, add(k, 1))]
    Case(if_(compare(">", i, 2), then, orelse), put(4.0)).check()


def test_an_inner_loop_may_use_it():
    Case(for_(j, 0, 3, [store(a, [add(k, j)], 1.0)]), assign(k, add(k, 4))).check()


def test_the_text_of_it():
    case = Case(assign(k, add(k, 2)), put())
    assert [line.strip() for line in print_function(case.after).splitlines()][4:8] == [
        "k = 3",
        "for i in range(0, n):",
        "a[(k + (i * 2)) + 2] = 1.0",
        "k = k + (max(n, 0) * 2)",
    ]


@pytest.mark.parametrize(("lo", "hi", "step"), [(0, 3, 1), (2, -1, -1), (-2, 3, 2)])
def test_an_inner_loop_with_constant_bounds_moves_it_by_a_constant(lo, hi, step):
    Case(for_(j, lo, hi, [put(), assign(k, add(k, 2))], step), put(3.0)).check()


def test_an_inner_loop_that_moves_it_has_its_own_closed_form():
    fn = p.function(assign(k, 0), for_(i, 0, n, [for_(j, 0, i, [put(), assign(k, add(k, 1))])]), results=[k])
    after = substitute_induction(fn, PassContext())
    assert after != fn
    assert outcome(fn, N) == outcome(after, N)


@pytest.mark.parametrize(
    "body",
    [
        [if_(compare(">", i, 2), [assign(k, add(k, 1))]), put()],
        [if_(compare(">", i, 2), [assign(k, add(k, 1))], [assign(k, add(k, 2))]), put()],
        [assign(k, add(k, i)), put()],
        [assign(k, add(k, k)), put()],
        [assign(k, 0), put(), assign(k, add(k, 1))],
        [if_(compare(">", i, 2), [break_()]), assign(k, add(k, 1)), put()],
        [if_(compare(">", i, 2), [continue_()]), assign(k, add(k, 1)), put()],
    ],
    ids=["condition", "unequal", "variable", "doubled", "set", "break", "continue"],
)
def test_stays(body):
    assert not Case(*body).changed


def test_bounds_that_the_loop_changes_stay():
    assert not Case(assign(k, add(k, 1)), put(), hi=k).changed
    assert not Case(store(a, [i], 1.0), assign(k, add(k, 1)), hi=expr(k)).changed


def test_what_a_clause_names_stays():
    body = [assign(k, add(k, 1)), store(a, [i], load(a, i))]
    fn = p.function(assign(k, 0), parallel(i, 0, n, body, reductions=[("+", k)]), results=[k])
    assert substitute_induction(fn, PassContext()) == fn


def test_says_so():
    ctx = PassContext()
    fn = p.function(assign(k, 0), for_(i, 0, n, [put(), assign(k, add(k, 1))]), results=[k])
    substitute_induction(fn, ctx)
    assert [r.text for r in ctx.remarks] == ["'k' moves by 1 in every iteration: has a closed form"]
