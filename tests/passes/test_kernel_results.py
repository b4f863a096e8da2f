"""What kernels leave for the host: shares of reductions in a fixed order, last values, and scalars."""

from __future__ import annotations

import numpy as np
import pytest

from appyc.errors import GENERATED
from appyc.ir.fault_words import FaultSites
from appyc.ir.gpu_program import IN_ROWS, Barrier, LaneReduce, Launch, ReadBack, ScheduledStmt
from appyc.ir.names import NameSupply
from appyc.ir.nodes import Alloc, Assign, Reduction, Store, Var
from appyc.ir.types import DType
from appyc.passes.gpu.kernel_results import SHARE_LANES, KernelResults, finish_kernel
from appyc.passes.gpu.predicate_lanes import KernelLowering
from tests.ir_makers import Program, assign, expr, load, store
from tests.triton_gen.source_runner import compare, program_of

p = Program()
n = p.integer("n")
s, kept, mine = p.local("s"), p.local("kept"), p.local("mine", DType.BOOL)
program = p.index("program")


def results(host: list[ScheduledStmt]) -> KernelResults:
    everything = p.function(*(assign(symbol, expr(0, symbol.dtype)) for symbol in (s, kept, mine, program)))
    return KernelResults("k", NameSupply.after(everything), FaultSites(), host, GENERATED)


@pytest.mark.parametrize("axes", [IN_ROWS, frozenset()])
def test_a_program_stores_its_share(axes: frozenset[int]) -> None:
    host: list[ScheduledStmt] = []
    at = Var(program, loc=GENERATED)
    body, shares = results(host).share(Reduction("max", s), kept, at, expr(n), axes)
    (made,) = host
    assert isinstance(made, Alloc)
    assert (made.array, made.shape, made.zero) == (shares, (expr(n),), False)
    assert [type(stmt) for stmt in body] == ([LaneReduce, Store] if axes else [Store])
    assert body[-1].index == (at,)
    if axes:
        assert (body[0].op, body[0].value, body[0].axes) == ("max", expr(kept), axes)


def test_one_program_combines_the_shares() -> None:
    host: list[ScheduledStmt] = []
    made = results(host)
    at = Var(program, loc=GENERATED)
    _, shares = made.share(Reduction("+", s), kept, at, expr(n), frozenset())
    *_, launch, back = made.combined(Reduction("+", s), shares, expr(n), "s")
    assert isinstance(launch, Launch)
    assert (launch.kernel.name, launch.programs, launch.kernel.lanes) == ("k_s", expr(1), SHARE_LANES)
    assert isinstance(back, ReadBack)
    assert back.target == s


def test_the_last_value_is_stored_by_the_lane_that_has_it() -> None:
    host: list[ScheduledStmt] = []
    body: list[ScheduledStmt] = []
    back = results(host).last(s, kept, expr(mine), body)
    (stored,) = body
    assert isinstance(stored, Store)
    assert stored.mask == expr(mine)
    assert isinstance(back, ReadBack)
    assert (back.target, back.cell) == (s, stored.array)


def test_a_kernel_without_lanes_has_one_thread_and_leaves_what_is_asked_for() -> None:
    lower = KernelLowering(NameSupply.after(p.function(assign(s, 0.0))), FaultSites(), 64)
    (launch,) = finish_kernel("k", lower, [assign(s, 1.0)], (), GENERATED)
    assert isinstance(launch, Launch)
    assert (launch.kernel.lanes, launch.kernel.num_warps) == (1, 1)
    assert len(launch.kernel.body) == 1
    kinds = [type(stmt) for stmt in finish_kernel("k", lower, [assign(s, 1.0)], (s,), GENERATED)]
    assert kinds == [Alloc, Launch, ReadBack]


def test_threads_of_a_kernel_wait_for_what_others_store() -> None:
    a = p.local_array("a", 1)
    lower = KernelLowering(NameSupply.after(p.function(assign(s, 0.0))), FaultSites(), 64)
    (launch,) = finish_kernel("k", lower, [store(a, [0], 1.0), assign(s, load(a, n))], (), GENERATED)
    assert [type(stmt) for stmt in launch.kernel.body] == [Store, Barrier, Assign]


def sums(a):
    s, least, t = 0.5, 1e9, 0.0
    for i in range(a.size):
        t = a[i] * 2.0
        s += t
        least = min(least, a[i])
    return s, least, t


@pytest.mark.parametrize("size", [0, 1, 130, 3000])
def test_results_of_a_nest(size: int) -> None:
    compare(sums, np.cos(np.arange(float(size))), exact=False, build=False)


def test_text(golden) -> None:
    text = program_of(sums, np.ones(3)).text
    golden("triton_kernel_results.txt", text[text.index("@triton.jit\ndef sums_1(") :])


def test_a_nest_that_reduces_nothing_leaves_nothing() -> None:
    def doubled(a):
        for i in range(a.size):
            a[i] = a[i] * 2.0

    made = program_of(doubled, np.ones(3))
    assert len(made.kernels) == 1
    assert "rt.array(" not in made.host
    assert "rt.read(" not in made.host
