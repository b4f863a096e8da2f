"""Elements in scalars: how a loop and its clauses name them, and where they are loaded and stored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import appyc
from appyc import pipeline
from appyc.analysis.accesses.elements import fixed_elements
from appyc.ir.nodes import Const, For, Function, If, LoopMode, Reduction, Stmt, Update
from appyc.ir.printer import print_expr, print_function
from appyc.ir.types import DType
from appyc.ir.visit import loops_of
from appyc.passes.storage.element_scalars import Held, held_in_scalars, in_scalars
from appyc.passes.storage.scalar_replacement import scalar_replacement
from tests.ir_makers import Program, for_, load, mul, pragma, store, update
from tests.lowering import after, lowered
from tests.printed import run_printed

UP_TO = (*pipeline.SIMPLIFY, *pipeline.ANALYSE[: pipeline.ANALYSE.index(scalar_replacement) + 1])

p = Program()
n, m, t, a, c = p.integer("n"), p.integer("m"), p.array("t", 1), p.array("a", 1), p.array("c", 2)
i, j = p.index("i"), p.index("j")
scalar = p.local("t_element")


def held(loop: For, **facts: bool) -> tuple[Held, ...]:
    (element,) = fixed_elements(loop)
    return (Held(element, scalar, **facts),)


def rewritten(loop: For, *, guarded: bool = False, **facts: bool) -> Function:
    return p.function(*held_in_scalars(loop, held(loop, **facts), guarded=guarded))


def summed(**facts: object) -> For:
    return replace(for_(i, 0, n, [for_(j, 0, m, [update(t, [0], "+", load(c, i, j))])]), **facts)


def test_text(golden: Callable[[str, str], None]) -> None:
    private = for_(i, 0, n, [store(t, [0], load(a, i)), store(a, [i], mul(load(t, 0), load(t, 0)))])
    texts = [
        print_function(rewritten(summed())),
        print_function(rewritten(summed(), combined=True)),
        print_function(rewritten(private, guarded=True, read=False)),
    ]
    golden("ir/element_scalars.txt", "\n".join(texts))


@pytest.mark.parametrize("facts", [{}, {"combined": True}, {"guarded": True}])
def test_printed_programs_do_the_same(facts: dict[str, bool]) -> None:
    for rows, columns in ((3, 4), (0, 4), (3, 0)):
        mine, others = ([np.ones(2), np.arange(3.0), np.arange(12.0).reshape(3, 4)] for _ in range(2))
        run_printed(rewritten(summed(), **facts), rows, columns, *mine)
        run_printed(p.function(summed()), rows, columns, *others)
        for one, other in zip(mine, others, strict=True):
            np.testing.assert_array_equal(one, other)


def test_an_element_that_may_not_exist_is_touched_only_where_the_loops_run() -> None:
    fn = rewritten(summed(), guarded=True)
    assert isinstance(fn.body[0], If)
    run_printed(fn, 3, 0, np.zeros(0), np.zeros(0), np.zeros((3, 0)))
    with pytest.raises(IndexError):
        run_printed(rewritten(summed()), 3, 0, np.zeros(0), np.zeros(0), np.zeros((3, 0)))


def test_a_combined_scalar_starts_from_the_neutral_element() -> None:
    product = for_(i, 0, n, [update(t, [0], "*", load(a, i))])
    start, _, end = held_in_scalars(product, held(product, combined=True), guarded=False)
    assert isinstance(start.value, Const)
    assert start.value.value == 1.0
    assert isinstance(end, Update)
    assert (end.target, end.op) == (t, "*")


def test_a_loop_that_is_proved_reduces_the_scalar() -> None:
    assert in_scalars(summed(), held(summed())).reductions == ()
    proved = summed(mode=LoopMode.PARALLEL)
    assert in_scalars(proved, held(proved)).reductions == (Reduction("+", scalar),)


def test_a_clause_that_names_the_array_names_the_scalar() -> None:
    asked = pragma("parallel", reductions=(("+", t),))
    found = in_scalars(summed(clauses=asked), held(summed()))
    assert found.clauses is not None
    assert [r.symbol for r in found.clauses.reductions] == [scalar]


def test_a_clause_keeps_an_array_of_which_the_loop_touches_more() -> None:
    body: list[Stmt] = [update(t, [0], "+", load(a, i)), update(t, [i], "+", 1.0)]
    loop = for_(i, 1, n, body, clauses=pragma("parallel", reductions=(("+", t),)))
    found = in_scalars(loop, held(loop))
    assert found.clauses == loop.clauses
    assert found.body[1] == body[1]
    assert [type(stmt).__name__ for stmt in found.body] == ["Update", "Update"]
    assert loops_of((found,))[0].body[0] == replace(body[0], target=scalar, index=())


def test_elements_of_inner_loops_are_guarded_by_what_else_the_loop_runs() -> None:
    """`t[n - 1]` may exist only where the outer loop runs, which it does where the inner one does not."""

    def f(x, t, y, c):
        u = np.zeros(1)
        n = x.shape[0]
        for i in range(n):
            t[n - 1] = x[i] * 2.0
            y[i] = t[n - 1] + x[i]
            for j in range(c.shape[1]):
                u[0] += c[0, j]
        return u[0]

    for rows, columns in ((3, 4), (3, 0), (0, 4)):
        mine, python = (
            [np.arange(1.0, 1 + rows), *np.zeros((2, 3)), np.ones((1, columns))] for _ in range(2)
        )
        assert appyc.jit(f, strict=True)(*mine) == f(*python)
        for one, other in zip(mine, python, strict=True):
            np.testing.assert_array_equal(one, other)
    assert "if 0 < x.shape[0]:" in print_function(after(lowered(f, *mine), *UP_TO))


def test_a_perfect_nest_is_guarded_as_a_whole() -> None:
    added = replace(update(t, [0], "+", load(c, i, j, checked=False)), checked=False)
    loop = for_(i, 0, n, [for_(j, 0, m, [added, store(a, [0], load(t, 0))])])
    first, second = fixed_elements(loop)
    both = (Held(first, scalar), Held(second, p.local("a_element")))
    (guard,) = held_in_scalars(loop, both, guarded=True)
    assert isinstance(guard, If)
    assert print_expr(guard.cond) == "(0 < n) and (0 < m)"


def test_a_bound_that_the_loop_changes_is_in_no_guard() -> None:
    ends = p.local_array("ends", 1, DType.INT64)
    loop = for_(i, 0, n, [for_(j, 0, load(ends, 0), [update(ends, [0], "+", 1)])])
    (found,) = fixed_elements(loop)
    (guard,) = held_in_scalars(loop, (Held(found, p.local("end", DType.INT64)),), guarded=True)
    assert isinstance(guard, If)
    assert print_expr(guard.cond) == "0 < n"
