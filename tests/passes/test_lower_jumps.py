"""Jumps become flags, and the program computes the same."""

from __future__ import annotations

import numpy as np

from appyc.ir.nodes import Break, Continue, For, Function, If, LoopMode, While
from appyc.ir.visit import walk
from appyc.passes.pass_context import PassContext
from appyc.passes.simplify.lower_jumps import lower_jumps
from tests.ir_makers import (
    Program,
    add,
    assign,
    break_,
    compare,
    continue_,
    for_,
    if_,
    load,
    store,
    while_,
)
from tests.printed import run_printed
from tests.triton_gen.gpu_runner import grid


def lowered(fn: Function) -> Function:
    out = lower_jumps(fn, PassContext())
    assert not any(isinstance(n, Break | Continue) for n in walk(out))
    return out


def kinds(fn: Function) -> set[type]:
    return {type(n) for n in walk(fn)}


def test_break_turns_a_for_into_a_while():
    p = Program()
    a, n, i, at = p.array("a", 1), p.integer("n"), p.index("i"), p.local("at")
    leave = if_(compare("<", load(a, i), 0.0), [break_()])
    body = [leave, assign(at, load(a, i)), store(a, [i], 5.0)]
    fn = p.function(assign(at, -1.0), for_(i, 0, n, body), results=[at])
    out = lowered(fn)
    assert For not in kinds(out)
    assert While in kinds(out)
    for values in ([1.0, 2.0, -1.0, 3.0], [-1.0, 2.0], [1.0, 2.0], []):
        before, after = np.array(values), np.array(values)
        assert run_printed(fn, before, len(values)) == run_printed(out, after, len(values))
        np.testing.assert_array_equal(before, after)


def test_continue_leaves_the_loop_a_for_with_a_private_flag():
    p = Program()
    a, n, i = p.array("a", 1), p.integer("n"), p.index("i")
    skip = if_(compare("<", load(a, i), 0.0), [continue_()], [store(a, [i], 2.0)])
    fn = p.function(grid(i, 0, n, [skip, store(a, [i], add(load(a, i), 1.0))]))
    out = lowered(fn)
    (loop,) = [n for n in walk(out) if isinstance(n, For)]
    assert loop.mode is LoopMode.PARALLEL
    assert [s.name for s in loop.private] == ["skip"]
    assert isinstance(loop.body[-1], If)
    a_before, a_after = np.array([1.0, -1.0, 0.0]), np.array([1.0, -1.0, 0.0])
    run_printed(fn, a_before, 3)
    run_printed(out, a_after, 3)
    np.testing.assert_array_equal(a_before, a_after)


def test_nested_jumps_leave_their_own_loop():
    p = Program()
    a, n, i, j = p.array("a", 1), p.integer("n"), p.index("i"), p.index("j")
    inner = for_(j, 0, n, [if_(compare(">", j, i), [break_()]), store(a, [j], add(load(a, j), 1.0))])
    outer = [if_(compare("==", i, 2), [continue_()]), inner, if_(compare(">", load(a, 0), 3.0), [break_()])]
    fn = p.function(for_(i, 0, n, outer))
    before, after = np.zeros(7), np.zeros(7)
    run_printed(fn, before, 7)
    run_printed(lowered(fn), after, 7)
    np.testing.assert_array_equal(before, after)


def test_while_does_not_evaluate_its_condition_after_a_break():
    p = Program()
    a, n = p.array("a", 1), p.integer("n")
    body = [assign(n, add(n, 1)), if_(compare("==", n, 3), [break_()])]
    fn = p.function(while_(compare(">", load(a, n), 0.0), body), results=[n])
    out = lowered(fn)
    assert run_printed(out, np.ones(3), 0) == run_printed(fn, np.ones(3), 0) == 3


def test_function_without_jumps_stays_the_same_object():
    p = Program()
    n, i = p.integer("n"), p.index("i")
    fn = p.function(for_(i, 0, n, []))
    assert lower_jumps(fn, PassContext()) is fn
