"""Predication: conditions, loops of unequal length and reductions of lanes, as masks."""

from __future__ import annotations

import numpy as np
import pytest

import appyc
from appyc.errors import InternalError, UnsupportedError
from appyc.ir.fault_words import FaultSites
from appyc.ir.gpu_program import Branch, LaneReduce, Loop, Repeat
from appyc.ir.names import NameSupply
from appyc.ir.nodes import Select
from appyc.ir.types import DType
from appyc.passes.gpu.lane_expressions import Where
from appyc.passes.gpu.predicate_lanes import KernelLowering
from tests.ir_makers import Program, alloc, assign, break_, compare, expr, for_, if_, load, store
from tests.triton_gen.source_runner import compare as agrees
from tests.triton_gen.source_runner import program_of


def halved(a, b):
    # pragma parallel for
    for i in range(a.shape[0]):
        x = a[i]
        if x > 0.0:
            b[i] = x
            while x > 1.0:
                x = x * 0.5
        else:
            x = -x
        a[i] = x


def triangle(a, b):
    # pragma parallel for
    for i in range(a.shape[0]):
        s = 0.0
        for j in range(i):
            s = s * 0.5 + b[j]
        a[i] = s


NUMBERS = np.array([3.0, -2.0, 0.5, 0.0, 100.0])


def test_text(golden):
    texts = [
        agrees(halved, NUMBERS, np.zeros(5), build=False).kernels[0].text,
        agrees(triangle, NUMBERS, np.arange(5.0), build=False).kernels[0].text,
    ]
    golden("triton_predicate_lanes.txt", "\n".join(texts))


@pytest.mark.parametrize("size", [0, 1, 5, 130])
def test_lanes_do_what_iterations_do(size):
    numbers = np.linspace(-3.0, 90.0, size)
    agrees(halved, numbers, np.zeros(size), build=False)
    agrees(triangle, numbers, np.linspace(0.0, 1.0, size), build=False)


def test_strips_combine_their_lanes_and_keep_the_last_value():
    def rows(a, out):
        # pragma parallel for
        for i in range(a.shape[0]):
            s, last = 0.0, -1.0
            for j in range(a.shape[1]):
                last = a[i, j] * 2.0
                s += last
            out[i] = s + last

    for columns in (0, 1, 7, 300):
        agrees(
            rows, np.cos(np.arange(3.0 * columns)).reshape(3, columns), np.zeros(3), exact=False, build=False
        )


@pytest.mark.parametrize("target", ["cpu", "interpret"])
def test_a_loop_runs_to_the_end_that_it_had_at_first(target):
    def from_0(a, out):
        # pragma parallel for
        for i in range(a.shape[0]):
            m, s = a[i], 0
            for j in range(m):
                s += j + m
                m = m - 1
            out[i] = s + m

    def from_elsewhere(a, out):
        # pragma parallel for
        for i in range(a.shape[0]):
            m, s = a[i], 0
            for j in range(m - 2, m):
                s += j + m
                m = m - 1
            out[i] = s + m

    for fn in (from_0, from_elsewhere):
        numbers, mine, python = np.arange(20) % 9, np.zeros(20, np.int64), np.zeros(20, np.int64)
        appyc.jit(target=target, strict=True)(fn)(numbers, mine)
        fn(numbers, python)
        np.testing.assert_array_equal(mine, python)


def rows_that_are_checked(rows, ends, x, out):
    # pragma parallel for
    for i in range(rows.shape[0]):
        row = rows[i]
        if row < 0 or row >= ends.shape[0]:
            raise ValueError("no such row")
        # pragma simd
        for j in range(ends[row]):
            out[i, j] = x[i, j] * 2.0


def test_bounds_of_strips_are_not_read_behind_a_test_that_raised():
    args = np.array([0, 1, 1]), np.array([2, 3]), np.ones((3, 4)), np.zeros((3, 4))
    text = agrees(rows_that_are_checked, *args, build=False).text
    assert "tl.load(ends + row, mask=(~raises)" in text


# ---------------------------------------------------------------- statement by statement

p = Program()
n, m, a = p.integer("n"), p.integer("m"), p.array("a", 1)
i, j, x = p.index("i"), p.index("j"), p.local("x")
inside = p.local("inside", DType.BOOL)
IN_LANES = Where(expr(inside), lanes=True)


def lowered(stmt, where=IN_LANES, varying=(i, inside)):
    everything = p.function(*(assign(s, expr(0, s.dtype)) for s in (i, j, x, inside)))
    lower = KernelLowering(NameSupply.after(everything), FaultSites(), 4)
    lower.varying |= set(varying)
    return lower.block((stmt,), where)


def test_control_flow_that_all_lanes_share_stays():
    (branch,) = lowered(if_(compare(">", n, 1), [assign(x, 1.0)]))
    assert isinstance(branch, Branch)
    (loop,) = lowered(for_(j, 0, n, [assign(x, 1.0)]))
    assert isinstance(loop, Loop)
    assert loop.hi == expr(n)


def test_loops_that_lanes_leave_apart_run_to_the_furthest():
    reduced, loop = lowered(for_(j, 0, i, [assign(x, 1.0)]))
    assert isinstance(reduced, LaneReduce)
    assert reduced.op == "max"
    assert isinstance(loop, Loop)


def test_loops_that_lanes_enter_apart_count_in_each_lane():
    *_, repeat = lowered(for_(j, i, n, [assign(x, 1.0)]))
    assert isinstance(repeat, Repeat)


def test_only_scalars_with_a_value_in_each_lane_are_kept_under_a_mask():
    for varying, masked in (((i, inside, x), True), ((i, inside), False)):
        *_, stmt = lowered(if_(compare(">", i, 1), [assign(x, 1.0)]), varying=varying)
        assert isinstance(stmt.value, Select) == masked


def test_a_store_has_the_mask_of_the_conditions_around_it():
    *_, stmt = lowered(if_(compare(">", i, 1), [], [store(a, [i], load(a, i, checked=False), checked=False)]))
    assert stmt.mask is not None
    assert stmt.mask.lhs == expr(inside)


def test_memory_inside_of_lanes_is_refused():
    with pytest.raises(UnsupportedError, match="'made' is allocated inside a loop that runs on the GPU"):
        lowered(alloc(p.local_array("made", 1), 3))
    with pytest.raises(InternalError, match="a jump is left"):
        lowered(break_())


def test_a_scalar_kernel_has_no_masks():
    def alone(a):
        if a[0] > 1.0:
            a[1] = 2.0
        a[2] = a[0]

    text = program_of(alone, np.ones(3)).text
    assert "mask" not in text.partition("@triton.jit")[2].partition("def host")[0]
