"""A function as a list of loops with costs: how often each runs, how long, how wide."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from appyc.analysis.cost.cost_parts import parts_of
from appyc.analysis.sets.evaluate import evaluate
from appyc.ir.nodes import For, LoopMode
from appyc.ir.types import DType
from tests.ir_makers import Program, add, binary, extent, for_, if_, load, store, sub


def parallel(loop: For) -> For:
    return replace(loop, mode=LoopMode.PARALLEL)


def test_time_loop_repeats_what_is_in_it():
    p = Program()
    a, n, t, i, j = p.array("a", 2), p.integer("n"), p.index("t"), p.index("i"), p.index("j")
    rows = parallel(for_(i, 0, extent(a), [parallel(for_(j, 0, extent(a, 1), [store(a, [i, j], 0.0)]))]))
    (part,) = parts_of(p.function(for_(t, 0, n, [rows])))
    found = [evaluate(e, {n: 7, a: np.empty((30, 50))}) for e in (part.runs, part.trips, part.width)]
    assert found == [7, 30, 1500]
    assert part.is_parallel


def test_loops_that_shrink_with_the_one_around_count_by_half():
    p = Program()
    a, n, k, i = p.array("a", 1), p.integer("n"), p.index("k"), p.index("i")
    fn = p.function(for_(k, 0, n, [parallel(for_(i, add(k, 1), n, [store(a, [i], 0.0)]))]))
    (part,) = parts_of(fn)
    assert [evaluate(e, {n: 100}) for e in (part.runs, part.trips)] == [100, 49]


def test_loop_in_order_and_loops_under_a_condition_are_parts():
    p = Program()
    a, n, i, j = p.array("a", 1), p.integer("n"), p.index("i"), p.index("j")
    chain = for_(i, 1, n, [store(a, [i], load(a, sub(i, 1)))])
    free = parallel(for_(j, 0, n, [store(a, [j], 0.0)]))
    fn = p.function(if_(binary("<", n, 3), [chain], [free]))
    assert [part.is_parallel for part in parts_of(fn)] == [False, True]
    assert evaluate(parts_of(fn)[0].width, {}) == 1


def test_function_without_loops_has_no_parts():
    p = Program()
    assert parts_of(p.function()) == ()


def test_bound_that_data_hold_is_guessed_inside_and_no_secret_outside():
    p = Program()
    k, a, i = p.array("k", 1, DType.INT64), p.array("a", 1), p.index("i")
    (part,) = parts_of(p.function(parallel(for_(i, 0, load(k, 0), [store(a, [i], 0.0)]))))
    assert evaluate(part.trips, {}) == pytest.approx(16)
