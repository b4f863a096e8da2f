"""Elements that a loop accumulates into move to scalars, and only where that changes nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from appyc.ir.nodes import Fail, For, Function, LoopMode, Reduction, Store
from appyc.ir.types import DType
from appyc.ir.verify import check
from appyc.ir.visit import loops_of, walk
from appyc.passes.pass_context import PassContext
from appyc.passes.storage.promote_accumulators import promote_accumulators
from tests.ir_makers import Program, binary, continue_, for_, here, if_, load, store, update
from tests.printed import run_printed
from tests.triton_gen.gpu_runner import simd


def promoted(fn: Function) -> Function:
    return promote_accumulators(fn, PassContext())


def innermost(fn: Function) -> For:
    return loops_of(fn)[-1]


def test_element_of_an_inner_loop_becomes_a_scalar():
    p = Program()
    c, a, b, n = p.array("c", 2), p.array("a", 2), p.array("b", 2), p.integer("n")
    i, j, k = p.index("i"), p.index("j"), p.index("k")
    product = binary("*", load(a, i, k), load(b, k, j))
    fn = p.function(for_(i, 0, n, [for_(j, 0, n, [for_(k, 0, n, [update(c, [i, j], "+", product)])])]))
    out = promoted(fn)
    assert not any(isinstance(n, Store) for n in walk(innermost(out)))
    rng = np.random.default_rng(0)
    x, y = rng.random((4, 4)), rng.random((4, 4))
    before, after = np.ones((4, 4)), np.ones((4, 4))
    run_printed(fn, before, x, y, 4)
    run_printed(out, after, x, y, 4)
    np.testing.assert_array_equal(before, after)


def test_simd_loop_gets_a_reduction():
    p = Program()
    c, a, n, k = p.array("c", 1), p.array("a", 1), p.integer("n"), p.index("k")
    out = promoted(p.function(simd(k, 0, n, [update(c, [0], "+", load(a, k))])))
    loop = innermost(out)
    assert loop.mode is LoopMode.SIMD
    assert [r.op for r in loop.reductions] == ["+"]
    assert isinstance(loop.reductions[0], Reduction)


def test_scalar_is_private_to_the_parallel_loop_outside():
    p = Program()
    c, a, n, i, k = p.array("c", 1), p.array("a", 2), p.integer("n"), p.index("i"), p.index("k")
    inner = for_(k, 0, n, [update(c, [i], "+", load(a, k, i))])
    out = promoted(p.function(replace(for_(i, 0, n, [inner]), mode=LoopMode.PARALLEL)))
    outer = loops_of(out)[0]
    assert len(outer.private) == 1
    check(out, "promote_accumulators")


def test_element_is_not_touched_where_the_loop_does_not_run():
    p = Program()
    c, a, n, k = p.array("c", 1), p.array("a", 1), p.integer("n"), p.index("k")
    out = promoted(p.function(for_(k, 0, n, [update(c, [7], "+", load(a, k))])))
    run_printed(out, np.zeros(0), np.zeros(0), 0)


def test_refuses_an_element_whose_index_the_loop_stores():
    p = Program()
    c, h, n, k = p.array("c", 1), p.array("h", 1, DType.INT64), p.integer("n"), p.index("k")
    fn = p.function(for_(k, 0, n, [update(c, [load(h, 0)], "+", 1.0), store(h, [0], k)]))
    assert promoted(fn) == fn


def test_refuses_where_the_loop_touches_the_array_otherwise():
    p = Program()
    c, n, k = p.array("c", 1), p.integer("n"), p.index("k")
    read = p.function(for_(k, 0, n, [update(c, [0], "+", load(c, k))]))
    assert promoted(read) == read
    p = Program()
    c, n, k = p.array("c", 1), p.integer("n"), p.index("k")
    written = p.function(for_(k, 0, n, [update(c, [0], "+", 1.0), store(c, [k], 0.0)]))
    assert promoted(written) == written


def test_refuses_moving_element_and_updates_that_are_conditional_or_atomic():
    p = Program()
    c, n, k = p.array("c", 1), p.integer("n"), p.index("k")
    for body in (
        [update(c, [k], "+", 1.0)],
        [if_(binary("<", k, 3), [update(c, [0], "+", 1.0)])],
        [update(c, [0], "+", 1.0, atomic=True)],
        [if_(binary("<", k, 3), [continue_()]), update(c, [0], "+", 1.0)],
        [if_(binary("<", k, 3), [Fail("ValueError", "", loc=here())]), update(c, [0], "+", 1.0)],
    ):
        fn = p.function(for_(k, 0, n, body))
        assert promoted(fn) == fn
