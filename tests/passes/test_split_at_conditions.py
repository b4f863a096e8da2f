"""Loops are cut where a choice between elements turns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from appyc import pipeline
from appyc.ir.nodes import Binary, Function, If, Logical, Node, Select
from appyc.ir.printer import print_function
from appyc.ir.visit import contains, loops_of, walk
from appyc.options import Options
from appyc.passes.parallelise.split_at_conditions import split_at_conditions
from appyc.passes.pass_context import PassContext
from tests.e2e.harness import run_everywhere
from tests.lowering import after, lowered
from tests.printed import run_printed

UP_TO = (*pipeline.SIMPLIFY, *pipeline.ANALYSE[: pipeline.ANALYSE.index(split_at_conditions)])


def joined(x, y):
    return np.concatenate([x, y])


def joined_with_itself(x, y):
    return np.concatenate([x, y, x * 2.0])


def rolled(x, y):
    return np.roll(x, 2) + x


def neighbour(x, y):
    out = np.zeros_like(x)
    for i in range(x.shape[0]):
        out[i] = x[i - 1] + 1.0 if i > 0 else x[i]
    return out


def from_the_other_side(x, y):
    out = np.zeros_like(x)
    for i in range(x.shape[0]):
        out[i] = x[i] if i + 1 >= 2 and not i >= x.shape[0] - 1 else y[0] + i
    return out


def triangle(x, y):
    return np.tril(np.outer(x, y))


def chosen_by_values(x, y):
    return np.where(x > 0.5, x, y[0])


def in_steps_of_two(x, y):
    out = np.zeros_like(x)
    for i in range(0, x.shape[0], 2):
        out[i] = x[i] if i < 4 else y[0]
    return out


def bound_that_moves(x, y):
    out = np.zeros_like(x)
    n = 3
    for i in range(x.shape[0]):
        out[i] = x[i] if i < n else y[0]
        n = n * 2 % 7
    return out


def left_early(x, y):
    out = np.zeros_like(x)
    for i in range(x.shape[0]):
        out[i] = out[i - 1] + x[i] if i > 0 else y[i]
        if out[i] > 0.05:
            break
    return out


def kept_within(x, y):
    out = np.zeros_like(x)
    for i in range(x.shape[0]):
        out[i] = x[max(i - 1, 0)] + y[min(x.shape[0] - 1, i + 2)] * x[min(max(0, i - 2), x.shape[0] - 1)]
    return out


def beyond_the_edge(x, y):
    return np.pad(x, 2, mode="edge")


def within_what_moves(x, y):
    out = np.zeros_like(x)
    for i in range(x.shape[0]):
        out[i] = x[min(i, 3 * i % 5 % x.shape[0])]
    return out


def always_the_same(x, y):
    out = np.zeros_like(x)
    for i in range(x.shape[0]):
        out[i] = x[i] if i >= 0 else y[i]
        out[i] += y[i] if i < x.shape[0] + 1 else x[i]
    return out


def filtered(x, y):
    out = np.zeros_like(x)
    for i in range(x.shape[0]):
        for k in range(y.shape[0]):
            if i - k >= 0:
                out[i] += y[k] * x[i - k]
    return out


def near_by(x, y):
    out = np.zeros_like(x)
    for i in range(x.shape[0]):
        c = 0
        for k in range(-2, 3):
            if 0 <= i + k < x.shape[0]:
                out[i] += x[i + k]
                c += 1
            elif k > 0:
                out[i] += y[0]
        out[i] /= c
    return out


def with_edges(x, y):
    out = np.zeros_like(x)
    for i in range(x.shape[0]):
        if i > 0:
            out[i] += x[i - 1]
        if x.shape[0] - 2 >= i:
            out[i] -= x[i + 1]
    return out


def in_time_steps(x, y):
    out = np.zeros_like(x)
    for _ in range(3):
        for i in range(x.shape[0]):
            if i > 0:
                out[i] = 0.5 * (out[i - 1] + x[i])
            x[i] = out[i]
    return out


def of_rows_and_columns(x, y):
    out = np.zeros((x.shape[0], y.shape[0]))
    for i in range(x.shape[0]):
        for j in range(y.shape[0]):
            if i > 0 and j < y.shape[0] - 1:
                out[i, j] = x[i - 1] * y[j + 1]
            else:
                out[i, j] = x[i]
    return out


def least_near(x, y):
    out = np.zeros_like(x)
    for i in range(x.shape[0]):
        least = x[i]
        if i > 0 and x[i - 1] < least:
            least = x[i - 1]
        if i < x.shape[0] - 1 and x[i + 1] < least:
            least = x[i + 1]
        out[i] = y[i] + least
    return out


CONDITIONS = (filtered, with_edges, of_rows_and_columns)
CUT = (joined, joined_with_itself, rolled, neighbour, always_the_same, from_the_other_side, triangle)
LEFT = (chosen_by_values, in_steps_of_two, bound_that_moves, left_early)


def prepared(fn: Callable[..., Any], size: int = 5, **options: Any) -> tuple[Function, PassContext]:
    context = PassContext(Options(**{"target": "cpu", **options}))
    return after(lowered(fn, np.ones(size), np.ones(size)), *UP_TO, context=context), context


def choices(fn: Function) -> int:
    return sum(isinstance(n, Select) for loop in loops_of(fn.body) for n in walk(loop.body))


@pytest.mark.parametrize("fn", CONDITIONS, ids=lambda fn: fn.__name__)
def test_iterations_that_decide_alike_have_no_condition(fn: Callable[..., Any]) -> None:
    before, context = prepared(fn)
    found = after(before, split_at_conditions, context=context)
    assert all(contains(loop.body, If) for loop in loops_of(before.body))
    assert not all(contains(loop.body, If) for loop in loops_of(found.body))


def test_borders_are_not_cut_in_the_other_direction() -> None:
    before, context = prepared(of_rows_and_columns)
    found = after(before, split_at_conditions, context=context)
    assert not any(contains(loop.body, If) for loop in loops_of(found.body))
    assert len(loops_of(found.body)) == 2 + 3  # a row, and the others with two parts


def test_steps_of_time_keep_conditions() -> None:
    before, context = prepared(in_time_steps)
    assert split_at_conditions(before, context) == before


@pytest.mark.parametrize("fn", CUT, ids=lambda fn: fn.__name__)
def test_no_loop_has_a_choice(fn: Callable[..., Any]) -> None:
    before, context = prepared(fn)
    assert choices(before)
    assert not choices(after(before, split_at_conditions, context=context))


@pytest.mark.parametrize("fn", LEFT, ids=lambda fn: fn.__name__)
def test_what_turns_somewhere_else_stays(fn: Callable[..., Any]) -> None:
    before, context = prepared(fn)
    assert choices(before)
    assert split_at_conditions(before, context) is before


@pytest.mark.parametrize("options", [{"target": "interpret"}, {"auto": False}])
def test_lanes_of_a_gpu_have_masks(options: dict[str, Any]) -> None:
    before, context = prepared(joined, **options)
    assert split_at_conditions(before, context) is before


def test_statements_between_bounds_are_under_no_bound() -> None:
    before, context = prepared(least_near)
    parts = loops_of(after(before, split_at_conditions, context=context).body)
    assert [sum(isinstance(n, Logical) for n in walk(part.body)) for part in parts] == [1, 0, 0]


def clamps(node: Node) -> int:
    return sum(isinstance(n, Binary) and n.op in ("min", "max") for n in walk(node))


@pytest.mark.parametrize("fn", [kept_within, beyond_the_edge], ids=lambda fn: fn.__name__)
def test_iterations_between_bounds_have_plain_subscripts(fn: Callable[..., Any]) -> None:
    before, context = prepared(fn)
    assert all(any(map(clamps, loop.body)) for loop in loops_of(before.body))
    parts = loops_of(after(before, split_at_conditions, context=context).body)
    assert not all(any(map(clamps, part.body)) for part in parts)


def largest_near(x, y):
    out = np.zeros_like(x)
    for i in range(x.shape[0]):
        best = x[i]
        for j in range(max(i - 3, 0), min(i + 2, x.shape[0])):
            if x[j] > best and x[j] < 0.9:
                best = x[j]
        out[i] = best
    return out


def test_loops_between_bounds_are_equally_long() -> None:
    before, context = prepared(largest_near)
    cut = after(before, split_at_conditions, context=context)
    inner = [loop for loop in loops_of(cut.body) if loop.var.name.startswith("j")]
    assert [sum(map(clamps, loop.bounds)) for loop in inner] == [1, 0, 0]


def test_bounds_that_move_are_none() -> None:
    before, context = prepared(within_what_moves)
    assert clamps(before)
    assert split_at_conditions(before, context) is before


@pytest.mark.sampled
@pytest.mark.parametrize("size", [0, 1, 2, 3, 7])
@pytest.mark.parametrize(
    "fn",
    [*CUT, *LEFT, *CONDITIONS, near_by, least_near, largest_near, kept_within, beyond_the_edge],
    ids=lambda fn: fn.__name__,
)
def test_results_stay(fn: Callable[..., Any], size: int) -> None:
    if not size and fn is not joined:
        return
    before, context = prepared(fn, max(size, 1))
    out = replace(after(before, split_at_conditions, context=context), guards=())
    x, y = np.linspace(0.1, 1.0, size), np.linspace(2.0, 3.0, size)
    np.testing.assert_array_equal(run_printed(out, x.copy(), y.copy()), fn(x, y))


def knapsack(weights, values, room):
    best = np.zeros((len(weights) + 1, max(room, 0)), np.int64)
    for i in range(1, len(weights) + 1):
        for c in range(room):
            best[i, c] = best[i - 1, c]
            if weights[i - 1] <= c and best[i - 1, c - weights[i - 1]] + values[i - 1] > best[i, c]:
                best[i, c] = best[i - 1, c - weights[i - 1]] + values[i - 1]
    return best


def under_another_condition(weights, values, room):
    best = np.zeros((len(values), max(room, 0)), np.int64)
    for i in range(len(values)):
        for c in range(room):
            if values[i] > c and weights[values[i] - 1] <= c:
                best[i, c] += 2
    return best


def stored_elements(weights, values, room):
    best = np.zeros((len(values), max(room, 0)), np.int64)
    for i in range(len(values)):
        for c in range(room):
            if weights[i] <= c:
                weights[i] += 2
                best[i, c] = values[i]
    return best


def behind_a_continue(weights, values, room):
    total = 0
    for i in range(len(values)):
        for c in range(room):
            if values[i] == 5:
                continue
            if weights[i] <= c:
                total += c
    return total


@pytest.mark.parametrize("fn", [knapsack, behind_a_continue, under_another_condition, stored_elements])
def test_elements_that_conditions_compare_with_are_read_ahead(fn: Callable[..., Any], golden: Any) -> None:
    given = np.array([3, 1, 7]), np.array([3, 2, 1]), 8
    context = PassContext(Options(target="cpu"))
    before = after(lowered(fn, *given), *UP_TO, context=context)
    found = after(before, split_at_conditions, context=context)
    if fn is knapsack:
        assert len(loops_of(found.body)) == len(loops_of(before.body)) + 1
        golden("loops/cut_at_element.txt", f"{print_function(before)}\n# after\n\n{print_function(found)}")
    else:
        assert "weights_ahead" not in print_function(found)
    np.testing.assert_array_equal(
        run_printed(found, *map(np.copy, given[:2]), given[2]), fn(*map(np.copy, given[:2]), given[2])
    )


@pytest.mark.parametrize("fn", [knapsack, behind_a_continue, under_another_condition, stored_elements])
@pytest.mark.parametrize("weights", [(3, 1, 7), (-2, 0, 9), (), (99, -99, 4)])
@pytest.mark.parametrize("room", [0, 1, 8, -1])
def test_results_of_elements_that_are_read_ahead(
    fn: Callable[..., Any], weights: tuple[int, ...], room: int
) -> None:
    values = (5, 4, 9) if room > 0 else (5, 4, 9, 6)
    values = values[: len(weights)] if room > 0 or fn is knapsack else values
    run_everywhere(fn, np.array(weights, np.int64), np.array(values, np.int64), room)


def test_golden(golden: Callable[[str, str], None]) -> None:
    before, context = prepared(joined)
    found = after(before, split_at_conditions, context=context)
    golden("tensors/joined_arrays.txt", f"{print_function(before)}\n# after\n\n{print_function(found)}")
