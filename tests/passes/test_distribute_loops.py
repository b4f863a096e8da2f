"""Loops are taken apart where statements can run in parallel, and do what they did."""

from __future__ import annotations

import numpy as np
import pytest

from appyc.ir.nodes import For, Function, Stmt
from appyc.ir.printer import print_expr
from appyc.ir.visit import loops_of
from appyc.passes.parallelise.distribute_loops import distribute_loops
from appyc.passes.parallelise.recognise_reductions import recognise_reductions
from appyc.passes.pass_context import PassContext
from tests.ir_makers import (
    Program,
    add,
    assign,
    compare,
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

N = 9

p = Program()
n = p.integer("n")
a, b, c, d = (p.array(name, 1) for name in "abcd")
i, s, t = p.index("i"), p.local("s"), p.local("t")


def at(array, offset=0):
    """An element that is known to be in range."""
    return load(array, add(i, offset) if offset else expr(i), checked=False)


def put(array, value, offset=0) -> Stmt:
    return store(array, [add(i, offset) if offset else i], value, checked=False)


def program(*body: Stmt, results=(), lo=2) -> Function:
    fn = p.function(assign(s, 0.0), assign(t, 0.0), for_(i, lo, sub(n, 2), list(body)), results=results)
    return recognise_reductions(fn, PassContext())


def shape(fn: Function) -> list[list[str]]:
    """For each loop the arrays and scalars that its statements set."""
    return [[_target(stmt) for stmt in loop.body] for loop in loops_of(fn.body)]


def _target(stmt: Stmt) -> str:
    return (getattr(stmt, "array", None) or stmt.target).name


def outcome(fn: Function) -> tuple[object, list[list[float]]]:
    arrays = [np.random.default_rng(k).integers(1, 9, N).astype(float) for k in range(4)]
    result = run_printed(fn, N, *arrays)
    return result, [x.tolist() for x in arrays]


def taken_apart(fn: Function) -> list[list[str]]:
    after = distribute_loops(fn, PassContext())
    assert outcome(after) == outcome(fn)
    assert len({loop.var for loop in loops_of(after.body)}) == len(loops_of(after.body))
    return shape(after)


def test_a_recurrence_gets_a_loop_of_its_own():
    fn = program(put(a, add(at(a), at(c))), put(b, add(at(b, -1), at(a))), put(d, mul(at(a), at(a))))
    assert taken_apart(fn) == [["a", "d"], ["b"]]


def test_what_reads_a_recurrence_comes_after_it():
    fn = program(put(b, add(at(b, -1), at(c))), put(a, mul(at(b), at(b))))
    assert taken_apart(fn) == [["b"], ["a"]]


def test_a_value_that_flows_down_makes_two_free_loops():
    assert taken_apart(program(put(a, at(c)), put(b, at(a, -1)))) == [["a"], ["b"]]


def test_a_reader_of_what_a_later_statement_wrote_moves_behind_it():
    assert taken_apart(program(put(a, at(b, -1)), put(b, at(c)))) == [["b"], ["a"]]


def test_a_reader_of_what_is_overwritten_moves_before_it():
    assert taken_apart(program(put(a, mul(at(a), at(c))), put(b, at(a, 1)))) == [["b"], ["a"]]


def test_lanes_that_keep_step_share_a_loop_in_order():
    assert taken_apart(program(put(a, at(b, -1)), put(b, sub(at(b, 1), at(c))))) == [["b", "a"]]


def test_a_scalar_that_is_easily_had_is_computed_in_each_loop():
    fn = program(assign(t, mul(at(c), at(d))), put(a, add(at(a, -1), expr(t))), put(b, expr(t)))
    assert taken_apart(fn) == [["t", "a"], ["t", "b"]]


def test_a_last_value_is_kept():
    fn = program(assign(t, mul(at(c), at(d))), put(a, at(a, -1)), put(b, expr(t)), results=[t])
    assert taken_apart(fn) == [["a"], ["t", "b"]]


def test_a_scalar_of_what_changes_keeps_its_statements_together():
    fn = program(assign(t, at(a, -1)), put(a, add(at(c), expr(t))), put(b, expr(t)), put(d, at(c)))
    assert taken_apart(fn) == [["t", "a", "b"], ["d"]]


def test_a_sum_that_is_read_is_a_recurrence():
    fn = program(put(c, mul(at(b), at(b))), assign(s, add(s, at(b))), put(a, expr(s)), results=[s])
    assert taken_apart(fn) == [["c"], ["s", "a"]]


def test_a_sum_that_is_not_read_goes_with_what_is_free():
    fn = program(put(c, mul(at(b), at(b))), assign(s, add(s, at(b))), put(a, at(a, -1)), results=[s])
    assert taken_apart(fn) == [["c", "s"], ["a"]]


def test_a_condition_goes_with_its_branches():
    fn = program(if_(compare(">", at(c), 3.0), [put(a, at(c))]), put(b, at(b, -1)))
    after = distribute_loops(fn, PassContext())
    assert outcome(after) == outcome(fn)
    assert len(loops_of(after.body)) == 2


@pytest.mark.parametrize(
    "body",
    [
        [put(a, at(c)), put(b, at(a))],
        [put(a, at(b, -1)), put(b, at(a, -1))],
        [put(a, at(a, -1)), put(b, at(b, -1))],
        [put(a, at(a, -1))],
        [put(a, load(c, i)), put(b, at(b, -1))],
        [assign(s, add(mul(s, 2.0), at(b))), put(a, expr(s))],
    ],
    ids=["free", "circle", "both serial", "one", "can raise", "scalar circle"],
)
def test_stays(body):
    fn = program(*body)
    assert distribute_loops(fn, PassContext()) == fn


def test_a_pragma_stays():
    body = [put(a, at(c)), put(b, at(a, -1))]
    fn = p.function(parallel(i, 2, sub(n, 2), body))
    assert distribute_loops(fn, PassContext()) == fn


def test_bounds_that_the_body_changes_stay():
    k = p.local("k", n.dtype)
    loop = for_(i, 2, k, [put(a, at(c)), put(b, at(a, -1)), assign(k, 3)])
    fn = p.function(assign(k, 5), loop)
    assert distribute_loops(fn, PassContext()) == fn


def test_the_new_loop_is_like_the_old():
    fn = program(put(a, at(c)), put(b, at(a, -1)))
    old = next(s for s in fn.body if isinstance(s, For))
    for loop in loops_of(distribute_loops(fn, PassContext()).body):
        assert (print_expr(loop.lo), print_expr(loop.hi)) == (print_expr(old.lo), print_expr(old.hi))
        assert loop.loc == old.loc


def test_says_so():
    ctx = PassContext()
    distribute_loops(program(put(a, at(c)), put(b, at(a, -1))), ctx)
    assert [r.text for r in ctx.remarks] == [
        "loop over 'i': becomes 2 loops, so that some may run in parallel"
    ]
