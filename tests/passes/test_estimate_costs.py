"""Parallel loops know what they cost, if they are the ones that threads may share."""

from __future__ import annotations

from dataclasses import replace

from appyc.ir.nodes import LoopMode
from appyc.ir.visit import loops_of
from appyc.passes.parallelise.estimate_costs import estimate_costs
from appyc.passes.pass_context import PassContext
from tests.ir_makers import Program, expr, for_, if_, parallel, store


def costed(fn):
    schedule = estimate_costs(fn, PassContext()).schedule
    return [schedule[loop.var].cost is not None for loop in loops_of(fn)]


def test_outermost_parallel_loop_gets_its_cost_and_those_inside_do_not():
    p = Program()
    a, n, t, i, j = p.array("a", 2), p.integer("n"), p.index("t"), p.index("i"), p.index("j")
    nest = for_(t, 0, n, [parallel(i, 0, n, [parallel(j, 0, n, [store(a, [i, j], 0.0)])])])
    modes = {i: LoopMode.PARALLEL, j: LoopMode.PARALLEL}
    inner = replace(nest.body[0], mode=modes[i], body=(replace(nest.body[0].body[0], mode=modes[j]),))
    assert costed(p.function(replace(nest, body=(inner,)))) == [False, True, False]


def test_loop_under_a_condition_is_found():
    p = Program()
    a, c, n, i = p.array("a", 1), p.integer("c"), p.integer("n"), p.index("i")
    loop = replace(parallel(i, 0, n, [store(a, [i], 0.0)]), mode=LoopMode.PARALLEL)
    assert costed(p.function(if_(expr(c), [], [loop]))) == [True]


def test_function_without_parallel_loops_stays_as_it_is():
    p = Program()
    a, n, i = p.array("a", 1), p.integer("n"), p.index("i")
    fn = p.function(for_(i, 0, n, [store(a, [i], 0.0)]))
    assert estimate_costs(fn, PassContext()) is fn
