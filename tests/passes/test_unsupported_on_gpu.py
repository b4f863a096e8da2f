"""What a GPU does not do: sums that must not wrap are in order, calls are refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import appyc
from appyc.errors import UnsupportedError
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


def steps_to(n):  # type: ignore[no-untyped-def]
    return n if n < 2 else steps_to(n - 1) + steps_to(n - 2)


def marked(a):  # type: ignore[no-untyped-def]
    # pragma parallel for
    for i in range(a.shape[0]):
        a[i] = steps_to(i)


def of_complex(z, n):  # type: ignore[no-untyped-def]
    return z if n == 0 else of_complex(z * z, n - 1)


@pytest.mark.parametrize(
    ("function", "arguments"), [(steps_to, (5,)), (marked, (np.ones(9),)), (of_complex, (1j, 3))]
)
def test_calls_are_refused_where_kernels_are_asked_for(
    function: Callable[..., object], arguments: tuple[object, ...]
):
    compiled = appyc.jit(function, cache=False)
    for ask in (
        lambda: compiled.source("triton", *arguments),
        lambda: compiled.compile(*arguments, target="cuda:90"),
    ):
        with pytest.raises(UnsupportedError, match="calls one that is recursive") as found:
            ask()
        shown = str(found.value)
        assert "test_unsupported_on_gpu.py" in shown
        assert "^ called here" in shown
        assert "it runs in C then" in shown
