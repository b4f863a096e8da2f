"""Calls of a GPU version that skip what was looked at before; the GPU is a stand-in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import appyc
from appyc.compiler import compiled_function
from tests import stand_in_cupy

FACTOR = 2.0


@pytest.fixture
def cupy() -> Iterator[Any]:
    with stand_in_cupy.installed() as module:
        yield module


def shifted(a, b, x):
    for i in range(1, a.shape[0]):
        b[i] = a[i - 1] * x


def scaled(a, b):
    for i in range(a.shape[0]):
        b[i] = a[i] * FACTOR


def total(a, b):
    return (a * b).sum()


def slow_calls(monkeypatch: pytest.MonkeyPatch) -> list[None]:
    """Has an item for each call that looks for a version from now on."""
    out: list[None] = []
    usual = compiled_function.CompiledFunction._call

    def counted(self: Any, *args: Any, **keywords: Any) -> Any:
        out.append(None)
        return usual(self, *args, **keywords)

    monkeypatch.setattr(compiled_function.CompiledFunction, "_call", counted)
    return out


def check(cupy: Any, compiled: Any, fn: Callable[..., Any], *args: Any) -> None:
    given = [cupy.asarray(a) if isinstance(a, np.ndarray) else a for a in args]
    compiled(*given)
    fn(*args)
    for ours, theirs in zip(given, args, strict=True):
        if isinstance(theirs, np.ndarray):
            np.testing.assert_array_equal(cupy.asnumpy(ours), theirs)


def test_second_call_looks_for_no_version(cupy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = slow_calls(monkeypatch)
    compiled = appyc.jit(shifted, target="gpu", cache=False)
    for size in (5, 5, 7, 0, 5):
        check(cupy, compiled, shifted, np.arange(float(size)), np.zeros(size), 2.0)
    assert len(slow) == 1


def test_other_types_get_their_version(cupy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = slow_calls(monkeypatch)
    compiled = appyc.jit(shifted, target="gpu", cache=False)
    a = np.arange(6.0)
    for _ in range(2):
        check(cupy, compiled, shifted, a, np.zeros(6), 2.0)
        check(cupy, compiled, shifted, a.astype(np.float32), np.zeros(6), 2.0)
        check(cupy, compiled, shifted, a, np.zeros(6), 3)
    assert len(slow) == 3


def test_arrays_that_overlap_are_not_taken(cupy: Any) -> None:
    compiled = appyc.jit(shifted, target="gpu", cache=False)
    check(cupy, compiled, shifted, np.arange(6.0), np.zeros(6), 2.0)
    memory, theirs = cupy.asarray(np.arange(8.0)), np.arange(8.0)
    compiled(memory[:6], memory[2:], 2.0)
    shifted(theirs[:6], theirs[2:], 2.0)
    np.testing.assert_array_equal(cupy.asnumpy(memory), theirs)


def test_read_arrays_may_be_one(cupy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    slow, a = slow_calls(monkeypatch), cupy.asarray(np.arange(4.0))
    compiled = appyc.jit(total, target="gpu", cache=False)
    assert float(compiled(a, a)) == float(compiled(a, a)) == 14.0
    assert len(slow) == 1


def test_what_is_built_in_may_change(cupy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = appyc.jit(scaled, target="gpu", cache=False)
    for factor in (2.0, 2.0, 3.0):
        monkeypatch.setitem(globals(), "FACTOR", factor)
        check(cupy, compiled, scaled, np.arange(4.0), np.zeros(4))


def test_arrays_of_the_host_and_large_integers_go_the_long_way(cupy: Any) -> None:
    compiled = appyc.jit(shifted, target="gpu", cache=False)
    check(cupy, compiled, shifted, np.arange(4.0), np.zeros(4), 2)
    a, b, expected = np.arange(4.0), np.zeros(4), np.zeros(4)
    compiled(a, b, 2)
    shifted(a, expected, 2)
    np.testing.assert_array_equal(b, expected)
    check(cupy, compiled, shifted, np.arange(4.0), np.zeros(4), 2**63)
