"""Temporaries that a stencil reads are computed where they are read, if counted bytes say so."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from appyc.ir.nodes import Alloc, Function
from appyc.ir.printer import print_function
from appyc.ir.visit import walk
from appyc.passes.checks.check_bounds import check_bounds
from appyc.passes.checks.guard_assumptions import guard_assumptions
from appyc.passes.fuse.rematerialise import rematerialise
from appyc.passes.pass_context import PassContext
from appyc.passes.simplify.copy_propagation import copy_propagation
from appyc.passes.simplify.dead_code_elimination import dead_code_elimination
from appyc.passes.simplify.expand_tensors import expand_tensors
from tests.ir_makers import Program
from tests.lowering import after, lowered
from tests.printed import run_printed

BEFORE = (
    expand_tensors, copy_propagation, dead_code_elimination,
    guard_assumptions, copy_propagation, dead_code_elimination, check_bounds,
)  # fmt: skip

LINE, PLANE = np.linspace(-1.0, 2.0, 11), np.linspace(-1.0, 1.0, 30).reshape(5, 6)


def changed(fn, *args: object, context: PassContext | None = None) -> Function:
    return after(lowered(fn, *args), *BEFORE, rematerialise, context=context or PassContext())


def names_made(fn: Function) -> list[str]:
    return [n.array.name for n in walk(fn) if isinstance(n, Alloc)]


def two_points(a):
    t = a * 2.0
    return t[:-1] + t[1:]


def nine_points(a, b):
    t = a * 2.0 + 1.0
    b[1:-1, 1:-1] = (
        t[:-2, :-2] + t[:-2, 1:-1] + t[:-2, 2:]
        + t[1:-1, :-2] + t[1:-1, 1:-1] + t[1:-1, 2:]
        + t[2:, :-2] + t[2:, 1:-1] + t[2:, 2:]
    )  # fmt: skip


def a_part(a):
    t = a + 1.0
    return t[2:] * t[2:]


def chain_of_stencils(a):
    t = a * 2.0
    u = t[:-1] + t[1:]
    return u[:-1] - u[1:]


def dear(a):
    t = np.exp(a)
    return t[:-2] + t[1:-1] + t[2:]


def read_where_it_is(a):
    t = a * 2.0
    return t + a


def input_changes_before_the_read(a):
    t = a * 2.0
    a[:] = 0.0
    return t[:-1] + t[1:]


def reader_changes_the_input(a):
    t = a * 2.0
    a[1:] = t[:-1] + t[1:]


def returned(a):
    t = a * 2.0
    return t, t[:-1] + t[1:]


def filled_in_part(a):
    t = np.zeros(a.shape[0])
    for i in range(1, a.shape[0]):
        t[i] = a[i] * 2.0
    return t[:-1] + t[1:]


def changed_between_iterations(a, b):
    t = np.zeros(a.shape[0])
    for _ in range(3):
        b[1:] = b[1:] + t[:-1] + t[1:]
        t[:] = a * 2.0


# function, arguments, arrays that stay in memory besides the results
CASES = [
    (two_points, (LINE,), 0),
    (two_points, (LINE[:1],), 0),
    (nine_points, (PLANE, PLANE + 1.0), 0),
    (a_part, (LINE,), 0),
    (chain_of_stencils, (LINE,), 0),
    (dear, (LINE,), 1),
    (read_where_it_is, (LINE,), 1),
    (input_changes_before_the_read, (LINE,), 1),
    (reader_changes_the_input, (LINE,), 1),
    (returned, (LINE,), 1),
    (filled_in_part, (LINE,), 1),
    (changed_between_iterations, (LINE, LINE + 1.0), 1),
]


@pytest.mark.parametrize(("fn", "args", "kept"), CASES, ids=[case[0].__name__ for case in CASES])
def test_what_stays_in_memory(fn, args, kept):
    program = changed(fn, *args)
    assert len([n for n in names_made(program) if n in ("t", "u", "made")]) == kept, print_function(program)
    own, expected_args = copy.deepcopy(args), copy.deepcopy(args)
    found, expected = run_printed(program, *own), fn(*expected_args)
    for one, two in zip((expected, *expected_args), (found, *own), strict=True):
        for wanted, got in zip(one, two, strict=True) if isinstance(one, tuple) else ((one, two),):
            if wanted is not None:
                np.testing.assert_array_equal(got, wanted)


def test_product_reads_each_element_often():
    def product(a):
        t = a * 2.0
        return t.T @ t

    assert "t" in names_made(changed(product, PLANE))


def test_refusal_says_why():
    context = PassContext()
    changed(dear, LINE, context=context)
    assert any("'t' is not computed at each of" in r.text for r in context.remarks if r.kind == "missed")


def test_change_is_reported():
    context = PassContext()
    changed(two_points, LINE, context=context)
    assert any("computed at each of 2 reads" in r.text for r in context.remarks)


def test_empty_function():
    fn = Program().function()
    assert rematerialise(fn, PassContext()) is fn
