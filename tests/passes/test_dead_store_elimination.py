"""Arrays that nobody reads go, with all that is stored into them; what may raise stays."""

from __future__ import annotations

import numpy as np
import pytest

from appyc.ir.nodes import Alloc, Fail, For, Function, If, Store
from appyc.ir.visit import walk
from appyc.passes.checks.check_bounds import check_bounds
from appyc.passes.checks.guard_assumptions import guard_assumptions
from appyc.passes.pass_context import PassContext
from appyc.passes.simplify.copy_propagation import copy_propagation
from appyc.passes.simplify.dead_code_elimination import dead_code_elimination
from appyc.passes.simplify.expand_tensors import expand_tensors
from appyc.passes.storage.dead_store_elimination import dead_store_elimination
from tests.ir_makers import Program, alloc, binary, for_, store
from tests.lowering import after, lowered
from tests.printed import run_printed

BEFORE = (
    expand_tensors, copy_propagation, dead_code_elimination,
    guard_assumptions, copy_propagation, dead_code_elimination, check_bounds,
)  # fmt: skip

LINE = np.linspace(-1.0, 2.0, 7)


def cleaned(fn, *args: object) -> Function:
    return after(lowered(fn, *args), *BEFORE, dead_store_elimination)


def made(fn: Function) -> int:
    return sum(isinstance(n, Alloc) for n in walk(fn))


def test_array_goes_and_the_loop_that_filled_it():
    def unused(a, b):
        t = np.zeros(a.shape[0])
        t[:] = a
        b[:] = a + 1.0

    out = cleaned(unused, LINE, LINE + 1.0)
    names = {n.array.name for n in walk(out) if isinstance(n, Store)}
    assert names <= {"b", "new"}
    assert "t" not in {n.array.name for n in walk(out) if isinstance(n, Alloc)}


def test_array_that_only_a_dead_one_reads_goes_too():
    def chain(a):
        t = a * 2.0
        u = t + 1.0
        u[:] = t
        return a.sum()

    out = cleaned(chain, LINE)
    assert made(out) == 0
    assert run_printed(out, LINE) == pytest.approx(LINE.sum())


def test_loop_keeps_its_other_work():
    def both(a, b):
        t = np.empty(a.shape[0])
        for i in range(a.shape[0]):
            t[i] = a[i]
            b[i] = a[i] * 2.0

    out, b = cleaned(both, LINE, LINE.copy()), np.zeros(7)
    assert made(out) == 0
    run_printed(out, LINE, b)
    np.testing.assert_array_equal(b, LINE * 2.0)


@pytest.mark.parametrize("use", ["read", "returned", "length"])
def test_array_that_is_used_stays(use):
    def read(a):
        t = a * 2.0
        return t[0]

    def returned(a):
        return a * 2.0

    def recurrence(a):
        t = np.zeros(a.shape[0])
        for i in range(1, a.shape[0]):
            t[i] = t[i - 1] + a[i]
        return t[a.shape[0] - 1]

    fn = {"read": read, "returned": returned, "length": recurrence}[use]
    assert made(cleaned(fn, LINE)) >= 1


def test_store_that_may_raise_stays():
    p = Program()
    n, k, t, i = p.integer("n"), p.integer("k"), p.array("t", 1), p.index("i")
    fn = p.function(alloc(t, n), for_(i, 0, 4, [store(t, [k], 1.0)]))
    fn = Function(fn.name, tuple(s for s in fn.params if s != t), fn.body, loc=fn.loc)
    out = dead_store_elimination(fn, PassContext())
    assert made(out) == 1
    assert any(isinstance(n, Store) for n in walk(out))


def test_length_that_may_be_negative_is_tested():
    p = Program()
    n, t = p.integer("n"), p.array("t", 1)
    fn = p.function(alloc(t, n), alloc(p.array("u", 1), binary("max", n, 0)))
    fn = Function(fn.name, (n,), fn.body, loc=fn.loc)
    out = dead_store_elimination(fn, PassContext())
    assert made(out) == 0
    assert sum(isinstance(stmt, If) for stmt in out.body) == 1
    assert sum(isinstance(n, Fail) for n in walk(out)) == 1


def test_nothing_to_remove():
    p = Program()
    i = p.index("i")
    fn = p.function(for_(i, 0, 4, [store(p.array("a", 1), [i], 0.0)]))
    assert dead_store_elimination(fn, PassContext()) is fn
    assert any(isinstance(n, For) for n in walk(fn))
