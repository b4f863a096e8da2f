"""Operations on small arrays that are there are computed at once, by NumPy, and never out of turn."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import appyc
import appyc.numpy as np
from appyc.lazy import _nodes, evaluation, numpy_functions, recorder, running
from appyc.lazy.gathering import gather
from appyc.lazy.programs import HOPED_SHARE, Program
from appyc.lazy.recording import Recording
from appyc.lazy.running import STATE, flush
from appyc.options import computed_at_once
from tests.lazy.test_call_cache import CALLS, arguments

pytestmark = pytest.mark.at_once

MANY = 20_000
"""Elements of an array that is recorded."""


def pending() -> int:
    return len(STATE.recording.statements)


def large() -> np.ndarray:
    flush()
    return np.array(numpy.arange(float(MANY)))


def test_nothing_is_recorded_of_operations_on_small_arrays() -> None:
    flush()
    for text in CALLS:
        for _ in range(3):  # by the functions in Python, and then by what is known
            scope = arguments() | {"numpy": numpy, "np": np, "operator": __import__("operator")}
            plain = {k: v.numpy() if type(v) is np.ndarray else v for k, v in scope.items()} | {"np": numpy}
            found, wanted = eval(text, scope), eval(text, plain)
            assert pending() == 0, text
            if "np.empty" in text or wanted is None:
                continue
            assert found.dtype == wanted.dtype, text
            assert numpy.array_equal(found, wanted), text
            assert isinstance(found, numpy.generic) == isinstance(wanted, numpy.generic), text
            for name in "abckum":
                assert numpy.array_equal(scope[name], plain[name]), text


def test_numbers_are_numpys() -> None:
    a = np.array([1.5, 2.5, 4.0])
    for found in (a[0], a[-1], a.sum(), a.max(), a @ a, np.mean(a), a[numpy.int64(1)]):
        assert type(found) is numpy.float64
    assert json.dumps([a[0], a.sum()]) == "[1.5, 8.0]"
    assert type(large()[3]) is numpy.float64  # one element is a small operation


def test_an_operand_that_waits_is_waited_for() -> None:
    x = large()
    y = x * 2.0
    small = y[:3]
    assert pending() == 1
    found = small + 1.0
    total = small[0] + found[1]
    assert pending() > 2
    assert float(total) == 3.0
    assert found.tolist() == [1.0, 3.0, 5.0]


def test_an_element_is_read_after_a_recorded_store() -> None:
    x = large()
    row = x[10:20]
    assert row[3] == 13.0
    x += 1.0
    assert pending() == 1
    assert row[3] == 14.0
    assert x[0] == 1.0


def test_a_store_waits_for_recorded_readers() -> None:
    x = large()
    small = np.array([1.0, 2.0, 3.0])
    before = x + small[0]
    kept = x[: len(small)] * small  # recorded or not: it has today's values
    y = np.zeros(MANY)
    y[:3] = x[:3]
    z = x * 2.0
    x[0] = 100.0
    small[:] = -1.0
    small *= 2.0
    assert pending() > 0
    assert before[:3].tolist() == [1.0, 2.0, 3.0]
    assert kept.tolist() == [0.0, 2.0, 6.0]
    assert y[:3].tolist() == [0.0, 1.0, 2.0]
    assert z[0] == 0.0
    assert x[0] == 100.0
    assert small.tolist() == [-2.0, -2.0, -2.0]


def test_a_small_operand_of_something_recorded_keeps_its_value() -> None:
    x = large()
    w = np.array([2.0])
    y = x * w
    w[0] = 5.0
    w += 1.0
    np.add(w, 1.0, out=w)
    assert y[1] == 2.0
    assert w[0] == 7.0


def test_what_is_left_recorded_keeps_its_operands() -> None:
    flush()
    for _ in range(4):
        w = np.array([3.0])
        x = np.array(numpy.arange(20000.0))
        unread = x * w
        assert float((unread + x).sum()) == 4.0 * x.numpy().sum()
        w[0] = 0.0
        if _ == 3:
            assert unread[2] == 6.0


def test_views_are_views() -> None:
    m = np.array(numpy.arange(12.0).reshape(3, 4))
    row, column, back = m[1], m[:, 1], m[::-1, ::-2]
    row[0] = -1.0
    column[2] = -2.0
    back[0, 0] = -3.0
    assert m.tolist() == [[0, 1, 2, 3], [-1, 5, 6, 7], [8, -2, 10, -3]]
    for key in (numpy.int64(0), (numpy.int64(0), slice(None)), (0, ...)):
        m[key][0] = 50.0
        assert m[0, 0] == 50.0
        m[0, 0] = 0.0
    for key in (
        numpy.array(0),
        np.array(0),
        [0],
        numpy.array([0]),
        np.array([0]),
        (slice(None), [0]),
        m[:, 0] >= 0,
        True,
    ):
        found = m[key]
        found[...] = 77.0
        assert 77.0 not in m
    assert m.T[1, 0] == 1.0
    assert m.T.reshape(-1)[1] == -1.0


def test_what_numpy_is_given_is_not_shared_with_results() -> None:
    a = np.array([1.0, 2.0])
    for found in (+a, np.positive(a), a.astype(float), a.copy(), np.nan_to_num(a), a[[0, 1]], a.T + 0):
        found[0] = 9.0
        assert a.tolist() == [1.0, 2.0]


def test_faults_are_numpys_at_their_line() -> None:
    a, k = np.array([1.0, 2.0]), np.array([1, 2])
    for wrong in (
        lambda: a[2], lambda: a[0, 0], lambda: a[[0, 5]], lambda: a.__setitem__(7, 1.0), lambda: a + np.ones(3),
        lambda: a["x"], lambda: k.__setitem__(0, "no"), lambda: k + 2**70, lambda: a.__setitem__(0, 1j),
        lambda: a.__delitem__(0), lambda: a[numpy.array([True, False, True])],
    ):  # fmt: skip
        with pytest.raises((IndexError, ValueError, TypeError, OverflowError)) as found:
            wrong()
        assert found.value.__notes__ == [] if hasattr(found.value, "__notes__") else True
    with pytest.raises(IndexError, match="index 2 is out of bounds for axis 0 with size 2"):
        a[2]
    assert list(reversed(a)) == [2.0, 1.0]


def test_masked_places_are_left_alone() -> None:
    a, b, out = np.array([1.0, 2.0]), np.array([0.0, 4.0]), np.zeros(2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.divide(a, b, out=out, where=b != 0)
    assert out.tolist() == [0.0, 0.5]


def test_few_elements_of_a_large_array_are_stored_at_once() -> None:
    x, wanted = large(), numpy.arange(float(MANY))
    small = np.array([1.0, 2.0, 3.0])
    kept = x + 1.0
    x[5:8] = small
    assert pending() == 2  # since what is recorded is to read it first
    flush()
    for key in (slice(2, 5), slice(None, None, 7000), [1, 2, 3], slice(-3, None)):
        x[key] = small * 2.0
        wanted[5:8] = small.numpy()
        wanted[key] = small.numpy() * 2.0
        assert pending() == 0
    x[::2] = 0.0
    assert pending() == 1
    wanted[::2] = 0.0
    numpy.testing.assert_array_equal(x, wanted)
    assert kept[5] == 6.0


def test_an_axis_is_as_long_as_the_longest_operands() -> None:
    flush()
    a, row, many = np.ones((60, 100)), np.ones(100), np.ones((1,) * 40)
    for found in (a + row, row[None] * a, numpy.ones((60, 1)) + a):
        assert pending() == 0
        assert found.shape == (60, 100)
    assert (many + row[0]).shape == many.shape


KEYS = (
    slice(1, None), slice(None, -1), slice(None), slice(-3, 2), slice(None, None, -2), slice(9, 2), ..., 1, -2,
    (1, slice(2, 5)), (slice(None), -1), (..., 0), (None, 2), (slice(1, 3), None, slice(None, None, 3)), (1, 2, ...),
)  # fmt: skip


@pytest.mark.parametrize("key", KEYS)
def test_the_way_to_a_view_is_found_when_it_is_recorded(key: Any) -> None:
    """A view of a small array that is there is NumPy's at first."""
    theirs = numpy.arange(24.0).reshape(4, 6)
    ours = np.array(theirs)
    for _ in range(2):
        view, wanted = ours[key], theirs[key]
        at_once = view + 1.0
        assert pending() == 0
        assert view.shape == wanted.shape
        assert view.strides == wanted.strides
        with appyc.deferred():
            later = view * 2.0 + view.T.sum()
            view += 1.0
            assert (pending() > 0) == (wanted.size > 1)
            numpy.testing.assert_array_equal(at_once, wanted + 1.0)
        wanted_later = wanted * 2.0 + wanted.sum()
        wanted += 1.0
        numpy.testing.assert_array_equal(later, wanted_later)
        numpy.testing.assert_array_equal(ours, theirs)
        flush()
        ours, theirs = ours.T[1:].T, theirs.T[1:].T  # once more, of a view that is no row after row
        if theirs.ndim != 2 or theirs.shape[1] < 5:
            break


def test_small_arrays_are_views_in_other_shapes() -> None:
    theirs = numpy.arange(24.0).reshape(4, 6)
    ours = np.array(theirs)
    flush()
    for shape in (lambda a: a.reshape(6, 4), lambda a: a[1:3].reshape(-1, 3), lambda a: a.reshape((2, 3, -1))[1],
                  lambda a: a.ravel()[3:], lambda a: a[2].reshape(3, 2).T, lambda a: a.reshape(24).reshape(12, 2),
                  lambda a: a.T.reshape(3, 8), lambda a: a.flatten(), lambda a: a[:, 1:].ravel()):  # fmt: skip
        found, wanted = shape(ours), shape(theirs)
        assert found.strides == wanted.strides
        found += 1.0
        wanted += 1.0
        assert pending() == 0
        with appyc.deferred():
            later = found * 2.0
            found += 1.0
            assert pending() == 2
            numpy.testing.assert_array_equal(later.numpy(), wanted * 2.0)
        wanted += 1.0
        numpy.testing.assert_array_equal(ours.numpy(), theirs)
        flush()
    for wrong in (lambda a: a.reshape(5, 5), lambda a: a.reshape(-1, 7), lambda a: a.reshape(-1, -1)):
        with pytest.raises(ValueError, match=r"reshape|unknown dimension"):
            wrong(ours)


def test_small_arrays_are_copied_without_a_look_at_what_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    a = np.array([[1.5, 2.5], [3.5, 4.5]])
    a.copy().astype(int)  # the first call finds out whether a library calls
    monkeypatch.setattr(recorder, "record", None)
    for found, wanted in (
        (a.copy(), a.numpy()),
        (a.T.copy(), a.numpy().T.copy()),
        (a.astype(int), a.numpy().astype(int)),
        (a.astype("f4", copy=False), a.numpy().astype("f4")),
    ):
        assert type(found) is np.ndarray
        numpy.testing.assert_array_equal(numpy.asarray(found), wanted)
        assert (found.dtype, found.strides) == (wanted.dtype, wanted.strides)
        found[0] = 9
        assert a[0, 0] == 1.5
    assert a.astype(float, copy=False) is a


def test_the_axes_of_small_arrays_are_turned_at_once() -> None:
    m = np.array(numpy.arange(24.0).reshape(2, 3, 4))
    flush()
    for found, wanted in (
        (m.T, m.numpy().T),
        (m[1].T, m.numpy()[1].T),
        (m[:, 1:].T[2], m.numpy()[:, 1:].T[2]),
    ):
        assert (found * 1.0).strides == (wanted * 1.0).strides
        numpy.testing.assert_array_equal(found, wanted)
    turned = m.T
    m[0] = -1.0
    assert turned[0, 0, 0] == -1.0
    assert m[0, 0].T.tolist() == m[0, 0].tolist()
    assert np.zeros((0, 3)).T.shape == (3, 0)
    assert len(m) == 2
    with pytest.raises(TypeError, match="len\\(\\) of unsized object"):
        len(np.array(1.0))


def test_numbers_by_arrays_are_known_with_other_arguments_too() -> None:
    a = np.array([1.0, 4.0])
    out = numpy.zeros(2)
    number = numpy.float64(2.0)
    assert numpy.multiply(number, a).tolist() == [2.0, 8.0]
    assert numpy.sqrt(a).tolist() == [1.0, 2.0]
    numpy.multiply(number, a, out=out)
    assert out.tolist() == [2.0, 8.0]
    assert numpy.add.reduce(a) == 5.0
    assert (number < a).tolist() == [False, True]

    class Other:
        __array_ufunc__ = None

        def __rmul__(self, other: Any) -> str:
            return "other"

    assert a * Other() == "other"  # type: ignore[comparison-overlap]


def test_a_number_that_is_stored_into_each_element_is_as_much_work() -> None:
    flush()
    x = large()
    with appyc.deferred():
        x[::2] = 1.0
        assert gather(STATE.recording.statements).largest == MANY // 2
        flush()
        x[:] = np.zeros(MANY)
        assert gather(STATE.recording.statements).largest == MANY


def test_views_of_views_see_what_is_stored() -> None:
    a = np.array(numpy.arange(24.0)).reshape(4, 6)
    row, part = a[1], a[1:][:, 2:]
    row += 1.0
    assert part[0].tolist() == [9.0, 10.0, 11.0, 12.0]
    a.shape = (6, 4)
    assert a[1].tolist() == [4.0, 5.0, 7.0, 8.0]
    assert row.tolist() == [7.0, 8.0, 9.0, 10.0, 11.0, 12.0]


def test_warnings_and_their_state_are_numpys() -> None:
    flush()  # what other tests have left
    a = np.array([1.0, 0.0])
    for _ in range(3):
        with pytest.warns(RuntimeWarning, match="divide by zero"):
            1.0 / a
        with numpy.errstate(divide="raise"), pytest.raises(FloatingPointError):
            1.0 / a


def test_results_lie_in_memory_as_numpys() -> None:
    theirs = numpy.arange(6.0).reshape(2, 3)
    ours = np.array(theirs)
    for make in (
        lambda m: m.T + 1, lambda m: m.T + m.T, lambda m: m.T[[0, 1]], lambda m: m[:, [0, 1]], lambda m: m.T.copy(),
        lambda m: m.T.copy("K"), lambda m: m.T.sum(axis=0), lambda m: m.T.cumsum(axis=0), lambda m: m[::-1] * 2,
    ):  # fmt: skip
        for _ in range(2):
            assert make(ours).strides == make(theirs).strides
            assert numpy.array_equal(make(ours), make(theirs))


def test_products_and_reductions_of_turned_arrays_are_computed_at_once() -> None:
    theirs = {
        "a": numpy.arange(6.0).reshape(2, 3),
        "k": numpy.arange(6).reshape(3, 2),
        "v": numpy.arange(3.0),
    }
    flush()
    ours = {name: np.array(values) for name, values in theirs.items()}
    for text in (
        "a @ k", "a.T.dot(k.T)", "np.dot(a, v)", "v @ v", "a.T @ a", "np.matmul(k, a)", "v @ k", "np.dot(2.0, v)",
        "a.dot(a.T, out=a[:, :2].copy())", "a.T.sum(axis=0)", "np.mean(a.T, axis=1)", "a.T.max()", "k.T.argmin(axis=1)",
        "np.var(a.T)", "a.T.cumsum(axis=0)", "np.linalg.norm(a.T)", "np.round(a.T, 1)", "np.sum([a.T, a.T])",
    ):  # fmt: skip
        found = eval(text, ours | {"np": np})
        wanted = eval(text, theirs | {"np": numpy})
        assert STATE.recording.statements == [], text
        assert numpy.array_equal(found, wanted), text
        assert found.dtype == wanted.dtype, text
        assert isinstance(found, numpy.generic) == isinstance(wanted, numpy.generic), text
        assert found.strides == wanted.strides, text
    with pytest.raises(ValueError, match="mismatch in its core dimension"):
        ours["a"] @ ours["a"]


SHORT_WAYS = (
    "a.clip(1, 3)", "a.clip(max=2.5)", "np.clip(a, v, 4)", "a.round(1)", "a.take([1, 0], axis=0)", "np.outer(v, k)",
    "np.full_like(k, 2)", "np.copy(a)", "np.copy(a.T)", "np.roll(v, 1)", "np.roll(a, 1, axis=0)", "np.roll(v, 0)",
    "a.clip(1, 3, out=a)", "np.minimum.accumulate(a, axis=1)", "np.add.reduce(a)", "np.subtract.outer(v, k[0])",
    "np.add.reduceat(v, [0, 1])", "v[:, None] * k[0]",
)  # fmt: skip


@pytest.mark.parametrize("text", SHORT_WAYS)
def test_numpy_is_called_without_a_way_through_what_records(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = {
        "a": numpy.arange(6.0).reshape(2, 3),
        "k": numpy.arange(6).reshape(3, 2),
        "v": numpy.arange(3.0),
    }
    flush()
    ours = {name: np.array(values) for name, values in theirs.items()}
    monkeypatch.setattr(numpy_functions, "call", None)
    found, wanted = eval(text, ours | {"np": np}), eval(text, theirs | {"np": numpy})
    numpy.testing.assert_array_equal(numpy.asarray(found), wanted)
    assert (found.dtype, found.shape, found.strides) == (wanted.dtype, wanted.shape, wanted.strides)
    assert ("out=a" in text) == (found is ours["a"])
    found += 1
    for name in ("k", "v"):
        numpy.testing.assert_array_equal(numpy.asarray(ours[name]), theirs[name])


def test_memory_that_numpy_has_just_made_is_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    v = np.array(numpy.arange(5.0))
    flush()
    monkeypatch.setattr(evaluation, "_finished", None)
    for _ in range(3):
        v = np.roll(v, 1)  # NumPy rolls a flat array and gives a view of it
    assert v.tolist() == [2.0, 3.0, 4.0, 0.0, 1.0]


def test_numpys_functions_look_like_themselves() -> None:
    for name in ("sum", "sort", "add", "where"):
        assert repr(getattr(np, name)) == repr(getattr(numpy, name))
        assert getattr(np, name).__name__ == name
    with pytest.raises(AttributeError, match=r"'numpy\.ndarray' object has no attribute 'rows'"):
        np.ones(3).rows  # noqa: B018


def test_what_is_large_is_recorded() -> None:
    x = large()
    row, column = np.ones((1000, 1)), np.ones((1, 1000))
    assert pending() == 0
    results = [
        row + column, row @ column, np.tile(column, (9, 9)), np.where(row > 0, column, 0), x.sum(),
        np.zeros(MANY), np.outer(row, column),
    ]  # fmt: skip
    assert pending() == len(results)  # the condition is computed at once
    flush()


def test_functions_that_numpy_runs_see_what_is_there_and_change_it_in_turn() -> None:
    x = large()
    m = np.array(numpy.arange(9.0).reshape(3, 3))
    kept = m[0] + x[:3]  # is to read what comes before the change
    waits = x[:3] * 2.0
    np.fill_diagonal(m, -1.0)
    np.put(m, [1], 50.0)
    assert kept.tolist() == [0.0, 2.0, 4.0]
    assert m.tolist() == [[-1, 50, 2], [3, -1, 5], [6, 7, -1]]
    assert np.concatenate([m[0], waits, [7.0]]).tolist() == [-1, 50, 2, 0, 2, 4, 7]
    assert np.sort(waits)[::-1].tolist() == [4, 2, 0]
    assert float(np.linalg.det(m)) == numpy.linalg.det(m.numpy())
    shuffled = np.array([3.0, 3.0])
    np.random.shuffle(shuffled)
    assert shuffled.tolist() == [3.0, 3.0]


def test_results_of_numpys_functions_are_appycs_and_views_stay_views() -> None:
    a = np.array([[3.0, 1.0], [2.0, 4.0]])
    for found in (
        np.sort(a), np.linalg.inv(a), np.concatenate((a, a)), np.arange(3), np.linspace(0, 1, 4), np.array([1, 2]),
        np.array(a), np.median(a, axis=0), np.unique(a),
        np.meshgrid(a[0], a[1])[0], np.nonzero(a)[0], np.append(a, 1.0),
        np.clip(a, 1, 2), np.take(a, [0, 1]), np.repeat(5, 3), np.random.rand(2), np.real(a), np.asfortranarray(a),
    ):  # fmt: skip
        assert type(found) is np.ndarray
    assert type(np.median(a)) is type(np.sin(0.5)) is type(np.linalg.det(a)) is numpy.float64
    for view in (np.real(a), np.flip(a), np.reshape(a, 4), np.ravel(a), np.transpose(a), np.atleast_3d(a)):
        view[...] = 7.0
        assert (a == 7.0).all()
        a[...] = [[3.0, 1.0], [2.0, 4.0]]
    copy = np.array(a)
    copy[0] = 9.0
    assert a[0, 0] == 3.0
    assert np.array(a, copy=False).buffer is a.buffer or np.asarray(a) is a


def test_stores_see_the_value_of_the_line_whatever_is_stored() -> None:
    a, b = np.zeros(4), np.array([1.0, 2.0])
    a[1:3] = b
    a[0] = b[1]
    a[[3, 0]] = [5, 6]
    a[a > 5.5] = numpy.float32(0.5)
    b[:] = 0.0
    assert a.tolist() == [0.5, 1.0, 2.0, 5.0]
    a[:2], a[2:] = a[2:].copy(), a[:2].copy()
    assert a.tolist() == [2.0, 5.0, 0.5, 1.0]
    a[1:] += a[:-1]
    assert a.tolist() == [2.0, 7.0, 5.5, 1.5]


@pytest.mark.parametrize("to_write", [False, True])
def test_memory_is_settled_where_nothing_waits_for_it(*, to_write: bool) -> None:
    def is_settled(view: np.ndarray) -> bool:
        return _nodes.settled(STATE.recording, view, to_write) is not None

    x, y = large(), large()
    flush()
    assert is_settled(x)
    assert is_settled(x[::-2])
    assert is_settled(x.reshape(200, 100).T[3])
    z = x + 1.0
    assert is_settled(x) is not to_write
    assert is_settled(y)
    assert not is_settled(z)
    y[1:] = 0.0
    assert not is_settled(y)
    for name in ("busy", "running"):
        setattr(STATE.recording, name, True)
        assert not is_settled(np.ndarray(x.buffer, (), x.shape, x.dtype))
        setattr(STATE.recording, name, False)
    flush()
    assert is_settled(x)
    assert is_settled(y)
    assert is_settled(z)
    x.buffer.is_watched = True
    assert not is_settled(x)
    x.buffer.is_watched = False


def ran(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows by one with each flush of something."""
    counts: list[int] = []
    inner = running._run_all

    def counted(take: Callable[[], list[Any]], wanted: Any) -> None:
        def taken() -> list[Any]:
            statements = take()
            counts.extend([len(statements)] if statements else [])
            return statements

        inner(taken, wanted)

    monkeypatch.setattr(running, "_run_all", counted)
    return counts


@pytest.mark.parametrize("at_once", [1, 8192])
def test_a_loop_that_fills_an_array_waits_for_it_once(monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    monkeypatch.setattr(STATE.recording, "at_once", at_once)
    for make in (np.zeros, np.ones, lambda n: np.sin(np.arange(float(n)))):
        flush()
        counts = ran(monkeypatch)
        x = make(MANY)
        for i in range(1, 200):
            x[i] = x[i - 1] * 0.5 + i
        assert len(counts) <= 2
        assert pending() == 0
        wanted = 0.0
        for i in range(1, 200):
            wanted = (x.numpy()[0] if i == 1 else wanted) * 0.5 + i
        assert x[199] == wanted


def test_a_loop_that_fills_rows_or_columns_waits_for_them_once(monkeypatch: pytest.MonkeyPatch) -> None:
    flush()
    a = numpy.sin(numpy.arange(40.0 * 300)).reshape(40, 300)
    for axis in (0, 1):
        counts = ran(monkeypatch)
        x, wanted = np.array(a) * 1.0, a.copy()
        xs, rows = (x, wanted) if axis == 0 else (x.T, wanted.T)
        for i in range(1, 40):
            xs[i] = xs[i - 1] * 0.5 + xs[i]
            rows[i] = rows[i - 1] * 0.5 + rows[i]
        assert len(counts) <= 2
        assert numpy.array_equal(x, wanted)


def test_a_reader_of_an_array_that_a_loop_fills_sees_what_was_there_before() -> None:
    x = np.zeros(MANY)
    y = x * 2.0 + 1.0
    for i in range(10):
        x[i] = i
    assert numpy.array_equal(y, numpy.ones(MANY))
    assert x[:10].tolist() == list(range(10))


def test_elements_that_different_lines_store_wait() -> None:
    """They are the corners of a grid, say, and no loop that fills it."""
    flush()
    x = np.zeros(MANY)
    x[0] = 1.0
    x[1] = 2.0
    x[-1] = 3.0
    x[-2] = 4.0
    assert pending() == 5
    assert x[-2] + x[1] == 6.0


@pytest.mark.parametrize("at_once", [0, 1])
def test_rows_of_arrays_wait_where_only_elements_are_small(
    monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr(STATE.recording, "at_once", at_once)
    flush()
    x = np.zeros((100, 300))
    for i in range(5):
        x[i] = 2.0
        if at_once == 0:
            x[i, 0] = 3.0
    assert pending() == (6 if at_once else 11)
    assert float(x.sum()) == 3000.0 + (5.0 if at_once == 0 else 0.0)


def test_a_loop_that_came_round_goes_on_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it needs is there then, and waits for nothing, so it is not recorded again."""
    flush()
    counts = ran(monkeypatch)
    x = large()
    v = x[:100] * 1.0
    x += 1.0
    w = x[:100] * 1.0  # which waits
    for _ in range(100):
        w = w * 0.5 + v
    assert len(counts) == 1
    assert pending() == 0
    wanted = numpy.arange(1.0, 101.0)
    for _ in range(100):
        wanted = wanted * 0.5 + numpy.arange(100.0)
    assert numpy.array_equal(w, wanted)


def test_numpys_numbers_by_arrays_are_known() -> None:
    """`x[i] * row`, of which NumPy's scalar is asked first."""
    x = large()
    small, number = np.array([1.0, 2.0]), numpy.float64(3.0)
    assert type(number * small) is np.ndarray
    assert (number - small).tolist() == [2.0, 1.0]
    y = number * x
    assert pending() == 1
    assert float(y[2] - number / y[1]) == 5.0
    assert (numpy.arange(2.0) / small).tolist() == [0.0, 0.5]
    masked = numpy.ma.masked_array([1.0, 2.0], [False, True])
    assert type(masked * small) is numpy.ma.MaskedArray


LARGEST = 1 << 18
"""The bound on what is computed at once."""


def flushed(recording: Recording, times: int, elements: int, seconds: float, saved: float) -> int:
    """The bound on what is computed at once, after flushes of two statements each."""
    for _ in range(times):
        recording.has_run(2, elements, seconds, saved)
    return recording.at_once


def test_arrays_are_recorded_until_recording_them_has_taken_longer_than_numpy() -> None:
    recording = Recording(160, 1 << 30, LARGEST)
    assert flushed(recording, 20, 1000, 1e-4, 0.0) == 1
    assert flushed(recording, 20, 1000, 1e-4, 0.0) == 1024
    assert flushed(recording, 100, 5000, 1e-4, 2e-4) == 1024
    assert flushed(recording, 1000, 1 << 19, 1e-4, 0.0) == 1024
    assert flushed(recording, 1000, 200_000, 1e-4, 0.0) == LARGEST
    with recording.deferred():
        assert flushed(recording, 100, 30, 1e-4, 0.0) == 1
    assert recording.at_once == LARGEST


def test_the_bound_is_in_proportion_to_what_is_lost() -> None:
    """A program that reads each norm has nothing to fuse; one that has something, goes on to do so."""
    assert flushed(Recording(160, 1 << 30, LARGEST), 100, 30_000, 1e-4, 2e-5) == 32768
    assert flushed(Recording(160, 1 << 30, 100), 100, 90, 1e-4, 2e-5) == 100
    assert flushed(Recording(160, 1 << 30, 1), 100, 30_000, 1e-4, 2e-5) == 1
    recording = Recording(160, 1 << 30, LARGEST)
    flushed(recording, 100, 10_000, 1e-4, 5e-4)
    assert flushed(recording, 100, 30_000, 1e-4, 2e-5) == 1  # smaller ones gain more than these lose
    assert flushed(recording, 100, 9_000, 1e-4, 2e-4) == 1


def test_one_flush_that_takes_long_decides_nothing() -> None:
    """It has made the text of a program, or other processes had the processor."""
    assert flushed(Recording(160, 1 << 30, LARGEST), 5, 1000, 1.0, 0.0) == 1


def test_what_a_program_saves_is_measured() -> None:
    program = Program(None, ())  # type: ignore[arg-type]
    assert program.saved(1000) > 0.0
    program.by_numpy, program.slow = 1, 2e-9
    assert program.saved(1000) == pytest.approx(HOPED_SHARE * 2e-6)
    program.fast = 5e-9
    assert program.saved(1000) < 0.0


def test_somebody_who_wants_nothing_at_once_gets_nothing() -> None:
    assert flushed(Recording(160, 1 << 30, 0), 1000, 30, 1e-4, 0.0) == 0


def test_a_loop_on_arrays_of_middling_size_is_handed_back_to_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Flushes of few statements each take longer than the statements."""
    recording = STATE.recording
    monkeypatch.setattr(recording, "at_once", 1)
    monkeypatch.setattr(recording, "most_at_once", LARGEST)
    a = numpy.random.default_rng(0).random((150, 150))
    m, x = np.array(a), np.ones(150)
    for _ in range(400):
        x = m @ x
        x = x / np.linalg.norm(x)
        if float(x[0]) > 2.0:
            break
    assert recording.at_once >= a.size
    y = x + m @ x
    assert recording.statements == []
    numpy.testing.assert_allclose(y, x.numpy() + a @ x.numpy())


TRIED_OUT = """
import appyc, appyc.numpy as np
from appyc.lazy.running import STATE

x = np.array([1.0, 2.0, 3.0])
y = x * 2.0 + 1.0
assert len(STATE.recording.statements) == 2 and x[0] + 1.0 == 2.0 and len(STATE.recording.statements) == 2
assert "<svg" in np.graph(y).svg
print(y)
print(appyc.explain())
for _ in range(1000):
    x = x + 1.0
    float(x[0])
assert not STATE.recording.statements and type(x + 1.0) is np.ndarray and not STATE.recording.statements
"""


def test_who_tries_it_out_on_small_arrays_sees_them_recorded() -> None:
    done = subprocess.run([sys.executable, "-c", TRIED_OUT], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "[3. 5. 7.]" in done.stdout
    assert "too little to be worth compiling so far" in done.stdout


def test_the_bound_comes_from_the_environment() -> None:
    assert computed_at_once({}) == LARGEST
    assert computed_at_once({"APPYC_RECORDED_AT_ONCE": "0"}) == 0
    for text in ("-1", "few"):
        with pytest.raises(ValueError, match="APPYC_RECORDED_AT_ONCE must be a number that is not negative"):
            computed_at_once({"APPYC_RECORDED_AT_ONCE": text})


@pytest.mark.at_once
def test_a_call_that_records_several_operations_is_known_to_have_no_plan() -> None:
    """It is computed at once by NumPy where its arrays are small, and recorded where they are not."""
    function = np.cumsum
    a = np.array(numpy.arange(6.0).reshape(2, 3))
    expected = numpy.cumsum(a.numpy())
    for _ in range(3):
        assert function(a).tolist() == expected.tolist()
    STATE.recording.at_once = 1
    function(a)
    waiting = function(a)
    assert None in function.plans.values()
    assert waiting.buffer.memory is None
    assert waiting.tolist() == expected.tolist()
    larger = a + 0.0
    STATE.recording.at_once = 8192
    assert function(larger).tolist() == expected.tolist()  # what it reads waits


@pytest.mark.at_once
@pytest.mark.parametrize(
    "make",
    [
        lambda np, a: np.cumsum(a),
        lambda np, a: np.cumsum(a, axis=1),
        lambda np, a: np.diff(a),
        lambda np, a: np.linspace(0.0, a.sum(), 5),
        lambda np, a: np.linspace(numpy.arange(3.0), 5.0, 4),
        lambda np, a: a.flatten(),
        lambda np, a: a.T.flatten(),
        lambda np, a: a.flatten("F"),
        lambda np, a: np.outer(a, a),
    ],
)
def test_results_of_small_arrays_are_their_own(make) -> None:
    for _ in range(3):
        a = numpy.arange(6.0).reshape(2, 3)
        b = np.array(a)
        one, two = make(numpy, a), make(np, b)
        assert isinstance(two, np.ndarray)
        assert one.dtype == two.dtype
        two += 1
        two[0] = 7.0
        one += 1
        one[0] = 7.0
        assert one.tolist() == two.tolist()
        assert a.tolist() == b.tolist()


LOADS = (
    lambda a, i: a[i],
    lambda a, i: a[i, 2],
    lambda a, i: a[i, i % 3],
    lambda a, i: a[i, 1:],
    lambda a, i: a[:3, i % 3],
    lambda a, i: a[[0, -1]],
    lambda a, i: a[i[:, None], [0, 1]],
    lambda a, i: a[i.numpy() if hasattr(i, "numpy") else i],
    lambda a, i: a.T[i % 3, i],
)


@pytest.mark.sampled
@pytest.mark.at_once
@pytest.mark.parametrize("python", [False, True])
@pytest.mark.parametrize("load", LOADS)
def test_a_few_elements_of_a_large_array_are_loaded_at_once(
    load: Any, python: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    a = numpy.arange(60_000.0).reshape(20_000, 3)
    i = numpy.array([5, 19_999, 0, 5, -1])
    large_array, few = np.array(a), np.array(i)
    if python:
        found = large_array._at(few)
        assert found.buffer.memory is not None
        assert found.tolist() == a[i].tolist()
        return
    found = load(large_array, few)
    assert isinstance(found, np.ndarray)
    assert found.buffer.memory is not None
    assert found.tolist() == load(a, i).tolist()
    found += 1
    assert large_array.tolist() == a.tolist()


@pytest.mark.at_once
def test_what_is_not_small_or_not_there_is_gathered_later() -> None:
    a = numpy.arange(60_000.0).reshape(20_000, 3)
    b = np.array(a)
    many = np.array(numpy.arange(10_000))
    assert b[many].buffer.memory is None
    assert b[many, 1].buffer.memory is None  # ten thousand
    waiting = b * 2.0
    few = np.array([1, 2])
    assert waiting[few].buffer.memory is None
    assert waiting[few].tolist() == (a * 2.0)[[1, 2]].tolist()
    b[few] = 7.0
    assert b[few].tolist() == [[7.0] * 3] * 2
    mask = a[:, 0] < 10
    assert b[np.array(mask)].shape == a[mask].shape
    with pytest.raises(IndexError, match="out of bounds"):
        b[np.array([20_000])]
    with pytest.raises(IndexError, match="too many indices"):
        b[few, few, few]


@pytest.mark.parametrize("at_once", [0, 8192])
def test_views_of_a_number_are_copies(monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    monkeypatch.setattr(STATE.recording, "at_once", at_once)
    total = large().sum()
    for view in (total.reshape(-1), total.ravel(), np.reshape(total, 1), np.ravel(total)):
        view[0] = 1
    assert total == numpy.arange(float(MANY)).sum()
    for scalar in (total.squeeze(), total.view(), total.reshape(()), total.view("i8")):
        assert isinstance(scalar, numpy.generic)
