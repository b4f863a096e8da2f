"""Calls of a GPU version that skip what was looked at before; the GPU is a stand-in."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from types import SimpleNamespace
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


def test_integers_beyond_63_bits_get_their_version(cupy: Any) -> None:
    compiled = appyc.jit(shifted, target="gpu", cache=False)
    check(cupy, compiled, shifted, np.arange(4.0), np.zeros(4), 2)
    check(cupy, compiled, shifted, np.arange(4.0), np.zeros(4), 2**63)


def test_arrays_of_the_host_need_no_version_of_their_own(cupy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = slow_calls(monkeypatch)
    compiled = appyc.jit(shifted, target="gpu", cache=False)
    check(cupy, compiled, shifted, np.arange(4.0), np.zeros(4), 2)
    a, b, expected = np.arange(6.0), np.zeros(6), np.zeros(6)
    compiled(a, b, 2)
    compiled(cupy.asarray(a), b, 2)
    shifted(a, expected, 2)
    np.testing.assert_array_equal(b, expected)
    assert len(slow) == 1
    b.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        compiled(a, b, 2)


def test_auto_leaves_arrays_of_the_host_on_the_host(cupy: Any) -> None:
    compiled = appyc.jit(shifted, cache=False)
    check(cupy, compiled, shifted, np.arange(4.0), np.zeros(4), 2)
    launches = cupy.cuda.driver.launches
    assert launches
    b = np.zeros(4)
    compiled(np.arange(4.0), b, 2)
    np.testing.assert_array_equal(b, [0.0, 0.0, 2.0, 4.0])
    assert cupy.cuda.driver.launches == launches


def put(a, b):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[i, j] = a[i, j] + 10.0 * i


LAYOUTS = [np.s_[:, :], np.s_[::2, :], np.s_[:, ::-1], np.s_[1:2, ::2], np.s_[:0, :], np.s_[:, :1]]


def test_each_layout_gets_its_version(cupy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = slow_calls(monkeypatch)
    compiled = appyc.jit(put, target="gpu", cache=False)
    for order in "CF":
        for part in LAYOUTS * 2:
            a = cupy.array(np.arange(24.0).reshape(4, 6), order=order)
            b, expected = cupy.zeros((4, 6))[part], np.zeros((4, 6))[part]
            compiled(a[part], b)
            put(cupy.asnumpy(a)[part], expected)
            np.testing.assert_array_equal(cupy.asnumpy(b), expected)
    # C and C, strided and strided, F and C, of which the rows and columns alone are C too
    assert len(slow) == len({(type_.arguments) for type_ in (k.interface for k in compiled.kernels)})


def odd_and_even(a, b):
    for i in range(a.shape[0]):
        b[i] = a[i] + 1.0


def test_parts_of_one_array_that_are_apart(cupy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = slow_calls(monkeypatch)
    compiled = appyc.jit(odd_and_even, target="gpu", cache=False)
    memory, theirs = cupy.asarray(np.arange(9.0)), np.arange(9.0)
    compiled(memory[1:9:2], cupy.zeros(9)[:8:2])
    for _ in range(2):
        compiled(memory[1:9:2], memory[:8:2])
        odd_and_even(theirs[1:9:2], theirs[:8:2])
    np.testing.assert_array_equal(cupy.asnumpy(memory), theirs)
    assert len(slow) == 1


def scaled_pair(pair, out, factor=2.0, *, shift=0.0):
    for i in range(out.shape[0]):
        out[i] = pair[0][i] * factor + pair[1][i] + shift


def scaled_by_default(pair, out, factor=2.0, nothing=None):
    for i in range(out.shape[0]):
        out[i] = pair[0][i] * factor + pair[1][i]


@pytest.mark.parametrize(
    ("fn", "keywords"), [(scaled_pair, {"shift": 1.0}), (scaled_by_default, {"factor": 3.0})]
)
def test_tuples_defaults_and_keywords(cupy: Any, fn: Callable[..., Any], keywords: dict[str, float]) -> None:
    compiled = appyc.jit(fn, target="gpu", cache=False)
    a = np.arange(5.0)
    for more in ({}, keywords, {}):
        out, expected = cupy.zeros(5), np.zeros(5)
        compiled((cupy.asarray(a), cupy.asarray(-a)), out, **more)
        fn((a, -a), expected, **more)
        np.testing.assert_array_equal(cupy.asnumpy(out), expected)


WEIGHTS = np.arange(8.0)


def weighted(a, b):
    for i in range(a.shape[0]):
        b[i] = a[i] * WEIGHTS[i]


def test_arrays_of_globals_are_looked_up(cupy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = slow_calls(monkeypatch)
    compiled = appyc.jit(weighted, target="gpu", cache=False)
    for weights in (WEIGHTS, WEIGHTS, -WEIGHTS):
        monkeypatch.setitem(globals(), "WEIGHTS", weights)
        check(cupy, compiled, weighted, np.arange(6.0), np.zeros(6))
    assert len(slow) == 1
    monkeypatch.setitem(globals(), "WEIGHTS", cupy.asarray(2 * np.arange(8.0)))
    b = cupy.zeros(6)
    compiled(cupy.asarray(np.arange(6.0)), b)
    np.testing.assert_array_equal(cupy.asnumpy(b), 2 * np.arange(6.0) ** 2)
    assert len(slow) == 1


def picked(index, a, b):
    for i in range(index.shape[0]):
        b[i] = a[index[i]]


def test_faults_are_raised_and_gone_in_the_next_call(cupy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = slow_calls(monkeypatch)
    compiled = appyc.jit(picked, target="gpu", cache=False)
    a, b = cupy.asarray(np.arange(4.0)), cupy.zeros(3)
    for _ in range(2):
        for index, fails in (([0, 3, 1], False), ([0, 4, 1], True), ([2, 2, 2], False)):
            given = cupy.asarray(np.array(index))
            if fails:
                with pytest.raises(IndexError, match="4"):
                    compiled(given, a, b)
            else:
                compiled(given, a, b)
                np.testing.assert_array_equal(cupy.asnumpy(b), index)
    assert len(slow) == 1


def test_faults_are_read_once_in_a_call_and_never_where_nothing_can_fail(cupy: Any) -> None:
    made: list[str] = []
    zeros, asnumpy = cupy.zeros, cupy.asnumpy
    cupy.zeros = lambda *given: made.append("zeros") or zeros(*given)
    cupy.asnumpy = lambda array: made.append("asnumpy") or asnumpy(array)
    a, b, index = cupy.asarray(np.arange(4.0)), cupy.asarray(np.zeros(4)), cupy.asarray(np.arange(4))
    for fn, args, expected in (
        (shifted, (a, b, 2.0), []),
        (picked, (index, a, b), ["zeros", "asnumpy", "asnumpy"]),
    ):
        compiled = appyc.jit(fn, target="gpu", cache=False)
        compiled(*args)
        compiled(*args)
        assert made == expected
        made.clear()


def divided(n, a):
    for i in range(a.shape[0]):
        a[i] += 1.0
    if n > 2:
        raise ValueError("too large")
    return a[0] + n


def test_what_the_host_raises(cupy: Any) -> None:
    compiled = appyc.jit(divided, target="gpu", cache=False)
    a = cupy.zeros(3)
    assert float(compiled(1, a)) == 2.0
    for _ in range(2):
        with pytest.raises(ValueError, match="too large") as raised:
            compiled(3, a)
        assert raised.value.__context__ is None
    assert float(compiled(1, a)) == 5.0


def test_a_guard_that_does_not_hold(cupy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = slow_calls(monkeypatch)
    compiled = appyc.jit(shifted, target="gpu", cache=False)
    check(cupy, compiled, shifted, np.arange(4.0), np.zeros(4), 2.0)
    b = cupy.zeros(3)
    for _ in range(2):
        with pytest.raises(IndexError):
            compiled(cupy.asarray(np.arange(5.0)), b, 2.0)
        np.testing.assert_array_equal(cupy.asnumpy(b), [0.0, 0.0, 2.0])
    assert len(slow) == 1


def test_each_thread_launches_on_its_stream(cupy: Any) -> None:
    own = threading.local()
    own.ptr = 0
    driver, compiled = cupy.cuda.driver, appyc.jit(shifted, target="gpu", cache=False)
    cupy.cuda.get_current_stream = lambda: SimpleNamespace(ptr=own.ptr)
    check(cupy, compiled, shifted, np.arange(4.0), np.zeros(4), 2.0)
    seen: dict[int, set[int]] = {}
    usual = driver.launch

    def launch(*arguments: Any) -> None:
        seen.setdefault(own.ptr, set()).add(arguments[8])
        usual(*arguments)

    driver.launch, driver.streams = launch, {0, 1, 2, 3}
    failed = []

    def calls(number: int) -> None:
        own.ptr = number
        try:
            for size in range(5, 15):
                check(cupy, compiled, shifted, np.arange(float(size)), np.zeros(size), float(number))
        except BaseException as error:
            failed.append(error)
            raise

    threads = [threading.Thread(target=calls, args=(number,)) for number in (1, 2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert seen == {1: {1}, 2: {2}, 3: {3}}


def test_each_gpu_has_its_kernels(cupy: Any) -> None:
    """A function of one GPU's memory is none of another's."""
    current, freed = [0], []
    cupy.cuda.runtime.getDevice = lambda: current[0]
    cupy.cuda.runtime.free = lambda pointer: freed.append((current[0], pointer))
    driver, loaded = cupy.cuda.driver, dict[int, int]()
    usual = driver.launch

    def launch(cubin: Any, *arguments: Any) -> None:
        assert loaded.setdefault(id(cubin), current[0]) == current[0]
        usual(cubin, *arguments)

    driver.launch = launch
    compiled = appyc.jit(shifted, target="gpu", cache=False)
    for current[0] in (0, 1, 0, 1):
        check(cupy, compiled, shifted, np.arange(16.0), np.zeros(16), 2.0)
    assert set(loaded.values()) == {0, 1}
    assert freed == [(0, 0), (1, 0)], "each GPU's context is made the thread's"


def test_a_call_while_another_one_launches(cupy: Any) -> None:
    """As a finaliser that the garbage collector runs there may make it."""
    compiled = appyc.jit(picked, target="gpu", cache=False)
    a, index = np.arange(4.0), np.array([3, 2, 0])
    check(cupy, compiled, picked, index, a, np.zeros(3))
    driver = cupy.cuda.driver
    usual, inner = driver.launch, []

    def launch(*arguments: Any) -> None:
        if not inner:
            inner.append(None)
            check(cupy, compiled, picked, index[::-1].copy(), -a, np.zeros(3))
        usual(*arguments)

    driver.launch = launch
    check(cupy, compiled, picked, index, a, np.zeros(3))
    assert inner
