"""Lanes in loops whose iterations depend on each other: up to a distance, or in step."""

from __future__ import annotations

import numpy as np
import pytest

from appyc.errors import DependenceError
from appyc.ir.nodes import For, Function, LoopMode, Stmt
from appyc.ir.verify import verify
from appyc.ir.visit import loops_of, map_loops
from appyc.passes.checks.check_parallel import check_parallel
from appyc.passes.gpu.unsupported_on_gpu import drop_limited_lanes
from appyc.passes.parallelise.recognise_reductions import recognise_reductions
from appyc.passes.pass_context import PassContext
from appyc.passes.vectorise.find_lanes import find_lanes
from tests.e2e.harness import run_everywhere
from tests.ir_makers import Program, add, assign, compare, expr, for_, if_, load, mul, pragma, store, sub
from tests.printed import run_printed

N = 40

p = Program()
n, k = p.integer("n"), p.integer("k")
a, b, c = (p.array(name, 1) for name in "abc")
i, s, t = p.index("i"), p.local("s"), p.local("t")


def at(array, offset=0):
    return load(array, add(i, offset) if offset else expr(i), checked=False)


def put(array, value, offset=0) -> Stmt:
    return store(array, [add(i, offset) if offset else i], value, checked=False)


def lanes(*body: Stmt, results=(), lo=20, asked=False) -> For:
    """The loop over these statements after the pass, which has changed nothing that can be seen."""
    clauses = pragma("simd") if asked else None
    loop = for_(i, lo, sub(n, 2), list(body), clauses=clauses)
    fn = p.function(assign(s, 0.0), assign(t, 0.0), loop, results=results)
    ctx = PassContext()
    before = check_parallel(recognise_reductions(fn, ctx), ctx)
    after = find_lanes(before, ctx)
    assert verify(after) == []
    assert outcome(after) == outcome(before)
    return loops_of(after.body)[0]


def outcome(fn: Function) -> tuple[object, list[list[float]]]:
    arrays = [np.random.default_rng(number).integers(1, 9, N).astype(float) for number in range(3)]
    result = run_printed(fn, N, 3, *arrays)
    return result, [x.tolist() for x in arrays]


@pytest.mark.parametrize("distance", [4, 7, 16])
def test_up_to_the_distance(distance):
    loop = lanes(put(a, add(at(a, -distance), at(b))))
    assert (loop.mode, loop.safelen, loop.in_step) == (LoopMode.SIMD, distance, False)


def test_the_nearest_of_two_counts():
    assert lanes(put(a, add(at(a, -9), at(a, -5)))).safelen == 5


@pytest.mark.parametrize("distance", [1, 3])
def test_too_near(distance):
    assert lanes(put(a, add(at(a, -distance), at(b)))).mode is LoopMode.SEQUENTIAL


@pytest.mark.parametrize("distance", [2, 3, 9])
def test_a_pragma_has_lanes_up_to_any_distance(distance):
    loop = lanes(put(a, add(at(a, -distance), at(b))), asked=True)
    assert (loop.mode, loop.safelen) == (LoopMode.SIMD, distance)


def test_a_pragma_has_lanes_in_step():
    assert lanes(put(a, add(at(a, 1), at(b))), asked=True).in_step
    assert lanes(put(a, at(b, 1)), put(b, at(a, -1)), asked=True).in_step


def test_a_pragma_that_can_have_no_lanes_is_refused():
    with pytest.raises(DependenceError, match="carries a dependence"):
        lanes(put(a, mul(at(a, -1), at(a, -1))), asked=True)
    with pytest.raises(DependenceError, match="carries a dependence"):
        lanes(put(b, expr(s)), assign(s, mul(mul(s, s), at(a))), asked=True)


def test_reads_what_is_overwritten_next():
    loop = lanes(put(a, add(at(a, 1), at(b))))
    assert (loop.mode, loop.safelen, loop.in_step) == (LoopMode.SIMD, None, True)
    assert len(loop.body) == 1


def test_a_value_that_flows_to_a_later_statement():
    assert lanes(put(a, at(b, 1)), put(b, at(a, -1))).in_step


def test_a_read_moves_to_the_top():
    loop = lanes(put(a, mul(at(b), at(c))), put(b, mul(at(a), at(a, 1))))
    assert loop.in_step
    assert [symbol.name for symbol in loop.private] == ["a_early"]
    assert len(loop.body) == 3


def test_threads_that_share_the_loop_around_have_reads_of_their_own():
    def columns(b, c):
        for i in range(c.shape[1] - 1):
            for j in range(c.shape[0]):
                c[j, i] = 1.25
                b[j, i] = 0.5 * c[j, i + 1]

    run_everywhere(columns, np.zeros((9, 40)), np.random.default_rng(0).random((9, 40)), strict=True)


def test_a_read_of_what_was_just_written_does_not_move():
    body = [put(a, at(c), 1), put(a, at(b)), put(b, at(a, 1))]
    assert lanes(*body).mode is LoopMode.SEQUENTIAL


def test_a_read_under_a_condition_does_not_move():
    body = [put(a, at(c)), if_(compare(">", at(c), 3.0), [put(b, at(a, 1))])]
    assert lanes(*body).mode is LoopMode.SEQUENTIAL


def test_a_sum_beside_it():
    loop = lanes(put(a, add(at(a, 1), at(b))), assign(s, add(s, at(b))), results=[s])
    assert loop.in_step
    assert [r.symbol for r in loop.reductions] == [s]


def test_a_scalar_that_is_carried():
    assert lanes(assign(s, add(mul(s, 0.5), at(b))), put(a, expr(s))).mode is LoopMode.SEQUENTIAL


def test_an_element_that_all_write():
    assert lanes(store(a, [0], at(b), checked=False)).mode is LoopMode.SEQUENTIAL


def test_an_element_that_all_combine_into():
    one = store(a, [0], add(load(a, 0, checked=False), at(b)), checked=False)
    assert lanes(one).mode is LoopMode.SEQUENTIAL


def test_through_an_index_array():
    where = load(b, expr(i), checked=False)
    loop = lanes(put(a, add(load(a, k, checked=False), where)))
    assert loop.mode is LoopMode.SEQUENTIAL


def test_what_may_raise():
    assert lanes(store(a, [i], add(load(a, add(i, 1)), at(b)))).mode is LoopMode.SEQUENTIAL


def test_a_gpu_keeps_the_order():
    loop = lanes(put(a, add(at(a, -16), at(b))))
    fn = p.function(loop)
    after = drop_limited_lanes(fn, PassContext())
    kept = loops_of(after.body)[0]
    assert (kept.mode, kept.safelen, kept.in_step) == (LoopMode.SEQUENTIAL, None, False)
    assert map_loops(after, lambda x: x) == after
