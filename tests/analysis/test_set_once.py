"""Scalars that are set at one place, and whose value from before nobody sees."""

from __future__ import annotations

from appyc.analysis.accesses.set_once import set_once
from tests.ir_makers import Program, add, assign, compare, expr, if_, update, while_

p = Program()
x, y, z, n = p.local("x"), p.local("y"), p.local("z"), p.local("n")


def test_a_scalar_of_the_iteration_itself():
    assert set_once((assign(x, 1.0), assign(y, expr(x)))) == {x, y}
    assert set_once((assign(x, 1.0), assign(x, 2.0))) == set()
    assert set_once((assign(x, 1.0), update(x, [], "+", 2.0))) == set()
    assert set_once((if_(compare("<", n, 3.0), [assign(x, 1.0)]), assign(y, expr(x)))) == {x, y}


def test_in_a_loop_it_must_not_be_seen_from_the_step_before():
    cond = compare("<", n, 3.0)
    assert set_once((while_(cond, [assign(x, 1.0), assign(y, expr(x))]),)) == {x, y}
    assert set_once((while_(cond, [assign(y, expr(x)), assign(x, 1.0)]),)) == {y}
    assert set_once((while_(cond, [assign(x, add(expr(x), 1.0))]),)) == set()
    assert set_once((while_(cond, [assign(x, 1.0)]), assign(y, expr(x)))) == {y}
    assert set_once((while_(compare("<", x, 3.0), [assign(x, 1.0)]),)) == set()


def test_in_a_condition_in_a_loop():
    cond, maybe = compare("<", n, 3.0), compare("<", n, 1.0)
    assert set_once((while_(cond, [if_(maybe, [assign(x, 1.0), assign(y, expr(x))])]),)) == {x, y}
    assert set_once((while_(cond, [if_(maybe, [assign(x, 1.0)]), assign(y, expr(x))]),)) == {y}
    assert set_once((while_(cond, [if_(maybe, [assign(x, 1.0)], [assign(y, expr(x))])]),)) == {y}
