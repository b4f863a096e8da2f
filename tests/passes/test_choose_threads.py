"""Loops without a pragma run in parallel where dependence analysis allows it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from appyc.analysis.dependences.verdicts import LoopVerdict, Verdict
from appyc.ir.nodes import For, If, LoopMode, Reduction
from appyc.ir.verify import verify
from appyc.ir.visit import loops_of
from appyc.options import Options
from appyc.passes.parallelise.choose_threads import choose_threads
from appyc.passes.pass_context import PassContext
from tests.ir_makers import Program, add, binary, for_, here, load, pragma, store, update
from tests.printed import run_printed


def context(*verdicts: LoopVerdict, auto: bool = True) -> PassContext:
    return PassContext(Options(auto=auto), verdicts={v.var: v for v in verdicts})


def verdict(loop: For, kind: Verdict, **facts) -> LoopVerdict:
    return LoopVerdict(loop.var, here(), kind, "because", **facts)


def nest():
    p = Program()
    a, n, i, j = p.array("a", 2), p.integer("n"), p.index("i"), p.index("j")
    inner = for_(j, 0, n, [store(a, [i, j], 0.0)])
    outer = for_(i, 0, n, [inner])
    return p.function(outer), outer, inner


def modes(fn):
    return [loop.mode for loop in loops_of(fn)]


def test_outermost_independent_loop_becomes_parallel():
    fn, outer, inner = nest()
    both = context(verdict(outer, Verdict.INDEPENDENT), verdict(inner, Verdict.INDEPENDENT))
    assert modes(choose_threads(fn, both)) == [LoopMode.PARALLEL, LoopMode.SEQUENTIAL]
    carried = context(verdict(outer, Verdict.CARRIED), verdict(inner, Verdict.INDEPENDENT))
    assert modes(choose_threads(fn, carried)) == [LoopMode.SEQUENTIAL, LoopMode.PARALLEL]


def test_reduction_takes_its_scalars_along_and_one_into_an_array_stays():
    p = Program()
    a, s, i, n = p.array("a", 1), p.local("s"), p.index("i"), p.integer("n")
    loop = for_(i, 0, n, [update(s, [], "+", load(a, i))])
    fn = p.function(loop)
    into_scalar = verdict(loop, Verdict.REDUCTION, reductions=(Reduction("+", s),))
    (chosen,) = loops_of(choose_threads(fn, context(into_scalar)))
    assert (chosen.mode, chosen.reductions) == (LoopMode.PARALLEL, (Reduction("+", s),))
    into_array = verdict(loop, Verdict.REDUCTION, arrays=(("+", a),))
    assert choose_threads(fn, context(into_array)) == fn


def columns(j_bound=None):
    """out[j] += a[i, j], with the inner loop's bound."""
    p = Program()
    a, out, n, m = p.array("a", 2), p.array("out", 1), p.integer("n"), p.integer("m")
    i, j = p.index("i"), p.index("j")
    inner = for_(j, 0, m if j_bound is None else i, [update(out, [j], "+", load(a, i, j))])
    outer = for_(i, 0, n, [inner])
    into = verdict(outer, Verdict.REDUCTION, arrays=(("+", out),), only_combined=True)
    return p.function(outer), out, into, verdict(inner, Verdict.INDEPENDENT)


def test_a_sum_into_an_array_runs_on_threads_where_no_loop_inside_is_free():
    fn, out, into, _inner = columns()
    (outer, _) = loops_of(choose_threads(fn, context(into)))
    assert (outer.mode, outer.reductions) == (LoopMode.PARALLEL, (Reduction("+", out),))


def test_a_free_loop_inside_is_preferred_where_it_has_work_enough():
    fn, _out, into, inner = columns()
    found = context(into, inner)
    after = choose_threads(fn, found)
    assert verify(after) == []
    (choice,) = after.body
    assert isinstance(choice, If)
    assert modes(choice.then[0]) == [LoopMode.SEQUENTIAL, LoopMode.PARALLEL]
    assert modes(choice.orelse[0]) == [LoopMode.PARALLEL, LoopMode.SEQUENTIAL]
    assert all(loop.var in found.verdicts for loop in loops_of(after))
    for n, m in ((3, 4), (2, 60_000), (0, 5), (5, 0)):
        a = np.random.default_rng(n).random((n, m))
        sums = np.zeros(m)
        run_printed(after, a, sums, n, m)
        np.testing.assert_allclose(sums, a.sum(axis=0))


def test_a_loop_inside_whose_length_is_not_known_is_not_waited_for():
    fn, _out, into, inner = columns(j_bound="i")
    (outer, _) = loops_of(choose_threads(fn, context(into, inner)))
    assert outer.mode is LoopMode.PARALLEL


def test_exact_keeps_the_order_of_sums_into_arrays():
    fn, _out, into, inner = columns()
    found = context(into, inner)
    kept = choose_threads(fn, PassContext(replace(found.options, exact=True), verdicts=found.verdicts))
    assert modes(kept) == [LoopMode.SEQUENTIAL, LoopMode.PARALLEL]


def test_sequential_pragma_no_verdict_and_auto_false_change_nothing():
    fn, outer, _ = nest()
    asked = replace(outer, clauses=pragma("sequential"))
    told = replace(fn, body=(asked,))
    free = (verdict(outer, Verdict.INDEPENDENT),)
    assert choose_threads(told, context(*free)) == told
    assert choose_threads(fn, context()) == fn
    assert choose_threads(fn, context(*free, auto=False)) is fn


def test_a_loop_around_one_that_was_asked_to_be_parallel_stays():
    fn, outer, inner = nest()
    asked = replace(outer, body=(replace(inner, clauses=pragma("parallel"), mode=LoopMode.PARALLEL),))
    both = context(verdict(outer, Verdict.INDEPENDENT), verdict(inner, Verdict.INDEPENDENT))
    told = replace(fn, body=(asked,))
    assert modes(choose_threads(told, both)) == [LoopMode.SEQUENTIAL, LoopMode.PARALLEL]


@pytest.mark.parametrize(
    ("lo", "hi", "few"),
    [
        (lambda n, s: 0, lambda n, s: 16, True),
        (lambda n, s: 0, lambda n, s: 17, False),
        (lambda n, s: s, lambda n, s: add(s, 8), True),
        (
            lambda n, s: binary("max", s, n),
            lambda n, s: binary("min", n, binary("min", add(s, 8), 99)),
            True,
        ),
        (lambda n, s: binary("min", s, n), lambda n, s: add(s, 8), False),
        (lambda n, s: 0, lambda n, s: n, False),
    ],
)
def test_a_few_iterations_are_left_to_lanes(lo, hi, few: bool):
    p = Program()
    n, s, a, i = p.integer("n"), p.integer("s"), p.array("a", 1), p.index("i")
    loop = for_(i, lo(n, s), hi(n, s), [store(a, [i], 0.0, checked=False)])
    (found,) = loops_of(choose_threads(p.function(loop), context(verdict(loop, Verdict.INDEPENDENT))))
    assert (found.mode is LoopMode.SEQUENTIAL) == few


def test_a_loop_that_is_left_to_the_compiler_by_a_pragma_is_one_without():
    fn, outer, inner = nest()
    asked = replace(outer, clauses=pragma("auto"))
    fn = replace(fn, body=(asked,))
    ctx = context(verdict(outer, Verdict.INDEPENDENT), verdict(inner, Verdict.INDEPENDENT))
    assert modes(choose_threads(fn, ctx))[0] is LoopMode.PARALLEL
