"""Scans in chunks: what stands in a loop's place, that it does the same, and when it is left alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from appyc.errors import DependenceError, PragmaError
from appyc.ir.nodes import (
    Alloc,
    Clauses,
    For,
    Function,
    If,
    LoopMode,
    Reduction,
)
from appyc.ir.schedule import Scan
from appyc.ir.types import DType
from appyc.ir.verify import verify
from appyc.ir.visit import loops_of, walk
from appyc.options import Options
from appyc.passes.checks.check_parallel import check_parallel
from appyc.passes.parallelise.choose_threads import choose_threads
from appyc.passes.parallelise.parallel_scan import parallel_scan
from appyc.passes.pass_context import PassContext
from tests.e2e.harness import small_chunks
from tests.ir_makers import Program, add, assign, compare, expr, for_, here, if_, load, mul, store, update
from tests.printed import run_printed

p = Program()
n, first = p.integer("n"), p.integer("first")
a, b, c = (p.array(name, 1) for name in "abc")
i, j, outer = p.index("i"), p.index("j"), p.index("outer")
s, t = p.local("s"), p.local("t")
k = p.local("k", DType.INT64)


@pytest.fixture(autouse=True)
def in_small_chunks() -> Iterator[None]:
    with small_chunks():
        yield


def at(array, index=i):
    return load(array, index, checked=False)


def put(array, value, index=i):
    return store(array, [index], value, checked=False)


total = (update(s, [], "+", at(a)), put(b, s))
linear = (assign(s, add(mul(at(a), s), at(b))), put(c, s))
packing = (if_(compare(">", at(a), 3.0), [store(c, [k], at(a)), update(k, [], "+", 1)]),)


def asked(request: str = "parallel", **clauses) -> Clauses:
    return Clauses(request, loc=here(), **clauses)


def after(fn: Function, ctx: PassContext | None = None) -> Function:
    ctx = ctx or PassContext()
    fn = choose_threads(check_parallel(fn, ctx), ctx)
    new = parallel_scan(fn, ctx)
    assert verify(new) == []
    for size in (0, 1, 2, 3, 4, 7, 16, 40):
        assert outcome(new, size) == outcome(fn, size)
    return new


def outcome(fn: Function, size: int) -> tuple[object, list[list[float]]]:
    arrays = [np.random.default_rng(number).integers(-9, 9, 41).astype(float) for number in range(3)]
    arrays[0] = np.clip(arrays[0], -1, 1) if any(n is linear[0] for n in walk(fn.body)) else arrays[0]
    result = run_printed(fn, size, 2, *arrays)
    return result, [x.tolist() for x in arrays]


def function(*body, lo=0, step=1, clauses=None, results=(s, k)) -> Function:
    loop = for_(i, lo, n, list(body), step, clauses=clauses)
    return p.function(assign(s, 1.0), assign(t, 0.0), assign(k, 0), loop, results=results)


def is_chunked(fn: Function) -> bool:
    return any(isinstance(node, Alloc) for node in walk(fn.body))


@pytest.mark.parametrize("body", [total, linear, packing, (*total, *packing)], ids=len)
@pytest.mark.parametrize("clauses", [None, asked()], ids=["found", "asked for"])
def test_in_chunks(body, clauses):
    fn = after(function(*body, clauses=clauses))
    assert is_chunked(fn)
    parallel = [loop for loop in loops_of(fn.body) if loop.mode is LoopMode.PARALLEL]
    assert len(parallel) == 2


def test_another_start_and_another_step():
    assert is_chunked(after(function(*total, lo=expr(first), step=3)))
    loop = for_(i, expr(n), expr(first), list(total), -2)
    assert is_chunked(after(p.function(assign(s, 0.0), loop, results=(s,))))


def test_the_first_pass_of_a_sum_runs_in_lanes():
    fn = after(function(*total))
    (lanes,) = [loop for loop in loops_of(fn.body) if loop.mode is LoopMode.SIMD]
    assert [r.op for r in lanes.reductions] == ["+"]
    assert len(lanes.body) == 1


def test_a_private_scalar_keeps_its_last_value():
    body = (assign(t, mul(at(a), 2.0)), update(s, [], "+", expr(t)), put(b, s))
    fn = after(function(*body, results=(s, t)))
    assert is_chunked(fn)


def test_a_reduction_of_what_the_scan_holds():
    body = (*total, update(t, [], "max", expr(s)))
    loop = for_(i, 0, n, list(body))
    fn = after(p.function(assign(s, 0.0), assign(t, 0.0), loop, results=(s, t)))
    second = [loop for loop in loops_of(fn.body) if loop.mode is LoopMode.PARALLEL][1]
    assert second.reductions == (Reduction("max", t),)


def test_a_sum_over_a_nest():
    inner = for_(j, 0, n, [update(s, [], "+", at(a, j)), put(b, s, j)])
    fn = after(p.function(assign(s, 0.0), inner, results=(s,)))
    assert is_chunked(fn)


def test_the_loop_stays_for_a_short_run():
    fn = after(function(*total))
    (choice,) = [stmt for stmt in fn.body if isinstance(stmt, If)]
    (loop,) = choice.orelse
    assert isinstance(loop, For)
    assert loop.scans == (Scan("+", s),)
    assert loop.mode is LoopMode.SEQUENTIAL


@pytest.mark.parametrize(("trips", "is_cut"), [(15, False), (16, True)])
def test_a_loop_of_few_iterations_is_left_alone(trips, is_cut, monkeypatch):
    monkeypatch.setattr("appyc.passes.parallelise.parallel_scan.MIN_CHUNK", 1024)
    fn = p.function(assign(s, 1.0), for_(i, 0, trips, [*total]), results=(s,))
    assert is_chunked(after(fn)) == is_cut


def test_linear_steps_are_kept_for_lanes_only_where_they_were_tested():
    fn = after(function(*linear))
    handed = {loop.var: loop.scans for loop in loops_of(fn.body) if loop.scans}
    assert i not in handed
    assert len(handed) == 3


@pytest.mark.parametrize(
    ("clauses", "options"),
    [(asked("sequential"), Options()), (None, Options(auto=False)), (None, Options(exact=True))],
    ids=["told to wait", "not asked", "exact"],
)
def test_left_alone(clauses, options):
    fn = after(function(*total, clauses=clauses), PassContext(options))
    assert not is_chunked(fn)


def test_exact_keeps_what_does_not_round():
    assert is_chunked(after(function(*packing), PassContext(Options(exact=True))))


def test_inside_a_parallel_loop_nothing_is_cut():
    body = [assign(s, 0.0), for_(i, 0, n, [update(s, [], "+", at(a)), put(b, s, outer)])]
    fn = after(p.function(for_(outer, 0, n, body)))
    assert not is_chunked(fn)


def test_around_a_loop_that_the_user_chose_nothing_is_cut():
    inner = for_(j, 0, n, [put(c, 0.0, j)], clauses=asked())
    loop = for_(i, 0, n, [*total, inner])
    fn = p.function(assign(s, 0.0), loop, results=(s,))
    ctx = PassContext()
    assert not is_chunked(parallel_scan(choose_threads(check_parallel(fn, ctx), ctx), ctx))


def test_no_iteration_at_all():
    fn = after(function(*total))
    assert outcome(fn, 0)[0] == (1.0, 0)


def test_it_is_said():
    ctx = PassContext()
    after(function(*linear), ctx)
    assert "a linear recurrence of 's'" in " ".join(remark.text for remark in ctx.remarks)


def test_lanes_are_refused():
    with pytest.raises(DependenceError):
        check_parallel(function(*total, clauses=asked("simd")), PassContext())


def test_the_clauses_have_to_fit():
    check_parallel(function(*total, clauses=asked(reductions=(Reduction("+", s),))), PassContext())
    with pytest.raises(PragmaError, match="does not fit"):
        check_parallel(function(*total, clauses=asked(reductions=(Reduction("*", s),))), PassContext())
    with pytest.raises(PragmaError, match="hand it on"):
        check_parallel(function(*total, clauses=asked(private=(s,))), PassContext())


def test_a_body_with_arithmetic_that_may_trap_stays_whole_unless_it_is_asked_for():
    tested = replace(add(i, 0), trap=True)
    checked = (total[0], store(b, [tested], expr(s), checked=False))
    assert not is_chunked(after(function(*checked)))
    assert is_chunked(after(function(*total)))
