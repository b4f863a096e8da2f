"""Nests that hand values on in both directions run as a wave, and do to the last bit what they did."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from appyc.analysis.dependences.legality import Legality
from appyc.analysis.dependences.verdicts import Verdict
from appyc.analysis.dependences.wavefront import skew_factor
from appyc.ir.nodes import For, Function, Stmt
from appyc.ir.types import DType
from appyc.ir.verify import verify
from appyc.ir.visit import loops_of
from appyc.options import Options
from appyc.passes.checks.check_parallel import check_parallel
from appyc.passes.parallelise.recognise_reductions import recognise_reductions
from appyc.passes.parallelise.skew_loops import skew_loops
from appyc.passes.pass_context import PassContext
from appyc.passes.vectorise.jam_waves import jam_waves
from tests.ir_makers import (
    Program,
    add,
    assign,
    binary,
    compare,
    expr,
    for_,
    if_,
    load,
    mul,
    parallel,
    store,
    sub,
)
from tests.printed import run_printed

STRIPS = ["strip", "front", "i", "front", "front", "i", "front", "i"]
"""The loops of an interleaved nest: fronts at the start, whole ones, those of fewer rows, and fronts at the end."""

SIZES = ((0, 0), (1, 1), (2, 3), (3, 2), (4, 20), (20, 4), (9, 9), (10, 10), (19, 23))

p = Program()
n, m = p.integer("n"), p.integer("m")
a, b = p.array("a", 2), p.array("b", 2)
whole = p.array("whole", 2, DType.INT64)
i, j, l = p.index("i"), p.index("j"), p.index("l")
s, t = p.local("s"), p.local("t")


def at(array, *index):
    return load(array, *index, checked=False)


def put(array, index, value) -> Stmt:
    return store(array, index, value, checked=False)


ABOVE, LEFT, ABOVE_RIGHT = at(a, sub(i, 1), j), at(a, i, sub(j, 1)), at(a, sub(i, 1), add(j, 1))
SMOOTH = put(a, [i, j], mul(add(ABOVE, LEFT), 0.5))
CORNERS = put(a, [i, j], mul(add(add(ABOVE_RIGHT, LEFT), at(a, add(i, 1), j)), 0.5))


def nest(*body: Stmt, first=1, rows=None, columns=None) -> For:
    inner = for_(j, first, sub(m, 1) if columns is None else columns, list(body))
    return for_(i, 1, sub(n, 1) if rows is None else rows, [inner])


def outcome(fn: Function, rows: int, columns: int):
    rng = np.random.default_rng(rows)
    shape = (rows + 2, columns + 2)
    arrays = [rng.uniform(-1, 1, shape), rng.uniform(-1, 1, shape), rng.integers(1, 9, shape)]
    result = run_printed(fn, rows, columns, *arrays)
    return result, [array.tolist() for array in arrays]


def skewed(*body: Stmt, results=(), **options: object) -> tuple[Function, PassContext]:
    """The function after the pass, which does what it did for any size, and what the pass said."""
    ctx = PassContext(Options(**options))  # type: ignore[arg-type]
    before = recognise_reductions(p.function(*body, results=results), PassContext())
    after = jam_waves(skew_loops(before, ctx), ctx)
    assert verify(after) == []
    for rows, columns in SIZES:
        assert outcome(before, rows, columns) == outcome(after, rows, columns), (rows, columns)
    return after, ctx


def order(fn: Function) -> list[str]:
    return [loop.var.name for loop in loops_of(fn)]


def free(fn: Function) -> list[bool]:
    """For each loop whether it may run in any order, as the analysis finds it anew."""
    ctx = PassContext()
    check_parallel(fn, ctx)
    return [ctx.verdicts[loop.var].verdict is Verdict.INDEPENDENT for loop in loops_of(fn)]


@pytest.mark.parametrize("target", ["cpu", "interpret"])
@pytest.mark.parametrize(("stmt", "factor"), [(SMOOTH, 1), (CORNERS, 2)])
def test_the_rows_of_a_front_are_free(stmt: Stmt, factor: int, target: str):
    fn, ctx = skewed(nest(stmt), target=target)
    assert order(fn) == (STRIPS if target == "cpu" else ["front", "i"])
    assert all(is_free for is_free, name in zip(free(fn), order(fn), strict=True) if name == "i")
    (remark,) = ctx.remarks
    assert f"each row {factor} column" in remark.text


def test_the_factor_is_the_least_that_will_do():
    loop = nest(put(a, [i, j], add(at(a, sub(i, 1), add(j, 2)), LEFT)), columns=sub(m, 2))
    legality = Legality.of(p.function(loop))
    (inner,) = loop.body
    assert isinstance(inner, For)
    assert skew_factor(legality, loop, inner) == 3


def test_a_dependence_on_the_whole_row_above_has_no_factor():
    stays(nest(put(a, [i, j], add(at(a, sub(i, 1), sub(m, j)), LEFT))))


def test_scalars_of_an_iteration_and_conditions_go_along():
    body = [assign(t, add(ABOVE, LEFT)), if_(compare(">", t, 0.0), [put(a, [i, j], mul(expr(t), 0.5))])]
    fn, _ = skewed(nest(*body))
    assert order(fn) == STRIPS
    assert free(fn)[-1]


def test_a_nest_in_a_time_loop_is_skewed_in_it():
    fn, _ = skewed(for_(l, 0, 2, [nest(SMOOTH)]))
    assert order(fn) == ["l", *STRIPS]


@pytest.mark.parametrize(("stmt", "factor"), [(SMOOTH, 2), (CORNERS, 3)])
def test_all_steps_of_a_time_loop_share_the_fronts_of_a_gpu(stmt: Stmt, factor: int):
    fn, ctx = skewed(for_(l, 0, 4, [nest(stmt)]), target="interpret")
    assert order(fn) == ["front", "l", "i"]
    assert free(fn) == [False, True, True]
    assert f"each row {factor} column" in ctx.remarks[-1].text


def test_a_time_loop_with_more_in_it_stays():
    fn, _ = skewed(for_(l, 0, 4, [nest(SMOOTH), put(a, [0, 0], 1.0)]), target="interpret")
    assert order(fn) == ["l", "front", "i"]


def test_bounds_may_be_any_expression_of_what_stays():
    fn, _ = skewed(
        nest(SMOOTH, first=binary("max", 1, sub(n, 5)), columns=binary("min", m, add(n, 1)), rows=n)
    )
    assert order(fn) == STRIPS


# ---------------------------------------------------------------- what stays


def stays(*body: Stmt, results=(), **options: object) -> None:
    before = order(p.function(*body))
    fn, ctx = skewed(*body, results=results, **options)
    assert order(fn) == before
    assert not ctx.changes


def test_a_nest_with_a_free_loop_needs_no_wave():
    stays(nest(put(a, [i, j], mul(ABOVE, 0.5))))
    stays(nest(put(a, [i, j], mul(LEFT, 0.5))))
    stays(nest(put(b, [i, j], add(ABOVE, LEFT))))


def test_a_chain_with_room_for_lanes_needs_no_wave():
    stays(nest(put(a, [i, j], add(ABOVE, at(a, i, sub(j, 8)))), first=8))
    stays(nest(put(a, [i, j], add(ABOVE, at(a, i, add(j, 1))))))


def test_integers_are_handed_on_fast_enough_by_a_cpu():
    value = add(at(whole, sub(i, 1), j), at(whole, i, sub(j, 1)))
    loop = nest(put(whole, [i, j], binary("%", value, 97)))
    stays(loop)
    fn, _ = skewed(loop, target="interpret")
    assert order(fn) == ["front", "i"]
    assert free(fn)[-1]


def test_a_pragma_keeps_the_loops():
    stays(for_(i, 1, sub(n, 1), [parallel(j, 1, sub(m, 1), [put(a, [i, j], mul(ABOVE, 0.5))])]))


def test_a_scalar_that_is_handed_on_or_returned_keeps_the_loops():
    stays(assign(s, 0.0), nest(SMOOTH, assign(s, add(s, ABOVE))), results=[expr(s)])
    stays(assign(t, 0.0), nest(assign(t, ABOVE), SMOOTH), results=[expr(t)])


def test_what_may_raise_keeps_its_order():
    stays(nest(store(a, [i, j], mul(add(ABOVE, LEFT), 0.5))))


def test_a_triangle_keeps_its_order():
    stays(for_(i, 1, sub(n, 1), [for_(j, 1, binary("min", i, sub(m, 1)), [SMOOTH])]))


def test_lanes_of_a_loop_around_are_enough_for_a_gpu():
    q = Program()
    size, cube = q.integer("size"), q.array("cube", 3)
    u, v, w = q.index("u"), q.index("v"), q.index("w")
    up, left = (load(cube, u, *index, checked=False) for index in ((sub(v, 1), w), (v, sub(w, 1))))
    body: list[Stmt] = [store(cube, [u, v, w], add(up, left), checked=False)]
    fn = q.function(for_(u, 0, size, [for_(v, 1, size, [for_(w, 1, size, body)])]))
    assert order(skew_loops(fn, PassContext(Options(target="interpret")))) == ["u", "v", "w"]
    assert skew_loops(fn, PassContext()).schedule[v].skew == 1


@pytest.mark.parametrize("rows", [True, False])
def test_a_loop_around_that_walks_arrays_as_they_lie_has_lanes(rows: bool):
    q = Program()
    size, plane = q.integer("size"), q.array("plane", 2)
    u, v, w = q.index("u"), q.index("v"), q.index("w")
    here, above = ([v, u], [sub(v, 1), u]) if rows else ([u, v], [u, sub(v, 1)])
    body: list[Stmt] = [store(plane, here, add(at(plane, *above), at(plane, *here)), checked=False)]
    fn = q.function(for_(u, 0, size, [for_(w, 0, size, [for_(v, 1, size, body)])]))
    assert (skew_loops(fn, PassContext()).schedule[w].skew is None) is rows


def test_nothing_happens_without_automatic_analysis():
    stays(nest(SMOOTH), auto=False)


# ---------------------------------------------------------------- any stencil

OFFSETS = st.tuples(st.integers(-2, 2), st.integers(-3, 3))


@pytest.fixture(scope="module")
def waves():
    """How many stencils were skewed."""
    count: Counter[str] = Counter()
    yield count
    assert count["cpu"] > 10, count
    assert count["interpret"] > 10, count


@settings(max_examples=80, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.lists(OFFSETS, min_size=1, max_size=3), st.integers(0, 2), st.sampled_from(["cpu", "interpret"]))
def test_any_stencil_in_place_keeps_its_results(
    waves: Counter[str], offsets: list[tuple[int, int]], first: int, target: str
):
    total = mul(at(a, i, sub(j, 1)), 0.5)
    for down, right in offsets:
        total = add(total, mul(at(a, add(i, down), add(j, right)), 0.25))
    rows, columns = sub(n, 1), binary("-", m, 2)
    nest = for_(i, 2, rows, [for_(j, add(3, first), columns, [put(a, [i, j], total)])])
    fn, _ = skewed(nest, target=target)
    waves[target] += "front" in order(fn)
    if "front" in order(fn):
        assert free(fn)[-1]


@settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.lists(OFFSETS, min_size=1, max_size=3), st.integers(0, 3))
def test_all_steps_of_any_stencil_in_place_keep_its_results(offsets: list[tuple[int, int]], steps: int):
    total = mul(at(a, i, sub(j, 1)), 0.5)
    for down, right in offsets:
        total = add(total, mul(at(a, add(i, down), add(j, right)), 0.25))
    loop = for_(i, 2, sub(n, 1), [for_(j, 3, binary("-", m, 2), [put(a, [i, j], total)])])
    fn, _ = skewed(for_(l, 0, steps, [loop]), target="interpret")
    if order(fn)[0] == "front":
        assert free(fn)[1:] == [True, True]
