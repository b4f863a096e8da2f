"""What nearly every call fulfils becomes a guard; what cannot be guarded is asked where it stands."""

from __future__ import annotations

import numpy as np

from appyc.ir.nodes import Fail, Function, Likely
from appyc.ir.printer import print_expr, print_stmt
from appyc.ir.visit import walk
from appyc.passes.context import PassContext
from appyc.passes.expand_tensors import expand_tensors
from appyc.passes.guard_assumptions import guard_assumptions
from appyc.passes.propagate_scalars import propagate_scalars
from appyc.passes.remove_dead_code import remove_dead_code
from tests.ir_makers import Program
from tests.lowering import after, lowered

A = np.ones(5)


def guarded(fn, *args: object) -> Function:
    return after(lowered(fn, *args), expand_tensors, propagate_scalars, remove_dead_code, guard_assumptions)


def guards(fn: Function) -> list[str]:
    return [print_expr(guard.holds) for guard in fn.guards]


def asks(fn: Function) -> bool:
    return any(isinstance(n, Likely) for n in walk(fn))


def test_equal_lengths():
    def add(a, b):
        return a + b

    fn = guarded(add, A, A)
    assert guards(fn) == ["b.shape[0] == a.shape[0]"]
    assert not asks(fn)
    assert not any(isinstance(n, Fail) for n in walk(fn))
    assert not any("b.shape" in print_stmt(stmt) for stmt in fn.body)


def test_slices_with_constants():
    def inner(a):
        return a[1:-1] * 2.0

    assert guards(guarded(inner, A)) == ["a.shape[0] > 0"]


def test_slices_with_parameters():
    def part(a, lo, hi):
        return a[lo:hi] * 2.0

    fn = guarded(part, A, 1, 3)
    assert not asks(fn)
    text = " and ".join(guards(fn))
    assert "lo >= 0" in text
    assert "a.shape[0] >= lo" in text


def test_slices_in_a_loop_are_guarded_for_all_iterations():
    def triangle(a):
        for i in range(a.shape[0]):
            a[i, :i] = 0.0

    fn = guarded(triangle, np.ones((4, 4)))
    assert guards(fn) == ["(a.shape[1] + 1) >= a.shape[0]"]
    assert not asks(fn)


def test_what_the_parameters_do_not_tell_is_asked():
    def through(a, ptr):
        return a[ptr[0] : ptr[1]] * 2.0

    assert asks(guarded(through, A, np.array([1, 3])))


def test_nothing_to_guard():
    fn = Program().function()
    assert guard_assumptions(fn, PassContext()) is fn
