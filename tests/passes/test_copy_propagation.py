"""Scalars give way to what they stand for, wherever that is what they hold."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

import numpy as np
import pytest

from appyc.ir.nodes import Expr, If, Stmt, Symbol, Var
from appyc.ir.types import DType
from appyc.ir.verify import verify
from appyc.ir.visit import walk
from appyc.passes.pass_context import PassContext
from appyc.passes.simplify.copy_propagation import MAX_NODES, copy_propagation
from tests.ir_makers import (
    Program,
    add,
    alloc,
    assign,
    binary,
    cast,
    compare,
    extent,
    for_,
    if_,
    load,
    mul,
    store,
    sub,
    update,
    while_,
)
from tests.printed import run_printed

p = Program()
n, a, m = p.integer("n"), p.array("a", 1), p.array("m", 2)
i, j = p.index("i"), p.index("j")
s, t, u = (p.local(name, DType.INT64) for name in "stu")
new = p.local_array("new", 1)


def load_index(number: Symbol) -> Expr:
    return cast(load(a, number), DType.INT64)


def real(value: Symbol) -> object:
    return cast(Var(value, loc=store(a, [0], 0.0).loc), DType.FLOAT64)


def outcome(body: tuple[Stmt, ...], size: int) -> list[np.ndarray]:
    arrays = [np.arange(size * 1.0), np.arange(size * size * 1.0).reshape(size, size)]
    run_printed(p.function(*body), size, *arrays)
    return arrays


def is_replaced(symbol: Symbol, *body: Stmt) -> bool:
    """Whether the pass leaves no read of the scalar; the program does what it did."""
    after = copy_propagation(p.function(*body), PassContext())
    assert verify(after) == []
    for size in (0, 1, 2, 7):
        for one, other in zip(outcome(body, size), outcome(after.body, size), strict=True):
            np.testing.assert_array_equal(one, other)
    return not any(isinstance(node, Var) and node.symbol == symbol for node in walk(after))


def test_a_scalar_in_terms_of_parameters_is_replaced_everywhere() -> None:
    last = assign(s, sub(extent(a), 1))
    assert is_replaced(s, last, for_(i, 0, n, [store(a, [s], real(i))]))


def test_one_in_terms_of_the_loops_around_is_replaced_behind_its_assignment() -> None:
    inner = for_(j, 0, t, [update(m, [i, add(s, j)], "+", load(a, j))])
    body = for_(i, 0, n, [assign(s, add(i, 1)), assign(t, sub(n, s)), inner])
    assert is_replaced(s, body)
    assert is_replaced(t, body)
    deep = [assign(s, add(i, j)), if_(compare("<", s, n), [store(a, [s], 1.0)])]
    assert is_replaced(s, for_(i, 0, n, [for_(j, 0, n, deep)]))
    first = [assign(u, i), while_(compare("<", u, n), [assign(s, mul(i, 2)), update(u, [], "+", add(s, 1))])]
    assert is_replaced(s, for_(i, 0, n, first))


def test_operands_may_be_what_only_outer_loops_change() -> None:
    """Of operations that do not trap: those of Python's ints would be made, and tested, at each use."""
    value = add(u, mul(j, t))
    inside = [assign(s, value), if_(compare("<", s, n), [store(a, [s], real(s))])]
    around = assign(u, load_index(i)), assign(t, add(i, 1))

    def nest(body: list[Stmt]) -> Stmt:
        return for_(i, 0, n, [*around, for_(j, 0, 3, body)])

    assert is_replaced(s, nest(inside))
    assert not is_replaced(s, nest([assign(s, replace(value, python=True)), *inside[1:]]))
    assert not is_replaced(s, nest([*inside, update(u, [], "+", 1)]))


def test_a_copy_of_what_changes_is_replaced_until_it_changes() -> None:
    step = update(u, [], "+", 1)
    used = if_(compare("<", u, n), [store(a, [u], real(s))])
    assert is_replaced(s, assign(u, 0), for_(i, 0, n, [assign(s, u), used, step]))
    assert not is_replaced(s, assign(u, 0), for_(i, 0, n, [assign(s, u), step, store(a, [i], real(s))]))
    inside = for_(j, 0, n, [store(m, [i, j], real(s)), step])
    assert not is_replaced(s, assign(u, 0), for_(i, 0, n, [assign(s, u), inside]))


def test_conditions_on_copies_are_folded() -> None:
    test = if_(compare("==", s, u), [store(a, [i], 1.0)], [store(a, [i], 2.0)])
    body = assign(u, 0), for_(i, 0, n, [assign(s, u), test, update(u, [], "+", 1)])
    assert is_replaced(s, *body)
    assert not any(isinstance(node, If) for node in walk(copy_propagation(p.function(*body), PassContext())))


LONG = reduce(lambda so_far, _: add(so_far, i), range(MAX_NODES), add(i, 1))
LATE = if_(compare(">", i, 0), [store(a, [i], real(s))])
KEPT = {
    "read_in_the_next_iteration": for_(i, 0, n, [LATE, assign(s, add(i, 1))]),
    "assigned_in_a_branch": for_(i, 0, n, [if_(compare(">", i, 0), [assign(s, i)]), LATE]),
    "made_of_what_changes": for_(
        i, 0, n, [assign(u, i), assign(s, add(u, 1)), update(u, [], "+", 1), store(a, [i], real(s))]
    ),
    "an_element": for_(i, 0, n, [assign(s, cast(load(a, i), DType.INT64)), store(a, [i], real(s))]),
    "may_fail": for_(i, 1, n, [assign(s, binary("//", n, i)), store(a, [i], real(s))]),
    "long": for_(i, 0, n, [assign(s, LONG), store(a, [i], real(s))]),
    "the_length_of_an_array_that_is_made_anew": for_(
        i, 0, n, [alloc(new, add(i, 1)), assign(s, extent(new)), alloc(new, 2), store(a, [i], real(s))]
    ),
}


@pytest.mark.parametrize("name", KEPT)
def test_what_it_may_not_hold_stays(name: str) -> None:
    assert not is_replaced(s, KEPT[name])


def test_behind_the_loop_it_holds_what_the_last_iteration_left() -> None:
    loop = for_(i, 0, 3, [assign(s, add(i, 1)), store(m, [0, 0], real(s), checked=True)])
    after = if_(compare(">", n, 0), [store(a, [0], real(s))])
    assert not is_replaced(s, if_(compare(">", n, 0), [loop]), after)


def test_empty_function() -> None:
    assert is_replaced(s)
