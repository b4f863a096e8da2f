"""Recorded arrays that compiled functions find in globals, closures, attributes and tuples: they run at once on the
values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import appyc
import appyc.numpy as np
from appyc.lazy.running import STATE, flush

TABLE: Any = None


def weighted(k):
    total = 0.0
    for i in range(TABLE.shape[0]):
        total += TABLE[i] * k
    return total


def scaled(k):
    for i in range(TABLE.shape[0]):
        TABLE[i] = TABLE[i] * k


class Body:
    def __init__(self, module: Any) -> None:
        self.x = module.zeros(5) + 1.0
        self.weight = (module.ones(3) * 1.5).sum()

    def push(self, k):
        for i in range(self.x.shape[0]):
            self.x[i] += k * self.weight


def closing(table: Any) -> Callable[..., Any]:
    def shifted(x):
        return x + table

    return shifted


def first_of(pair, k):
    for i in range(pair[0].shape[0]):
        pair[0][i] = pair[1][i] * k
    return pair[1]


TARGETS = pytest.mark.parametrize("target", ["python", "cpu", "interpret"])


@pytest.fixture(params=[0, 1, 8192], autouse=True)
def _at_once(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(STATE.recording, "at_once", request.param)


@TARGETS
def test_globals_are_read_as_they_are_by_now(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "TABLE", np.arange(6.0) * 2.0)
    function = appyc.jit(target=target)(weighted)
    assert float(function(1.0)) == 30.0
    TABLE[0] += 5.0
    assert float(function(2.0)) == 70.0
    monkeypatch.setitem(globals(), "TABLE", np.ones(3) * 3.0)
    assert float(function(1.0)) == 9.0
    monkeypatch.setitem(globals(), "TABLE", numpy.ones(3))
    assert float(function(1.0)) == 3.0
    if target == "cpu":
        assert len(function._versions) == 1
        assert [len(found) for found in function._versions.values()] == [1]


@TARGETS
def test_what_waits_to_read_an_array_that_is_stored_into_sees_it_as_it_was(
    target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), "TABLE", np.arange(6.0) * 2.0)
    before = TABLE + 1.0
    appyc.jit(target=target)(scaled)(3.0)
    assert before.tolist() == [1.0, 3.0, 5.0, 7.0, 9.0, 11.0]
    assert (TABLE * 1.0).tolist() == [0.0, 6.0, 12.0, 18.0, 24.0, 30.0]


@TARGETS
def test_attributes(target: str) -> None:
    found, wanted = Body(np), Body(numpy)
    push = appyc.jit(target=target)(Body.push)
    for _ in range(2):
        push(found, 2.0)
        wanted.push(2.0)
        found.x, wanted.x = found.x * 2.0, wanted.x * 2.0
    assert numpy.array_equal(found.x, wanted.x)


@TARGETS
def test_closures(target: str) -> None:
    shifted = appyc.jit(target=target)(closing(np.arange(4.0) * 10.0))
    for given in (numpy.ones(4), np.ones(4) * 1.0):
        result = shifted(given)
        assert type(result) is np.ndarray
        assert result.tolist() == [1.0, 11.0, 21.0, 31.0]


def everything():
    return TABLE


def part_of(x):
    return x[1:], TABLE[2:4]


def test_results_are_views_of_what_they_are_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "TABLE", np.arange(6.0) * 2.0)
    assert appyc.jit(everything)() is not None
    assert appyc.jit(everything)().buffer is TABLE.buffer
    for given in (numpy.zeros(3), np.zeros(3) + 0.0):
        one, two = appyc.jit(part_of)(given)
        assert type(one) is type(given)
        one[0] = 8.0
        two[1] = -1.0
        assert given[1] == 8.0
        assert TABLE[3] == -1.0
        waiting = TABLE[3] * 1.0
        two[1] = 4.0
        assert float(waiting) == -1.0


@TARGETS
def test_tuples_of_arrays(target: str) -> None:
    pair = (np.zeros(3) + 0.0, np.ones(3) * 2.0)
    function = appyc.jit(target=target)(first_of)
    before = pair[0] + 1.0
    assert function(pair, 3.0) is pair[1]
    assert pair[0].tolist() == [6.0, 6.0, 6.0]
    assert before.tolist() == [1.0, 1.0, 1.0]
    with appyc.deferred():
        function(pair, k=4.0)
        assert pair[0].tolist() == [8.0, 8.0, 8.0]


def doubled(x):
    for i in range(len(x)):
        x[i] *= 2.0


def test_a_deferred_call_is_not_the_next_one_of_another_kind() -> None:
    flush()
    function = appyc.jit(doubled)
    a, plain = np.ones(3) * 1.0, numpy.ones(3)
    with appyc.deferred():
        function(a)
        function(plain)
    assert plain.tolist() == [2.0, 2.0, 2.0]
    assert a.tolist() == [2.0, 2.0, 2.0]


@TARGETS
def test_arrays_in_a_list(target: str) -> None:
    pair = [np.zeros(3), np.ones(3) + 1.0]
    assert appyc.jit(first_of, target=target)(pair, 3.0).tolist() == [2.0, 2.0, 2.0]
    assert pair[0].tolist() == [6.0, 6.0, 6.0]


def grown(arrays):
    arrays.append(arrays[0] + 1.0)
    return arrays[0]


def test_a_list_that_grows_is_still_refused() -> None:
    with pytest.raises(appyc.CompileError, match="list"):
        appyc.jit(strict=True)(grown)([np.zeros(3)])
