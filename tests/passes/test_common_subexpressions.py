"""Integers that are computed twice from the same values have one name."""

from __future__ import annotations

import numpy as np
import pytest

import appyc
from appyc.ir.nodes import Compare, Fail, Likely, Stmt, Symbol, Var
from appyc.ir.printer import print_function
from appyc.ir.types import DType
from appyc.ir.verify import verify
from appyc.ir.visit import walk
from appyc.passes.pass_context import PassContext
from appyc.passes.simplify.common_subexpressions import common_subexpressions, equal_lengths
from appyc.passes.simplify.copy_propagation import copy_propagation
from appyc.passes.simplify.expand_tensors import expand_tensors
from tests.e2e.harness import run_everywhere
from tests.ir_makers import (
    Program,
    add,
    assign,
    binary,
    cast,
    compare,
    extent,
    for_,
    here,
    if_,
    load,
    mul,
    store,
    update,
    while_,
)
from tests.lowering import after, lowered
from tests.printed import run_printed

p = Program()
n, a, m = p.integer("n"), p.array("a", 1), p.array("m", 1, DType.INT64)
i, j = p.index("i"), p.index("j")
s, t, u = (p.local(name, DType.INT64) for name in "stu")
x, y = (p.local(name, DType.FLOAT64) for name in "xy")


def outcome(body: tuple[Stmt, ...], size: int) -> list[np.ndarray]:
    arrays = [np.arange(size * 1.0), np.arange(size) + 1]
    run_printed(p.function(*body), size, *arrays)
    return arrays


def is_read(symbol: Symbol, *body: Stmt, transform=common_subexpressions) -> bool:
    """Whether the scalar is read after the pass, by other statements than copies; the program does what it did."""
    after = transform(p.function(*body), PassContext())
    assert verify(after) == []
    for size in (1, 2, 7):
        for one, other in zip(outcome(body, size), outcome(after.body, size), strict=True):
            np.testing.assert_array_equal(one, other)
    return any(isinstance(node, Var) and node.symbol == symbol for node in walk(after))


def stored(symbol: Symbol, place: object = 0) -> Stmt:
    return store(a, [place], cast(symbol, DType.FLOAT64))


SQUARE = binary("//", mul(n, n), 3)


def test_the_same_value():
    assert not is_read(t, assign(s, SQUARE), assign(t, SQUARE), stored(t))
    assert not is_read(t, assign(s, SQUARE), for_(i, 0, n, [assign(t, SQUARE), stored(t, i)]))


def test_scalars_with_several_definitions_are_left_alone():
    again = [assign(u, add(t, 1)), assign(t, add(s, 1)), stored(t)]
    assert is_read(t, assign(s, SQUARE), assign(t, SQUARE), *again)


def test_elements_that_nothing_has_stored_into():
    first, second = assign(s, load(m, 0)), assign(t, load(m, 0))
    assert not is_read(t, first, store(a, [0], 1.0), second, stored(t))
    assert is_read(t, first, store(m, [0], 5), second, stored(t))
    assert is_read(t, first, for_(i, 0, n, [second, stored(t, i), store(m, [0], 5)]))


def test_elements_of_arguments_that_may_share_memory():
    first, second = assign(s, load(m, 0)), assign(t, load(m, 0))
    assert is_read(t, first, store(a, [0], 1.0), second, stored(t), transform=equal_lengths)
    assert not is_read(t, assign(s, SQUARE), assign(t, SQUARE), stored(t), transform=equal_lengths)
    longer = add(extent(m), 1)
    assert not is_read(
        t, assign(s, longer), store(m, [0], 5), assign(t, longer), stored(t), transform=equal_lengths
    )


def test_a_test_that_was_passed_is_not_repeated():
    def tests(*body: Stmt) -> int:
        found = equal_lengths(p.function(*body), PassContext())
        assert verify(found) == []
        for size in (1, 2, 7):
            for one, other in zip(outcome(body, size), outcome(found.body, size), strict=True):
                np.testing.assert_array_equal(one, other)
        return sum(isinstance(node, Fail) for node in walk(found))

    def failing() -> Fail:
        return Fail("ValueError", "too large", (), loc=here())

    small, same = (if_(compare(">", k, 99), [failing()]) for k in (s, t))
    first, define = assign(s, SQUARE), assign(t, SQUARE)
    assert tests(first, define, small, same) == 1
    assert tests(first, define, small, for_(i, 0, n, [same, stored(t, i)])) == 1
    assert tests(first, define, if_(compare(">", n, 3), [small]), same) == 2
    assert tests(first, define, for_(i, 0, n, [small]), same) == 2
    assert tests(first, small, assign(s, 3), small) == 2
    assert tests(if_(compare(">", load(m, 0), 99), [failing()]), store(m, [0], 5),
                 if_(compare(">", load(m, 0), 99), [failing()])) == 2  # fmt: skip


@pytest.mark.parametrize(
    "between",
    [update(s, [], "+", 1), assign(s, 2), if_(compare(">", n, 3), [assign(s, 2)]), for_(i, 0, n, [assign(s, 2)]),
     while_(compare("<", s, 1), [assign(s, 2)])],
    ids=["update", "assign", "branch", "loop", "while"],
)  # fmt: skip
def test_what_has_changed_is_forgotten(between):
    assert is_read(t, assign(s, SQUARE), between, assign(t, SQUARE), stored(t))


def test_what_it_is_made_of_has_changed():
    assert is_read(t, assign(u, 1), assign(s, add(n, u)), assign(u, 2), assign(t, add(n, u)), stored(t))
    body = [assign(t, add(n, u)), stored(t, i), assign(u, add(u, 1))]
    assert is_read(t, assign(u, 1), assign(s, add(n, u)), for_(i, 0, n, body))


def test_what_a_branch_computes_is_not_known_behind_it():
    branch = if_(compare(">", n, 3), [assign(s, SQUARE)])
    assert is_read(t, branch, assign(t, SQUARE), stored(t))
    assert is_read(
        t,
        for_(i, 1, n, [assign(s, mul(i, i)), stored(s, i)]),
        for_(j, 0, n, [assign(t, mul(j, j)), stored(t)]),
    )


def test_zeros_of_floats_have_signs():
    one, other = assign(x, mul(cast(n, DType.FLOAT64), 0.0)), assign(y, mul(cast(n, DType.FLOAT64), -0.0))
    assert is_read(y, one, other, store(a, [0], y))


def powers(r, k, y):
    a = np.arange(r**k)
    for i in range(k):
        y[i] = np.sum(a[: r**i] * a[: r**i])
    return y


def segments(start, a, b):
    out = np.zeros(start.shape[0] - 1)
    for i in range(start.shape[0] - 1):
        out[i] = np.sum(a[start[i] : start[i + 1]] * (a[start[i] : start[i + 1]] + b[i]))
    return out


ARGS = {powers: (2, 4, np.zeros(4)), segments: (np.array([0, 2, 2, 5]), np.arange(5.0), np.ones(5))}


@pytest.mark.parametrize("fn", ARGS, ids=lambda fn: fn.__name__)
def test_slices_with_the_same_bounds_have_one_length(fn):
    found = after(lowered(fn, *ARGS[fn]), expand_tensors, copy_propagation, common_subexpressions)
    asked = [node.arg for node in walk(found) if isinstance(node, Likely)]
    assert not any(isinstance(c, Compare) and c.op == "==" for c in asked)


@pytest.mark.sampled
@pytest.mark.parametrize("fn", ARGS, ids=lambda fn: fn.__name__)
def test_as_in_python(fn):
    run_everywhere(fn, *ARGS[fn])


def test_no_guard_asks_for_empty_arrays():
    guards = appyc.jit(powers, cache=False, target="cpu").explain(*ARGS[powers]).guards
    assert not any(guard.startswith("0 >=") for guard in guards)


def test_golden(golden):
    before = after(lowered(segments, *ARGS[segments]), expand_tensors, copy_propagation)
    golden(
        "tensors/one_length.txt",
        f"{print_function(before)}\n# after\n\n{print_function(after(before, common_subexpressions))}",
    )
