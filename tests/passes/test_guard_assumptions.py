"""What nearly every call fulfils becomes a guard; what cannot be guarded is asked where it stands."""

from __future__ import annotations

import numpy as np

import appyc
from appyc.ir.nodes import Fail, Function, Likely
from appyc.ir.printer import print_expr, print_stmt
from appyc.ir.verify import check
from appyc.ir.visit import walk
from appyc.passes.checks.guard_assumptions import guard_assumptions
from appyc.passes.pass_context import PassContext
from appyc.passes.simplify.copy_propagation import copy_propagation
from appyc.passes.simplify.dead_code_elimination import dead_code_elimination
from appyc.passes.simplify.expand_tensors import expand_tensors
from tests.ir_makers import Program
from tests.lowering import after, lowered

A = np.ones(5)


def guarded(fn, *args: object) -> Function:
    return after(
        lowered(fn, *args), expand_tensors, copy_propagation, dead_code_elimination, guard_assumptions
    )


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


def test_cases_of_a_few_elements_are_left_to_the_plain_version():
    def step(u, h, v):
        u[1:-1, 1:-1] -= h[1:-1, 2:] - h[1:-1, :-2]
        v[1:-1, 1:-1] -= h[2:, 1:-1] - h[:-2, 1:-1]
        h[1:-1, 1:-1] += u[1:-1, 1:-1] * v[1:-1, 1:-1]

    square = np.ones((5, 5))
    fn = guarded(step, square, square, square)
    assert not asks(fn)
    assert not any(" or " in guard for guard in guards(fn))
    extents = {
        "(u.shape[0] == h.shape[0]) and (h.shape[0] >= 3)",
        "(u.shape[1] == h.shape[1]) and (h.shape[1] >= 3)",
    }
    assert extents <= set(guards(fn))
    for shape in ((2, 2), (2, 5), (3, 2), (1, 4), (0, 0), (6, 7)):
        mine = [np.arange(np.prod(shape), dtype=float).reshape(shape) + k for k in range(3)]
        theirs = [a.copy() for a in mine]
        appyc.jit(target="cpu", strict=True)(step)(*mine)
        step(*theirs)
        assert all(np.array_equal(a, b) for a, b in zip(mine, theirs, strict=True))


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


def test_lengths_that_are_equal_only_where_a_loop_runs_keep_their_names():
    def swapped(a, n):
        rows, columns = a.sum(axis=1), a.sum(axis=0)
        for _ in range(n):
            rows, columns = columns, rows
        return rows, columns

    a = np.arange(12.0).reshape(3, 4)
    fn = appyc.jit(swapped, strict=True)
    for n in (0, 1, 2):
        for found, expected in zip(fn(a, n), swapped(a, n), strict=True):
            np.testing.assert_array_equal(found, expected)


def test_what_is_asserted_is_known_to_all():
    def f(a, b, out):
        assert b.shape[0] == a.shape[0], "as many of both"
        for i in range(a.shape[0]):
            out[i] = a[i] * 2.0
        for i in range(b.shape[0]):
            out[i] += b[i]

    fn = guarded(f, np.ones(3), np.ones(3), np.ones(3))
    assert "b.shape[0] == a.shape[0]" in guards(fn) or "a.shape[0] == b.shape[0]" in guards(fn)
    assert not asks(fn)
    compiled = appyc.jit(f)
    out = np.zeros(4)
    compiled(np.ones(4), np.ones(4), out)
    assert out.tolist() == [3.0] * 4
    try:
        compiled(np.ones(4), np.ones(3), out)
    except AssertionError as error:
        assert "as many of both" in str(error)  # noqa: PT017
    else:
        raise AssertionError("an assertion that does not hold passed")
    assert out.tolist() == [3.0] * 4


def test_what_only_a_branch_assigns_that_is_gone_is_defined_where_it_is_read():
    def f(a, steps):
        n = 1
        if n != 1:
            for k in range(1, n):
                a[0] = k
        for i in range(0, n, 2):
            if k:  # raises UnboundLocalError before
                a += steps[i] ** 2 | steps[i]
        a[1:] = a[:-1]

    fn = guarded(f, np.arange(6, dtype=np.int16)[::2], np.arange(6, dtype=np.int8))
    assert [print_stmt(stmt).splitlines()[0] for stmt in fn.body[:2]] == ["k = 0", "k_is_set = False"]
    check(fn, "guard_assumptions")
