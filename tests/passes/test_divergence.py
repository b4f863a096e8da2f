"""Divergence: which scalars differ between the lanes of a loop."""

from __future__ import annotations

from appyc.passes.vectorise.divergence import divergence
from tests.ir_makers import Program, add, assign, compare, extent, for_, if_, load, update


def test_what_is_assigned_of_a_value_that_varies_varies_in_turn():
    p = Program()
    i, x, y, z = p.index("i"), p.local("x"), p.local("y"), p.integer("z")
    n = p.integer("n")
    body = (assign(y, x), assign(x, add(i, 1)), assign(z, add(n, 1)))
    assert divergence(body, {i}) == {i, x, y}  # y by the value of x in an iteration before


def test_under_a_condition_that_varies_all_that_is_assigned_varies():
    p = Program()
    i, n, x, y = p.index("i"), p.integer("n"), p.integer("x"), p.integer("y")
    body = (if_(compare("<", i, n), [assign(x, n)], [update(y, [], "+", n)]),)
    assert divergence(body, {i}) == {i, x, y}
    assert divergence(body, set()) == set()


def test_a_loop_with_a_bound_that_varies_makes_its_body_vary():
    p = Program()
    i, j, n, x = p.index("i"), p.index("j"), p.integer("n"), p.integer("x")
    body = (for_(j, 0, i, [assign(x, n)]),)
    assert divergence(body, {i}) == {i, x}  # all lanes count from 0
    assert divergence((for_(j, i, n, [assign(x, n)]),), {i}) == {i, j, x}


def test_a_checked_load_varies_as_lanes_that_do_not_act_read_nothing():
    p = Program()
    a, n, x = p.array("a", 1), p.integer("n"), p.local("x")
    assert divergence((assign(x, load(a, n)),), set()) == {x}
    assert divergence((assign(x, load(a, n, checked=False)), assign(n, extent(a, 0))), set()) == set()
