"""What recordings are made of."""

from __future__ import annotations

import gc
import sys
import weakref
from pathlib import Path

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import appyc.numpy as np
from appyc.lazy import _nodes, indexing, recorded_nodes, recording, running
from appyc.lazy.operations import pointwise
from appyc.lazy.running import STATE, flush


def test_statements_hold_what_they_read_and_not_what_they_write() -> None:
    dtype = numpy.dtype(float)
    source, target = _nodes.Buffer((3, 4), dtype), _nodes.Buffer((3, 4), dtype)
    assert source.nbytes == 96
    assert (source.memory, source.ghost, source.lent, source.is_number) == (None, None, False, False)
    view = _nodes.View(source, (), (3, 4), dtype)
    store = _nodes.Statement(pointwise(numpy.where), (view, 2.0), target, (), (3, 4), "site")
    make = _nodes.Statement(pointwise(numpy.where), (view, view), target, None, (3, 4), "site")
    for statement, stores in ((store, True), (make, False)):
        assert statement.target() is target
        assert statement.writes() == (target,)
        assert statement.stored() == ((target,) if stores else ())
        assert statement.makes() == (() if stores else (target,))
    assert (store.shape, store.path, make.path, store.site) == ((3, 4), (), None, "site")
    assert store.operands == (view, 2.0)
    gone = [weakref.ref(source), weakref.ref(target), weakref.ref(view)]
    del target
    assert gone[1]() is None
    assert store.writes() == make.writes() == store.stored() == make.makes() == ()
    del source, view
    assert gone[0]() is not None
    del store, make, statement
    assert gone[0]() is gone[2]() is None


def test_the_extension_refuses_what_it_cannot_hold() -> None:
    dtype = numpy.dtype(float)
    with pytest.raises(TypeError):
        _nodes.Buffer([3], dtype)
    with pytest.raises(TypeError):
        _nodes.Buffer((3,), "float64")
    with pytest.raises(TypeError):
        _nodes.View(3, (), (3,), dtype)
    with pytest.raises(TypeError):
        _nodes.Statement(pointwise(numpy.where), [], _nodes.Buffer((3,), dtype), None, (3,), "site")
    with pytest.raises(TypeError):
        _nodes.indexed(3, 4)
    with pytest.raises(TypeError):
        _nodes.made(int, [], pointwise(numpy.where), (), (), dtype, "site", False)


def test_the_calling_line_is_outside_of_the_folder() -> None:
    code, instruction, _ = _nodes.caller("/nowhere")
    assert code is sys._getframe().f_code
    above, _, _ = _nodes.caller(__file__)
    assert above is not code
    assert instruction > 0


def test_the_way_to_a_line_is_part_of_the_site() -> None:
    def site() -> recorded_nodes.Site:
        return _nodes.caller("/nowhere")

    def other() -> recorded_nodes.Site:
        return site()

    # Until the interpreter has specialised a call, its instruction has another number.
    sites = [(site(), other(), other()) for _ in range(30)][-3:]
    assert sites[0] == sites[1] == sites[2]  # from the same place in a loop
    assert len(set(sites[0])) == 3
    assert len({(code, instruction) for code, instruction, _ in sites[0]}) == 1


bounds = st.none() | st.integers(-9, 9)
items = (
    st.integers(-7, 7)
    | st.builds(slice, bounds, bounds, st.none() | st.sampled_from((1, 2, 3, -1, -2)))
    | st.none()
    | st.just(...)
)


@given(st.lists(st.integers(0, 8), max_size=3), st.lists(items, max_size=4), st.booleans())
def test_basic_indices_are_what_numpy_makes_of_them(
    shape: list[int], key: list[object], single: bool
) -> None:
    values = numpy.zeros(tuple(shape))
    array = np.array(values)
    key = key[:1] if single else key
    index = key[0] if single and key else tuple(key)
    try:
        wanted = values[index]
    except IndexError:
        with pytest.raises(IndexError):
            array[index]
        return
    found = _nodes.indexed(array, index)
    if found is None:  # it takes more to tell: NumPy gives a number, or would
        assert not shape or (wanted.shape == () and ... not in key)
        return
    assert found.shape == wanted.shape
    assert found.ghost().shape == wanted.shape
    assert found.ghost().strides == wanted.strides or 0 in wanted.shape or 1 in wanted.shape
    items = indexing.basic_index(index, tuple(shape))
    if items == ():
        assert (found.buffer, found.path) == (array.buffer, array.path)
    else:
        assert found.path[-1] == items


@pytest.mark.parametrize(
    "key", [True, numpy.int64(1), [0], slice(0.0, 2), numpy.array([True, False, True]), "x"]
)
def test_other_indices_are_left_to_others(key) -> None:
    assert _nodes.indexed(np.zeros(3), key) is None


def test_zero_steps_are_refused() -> None:
    with pytest.raises(ValueError, match="slice step cannot be zero"):
        np.zeros(3)[::0]


def test_arrays_that_only_recorded_statements_hold_run_before_others_are_copied(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    flush()
    a, b = (np.array(numpy.ones(20_000)) for _ in "ab")
    half = b[:10_000]
    waits = [a * 2.0, a[1:] + a[:-1], half * 3.0, b + 1.0]
    waits[3] += 0.0  # reads the array that it changes, which it does not hold
    recorded = STATE.recording.statements
    assert running.held_alone(recorded) == 0
    del a
    assert running.held_alone(recorded) == 160_000
    del b
    assert running.held_alone(recorded) == 160_000  # there is a view of it
    monkeypatch.setattr(running, "MOST_HELD", 300_000)
    values = numpy.ones(20_000)
    np.array(values)
    assert len(recorded) == 5
    del half
    assert running.held_alone(recorded) == 320_000
    np.array(numpy.ones(10))
    assert len(STATE.recording.statements) == 5
    np.array(values)
    assert STATE.recording.statements == []
    assert [float(w[0]) for w in waits] == [2.0, 2.0, 3.0, 2.0]


def statements() -> tuple[list[_nodes.Statement], list[object]]:
    """All kinds of them, and what holds their results."""
    flush()
    a, m, row = np.array(numpy.arange(40.0)), np.array(numpy.ones((5, 8))), np.array(numpy.ones((1, 8)))
    index = np.array([1, 0, 4])
    flush()
    held = [
        a * 2 + m[0, 3],
        m + row,
        np.where(m > row, 1, row),
        m[1:-1, ::-2] * m[:3, 1::2],
        a.reshape(5, 8) - m.T.T,
    ]
    m[2:] = held[0][8:32].reshape(3, 8)
    a += a[::-1] * held[4].sum()
    a[index] = 5.0
    held += [
        np.zeros(7) + 1,
        m.T @ m,
        a[index],
        a.sum(),
        np.roll(a, 3),
        m**2,
        m**2.5,
        held[0].astype(int),
        m.T.copy(),
    ]
    a[...] = 1j.real
    a[3:] -= a[:-3]
    return STATE.recording.statements[:], [*held, a, m, row]


@pytest.mark.parametrize("kept", range(-1, 14))
def test_statements_run_only_for_what_is_wanted(kept: int) -> None:
    recorded, held = statements()
    STATE.recording.statements.clear()
    wanted = [held[kept].buffer] if kept >= 0 else []
    overwritten = [held[-2].buffer] if kept % 3 == 1 else []
    held = held[: kept + 1]  # the rest goes
    chosen, left = recording.parted(recorded, wanted, overwritten)
    assert recorded == []
    assert bool(chosen) == (kept >= 0)
    made = {id(b) for s in chosen for b in s.writes()}
    assert all(b.memory is not None or id(b) in made for s in chosen for b in s.reads())
    assert not made & {id(b) for b in (*wanted, *overwritten) for s in left if b in s.writes()}


def test_statements_that_held_the_only_reader_go_with_it() -> None:
    flush()
    x = np.array(numpy.ones(30))
    for _ in range(2):  # each reads what the one before it makes
        x = x + 1.0
    del x
    assert recording.parted(STATE.recording.statements, (), ()) == ([], [])
    assert STATE.recording.statements == []


def test_many_operations_that_are_dropped_leave_nothing_behind() -> None:
    check_that_nothing_is_left(100_000)


@pytest.mark.slow
def test_a_million_operations_that_are_dropped_leave_nothing_behind() -> None:
    check_that_nothing_is_left(1_000_000)


def check_that_nothing_is_left(count: int) -> None:
    a = np.ones(64)
    m = np.ones((8, 8))

    def record(times: int) -> None:
        for k in range(times // 4):
            b = a * 2.0
            c = b[1:-1] + a[:-2]
            c += 1.0
            m[k % 8].sum()

    record(2000)
    gc.collect()
    blocks, resident = sys.getallocatedblocks(), resident_bytes()
    record(count)
    gc.collect()
    assert sys.getallocatedblocks() - blocks < 3000
    assert resident_bytes() - resident < 4 << 20


def resident_bytes() -> int:
    status = Path("/proc/self/statm")
    return int(status.read_text().split()[1]) * 4096 if status.exists() else 0
