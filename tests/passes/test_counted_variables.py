"""Values of loop variables: which are known where an expression is evaluated."""

from __future__ import annotations

import numpy as np

import appyc
from appyc.ir.nodes import Binary, Const, Node, Stmt, Var
from appyc.ir.printer import print_expr
from appyc.ir.types import DType
from appyc.passes.simplify.counted_variables import Ranges, rewrite_in_ranges
from tests.ir_makers import Program, add, assign, binary, compare, extent, for_, if_, load, store, while_
from tests.printed import run_printed

p = Program()
n, m, a = p.integer("n"), p.integer("m"), p.array("a", 1, DType.INT64)
i, j = p.index("i"), p.index("j")
t = p.local("t", DType.INT64)


def mark(number: int) -> Stmt:
    return assign(t, 1000 + number)


def known(*body: Stmt) -> list[list[str]]:
    """What is known at each mark, by its number."""
    found: dict[int, list[str]] = {}

    def rule(node: Node, ranges: Ranges) -> Node:
        if isinstance(node, Const) and node.value.real >= 1000:
            texts = [f"{v.name} in {r.lo}..{print_expr(r.hi)}" for v, r in ranges.items()]
            found[int(node.value.real) - 1000] = texts
        return node

    assert rewrite_in_ranges(body, rule, {}) == body
    return [found[number] for number in sorted(found)]


def test_variables_of_the_loops_around_are_known():
    inner = for_(j, 2, add(i, 1), [if_(compare(">", i, j), [mark(1)])])
    assert known(for_(i, 0, extent(a), [mark(0), inner]), mark(2)) == [
        ["i in 0..a.shape[0]"],
        ["i in 0..a.shape[0]", "j in 2..i + 1"],
        [],
    ]


def test_a_loop_s_own_bounds_are_evaluated_outside_it():
    assert known(for_(i, 0, n, [for_(j, 0, add(i, 1000), [])])) == [["i in 0..n"]]


def test_what_counts_in_another_way_is_not_known():
    assert known(for_(i, 0, n, [mark(0)], step=2), for_(i, m, n, [mark(1)])) == [[], []]


def test_what_the_body_changes_is_not_known():
    assert known(for_(i, 0, n, [mark(0), assign(n, m)])) == [[]]
    assert known(for_(i, 0, load(a, 0), [mark(0), store(a, [m], 1)])) == [[]]
    assert known(for_(i, 0, n, [for_(j, 0, m, [mark(0), assign(n, m)])])) == [["j in 0..m"]]


def test_the_condition_of_a_while_is_left_alone():
    again = while_(compare("<", t, 1000), [mark(1)])
    assert known(for_(i, 0, n, [again])) == [["i in 0..n"]]


def test_a_rewritten_program_does_the_same():
    def rule(node: Node, ranges: Ranges) -> Node:
        match node:
            case Binary("max", Var(symbol), Const(value)) if (
                symbol in ranges and value.real <= ranges[symbol].lo
            ):
                return node.lhs
            case _:
                return node

    body = (
        for_(i, 1, n, [assign(t, add(t, binary("max", i, 1)))]),
        for_(i, m, n, [assign(t, add(t, binary("max", i, 1)))]),
    )
    before = p.function(assign(t, 0), *body, results=[t])
    after = p.function(assign(t, 0), *rewrite_in_ranges(body, rule, {}), results=[t])
    assert after.body[1].body[0].value == add(t, i)
    assert after.body[2] == before.body[2]
    assert run_printed(after, 5, -3, a) == run_printed(before, 5, -3, a) == 10 + 14


def test_a_length_that_is_read_again_is_another():
    def f(length, out):
        for i in range(length[0]):
            out[i] = i % max(length[0], 1)
            length[0] = 3

    mine, python = ([np.array([6]), np.zeros(6)] for _ in range(2))
    appyc.jit(f, strict=True)(*mine)
    f(*python)
    np.testing.assert_array_equal(mine[1], python[1])
