"""Calls of one kernel in a row: one statement, whatever comes between, with the results of plain calls."""

from __future__ import annotations

import random
import struct

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import appyc
import appyc.numpy as np
from appyc.lazy._nodes import Run, goes_on
from appyc.lazy.deferred_calls import _DEFERRING
from appyc.lazy.recording import Recording
from appyc.lazy.running import STATE, flush
from tests.lazy.test_random_programs import compiling


@appyc.jit(defer=True)
def scaled(part, factor):
    for i in range(part.shape[0]):
        part[i] = part[i] * factor + 1.0


@appyc.jit(defer=True)
def filled(part, value):
    for i in range(part.shape[0]):
        part[i] = value


@appyc.jit(defer=True)
def moved(target, source):
    for i in range(target.shape[0]):
        target[i] += source[i]


@pytest.fixture(autouse=True)
def _nothing_recorded() -> None:
    flush()


def test_a_run_is_one_statement_however_long() -> None:
    rows = np.ones((20_000, 3))
    for k in range(20_000):
        scaled(rows[k], 2.0)
    assert len(STATE.recording.statements) <= 3  # bounds near an end are told apart
    assert rows.numpy().tolist() == [[3.0] * 3] * 20_000


def test_a_number_that_only_looks_equal_ends_a_run() -> None:
    rows = np.ones((6, 2))
    values = (0.0, 0.0, -0.0, -0.0, 1, 1.0)
    for k, value in enumerate(values):
        filled(rows[k], value)
    assert str(rows.numpy()[:, 0].tolist()) == str([float(v) for v in values])


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(40))
def test_runs_under_any_interleaving(seed: int) -> None:
    """Calls on slices that go on, go back, overlap or repeat, with reads and stores between them."""
    choose = random.Random(seed)
    flat, other = numpy.arange(60.0) / 8, numpy.ones(60)
    mine, theirs = (np.array(flat), np.array(other)), (flat, other)
    seen: list[list[float]] = [[], []]
    start, step, size = 0, 3, 3
    for _ in range(80):
        kind = choose.random()
        if kind < 0.15:
            step, size = choose.choice((-3, -1, 0, 1, 2, 3, 4, 6)), choose.choice((1, 2, 3, 5))
        start = (start + step) % (60 - size)
        part = slice(start, start + size)
        factor = choose.choice((0.5, 0.5, 0.5, 0.25))
        for (a, b), out, scale, move in (
            (mine, seen[0], scaled, moved),
            (theirs, seen[1], scaled.py_func, moved.py_func),
        ):
            if kind < 0.7:
                scale(a[part], factor)
            elif kind < 0.85:
                move(b[part], a[part])
            elif kind < 0.9:
                out.append(float(a[start]))
            elif kind < 0.95:
                a[part] = b[part]
            else:
                b[1:] = a[:-1]
    with compiling("cpu", 1 << 40):
        assert seen[0] == seen[1]
        assert mine[0].tolist() == flat.tolist()
        assert mine[1].tolist() == other.tolist()


places = st.integers(0, 40)
ways = st.sampled_from((0, 1, 2, 10))
keys = st.tuples(places, ways, st.integers(0, 8), st.sampled_from((None, 1, 2)))


def moves_of(operands: list[tuple[object, ...]]) -> list[tuple[int, ...]] | None:
    """The moves of a run of calls with these operands; None where they are no run."""
    run, recording = Run(), Recording(1 << 10, 1 << 30, 1)
    run.function, run.last, run.count, run.may_go_on, run.always_waits = scaled, operands[0], 1, True, True
    recording.statements = [run]
    is_run = all(goes_on(recording, _DEFERRING, scaled, *others) for others in operands[1:])
    return [*struct.iter_unpack("4n", run.moved)] if is_run else None


@given(
    st.lists(st.tuples(keys, keys), min_size=1, max_size=3), st.booleans(), st.sampled_from((1, 2.0, True))
)
def test_a_call_follows_where_its_indices_move_so(changes, single: bool, number) -> None:
    a = np.zeros((60, 60))

    def operands(which: int) -> tuple[object, ...]:
        out: list[object] = [number]
        for pair in changes:
            place, _, size, by = pair[which]
            out.append(a[place] if single else a[1:, place : place + size : by])
        return tuple(out)

    one, two, three = operands(0), operands(1), operands(1)
    moves = moves_of([one, two])
    for operand, step, item, by in moves or ():
        x, y = (each[operand].path[step][item] for each in (one, two))
        starts = [n.start or 0 if isinstance(n, slice) else n for n in (x, y)]
        assert by == starts[1] - starts[0]
        assert not isinstance(x, slice) or by == y.stop - x.stop
    assert moves_of([one, two, three]) is None or moves == []
    assert moves_of([two, three]) == []
    assert moves_of([one, (*two, 1)]) is None


@appyc.jit
def halved(part):
    for i in range(part.shape[0]):
        part[i] *= 0.5


@appyc.jit
def halved_by(part, *, divisor):
    for i in range(part.shape[0]):
        part[i] = part[i] / divisor


def test_a_run_ends_where_calls_no_longer_wait() -> None:
    rows = np.ones((12, 3))
    with appyc.deferred():
        for k in range(3, 8):
            halved(rows[k])
        assert STATE.recording.statements[-1].count == 5
        halved_by(part=rows[8], divisor=2.0)  # a keyword-only parameter: at once, after what it needs
        assert not STATE.recording.changes(rows.buffer)
        halved(rows[9])
        halved(rows[10])
    halved(rows[11])
    assert not STATE.recording.changes(rows.buffer)
    assert rows.numpy()[:, 0].tolist() == [1.0] * 3 + [0.5] * 9


def test_a_run_does_not_go_on_with_another_function_or_number_of_arguments() -> None:
    rows = np.ones((12, 3))
    for k in range(3, 8):
        scaled(rows[k], 2.0)
    filled(rows[8], 2.0)
    scaled(rows[9], 2.0)
    with pytest.raises(TypeError):
        scaled(rows[10])
    assert rows.numpy()[:, 0].tolist() == [1.0] * 3 + [3.0] * 5 + [2.0, 3.0, 1.0, 1.0]


def test_the_next_call_of_a_run_takes_no_python(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.ones((40, 3))
    scaled(rows[3], 2.0)
    scaled(rows[4], 2.0)
    monkeypatch.setattr("appyc.lazy.deferred_calls.call", None)
    for k in range(5, 30):
        scaled(rows[k], 2.0)
    monkeypatch.undo()
    assert rows.numpy()[:, 0].tolist() == [1.0] * 3 + [3.0] * 27 + [1.0] * 10


def test_nothing_is_added_to_a_run_that_is_being_taken_out() -> None:
    rows = np.ones((40, 3))
    scaled(rows[3], 2.0)
    scaled(rows[4], 2.0)
    recording = STATE.recording
    recording.busy = True
    try:
        assert not goes_on(recording, _DEFERRING, scaled, rows[5], 2.0)
    finally:
        recording.busy = False
    assert not goes_on(recording, _DEFERRING, scaled, rows[6], 2.0)
    assert not goes_on(recording, _DEFERRING, scaled, rows[5])
    assert goes_on(recording, _DEFERRING, scaled, rows[5], 2.0)
    with pytest.raises(TypeError):
        goes_on(recording, None, scaled)
    assert rows.numpy()[:, 0].tolist() == [1.0] * 3 + [3.0] * 3 + [1.0] * 34
