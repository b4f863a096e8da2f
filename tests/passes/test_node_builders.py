"""Constructors for nodes: neutral elements, trip counts, folded bounds, and code for elements and `break`."""

from __future__ import annotations

import numpy as np
import pytest

from appyc.errors import GENERATED
from appyc.ir.names import NameSupply
from appyc.ir.nodes import Binary, Break, Const, Expr, LoopMode
from appyc.ir.printer import print_expr
from appyc.ir.types import DType
from appyc.passes import node_builders as make
from tests.ir_makers import Program, add, assign, binary, break_, compare, expr, for_, if_, load, store, sub
from tests.printed import run_printed

p = Program()
n, m, a = p.integer("n"), p.integer("m"), p.array("a", 2)
i, j = p.index("i"), p.index("j")


def value_of(e: Expr, *args: int) -> object:
    """The value of an expression of the parameters `n` and `m`."""
    return run_printed(p.function(results=[e]), *args, np.zeros((1, 1)))


OPERATORS = {
    "+": (np.add, [DType.INT8, DType.UINT16, DType.FLOAT32, DType.COMPLEX128]),
    "*": (np.multiply, [DType.INT8, DType.UINT16, DType.FLOAT32, DType.COMPLEX128]),
    "&": (np.bitwise_and, [DType.INT8, DType.UINT16, DType.BOOL]),
    "|": (np.bitwise_or, [DType.INT8, DType.UINT16, DType.BOOL]),
    "^": (np.bitwise_xor, [DType.INT8, DType.UINT16, DType.BOOL]),
    "and": (np.logical_and, [DType.BOOL]),
    "or": (np.logical_or, [DType.BOOL]),
    "min": (np.minimum, [DType.INT8, DType.UINT16, DType.FLOAT32]),
    "maximum": (np.maximum, [DType.INT8, DType.UINT16, DType.FLOAT32]),
}


@pytest.mark.parametrize("op", OPERATORS)
def test_a_neutral_element_changes_nothing(op: str) -> None:
    combine, dtypes = OPERATORS[op]
    for dtype in dtypes:
        values = np.array([0, 1, 3, 127]).astype(dtype.numpy)
        neutral = dtype.numpy.type(make.identity(op, dtype, GENERATED).value)
        np.testing.assert_array_equal(combine(neutral, values), values, err_msg=dtype.name)


def test_a_sum_of_floats_starts_with_the_negative_zero() -> None:
    assert np.signbit(make.start_of_sum("+", DType.FLOAT64, GENERATED).value)
    assert make.start_of_sum("*", DType.FLOAT64, GENERATED).value == 1.0


@pytest.mark.parametrize("step", [1, 3, -1, -4])
def test_iterations_are_counted_as_python_counts_them(step: int) -> None:
    for lo, hi in ((0, 7), (2, 9), (9, 2), (5, 5)):
        there = range(lo, hi, step)
        assert max(value_of(make.trip_count(expr(n), expr(m), step), lo, hi), 0) == len(there)
        numbers = [value_of(make.iteration(expr(n), step, expr(k)), lo, hi) for k in range(len(there))]
        assert numbers == list(there)


def test_constants_and_equal_bounds_are_folded() -> None:
    assert make.trip_count(expr(0), expr(n), 1) == expr(n)
    assert make.iteration(expr(0), 1, expr(n)) == expr(n)
    assert make.shifted(add(n, 3), -3) == expr(n)
    assert print_expr(make.shifted(expr(n), -2)) == "n - 2"
    assert make.smaller(expr(4), expr(7)) == expr(4)
    assert make.larger(expr(4), expr(7)) == expr(7)
    assert make.smaller(expr(n), expr(n)) == expr(n)
    assert isinstance(make.smaller(expr(n), expr(m)), Binary)
    assert make.scaled(expr(n), 1) == expr(n)
    assert [value_of(make.ceiling_quotient(expr(n), expr(m)), k, 4) for k in (0, 1, 4, 5)] == [0, 1, 1, 2]


def test_a_bound_on_the_trip_count() -> None:
    tile = for_(i, binary("max", n, 1), binary("min", m, add(n, 8)), [], step=3)
    assert make.most_trips(tile) == 3
    assert make.most_trips(for_(i, add(n, 7), sub(n, 1), [], step=-1)) == 8
    assert make.most_trips(for_(i, n, m, [])) is None


def test_a_negative_index_counts_from_the_end() -> None:
    wrapped = make.counted_from_end(expr(n), expr(m))
    assert [value_of(wrapped, index, 5) for index in (-5, -1, 0, 4)] == [0, 4, 0, 4]


def test_loops_over_all_elements() -> None:
    names = NameSupply.after(p.function())
    zero = make.integer(0, GENERATED)
    fill = make.over_elements(
        (expr(n), expr(m)),
        lambda at: (store(a, at, add(load(a, zero, zero), 1.0)),),
        names,
        LoopMode.PARALLEL,
    )
    found = np.zeros((2, 3))
    run_printed(p.function(fill), 2, 3, found)
    np.testing.assert_array_equal(found, [[1.0, 2.0, 2.0], [2.0, 2.0, 2.0]])
    assert fill.mode is LoopMode.PARALLEL


def test_the_breaks_of_a_loop_inside_stay() -> None:
    inner = for_(j, 0, n, [break_()])
    stop = if_(compare(">", i, 3), [break_()])
    found = make.with_breaks((inner, stop), (assign(m, 1),))
    assert found[0] == inner
    assert not any(isinstance(stmt, Break) for stmt in found[1].then)


def test_expressions_of_blocks_inside_are_not_rewritten() -> None:
    stmt = if_(compare(">", n, 1), [assign(m, 1)])
    found = make.rewrite_own(stmt, lambda node: expr(2) if isinstance(node, Const) else node)
    assert print_expr(found.cond) == "n > 2"
    assert found.then == stmt.then
