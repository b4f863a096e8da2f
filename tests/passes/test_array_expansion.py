"""Array expansion: which loops are tried, in which order, and what their conflicts say of reads and last writes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from appyc.analysis.dependences.array_dataflow import IterationFlow
from appyc.ir.nodes import For, If, Stmt, Symbol
from appyc.ir.printer import print_expr
from appyc.options import Options
from appyc.passes.parallelise import array_expansion
from appyc.passes.parallelise.array_expansion import (
    MAX_NODES,
    carries_a_value,
    conflicts_by_array,
    each_candidate,
    lasting_writes,
    loop_over,
    where,
)
from appyc.passes.pass_context import PassContext
from tests.ir_makers import (
    Program,
    add,
    alloc,
    binary,
    break_,
    compare,
    expr,
    for_,
    if_,
    load,
    parallel,
    pragma,
    store,
)

p = Program()
n, m, t, x, y = p.integer("n"), p.integer("m"), p.array("t", 1), p.array("x", 2), p.array("y", 2)
i, j, k = p.index("i"), p.index("j"), p.index("k")


def at(array, *index):
    return load(array, *index, checked=False)


def put(array, index, value) -> Stmt:
    return store(array, index, value, checked=False)


def scratch(clauses=None) -> list[Stmt]:
    """A row is set and read again: the loop around carries its output and anti dependences."""
    return [
        for_(j, 0, m, [put(t, [j], at(x, i, j))], clauses=clauses),
        for_(k, 0, m, [put(y, [i, k], at(t, k))]),
    ]


def tried(*body: Stmt, auto: bool = True) -> list[Symbol]:
    """The variables of the loops that a pass is asked about, where it never changes one."""
    found: list[Symbol] = []
    each_candidate(
        p.function(*body), PassContext(Options(auto=auto)), lambda _, loop, __: found.append(loop.var)
    )
    return found


def test_stuck_loops_are_tried_from_the_outside():
    recurrence = for_(j, 0, m, [put(y, [i, j], at(y, i, binary("-", j, 1)))])
    assert tried(for_(i, 0, n, scratch())) == [i]
    assert tried(for_(k, 0, n, [for_(i, 0, n, [recurrence])])) == [k]
    assert tried(for_(k, 0, n, [put(t, [0], at(t, 0)), for_(i, 0, n, [recurrence, put(t, [1], 0.0)])])) == [
        k,
        i,
        j,
    ]


FREE = [for_(j, 0, m, [put(y, [i, j], at(x, i, j))])]
LARGE = [put(t, [0], at(x, i, 0)) for _ in range(MAX_NODES // 4)]


@pytest.mark.parametrize(
    "loop",
    [
        for_(i, 0, n, FREE),
        for_(i, 0, n, [*scratch(), if_(compare(">", at(t, 0), 3.0), [break_()])]),
        for_(i, 0, n, LARGE),
        for_(i, 0, n, scratch(), clauses=pragma("simd")),
        for_(i, 0, n, scratch(), clauses=pragma(independent=True)),
        parallel(i, 0, n, [for_(j, 0, m, [put(t, [0], at(x, i, j))])], collapse=2),
    ],
    ids=["free", "ends early", "large", "lanes", "the user vouches for it", "collapsed"],
)
def test_other_loops_are_not_tried(loop: For):
    assert i not in tried(loop)


def test_pragmas_say_which_loops_are_tried():
    assert tried(for_(i, 0, n, scratch(clauses=pragma()))) == []
    assert tried(for_(i, 0, n, scratch()), auto=False) == []
    assert tried(parallel(i, 0, n, scratch()), auto=False) == [i]


def test_a_function_that_has_changed_is_looked_through_again():
    fn = p.function(for_(i, 0, n, scratch()), for_(k, 0, n, [put(t, [0], at(x, k, 0))]))
    asked: list[str] = []

    def change(given, loop, ctx):
        asked.append(loop.var.name)
        return replace(given, body=given.body[1:]) if loop.var == i else None

    assert each_candidate(fn, PassContext(), change).body == fn.body[1:]
    assert asked == ["i", "k"]


def facts(*body: Stmt) -> tuple[IterationFlow, list, For]:
    fn = p.function(for_(i, 0, n, body))
    legality, loop = PassContext().legality(fn), loop_over(fn, i)
    (conflicts,) = (conflicts_by_array(legality, loop) or {}).values()
    return IterationFlow(legality.dependences, loop, conflicts[0].source.array), conflicts, loop


def test_a_read_of_another_iteration_s_value_is_carried():
    assert not carries_a_value(*facts(*scratch())[:2])
    assert carries_a_value(*facts(put(t, [add(i, 1)], at(t, i)))[:2])
    assert not carries_a_value(*facts(put(t, [i], at(t, add(i, 1))))[:2])


def test_last_writes_have_a_condition():
    (lasts,) = (lasting_writes(*facts(*scratch())) or {}).values()
    assert print_expr(lasts) == "n == (i + 1)"
    store_ = put(t, [0], 1.0)
    assert where(True, store_) == (store_,)
    assert where(False, store_) == ()
    (guarded,) = where(lasts, store_)
    assert isinstance(guarded, If)
    assert (guarded.cond, guarded.then) == (lasts, (store_,))


def test_an_array_that_the_loop_resizes_is_not_expanded():
    own = p.local_array("own", 1)
    grown = replace(alloc(own, add(m, i)), kept=expr(m))
    fn = p.function(alloc(own, m), for_(i, 0, n, [grown, put(own, [0], at(own, 1))]), results=[own])
    assert conflicts_by_array(PassContext().legality(fn), loop_over(fn, i)) is None


def test_too_many_conflicts_are_not_listed(monkeypatch):
    monkeypatch.setattr(array_expansion, "MAX_CONFLICTS", 1)
    fn = p.function(for_(i, 0, n, scratch()))
    assert conflicts_by_array(PassContext().legality(fn), loop_over(fn, i)) is None
