"""Sums that must not wrap, on a GPU: they are in order."""

from __future__ import annotations

from dataclasses import replace

from appyc.ir.nodes import Assign, Binary, For, LoopMode, Reduction, Update
from appyc.ir.types import DType
from appyc.ir.verify import verify
from appyc.ir.visit import loops_of, walk
from appyc.passes.gpu.unsupported_on_gpu import drop_trapping_sums
from appyc.passes.pass_context import PassContext
from tests.ir_makers import Program, assign, for_, load, update


def test_a_sum_that_must_not_wrap_is_in_order():
    p = Program()
    n, a = p.integer("n"), p.array("a", 2, DType.INT64)
    i, j, k = p.index("i"), p.index("j"), p.index("k")
    s, t = p.local("s", DType.INT64), p.local("t", DType.INT64)

    def parallel_sum(var: object, target: object, *, trap: bool) -> For:
        added = replace(update(target, [], "+", load(a, 0, var, checked=False)), trap=trap)
        loop = for_(var, 0, n, [added])
        return replace(loop, mode=LoopMode.PARALLEL, reductions=(Reduction("+", target),))

    free = replace(
        for_(i, 0, n, [assign(s, 0), parallel_sum(j, s, trap=True)]), mode=LoopMode.PARALLEL, private=(s,)
    )
    fn = p.function(assign(t, 0), free, parallel_sum(k, t, trap=False), results=(t,))
    ctx = PassContext()
    new = drop_trapping_sums(fn, ctx)
    verify(new)
    modes = {loop.var: loop.mode for loop in loops_of(new.body)}
    assert modes == {i: LoopMode.PARALLEL, j: LoopMode.SEQUENTIAL, k: LoopMode.PARALLEL}
    assert not any(isinstance(x, Update) and x.trap for x in walk(new))
    assert any(isinstance(x, Assign) and isinstance(x.value, Binary) and x.value.trap for x in walk(new))
