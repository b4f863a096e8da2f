"""Walking and rewriting."""

from __future__ import annotations

from dataclasses import replace

from appyc.errors import GENERATED
from appyc.ir.nodes import Assign, Binary, Clauses, Const, For, Reduction, Store, Var
from appyc.ir.schedule import LoopSchedule, Schedule
from appyc.ir.visit import (
    arrays_read,
    arrays_written,
    children,
    loops_of,
    map_loops,
    rename,
    rewrite,
    rewrite_all,
    scalars_read,
    scalars_written,
    statements,
    substitute,
    symbols_of,
    walk,
)
from tests.ir_makers import Program, add, assign, expr, extent, for_, if_, load, store, update


def test_walk_is_in_program_order_parents_first():
    p = Program()
    x, y = p.real("x"), p.real("y")
    first, second = assign(x, 1.0), assign(y, add(x, 2.0))
    nodes = list(walk(p.function(first, second)))
    assert nodes[1] is first
    assert [type(n) for n in nodes[3:]] == [Assign, Binary, Var, Const]
    assert next(iter(walk([second, first]))) is second


def test_statements_leave_out_expressions_and_clauses():
    p = Program()
    a, n, i = p.array("a", 1), p.integer("n"), p.index("i")
    branch = if_(True, [update(a, [i], "+", add(load(a, i), 1.0))], [assign(n, 2)])
    clauses = Clauses("parallel", condition=expr(n), loc=GENERATED)
    loop = for_(i, 0, n, [branch], clauses=clauses)
    fn = p.function(loop)
    assert list(statements(fn)) == [fn, loop, branch, *branch.then, *branch.orelse]
    assert list(statements([branch, loop]))[:2] == [branch, *branch.then]
    assert list(statements(expr(n))) == [expr(n)]


def test_children_are_those_directly_below():
    p = Program()
    loop = for_(p.index("i"), 0, 9, [assign(p.real("x"), 1.0)])
    assert [type(c) for c in children(loop)] == [Const, Const, Assign]


def test_rewrite_that_changes_nothing_returns_the_same_tree():
    p = Program()
    fn = p.function(for_(p.index("i"), 0, 9, [assign(p.real("x"), 1.0)]))
    assert rewrite(fn, lambda n: n) is fn


def test_rewrite_deletes_every_statement_of_a_branch():
    p = Program()
    x = p.real("x")
    stmt = if_(True, [assign(x, 1.0), assign(x, 2.0)], [assign(x, 3.0)])
    out = rewrite(stmt, lambda n: () if isinstance(n, Assign) else n)
    assert out == if_(True, [], [])


def test_rewrite_puts_several_statements_in_the_place_of_one():
    p = Program()
    x = p.real("x")
    out = rewrite_all((assign(x, 1.0),), lambda n: (n, n) if isinstance(n, Assign) else n)
    assert out == (assign(x, 1.0), assign(x, 1.0))


def test_rewrite_goes_from_the_leaves_up():
    p = Program()
    x = p.real("x")

    def fold(node):
        match node:
            case Binary("+", Const(a), Const(b)):
                return replace(node.lhs, value=a + b)
        return node

    assert rewrite(assign(x, add(add(1.0, 2.0), add(3.0, 4.0))), fold) == assign(x, 10.0)


def test_equality_ignores_places():
    p = Program()
    x = p.real("x")
    first, second = assign(x, 1.0), assign(x, 1.0)
    assert first == second
    assert first.loc != second.loc


def test_substitute_replaces_reads_only():
    p = Program()
    x, y = p.real("x"), p.real("y")
    assert substitute(assign(x, add(x, 1.0)), {x: expr(y)}) == assign(x, add(y, 1.0))


def test_rename_reaches_every_place():
    p = Program()
    s, t, a, b, i, j = p.real("s"), p.real("t"), p.array("a", 1), p.array("b", 1), p.index("i"), p.index("j")

    def program(s, a, i):
        clauses = Clauses("parallel", private=(s,), reductions=(Reduction("+", s),), loc=GENERATED)
        loop = for_(i, 0, extent(a), [update(s, [], "+", load(a, i)), store(a, [i], s)], clauses=clauses)
        return replace(loop, private=(s,), last=(s,), reductions=(Reduction("+", s),))

    assert rename(program(s, a, i), {s: t, a: b, i: j}) == program(t, b, j)


def test_rename_carries_the_schedule_along():
    p = Program()
    a, b, i, j = p.array("a", 1), p.array("b", 1), p.index("i"), p.index("j")

    def program(a, i):
        schedule = Schedule(((i, LoopSchedule(nontemporal=(a,))),))
        return replace(p.function(for_(i, 0, 9, [store(a, [i], 0.0)])), params=(a,), schedule=schedule)

    assert rename(program(a, i), {a: b, i: j}) == program(b, j)


def test_symbols_come_once_each_in_program_order():
    p = Program()
    n, a, s, i = p.integer("n"), p.array("a", 1), p.local("s"), p.index("i")
    fn = p.function(assign(s, 0.0), for_(i, 0, n, [store(a, [i], s)]))
    assert symbols_of(fn) == [n, a, s, i]


def test_what_is_read_and_written():
    p = Program()
    a, b, s, t, n = p.array("a", 1), p.array("b", 1), p.local("s"), p.local("t"), p.integer("n")
    i = p.index("i")
    clauses = Clauses("parallel", condition=expr(t), loc=GENERATED)
    body = [update(s, [], "+", load(a, i)), update(b, [i], "+", 1.0)]
    loop = for_(i, 0, n, body, clauses=clauses)
    assert scalars_read(loop) == {n, i, s}
    assert scalars_written(loop) == {s}
    assert arrays_read(loop) == {a, b}
    assert arrays_written(loop) == {b}


def test_map_loops_starts_inside():
    p = Program()
    a, i, j = p.array("a", 1), p.index("i"), p.index("j")
    inner = for_(j, 0, 3, [store(a, [j], 0.0)])
    fn = p.function(for_(i, 0, 3, [inner]))
    assert [loop.var for loop in loops_of(fn)] == [i, j]
    seen = []

    def unroll(loop: For):
        seen.append(loop.var)
        return loop.body

    out = map_loops(fn, unroll)
    assert seen == [j, i]
    assert [type(s) for s in out.body] == [Store]
