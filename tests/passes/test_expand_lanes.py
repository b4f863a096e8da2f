"""Scalar expansion over lanes: runs of statements become loops, and scalars between runs elements of arrays."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from appyc.errors import GENERATED, InternalError
from appyc.ir.gpu_program import Branch, Fault, LaneReduce, Loop, Repeat, ScheduledStmt
from appyc.ir.names import NameSupply
from appyc.ir.nodes import Alloc, AnyLane, For, Function, LoopMode, While
from appyc.ir.printer import print_function
from appyc.ir.types import DType
from appyc.ir.verify import verify
from appyc.ir.visit import loops_of, walk
from appyc.passes.vectorise.expand_lanes import FEW, expand_lanes
from tests.ir_makers import (
    Program,
    add,
    assign,
    binary,
    both,
    compare,
    expr,
    load,
    mul,
    not_,
    select,
    store,
)
from tests.printed import run_printed

LANES = 4

p = Program()
n, a, b = p.integer("n"), p.array("a", 1), p.array("b", 1)
lane, k = p.index("lane"), p.index("k")
z, t, total = p.local("z"), p.local("t"), p.local("total")
live, odd = p.local("live", DType.BOOL), p.local("odd", DType.BOOL)
VARYING = {lane, z, live, odd}


def at(array, index: object = lane):
    return load(array, index, checked=False)


def put(array, index: object, value: object):
    return store(array, [index], value, checked=False)


def expanded(*body: ScheduledStmt, results: tuple[object, ...] = ()) -> Function:
    names = NameSupply.after(
        p.function(*(assign(s, expr(0, s.dtype)) for s in (lane, k, z, t, total, live, odd)))
    )
    made = expand_lanes(body, lane, LANES, VARYING, names, GENERATED)
    fn = p.function(*made, results=results)
    assert verify(fn) == []
    return fn


def doubled_until_large() -> list[ScheduledStmt]:
    """Each lane doubles its number until it is 100 or more."""
    goes_on = compare("<", z, 100.0)
    return [
        assign(z, at(a)),
        assign(live, goes_on),
        Repeat(
            AnyLane(expr(live), loc=GENERATED),
            (assign(z, select(live, mul(z, 2.0), z)), assign(live, binary("&", live, goes_on))),
            loc=GENERATED,
        ),
        put(b, lane, z),
    ]


def test_text(golden: Callable[[str, str], None]) -> None:
    golden("ir/expand_lanes.txt", print_function(expanded(*doubled_until_large())))


def test_a_loop_runs_until_no_lane_is_in_it() -> None:
    fn = expanded(*doubled_until_large())
    for numbers in ([1.0, 60.0, 99.0, 3.0], [100.0] * 4, [200.0, 1.0, 300.0, 300.0]):
        found = np.zeros(LANES)
        run_printed(fn, LANES, np.array(numbers), found)
        wanted = [next(x * 2.0**s for s in range(9) if x * 2.0**s >= 100.0) for x in numbers]
        np.testing.assert_array_equal(found, wanted)


def test_few_lanes_that_are_left_go_on_alone() -> None:
    fn = expanded(*doubled_until_large())
    together, alone = (stmt for stmt in walk(fn.body) if isinstance(stmt, While))
    assert isinstance(together.body[-1], For)
    assert together.cond == compare("<", FEW, together.cond.rhs)
    assert not any(isinstance(stmt, For) for stmt in walk(alone.body))


def test_statements_in_a_row_share_a_loop_and_keep_their_scalars() -> None:
    fn = expanded(assign(z, at(a)), put(b, lane, mul(z, 2.0)), assign(z, at(b)), put(a, lane, z))
    (loop,) = loops_of(fn.body)
    assert (loop.mode, loop.private) == (LoopMode.SIMD, (z,))
    assert not any(isinstance(node, Alloc) for node in walk(fn))


def test_what_all_lanes_share_is_computed_once_and_in_its_place() -> None:
    before = expanded(put(b, lane, 1.0), assign(t, at(a, 0)), put(b, lane, t))
    assert [type(stmt).__name__ for stmt in before.body] == ["Assign", "For"]
    behind = expanded(put(a, lane, 1.0), assign(t, at(a, 0)), put(b, lane, t))
    assert [type(stmt).__name__ for stmt in behind.body] == ["For", "Assign", "For"]
    numbers, found = np.arange(4.0), np.zeros(4)
    run_printed(behind, LANES, numbers, found)
    assert found.tolist() == [1.0] * 4


def test_lanes_combine_into_a_scalar() -> None:
    fn = expanded(assign(z, at(a)), LaneReduce(total, "max", expr(z), loc=GENERATED), results=[total])
    loop = loops_of(fn.body)[0]
    assert [(r.op, r.symbol) for r in loop.reductions] == [("max", total)]
    assert run_printed(fn, LANES, np.array([-2.0, -1.5, -4.0, -9.0]), np.zeros(4)) == -1.5


def test_control_flow_that_all_lanes_share_stays_around_their_loops() -> None:
    body: list[ScheduledStmt] = [
        assign(z, at(a)),
        Loop(k, expr(0), expr(n), 1, (assign(z, add(z, 1.0)),), loc=GENERATED),
        Branch(compare(">", n, 2), (put(b, lane, z),), (put(a, lane, z),), loc=GENERATED),
    ]
    fn = expanded(*body)
    for count, target in ((3, 1), (2, 0)):
        arrays = [np.arange(4.0), np.zeros(4)]
        run_printed(fn, count, *arrays)
        assert arrays[target].tolist() == [count, count + 1, count + 2, count + 3]


def test_a_scalar_that_a_loop_carries_is_kept() -> None:
    counted = assign(z, select(compare("==", k, 0), at(a), add(z, 1.0)))
    fn = expanded(Loop(k, expr(0), expr(n), 1, (counted, put(b, lane, z)), loc=GENERATED))
    found = np.zeros(4)
    run_printed(fn, 3, np.arange(4.0), found)
    assert found.tolist() == [2.0, 3.0, 4.0, 5.0]


def test_flags_are_combined_without_branches_and_kept_in_wide_integers() -> None:
    fn = expanded(
        assign(odd, both(compare(">", at(a), 1.0), compare("<", at(a), 3.0))),
        Loop(k, expr(0), expr(n), 1, (assign(odd, not_(odd)),), loc=GENERATED),
        put(b, lane, select(odd, 1.0, 0.0)),
    )
    assert [node.array.dtype for node in walk(fn) if isinstance(node, Alloc)] == [DType.INT64]
    assert " and " not in print_function(fn)
    found = np.zeros(4)
    run_printed(fn, 3, np.arange(4.0), found)
    assert found.tolist() == [1.0, 1.0, 0.0, 1.0]


def test_statements_that_raise_are_refused() -> None:
    with pytest.raises(InternalError, match="Fault in lanes"):
        expanded(Fault(0, compare(">", z, 1.0), (), loc=GENERATED))
