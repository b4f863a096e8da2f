"""What a loop is said to cost: operations in lanes and one by one, lines come to, memory touched once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from appyc.analysis.algebra.amounts import value_of
from appyc.analysis.cost.costs import CALL, CALL_IN_LANES, CHAIN, LOOP_START, UNKNOWN_TRIPS, cost_of
from appyc.ir.nodes import For, Intrinsic, LoopMode
from appyc.ir.printer import print_expr
from appyc.ir.schedule import LoopCost
from appyc.ir.types import DType
from tests.ir_makers import (
    Program,
    add,
    assign,
    binary,
    expr,
    for_,
    here,
    if_,
    load,
    mul,
    store,
    sub,
    update,
    while_,
)


def lanes(loop: For, **fields) -> For:
    return replace(loop, mode=LoopMode.SIMD, **fields)


def numbers(cost: LoopCost) -> tuple[float | None, ...]:
    return tuple(
        value_of(getattr(cost, name)) for name in ("vector", "scalar", "gathers", "bytes", "bytes_each")
    )


def u(array, *index):
    """An element that bounds checks have been done for."""
    return load(array, *index, checked=False)


def put(array, index, value):
    return store(array, index, value, checked=False)


@pytest.fixture
def p():
    return Program()


def test_stream_in_lanes_is_vector_operations_and_bytes_of_each_iteration(p):
    a, b, i = p.array("a", 1), p.array("b", 1), p.index("i")
    loop = lanes(for_(i, 0, 100, [put(b, [i], mul(u(a, i), 2.0))]))
    vector, scalar, gathers, once, each = numbers(cost_of(loop))
    assert (vector, scalar, gathers) == (3.25, 0, 0)
    assert (once, each) == (0, 8 + 16)  # read, and written


def test_same_loop_one_by_one_is_scalar_operations(p):
    a, b, i = p.array("a", 1), p.array("b", 1), p.index("i")
    loop = for_(i, 0, 100, [put(b, [i], mul(u(a, i), 2.0))])
    assert numbers(cost_of(loop))[:2] == (0, 4)


def test_smaller_elements_are_less_of_a_vector(p):
    a, b, i = p.array("a", 1, DType.FLOAT32), p.array("b", 1, DType.FLOAT32), p.index("i")
    loop = lanes(for_(i, 0, 100, [put(b, [i], u(a, i))]))
    assert numbers(cost_of(loop)) == (1.25, 0, 0, 0, 4 + 8)


def test_column_of_a_matrix_comes_to_a_line_each_time(p):
    a, b, i = p.array("a", 2), p.array("b", 1), p.index("i")
    loop = lanes(for_(i, 0, 100, [put(b, [i], u(a, i, 3))]))
    assert value_of(cost_of(loop).gathers) == 0.25  # it can be foretold
    assert value_of(cost_of(loop).bytes_each) == 64 + 16


def test_steps_over_elements_count_those_between(p):
    a, b, i = p.array("a", 1), p.array("b", 1), p.index("i")
    loop = lanes(for_(i, 0, 100, [put(b, [i], u(a, mul(i, 2)))]))
    assert numbers(cost_of(loop))[2:] == (0, 0, 2 * 8 + 16)
    steps = lanes(for_(i, 0, 100, [put(b, [i], u(a, i))], step=5))
    assert numbers(cost_of(steps))[2:] == (0.5, 0, 5 * 8 + 5 * 16)
    far = lanes(for_(i, 0, 100, [put(b, [i], u(a, mul(i, 100)))]))
    assert numbers(cost_of(far))[2:] == (0.25, 0, 64 + 16)


def test_diagonal_grows_by_one_line(p):
    a, i = p.array("a", 2), p.index("i")
    loop = lanes(for_(i, 0, 100, [put(a, [i, i], 0.0)]))
    assert numbers(cost_of(loop))[3:] == (0, 2 * 64)


def test_what_does_not_change_in_a_loop_is_not_computed_in_it(p):
    a, b, x, i = p.array("a", 1), p.array("b", 1), p.real("x"), p.index("i")
    plain = lanes(for_(i, 0, 100, [put(b, [i], mul(u(a, i), expr(x)))]))
    held = lanes(for_(i, 0, 100, [put(b, [i], mul(u(a, i), binary("/", expr(x), 3.0)))]))
    assert numbers(cost_of(held)) == numbers(cost_of(plain))


def test_gather_through_an_index_array_and_through_a_scalar_that_holds_the_index(p):
    a, k, b, i = p.array("a", 1), p.array("k", 1, DType.INT64), p.array("b", 1), p.index("i")
    at = p.local("at", DType.INT64)
    direct = lanes(for_(i, 0, 100, [put(b, [i], u(a, u(k, i)))]))
    assert value_of(cost_of(direct).gathers) == 1
    by_scalar = lanes(for_(i, 0, 100, [assign(at, u(k, i)), put(b, [i], u(a, at))]), private=(at,))
    assert value_of(cost_of(by_scalar).gathers) == 1


def test_gather_from_a_large_array_touches_a_line_for_each_access(p):
    n, a, k, b, i = (
        p.integer("n"),
        p.array("a", 1),
        p.array("k", 1, DType.INT64),
        p.array("b", 1),
        p.index("i"),
    )
    cost = cost_of(lanes(for_(i, 0, n, [put(b, [i], u(a, u(k, i)))])))
    assert print_expr(cost.bytes) == "min(np.float64(a.shape[0]) * 8.0, 64.0 * max(0.0, np.float64(n)))"


def test_index_held_in_a_scalar_is_looked_into(p):
    a, b, i, at = p.array("a", 1), p.array("b", 1), p.index("i"), p.local("at", DType.INT64)
    loop = lanes(for_(i, 0, 100, [assign(at, add(i, 1)), put(b, [i], u(a, at))]), private=(at,))
    assert value_of(cost_of(loop).gathers) == 0


def test_element_read_twice_is_loaded_once(p):
    a, b, i = p.array("a", 1), p.array("b", 1), p.index("i")
    once = lanes(for_(i, 0, 100, [put(b, [i], u(a, i))]))
    twice = lanes(for_(i, 0, 100, [put(b, [i], add(u(a, i), u(a, i)))]))
    assert value_of(cost_of(twice).vector) == value_of(cost_of(once).vector) + 1


def test_row_that_all_iterations_share_is_touched_once(p):
    a, b, i, j = p.array("a", 1), p.array("b", 2), p.index("i"), p.index("j")
    inner = lanes(for_(j, 0, 50, [put(b, [i, j], u(a, j))]))
    cost = cost_of(for_(i, 0, 100, [inner]))
    assert value_of(cost.bytes) == 50 * 8
    assert value_of(cost.bytes_each) == 50 * 16


def test_triangle_counts_by_half(p):
    b, i, j = p.array("b", 2), p.index("i"), p.index("j")
    full = for_(i, 0, 100, [lanes(for_(j, 0, 100, [put(b, [i, j], 0.0)]))])
    half = for_(i, 0, 100, [lanes(for_(j, 0, i, [put(b, [i, j], 0.0)]))])
    whole, part = cost_of(full), cost_of(half)
    assert value_of(whole.vector) == pytest.approx(125)
    # The bound is `(0 + 100) // 2`, an expression that nobody folds.
    assert value_of(part.vector) is None


def blocks_of_rows(p, array, first, last):
    """Blocks of 32 rows of 50 elements, a hundred times."""
    block, i, j, s = p.index("block"), p.index("i"), p.index("j"), p.local("s")
    rows = for_(i, first(block), last(block), [lanes(for_(j, 0, 50, [update(s, (), "+", u(array, i, j))]))])
    return for_(block, 0, 100, [rows])


def test_each_block_of_rows_comes_to_rows_of_its_own(p):
    a = p.array("a", 2)
    whole = blocks_of_rows(p, a, lambda b: mul(b, 32), lambda b: binary("min", add(mul(b, 32), 32), 3200))
    assert value_of(cost_of(whole).bytes) == 0
    assert value_of(cost_of(whole).bytes_each) == 32 * 50 * 8
    halo = blocks_of_rows(p, a, lambda b: binary("max", sub(mul(b, 32), 1), 1), lambda b: add(mul(b, 32), 33))
    assert value_of(cost_of(halo).bytes_each) == 32 * 50 * 8, "its neighbours' rows are in the cache"


def test_rows_that_all_blocks_come_to_are_touched_once(p):
    a = p.array("a", 2)
    same = blocks_of_rows(p, a, lambda b: expr(0), lambda b: expr(32))
    assert value_of(cost_of(same).bytes) == 32 * 50 * 8
    assert value_of(cost_of(same).bytes_each) == 0


def test_row_of_which_each_iteration_comes_to_one_place_more(p):
    """`for i: for j in range(i): s += x[j]` comes to as many places as there are iterations."""
    x, i, j, s = p.array("x", 1), p.index("i"), p.index("j"), p.local("s")
    loop = for_(i, 0, 100, [lanes(for_(j, 0, i, [update(s, (), "+", u(x, j))]))])
    assert value_of(cost_of(loop).bytes_each) == 8
    assert value_of(cost_of(loop).bytes) == 0


def test_lanes_may_be_of_a_loop_around_the_innermost(p):
    a, b, c, s = p.array("a", 2), p.array("b", 2), p.array("c", 2), p.local("s")
    i, j, k = p.index("i"), p.index("j"), p.index("k")
    product = lanes(for_(k, 0, 10, [update(s, [], "+", mul(u(a, i, k), u(b, k, j)))]))
    columns = lanes(for_(j, 0, 10, [assign(s, 0.0), product, put(c, [i, j], expr(s))]), private=(s,))
    assert value_of(cost_of(for_(i, 0, 10, [columns])).gathers) == 0
    alone = for_(j, 0, 10, [assign(s, 0.0), product, put(c, [i, j], expr(s))])
    assert value_of(cost_of(for_(i, 0, 10, [alone])).gathers) == 100 * 0.25


def test_chain_of_sums_and_calls_are_dear(p):
    a, b, s = p.array("a", 1), p.array("b", 1), p.local("s")
    i, j = p.index("i"), p.index("j")
    chain = for_(i, 0, 100, [update(s, [], "+", u(a, i))])
    nest = for_(j, 0, 10, [chain])
    assert value_of(cost_of(nest).scalar) == pytest.approx(1 + LOOP_START + 100 * (1 + 1 + 2 * CHAIN))
    call = Intrinsic("cbrt", (u(a, i),), DType.FLOAT64, loc=here())
    loop = lanes(for_(i, 0, 100, [put(b, [i], call)]))
    assert value_of(cost_of(loop).scalar) == CALL


def test_a_call_with_vectors_counts_in_lanes(p):
    a, b, i = p.array("a", 1), p.array("b", 1), p.index("i")
    call = Intrinsic("exp", (u(a, i),), DType.FLOAT64, loc=here())
    body = [put(b, [i], call)]
    in_lanes, one_by_one = cost_of(lanes(for_(i, 0, 100, body))), cost_of(for_(i, 0, 100, body))
    assert value_of(in_lanes.scalar) == 0
    assert value_of(in_lanes.vector) > CALL_IN_LANES
    assert value_of(one_by_one.scalar) > CALL


def test_trips_that_the_data_decide_are_guessed(p):
    a, n, i, j = p.array("a", 1, DType.INT64), p.array("n", 1, DType.INT64), p.index("i"), p.index("j")
    loop = for_(i, 0, 100, [for_(j, 0, u(n, i), [put(a, [j], 0)])])
    fixed = for_(i, 0, 100, [for_(j, 0, UNKNOWN_TRIPS, [put(a, [j], 0)])])
    assert value_of(cost_of(loop).scalar) == value_of(cost_of(fixed).scalar)
    again = for_(i, 0, 100, [while_(binary("<", u(a, i), 3), [put(a, [i], 0)])])
    assert value_of(cost_of(again).scalar) > UNKNOWN_TRIPS


def test_bound_that_the_loop_changes_is_no_part_of_the_cost(p):
    a, n, i, j = p.array("a", 1), p.local("n", DType.INT64), p.index("i"), p.index("j")
    inner = for_(j, 0, n, [put(a, [j], 0.0)])
    loop = for_(i, 0, 100, [assign(n, add(i, 3)), inner])
    assert all(number is not None for number in numbers(cost_of(loop))[:3])


def test_both_branches_count_and_an_empty_body_is_next_to_nothing(p):
    a, c, i = p.array("a", 1), p.local("c", DType.BOOL), p.index("i")
    loop = lanes(for_(i, 0, 100, [if_(expr(c), [put(a, [i], 0.0)], [put(a, [i], 1.0)])]))
    assert value_of(cost_of(loop).vector) == 0.25 * 3 + 2
    assert numbers(cost_of(for_(i, 0, 0, []))) == (0, 1, 0, 0, 0)
