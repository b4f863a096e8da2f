"""`while` loops on counters become `for` loops, and the program computes the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from appyc.ir.nodes import Const, For, Function, Logical, Stmt, While
from appyc.ir.types import DType
from appyc.ir.verify import verify
from appyc.ir.visit import loops_of, walk
from appyc.passes.pass_context import PassContext
from appyc.passes.simplify.while_to_for import while_to_for
from tests.ir_makers import (
    Program,
    add,
    assign,
    both,
    break_,
    compare,
    continue_,
    expr,
    extent,
    if_,
    load,
    mul,
    store,
    sub,
    while_,
)
from tests.printed import run_printed

p = Program()
n, k = p.integer("n"), p.integer("k")
a, b = p.array("a", 1), p.array("b", 1)
i, j = p.local("i", DType.INT64), p.local("j", DType.INT64)
x = p.local("x")

SIZES = (0, 1, 2, 3, 8, 13)


def counted(*body: Stmt, changed: bool = True) -> Function:
    """The function after the pass, which does what it did."""
    before = p.function(assign(i, 0), assign(j, 0), assign(x, 0.0), *body, results=[i, j, x])
    after = while_to_for(before, PassContext())
    assert verify(after) == []
    assert (not any(isinstance(node, While) for node in walk(after))) is changed
    for size in SIZES:
        for number in (-2, 0, 1, 5):
            assert outcome(before, size, number) == outcome(after, size, number), (size, number)
    return after


def outcome(fn: Function, size: int, number: int):
    rng = np.random.default_rng(size)
    arrays = [rng.uniform(-1, 9, size) for _ in range(2)]
    try:
        value = run_printed(fn, size, number, *arrays)
    except IndexError as error:
        value = type(error).__name__
    return value, [array.tolist() for array in arrays]


def move(by: int = 1, symbol=i) -> Stmt:
    return assign(symbol, add(symbol, by) if by > 0 else sub(symbol, -by))


def put(value=2.0) -> Stmt:
    return store(b, [i], value)


def test_a_counter():
    fn = counted(while_(compare("<", i, n), [put(load(a, i)), move()]))
    (loop,) = loops_of(fn)
    assert (loop.step, loop.lo, loop.hi) == (1, expr(0), expr(n))


@pytest.mark.parametrize("by", [2, 3, 7])
@pytest.mark.parametrize("op", ["<", "<="])
def test_steps_up(by, op):
    counted(while_(compare(op, i, sub(n, 1)), [put(), move(by)]))


@pytest.mark.parametrize("by", [1, 2, 5])
@pytest.mark.parametrize("op", [">", ">="])
def test_steps_down(by, op):
    counted(assign(i, sub(n, 1)), while_(compare(op, i, 0), [put(), move(-by)]))


def test_the_bound_may_come_first():
    assert loops_of(counted(while_(compare(">", extent(a), i), [put(), move()])))


def test_what_stands_behind_the_step_sees_the_counter_moved():
    counted(while_(compare("<", i, sub(n, 1)), [move(), put(4.0), if_(compare("==", i, 3), [put(1.0)])]))


def test_a_counter_starts_from_any_value():
    (loop,) = loops_of(
        counted(assign(i, mul(k, 2)), while_(compare("<", i, 5), [assign(x, add(x, 1.5)), move()]))
    )
    assert loop.lo == expr(i)


def test_loops_inside():
    inner = while_(compare("<", j, i), [assign(x, add(x, 2.0)), move(1, j)])
    fn = counted(while_(compare("<", i, n), [assign(j, 0), inner, move()]))
    assert len(loops_of(fn)) == 2


def test_another_condition_ends_the_loop():
    cond = both(compare("<", i, n), compare(">", load(a, i), 0.0))
    (loop,) = loops_of(counted(while_(cond, [put(), move(2)])))
    assert isinstance(loop, For)


def test_three_conditions():
    cond = Logical("and", both(compare("<", i, n), compare(">", load(a, i), 0.0)), compare(">", load(b, i), 0.0),
                   loc=expr(0).loc)  # fmt: skip
    counted(while_(cond, [assign(x, add(x, load(a, i))), move()]))


def test_jumps():
    body = [if_(compare("<", load(a, i), 0.0), [break_()]), move(), if_(compare(">", i, 3), [continue_()]),
            assign(x, add(x, 1.0))]  # fmt: skip
    counted(while_(compare("<", i, n), body))


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    "body",
    [
        [if_(compare("<", load(a, i), 0.0), [move()], [move(2)])],
        [if_(compare("<", load(a, i), 0.0), [move()]), move(3)],
        [move(), move()],
        [if_(compare("==", i, 77), [continue_()]), move()],
        [move(), assign(n, sub(n, 1))],
        [assign(i, add(mul(i, 2), 1))],
        [assign(i, add(i, i)), move()],
    ],
)
def test_a_counter_or_a_bound_that_moves_in_its_own_way(body):
    counted(while_(compare("<", i, n), body), changed=False)


def test_a_counter_that_runs_away():
    before = p.function(while_(compare(">", i, n), [move()]))
    assert while_to_for(before, PassContext()) == before


def test_a_bound_behind_a_condition_that_may_raise():
    cond = both(compare(">", load(a, i), 0.0), compare("<", i, n))
    counted(while_(cond, [put(), move()]), changed=False)


def test_a_loop_that_its_own_work_ends():
    cond = both(compare("<", i, n), compare("<", x, 9.0))
    counted(while_(cond, [assign(x, add(x, load(a, i))), move()]), changed=False)


def test_a_bound_beyond_all_numbers():
    largest = Const((1 << 63) - 1, DType.INT64, loc=expr(0).loc)
    loop = while_(compare("<=", i, largest), [move(), if_(compare(">", i, n), [break_()])])
    counted(loop, changed=False)


@settings(max_examples=80, deadline=None)
@given(
    st.sampled_from(["<", "<=", ">", ">="]),
    st.integers(-4, 4).filter(bool),
    st.integers(-9, 9),
    st.integers(-9, 9),
)
def test_any_range(op, by, start, end):
    if (by > 0) != op.startswith("<"):
        return
    before = p.function(
        assign(i, start), assign(x, 0.0), while_(compare(op, i, end), [assign(x, add(x, 1.0)), move(by)]),
        results=[i, x],
    )  # fmt: skip
    after = while_to_for(before, PassContext())
    assert loops_of(after)
    assert outcome(before, 1, 0) == outcome(after, 1, 0)
