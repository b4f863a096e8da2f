"""Guards: exponents are asked for first, sums are kept small, and there is room for so many comparisons."""

from __future__ import annotations

import numpy as np
import pytest

from appyc.analysis.accesses.access_relations import accesses_of
from appyc.analysis.sets.presburger import Presburger
from appyc.errors import GENERATED
from appyc.ir.nodes import Expr, For, Function, Guard
from appyc.ir.printer import print_expr
from appyc.ir.types import DType
from appyc.passes.checks.guard_assumptions import guard_assumptions
from appyc.passes.checks.guards import ALWAYS, COMPARISONS, GuardWriter, asked_in_order
from appyc.passes.pass_context import PassContext
from appyc.passes.simplify.copy_propagation import copy_propagation
from appyc.passes.simplify.expand_tensors import expand_tensors
from tests.ir_makers import Program, add, binary, compare, extent, for_, mul, store
from tests.lowering import after, lowered
from tests.printed import run_printed

p = Program()
n, m, narrow, x = p.integer("n"), p.integer("m"), p.integer("narrow", DType.INT32), p.array("x", 1)
i = p.index("i")


def guard(holds: Expr) -> Guard:
    return Guard(holds, "a test", loc=GENERATED)


def texts(guards: tuple[Guard, ...] | list[Guard]) -> list[str]:
    return [print_expr(one.holds) for one in guards]


def writer(fn: Function) -> GuardWriter:
    return GuardWriter(accesses_of(fn, Presburger(PassContext().allowance), wary=True).affine, fn.params)


def test_an_exponent_is_asked_for_before_its_power() -> None:
    tower = binary("**", 2, binary("**", m, n))
    found = asked_in_order([guard(compare(">=", extent(x), tower))])
    assert texts(found) == [
        "n >= 0",
        "(m ** max(n, 0)) >= 0",
        "x.shape[0] >= (2 ** max(m ** max(n, 0), 0))",
    ]
    conditions = p.function(results=[one.holds for one in found])
    assert run_printed(conditions, -1, 3, 0, np.zeros(9)) == (False, True, True)
    assert run_printed(conditions, 1, 3, 0, np.zeros(9)) == (True, True, True)


@pytest.mark.parametrize("exponent", [3, binary("max", n, 0)])
def test_an_exponent_that_is_never_negative_is_not_asked_for(exponent: int | Expr) -> None:
    guards = guard(compare(">=", extent(x), binary("**", m, exponent)))
    assert asked_in_order([guards, guards]) == (guards,)


def test_powers_of_a_program_are_asked_for_in_order() -> None:
    def blocks(base, exponent, x):
        return np.reshape(x, (base**exponent, -1))[1:].sum()

    fn = after(lowered(blocks, 2, 3, np.ones(8)), expand_tensors, copy_propagation, guard_assumptions)
    power, found = "base ** max(exponent, 0)", texts(fn.guards)
    assert [power in text for text in found].count(True) == 2
    assert found.index("exponent >= 0") < min(k for k, text in enumerate(found) if power in text)


def over(end: Expr, index: Expr) -> For:
    return for_(i, 0, end, [store(x, [index], 0.0)])


def test_scalars_that_sums_are_made_of_are_small() -> None:
    fn = p.function(over(add(n, m), add(add(i, m), narrow)))
    assert texts(writer(fn).sizes([])) == [
        "(m >= (-1099511627776)) and (m <= 1099511627776)",
        "(n >= (-1099511627776)) and (n <= 1099511627776)",
    ]


def test_factors_of_products_are_smaller() -> None:
    fn = p.function(over(n, mul(n, i)))
    assert texts(writer(fn).sizes([])) == ["(n >= (-268435456)) and (n <= 268435456)"]


def test_a_function_without_arithmetic_has_no_limits() -> None:
    assert writer(p.function(over(extent(x), add(i, 0)))).sizes([]) == []


def test_guards_that_would_get_too_long_are_not_stated() -> None:
    fn = p.function(over(add(n, m), i))
    guards, found = writer(fn), accesses_of(fn, Presburger(PassContext().allowance), wary=True)
    runs = found.affine.settled(found.accesses[0].domain)
    room = ALWAYS + COMPARISONS  # of a function with one array
    assert not guards.have_room(room + 1)
    assert [print_expr(g.holds) for g in guards.guards(runs, "", GENERATED) or []] == ["(m + n) > 0"]
    assert guards.have_room(room - 1)
    assert guards.guards(runs, "", GENERATED) is None


def test_what_fails_in_every_iteration_has_no_guard() -> None:
    fn = p.function(over(n, i))
    domain = accesses_of(fn, Presburger(PassContext().allowance), wary=True).accesses[0].domain
    assert writer(fn).without(domain, domain) is None
    assert writer(fn).without(domain, domain.subtract(domain)) is not None
