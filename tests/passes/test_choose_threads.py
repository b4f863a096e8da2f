"""Loops without a pragma run in parallel where dependence analysis allows it."""

from __future__ import annotations

from dataclasses import replace

from appyc.analysis.verdicts import LoopVerdict, Verdict
from appyc.ir.nodes import For, LoopMode, Reduction
from appyc.ir.visit import loops_of
from appyc.options import Options
from appyc.passes.choose_threads import choose_threads
from appyc.passes.context import PassContext
from tests.ir_makers import Program, for_, here, load, pragma, store, update


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
