"""Arrays that iterations allocate become slices of one array, for the GPU."""

from __future__ import annotations

from dataclasses import replace
from unittest import mock

import numpy as np
import pytest

from appyc.ir.nodes import Alloc, For, Function, LoopMode, Stmt
from appyc.ir.verify import verify
from appyc.ir.visit import loops_of, map_loops, walk
from appyc.passes.gpu.expand_allocations import expand_allocations
from appyc.passes.pass_context import PassContext
from tests.ir_makers import (
    Program,
    add,
    alloc,
    compare,
    expr,
    extent,
    for_,
    if_,
    load,
    mul,
    store,
    sub,
)
from tests.printed import run_printed

p = Program()
n, m = p.integer("n"), p.integer("m")
x, y = p.array("x", 2), p.array("y", 2)
i, j, l, q = p.index("i"), p.index("j"), p.index("l"), p.index("q")
t = p.local_array("t", 1)
s = p.local("s", m.dtype)
FREE, LANES, ORDERED = LoopMode.PARALLEL, LoopMode.SIMD, LoopMode.SEQUENTIAL


def at(array, *index, checked=False):
    return load(array, *index, checked=checked)


def put(array, index, value, checked=False) -> Stmt:
    return store(array, index, value, checked=checked)


def body(length=m, checked=False) -> list[Stmt]:
    return [
        alloc(t, length),
        for_(j, 0, m, [put(t, [j], add(at(t, j), at(x, i, j)), checked)]),
        for_(l, 0, extent(t), [put(y, [i, l], mul(at(t, sub(sub(m, 1), l)), 2.0))]),
    ]


def expanded(*statements: Stmt, room: int = 1 << 28, **modes: LoopMode) -> Function:
    """The function after the pass, which does what it did; modes by the variables' names."""
    before = map_loops(
        p.function(*statements), lambda loop: replace(loop, mode=modes.get(loop.var.name, ORDERED))
    )
    with mock.patch("appyc.passes.gpu.expand_allocations.ROOM", room):
        after = expand_allocations(before, PassContext())
    assert verify(after) == []
    for rows, columns in ((0, 0), (1, 1), (3, 0), (0, 3), (4, 5), (7, 2)):
        assert outcome(before, rows, columns) == outcome(after, rows, columns)
    return after


def outcome(fn: Function, rows: int, columns: int) -> list[object]:
    rng = np.random.default_rng(rows)
    arrays = [rng.integers(1, 9, (rows + 2, columns)).astype(float) for _ in range(2)]
    run_printed(fn, rows, columns, *arrays)
    return [array.tolist() for array in arrays]


def allocates_inside(fn: Function) -> bool:
    return any(
        isinstance(node, Alloc)
        for loop in loops_of(fn.body)
        if loop.mode is not ORDERED
        for node in walk(loop.body)
    )


def shapes(fn: Function) -> list[int]:
    return [len(node.shape) for node in walk(fn.body) if isinstance(node, Alloc)]


@pytest.mark.parametrize("room", [1, 100, 1 << 28])
@pytest.mark.parametrize("mode", [FREE, LANES])
def test_slices_of_one_array(mode, room):
    fn = expanded(for_(i, 0, n, body()), i=mode, room=room)
    assert not allocates_inside(fn)
    assert shapes(fn) == [2]


@pytest.mark.parametrize("room", [1, 1 << 28])
@pytest.mark.parametrize(("lo", "hi", "step"), [(1, n, 1), (sub(n, 1), -1, -1), (0, n, 2), (n, 0, -3)])
def test_steps(lo, hi, step, room):
    fn = expanded(for_(i, lo, hi, body(), step), i=FREE, room=room)
    assert not allocates_inside(fn)


def test_a_loop_inside_gets_an_axis_too():
    inner = [
        alloc(t, 3),
        put(t, [1], at(x, i, q)),
        put(y, [i, q], add(at(t, 1), at(t, 0))),
    ]
    fn = expanded(for_(i, 0, n, [for_(q, 0, m, inner)]), i=FREE, q=FREE)
    assert shapes(fn) == [3]
    fn = expanded(for_(i, 0, n, [for_(q, 0, m, inner)]), i=FREE)
    assert shapes(fn) == [2]  # in order, one slice will do


def test_axes_keep_their_numbers_where_a_message_names_them():
    fn = expanded(for_(i, 0, n, body(checked=True)), i=FREE)
    made = next(node for node in walk(fn.body) if isinstance(node, Alloc))
    assert made.shape[0] == expr(m)


def test_under_a_condition():
    fn = expanded(for_(i, 0, n, [if_(compare(">", i, 1), body())]), i=FREE)
    assert not allocates_inside(fn)


def test_an_allocation_in_order_stays():
    fn = p.function(for_(i, 0, n, body()))
    assert expand_allocations(fn, PassContext()) is fn


def test_an_extent_that_is_known_inside_only_stays():
    within = [alloc(t, add(i, 1)), put(t, [i], 1.0), for_(j, 0, m, [put(y, [i, j], at(t, i))])]
    fn = expanded(for_(i, 0, n, within), i=FREE)
    assert allocates_inside(fn)


def test_what_has_no_allocation_stays():
    fn = map_loops(p.function(for_(i, 0, n, [])), lambda loop: replace(loop, mode=FREE))
    assert expand_allocations(fn, PassContext()) is fn
    assert isinstance(fn.body[0], For)
