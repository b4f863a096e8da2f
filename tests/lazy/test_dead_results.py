"""Results that nobody has read stay recorded the next time, and are what they would have been."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest

import appyc
import appyc.numpy as np
from appyc.lazy import running
from appyc.lazy.running import STATE, flush

Recorded = Callable[[], tuple[np.ndarray, float]]


@pytest.fixture(autouse=True)
def _anything_may_be_left() -> Iterator[None]:
    flush()
    before, STATE.least_left = STATE.least_left, 0
    STATE.habits.clear()
    yield
    STATE.least_left = before
    STATE.habits.clear()


def is_stored(array: np.ndarray) -> bool:
    return array.buffer.memory is not None


def far(x: np.ndarray) -> tuple[np.ndarray, float]:
    d = x - 1.0
    return d, float((d * d).sum())


def test_a_result_is_stored_until_it_went_unread_and_again_once_it_is_read() -> None:
    x = np.arange(4.0)
    d, total = far(x)
    assert is_stored(d)
    del d
    d, again = far(x)
    assert not is_stored(d)
    assert again == total == 6.0
    assert (
        "not stored, and recorded still, since its earlier results were never read: line 2" in appyc.explain()
    )
    x += 10.0  # a pending reader sees what was there
    assert d.tolist() == [-1, 0, 1, 2]
    del d
    for _ in range(3):
        d, _ = far(np.arange(4.0))
        assert is_stored(d), "somebody has read it, once"
        del d


def test_what_a_later_program_needs_counts_as_read() -> None:
    for _ in range(3):
        d, _ = far(np.arange(4.0))
        assert is_stored(d)
        assert float((d + 1.0).sum()) == 6.0
        del d


def test_what_is_left_goes_without_a_trace() -> None:
    x = np.arange(4.0)
    for _ in range(3):
        d, _ = far(x)
    assert STATE.recording.left
    gone = d.buffer
    del d, gone
    flush()
    assert STATE.recording.left == []


def overwritten(x: np.ndarray) -> tuple[np.ndarray, float]:
    """What is read is changed before the flush is over: it could not be computed later."""
    d = x - 1.0
    x += 1.0
    return d, float(x.sum() + d.sum())


def larger(x: np.ndarray) -> tuple[np.ndarray, float]:
    """To keep the rows' sums recorded would keep all rows."""
    d = x.reshape(2, -1).sum(axis=1)
    return d, float((d * d).sum())


@pytest.mark.parametrize("recorded", [overwritten, larger])
def test_what_cannot_or_should_not_be_computed_later_is_stored(
    recorded: Callable[[np.ndarray], object],
) -> None:
    for _ in range(3):
        d, _ = recorded(np.arange(8.0))
        assert is_stored(d)
        del d


def test_results_that_are_made_of_each_other() -> None:
    def all_of(x: np.ndarray) -> tuple[list[np.ndarray], float]:
        a = x * 2.0
        b = a + 1.0
        c = np.zeros(4)
        c[1:] = b[1:] - a[:-1]
        return [a, b, c], float((c * b).sum())

    wanted, total = all_of(numpy.arange(4.0))
    for read in (None, 1, None, 2, None):
        found, value = all_of(np.arange(4.0))
        assert value == total
        if read is not None:
            assert found[read].tolist() == wanted[read].tolist()
        del found
    found, _ = all_of(np.arange(4.0))
    assert [is_stored(array) for array in found] == [False, True, True]
    assert found[0].tolist() == wanted[0].tolist()


@appyc.jit
def doubled(a, out):
    for i in range(a.shape[0]):
        out[i] = 2.0 * a[i]


@appyc.jit
def increased(a):
    for i in range(a.shape[0]):
        a[i] += 1.0


def test_calls_of_kernels_are_left_with_the_array_that_they_fill() -> None:
    def filled(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        one, two = np.zeros(x.shape), np.zeros(x.shape)
        doubled(x, one)
        doubled(one, two)
        increased(two)
        return one, two, float((one * two).sum())

    with appyc.deferred():
        x = np.arange(4.0)
        for _ in range(3):
            one, two, total = filled(x)
            assert total == sum(2.0 * v * (4.0 * v + 1.0) for v in range(4))
        assert not is_stored(one)
        assert not is_stored(two)
        doubled(x, x)  # the kernels left behind have to see what was there
        assert two.tolist() == [1, 5, 9, 13]
        assert one.tolist() == [0, 2, 4, 6]
        assert x.tolist() == [0, 2, 4, 6]
        one, two, _ = filled(x)
        assert is_stored(two), "it was read once"
        del one, two
    flush()
    assert STATE.recording.left == []


def test_kernels_whose_arrays_are_dropped_are_never_run_again() -> None:
    def filled(x: np.ndarray) -> tuple[np.ndarray, float]:
        out = np.zeros(x.shape)
        doubled(x, out)
        return out, float(out.sum())

    with appyc.deferred():
        for _ in range(3):
            out, _ = filled(np.arange(4.0))
    assert len(STATE.recording.left) == 2
    del out
    STATE.recording.prune()
    assert STATE.recording.left == []


# ---------------------------------------------------------------- of a time loop

SIZE = 20_000
"""Operations on fewer elements are computed at once."""


def stepped(np: Any, steps: int) -> tuple[list[Any], Any]:
    """A loop whose body is one program: `half` goes unread, `x` is read by the next step."""
    x, v = np.ones(SIZE), np.arange(float(SIZE))
    flush()
    for _ in range(steps):
        half = v - 0.5 * (x * x - 1.0) * 0.1
        x = x + 0.1 * half
        v = half - 0.5 * (x * x - 1.0) * 0.1
    return [x, v], half


def test_what_a_step_leaves_behind_is_not_stored() -> None:
    for steps in (6, 9):
        found, half = stepped(np, steps)
        wanted, expected = stepped(numpy, steps)
        flush()
        numpy.testing.assert_allclose(numpy.asarray(found[0]), wanted[0])
        numpy.testing.assert_allclose(numpy.asarray(found[1]), wanted[1])
        numpy.testing.assert_allclose(numpy.asarray(half), expected)


def test_a_step_stores_what_somebody_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    """The step's results are reachable when the next one starts; those that none of them reads are not stored."""
    stored: list[int] = []
    run = running._run_program

    def counted(found: Any, habit: Any, returned: Any, left: Any, spent: Any) -> Any:
        stored.append(len(returned))
        return run(found, habit, returned, left, spent)

    monkeypatch.setattr(running, "_run_program", counted)
    kept = stepped(np, 8)
    assert stored[1] == 4, "with `half`, and the one before it"
    assert set(stored[2:]) == {2}, "x and v"
    del kept
    history = []
    stored.clear()
    x = np.ones(SIZE)
    flush()
    stored.clear()
    for _ in range(6):
        y = x * 2.0 - 1.0
        y = y * y + x * 0.5 - y * 0.25
        y = y * 0.5 - x * 0.25 + 1.0
        x = x + 0.1 * y
        history.append(y)
    assert set(stored[1:]) == {2}, "a list holds what goes unread"
    flush()
    assert all(is_stored(y) for y in history)


def test_what_is_left_by_a_time_loop_is_the_value_of_its_step() -> None:
    """Also where the next step changes what it is computed from."""
    found, wanted = [], []
    for np_, out in ((np, found), (numpy, wanted)):
        x = np_.arange(float(SIZE))
        for _ in range(9):
            y = x * 2.0 - 1.0 + x * 0.5 - x * 0.25 + 3.0 - x * 0.125 + 2.0
            old, seen = y, x + y
            x += 0.1
            x *= 0.5
        out += [old, seen, x]
    for a, b in zip(found, wanted, strict=True):
        numpy.testing.assert_allclose(numpy.asarray(a), b)


def between_stores(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """What is read is what one store has left, and the next one changes."""
    c = np.zeros(SIZE)
    c[1:] = x[1:]
    d = c * 2.0
    c[:2] = 7.0
    return d, c, float((c * x).sum() + d.sum())


def behind_stores(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Nothing is stored into `c` after it is read: there it is what it will be."""
    c = np.zeros(SIZE)
    c[1:] = x[1:]
    d = c * 2.0
    return d, c, float((c * x).sum() + d.sum())


def test_what_is_computed_from_an_array_that_was_stored_into() -> None:
    for _ in range(3):
        d, c, _ = between_stores(np.arange(float(SIZE)))
        assert c[:3].tolist() == [7, 7, 2]
        assert is_stored(d)
        del d, c
    for round_ in range(4):
        d, c, _ = behind_stores(np.arange(float(SIZE)))
        assert c[:4].tolist() == [0, 1, 2, 3]
        assert is_stored(d) == (round_ < 1)
        if round_ == 3:
            assert d[:4].tolist() == [0, 2, 4, 6]
        del d, c


def test_what_has_been_read_before_a_store_is_not_left_with_it() -> None:
    def step(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        a = x + 3.0
        b = 2.0 + a
        a[a > 4.0] = -2.0
        return a, b, float((a * a).sum())

    for _ in range(2):
        step(np.arange(4.0))  # neither a nor b is read
    a, b, total = step(np.arange(4.0))
    b.put(0, 9.0)  # by NumPy, for which a is made again
    assert a.tolist() == [3, 4, -2, -2]
    assert b.tolist() == [9, 6, 7, 8]
    assert total == 33
