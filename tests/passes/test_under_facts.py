"""What is known at each point of a program, as a pass that notes it sees it."""

from __future__ import annotations

import numpy as np

from appyc.analysis.algebra.value_bounds import Facts
from appyc.ir import nodes as ir
from appyc.passes.checks.under_facts import UnderFacts
from tests.ir_makers import Program, alloc, assign, extent
from tests.lowering import lowered


class Notes(UnderFacts):
    """The bounds of `x` where each constant of a store is, by its value."""

    def __init__(self, fn):
        super().__init__(fn)
        self.found = {}
        self.x = next(s for s in fn.params if s.name == "x")

    def expression(self, e, facts):
        if isinstance(e, ir.Const):
            self.found[e.value] = self.values.of(ir.Var(self.x, loc=e.loc), facts)
        return e


def bounds(fn):
    lower = lowered(fn, np.zeros(9), 1.0)
    notes = Notes(lower)
    assert notes.rewritten(lower) == lower
    return {value: found for value, found in notes.found.items() if isinstance(value, float)}


INF = float("inf")


def branches(a, x):
    a[0] = 0.5
    if x > 1.0:
        a[1] = 1.5
    else:
        a[2] = 2.5
    a[3] = 3.5


def test_a_condition_holds_in_one_arm_and_fails_in_the_other():
    found = bounds(branches)
    assert found[0.5] == found[3.5] == (-INF, INF)
    assert found[1.5] == (1.0, INF)
    assert found[2.5] == (-INF, 1.0)


def jumps(a, x):
    for i in range(3):
        if x < 2.0:
            a[i] = 0.5
            continue
        a[i] = 1.5
        if x < 5.0:
            break
        a[i] = 2.5
    a[0] = 3.5


def test_behind_a_jump_its_condition_fails():
    found = bounds(jumps)
    assert found[0.5] == (-INF, 2.0)
    assert found[1.5] == (2.0, INF)
    assert found[2.5] == (5.0, INF)
    assert found[3.5] == (-INF, INF)


def assigned(a, x):
    if x > 1.0:
        a[0] = 0.5
        x = x - 3.0
        a[1] = 1.5
    while x > 2.0:
        a[2] = 2.5
        x = x * 0.25
        a[3] = 3.5


def test_an_assignment_ends_what_is_known():
    found = bounds(assigned)
    assert found[0.5] == (1.0, INF)
    assert found[1.5] == found[3.5] == (-INF, INF)
    assert found[2.5] == (2.0, INF)


def lazily(a, x):
    a[0] = 0.5 if x > 1.0 and x * 7.5 < 9.0 else 2.5


def test_parts_that_are_evaluated_lazily_know_what_chose_them():
    found = bounds(lazily)
    assert found[0.5][0] == 1.0
    assert found[7.5] == (1.0, INF)
    assert found[2.5] == (-INF, INF)


def test_facts_that_code_changes_are_dropped():
    x = next(s for s in lowered(assigned, np.zeros(9), 1.0).params if s.name == "x")
    known = Facts({ir.Var(x, loc=None): (1.0, 2.0)}, frozenset([ir.Var(x, loc=None)]))
    body = lowered(assigned, np.zeros(9), 1.0).body
    assert known.kept_in(body) == Facts()


def test_a_length_is_forgotten_where_the_array_is_made():
    p = Program()
    a = p.array("a", 1)
    facts = Facts(nonzero=frozenset({extent(a)}))
    assert facts.kept_in(alloc(a, 3)).nonzero == frozenset()
    assert facts.kept_in(assign(p.local("t"), 1.0)) == facts
