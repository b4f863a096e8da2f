"""Barriers stand where one thread may meet what another one stored, and nowhere else."""

from __future__ import annotations

from appyc.ir.gpu_program import Barrier, Loop
from appyc.passes.gpu.place_barriers import place_barriers
from tests.ir_makers import Program, add, assign, expr, here, load, store


def kinds(body):
    return [type(stmt).__name__ for stmt in body]


def test_read_after_write_and_write_after_read_are_kept_apart():
    p = Program()
    a, n, x = p.array("a", 1), p.integer("n"), p.local("x")
    body = place_barriers((store(a, [0], 1.0), assign(x, load(a, n)), store(a, [n], 2.0)), ())
    assert kinds(body) == ["Store", "Barrier", "Assign", "Barrier", "Store"]


def test_other_arrays_and_one_statement_need_none():
    p = Program()
    a, b = p.array("a", 1), p.array("b", 1)
    body = place_barriers((store(a, [0], load(a, 1)), store(b, [0], 1.0)), ())
    assert Barrier not in {type(stmt) for stmt in body}


def test_iterations_of_a_loop_are_kept_apart():
    p = Program()
    a, i, n = p.array("a", 1), p.index("i"), p.integer("n")
    loop = Loop(i, expr(0), expr(n), 1, (store(a, [i], load(a, 0)),), loc=here())
    (placed,) = place_barriers((loop,), ())
    assert kinds(placed.body) == ["Barrier", "Store"]


def test_loop_that_only_reads_needs_none():
    p = Program()
    a, i, n, x = p.array("a", 1), p.index("i"), p.integer("n"), p.local("x")
    loop = Loop(i, expr(0), expr(n), 1, (assign(x, load(a, i)),), loc=here())
    assert place_barriers((loop,), ()) == (loop,)


def test_elements_of_all_lanes_a_constant_apart_need_none():
    p = Program()
    a, i, j, x = p.array("a", 2), p.index("i"), p.index("j"), p.local("x")
    body = (store(a, [i, j], 1.0), assign(x, load(a, add(i, 1), j)))
    assert place_barriers(body, {j}) == body
    assert kinds(place_barriers(body, {i})) == ["Store", "Barrier", "Assign"]


def test_a_subscript_that_has_changed_says_nothing():
    p = Program()
    a, i, x = p.array("a", 1), p.index("i"), p.local("x")
    body = (store(a, [i], 1.0), assign(i, add(i, 1)), assign(x, load(a, add(i, -1))))
    assert kinds(place_barriers(body, ())) == ["Store", "Assign", "Barrier", "Assign"]


def test_iterations_of_a_loop_meet_at_other_subscripts():
    p = Program()
    a, i, n = p.array("a", 1), p.index("i"), p.integer("n")
    loop = Loop(i, expr(0), expr(n), 1, (store(a, [i], load(a, add(i, 1))),), loc=here())
    (placed,) = place_barriers((loop,), ())
    assert kinds(placed.body) == ["Barrier", "Store"]
