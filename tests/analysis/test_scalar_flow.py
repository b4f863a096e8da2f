"""The part that each scalar plays in a loop."""

from __future__ import annotations

from appyc.analysis.accesses import scalar_flow
from appyc.analysis.accesses.scalar_flow import LoopScalars, scalars_of
from appyc.ir.nodes import Reduction
from appyc.ir.types import DType
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
    mul,
    store,
    update,
    while_,
)


class Case:
    """A loop over i in [0, n) with arrays a, b and the scalars s, t."""

    def __init__(self) -> None:
        self.p = Program()
        self.n, self.a, self.b = self.p.integer("n"), self.p.array("a", 1), self.p.array("b", 1)
        self.i, self.j = self.p.index("i"), self.p.index("j")
        self.s, self.t = self.p.local("s"), self.p.local("t")

    def scalars(self, *body, before=(), after=(), results=()) -> LoopScalars:
        loop = for_(self.i, 0, self.n, body)
        return scalars_of(self.p.function(*before, loop, *after, results=results))[self.i]

    @property
    def ai(self):
        return load(self.a, self.i)


def test_scalar_assigned_before_it_is_read_is_private():
    c = Case()
    found = c.scalars(assign(c.t, c.ai), store(c.b, [c.i], mul(c.t, c.t)))
    assert found == LoopScalars((c.t,), (), (), ())


def test_private_scalar_that_is_returned_is_last():
    c = Case()
    found = c.scalars(assign(c.t, c.ai), results=[c.t])
    assert (found.private, found.last) == ((c.t,), (c.t,))


def test_scalar_overwritten_after_the_loop_is_not_last():
    c = Case()
    found = c.scalars(assign(c.t, c.ai), after=[assign(c.t, 0.0)], results=[c.t])
    assert found.last == ()


def test_conditional_last_value_is_carried_out():
    c = Case()
    found = c.scalars(if_(compare(">", c.ai, 0.0), [assign(c.t, c.ai)]), results=[c.t])
    assert [s.symbol for s in found.carried] == [c.t]
    assert found.carried[0].read is None
    assert found.private == ()


def test_conditionally_assigned_scalar_is_private_if_no_one_looks_after_the_loop():
    c = Case()
    body = if_(compare(">", c.ai, 0.0), [assign(c.t, c.ai), store(c.b, [c.i], c.t)])
    assert c.scalars(body).private == (c.t,)


def test_assigned_in_both_branches_is_assigned():
    c = Case()
    body = if_(compare(">", c.ai, 0.0), [assign(c.t, c.ai)], [assign(c.t, 0.0)])
    found = c.scalars(body, store(c.b, [c.i], c.t), results=[c.t])
    assert found.last == (c.t,)


def test_assigned_in_one_branch_and_read_after_is_carried():
    c = Case()
    found = c.scalars(if_(compare(">", c.ai, 0.0), [assign(c.t, c.ai)]), store(c.b, [c.i], c.t))
    assert [s.symbol for s in found.carried] == [c.t]
    assert found.carried[0].read is not None


def test_read_before_assignment_is_carried():
    c = Case()
    found = c.scalars(store(c.b, [c.i], c.t), assign(c.t, c.ai), before=[assign(c.t, 0.0)])
    assert [s.symbol for s in found.carried] == [c.t]


def test_updates_by_one_operator_are_a_reduction():
    c = Case()
    found = c.scalars(
        update(c.s, [], "+", c.ai), if_(compare(">", c.ai, 0.0), [update(c.s, [], "+", 1.0)]), results=[c.s]
    )
    assert found.reductions == (Reduction("+", c.s),)
    assert not found.carried


def test_reduction_that_is_read_in_the_loop_is_carried():
    c = Case()
    found = c.scalars(update(c.s, [], "+", c.ai), store(c.b, [c.i], c.s))
    assert [s.symbol for s in found.carried] == [c.s]
    assert not found.reductions


def test_updates_by_two_operators_are_carried():
    c = Case()
    found = c.scalars(update(c.s, [], "+", c.ai), update(c.s, [], "*", c.ai))
    assert [s.symbol for s in found.carried] == [c.s]


def test_reset_accumulator_is_private_to_the_outer_loop_and_a_reduction_of_the_inner():
    c = Case()
    inner = for_(c.j, 0, c.n, [update(c.s, [], "+", load(c.a, c.j))])
    fn = c.p.function(for_(c.i, 0, c.n, [assign(c.s, 0.0), inner, store(c.b, [c.i], c.s)]))
    found = scalars_of(fn)
    assert found[c.i] == LoopScalars((c.s,), (), (), ())
    assert found[c.j].reductions == (Reduction("+", c.s),)


def test_scalar_assigned_in_an_inner_loop_that_may_be_empty_is_carried_to_a_later_read():
    c = Case()
    inner = for_(c.j, 0, c.n, [assign(c.t, load(c.a, c.j))])
    found = c.scalars(inner, store(c.b, [c.i], c.t))
    assert [s.symbol for s in found.carried] == [c.t]


def test_inner_loop_that_surely_runs_assigns():
    c = Case()
    inner = for_(c.j, 0, 3, [assign(c.t, load(c.a, c.j))])
    assert c.scalars(inner, store(c.b, [c.i], c.t)).private == (c.t,)


def test_break_in_a_loop_that_surely_starts_leaves_the_assignment_unsure():
    c = Case()
    inner = for_(c.j, 0, 3, [if_(compare(">", c.j, 1), [break_()]), assign(c.t, load(c.a, c.j))])
    assert not c.scalars(inner, store(c.b, [c.i], c.t)).private


def test_continue_before_the_assignment_makes_the_last_value_conditional():
    c = Case()
    found = c.scalars(
        if_(compare("<", c.ai, 0.0), [continue_()]), assign(c.t, c.ai), store(c.b, [c.i], c.t), results=[c.t]
    )
    assert found.carried[0].read is None


def test_continue_does_not_make_a_later_read_exposed():
    c = Case()
    found = c.scalars(if_(compare("<", c.ai, 0.0), [continue_()]), assign(c.t, c.ai), store(c.b, [c.i], c.t))
    assert found.private == (c.t,)


def test_value_for_the_next_iteration_of_an_outer_loop_is_live_after_the_inner():
    c = Case()
    inner = for_(c.j, 0, c.n, [assign(c.t, load(c.a, c.j))])
    fn = c.p.function(assign(c.t, 0.0), for_(c.i, 0, c.n, [store(c.b, [c.i], c.t), inner]))
    assert scalars_of(fn)[c.j].last == (c.t,)


def test_while_inside_reads_before_it_writes():
    c = Case()
    k = c.p.local("k", DType.INT64)
    body = [assign(k, 0), while_(compare("<", k, c.n), [assign(k, add(k, 1))])]
    assert c.scalars(*body).private == (k,)
    d = Case()
    k = d.p.local("k", DType.INT64)
    assert d.scalars(while_(compare("<", k, d.n), [assign(k, add(k, 1))])).carried[0].symbol == k


def test_empty_body():
    assert Case().scalars() == LoopScalars((), (), (), ())


def test_a_loop_under_its_own_condition_runs():
    """`if j < n: for ...: t = ...` then `b[i] = t`: what passes make of an element held in a scalar."""
    c = Case()
    inner = for_(c.j, 0, c.n, [assign(c.t, c.ai)])
    read = store(c.b, [c.i], c.t)
    assert c.scalars(if_(compare("<", 0, c.n), [inner, read])).private == (c.t,)
    assert [s.symbol for s in c.scalars(if_(compare("<=", 0, c.n), [inner, read])).carried] == [c.t]
    assert [s.symbol for s in c.scalars(inner, read).carried] == [c.t]


def test_a_condition_whose_scalars_have_changed_says_nothing():
    c = Case()
    k = c.p.local("k", DType.INT64)
    inner = for_(c.j, 0, k, [assign(c.t, c.ai)])
    body = if_(compare("<", 0, k), [assign(k, 0), inner, store(c.b, [c.i], c.t)])
    assert c.t in [s.symbol for s in c.scalars(assign(k, c.n), body).carried]


def test_each_loop_of_a_nest_is_gone_through_once(monkeypatch):
    """However many loops around it are asked about, and none before."""
    walked: list[int] = []
    once = scalar_flow._block_flow

    def counted(body, *rest):
        walked.append(id(body))
        return once(body, *rest)

    monkeypatch.setattr(scalar_flow, "_block_flow", counted)
    p = Program()
    a, n, loops = p.array("a", 1), p.integer("n"), [p.index(f"i{k}") for k in range(6)]
    nest = store(a, [loops[-1]], 1.0)
    for var in reversed(loops):
        nest = for_(var, 0, n, [nest])
    found = scalars_of(p.function(nest))
    assert walked == []
    assert len(dict(found)) == 6
    assert len(walked) == len(set(walked)) == 6
