"""Memory that one call gives back and the next one takes: what is kept, for how long, and that it is whole."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Iterator

import numpy as np
import pytest

import appyc
import appyc.numpy as lazy
from appyc import options
from appyc.runtime.temporary_memory import copied, release_memory
from tests.memory import keeping, poisoned

LARGE = 1 << 20
"""Elements: far more than the C library keeps by itself."""


@appyc.jit(cache=False, target="cpu")
def doubled(a):
    return a * 2.0


@appyc.jit(cache=False, target="cpu")
def counted(n):
    out = np.zeros(n)
    out[0] += 1.0
    return out


def address(array: np.ndarray) -> int:
    return int(array.__array_interface__["data"][0])


@pytest.fixture(autouse=True)
def _nothing_kept() -> Iterator[None]:
    release_memory()
    with keeping(1 << 30):
        yield
    release_memory()


def test_what_a_result_gives_back_the_next_call_takes() -> None:
    a = np.ones(LARGE + 5000)
    first = address(doubled(a))
    assert address(doubled(a)) == first
    assert address(doubled(a[:-9])) == first  # nearly as large
    assert address(doubled(a[: LARGE // 2])) != first


def test_a_result_that_is_in_use_is_nobody_elses() -> None:
    a = np.arange(float(LARGE))
    one = doubled(a)
    view = one[5:]
    del one
    two = doubled(a + 1.0)
    assert not np.shares_memory(view, two)
    assert np.array_equal(view, a[5:] * 2.0)
    assert np.array_equal(two, a * 2.0 + 2.0)


def test_zeros_are_zeros_in_memory_that_was_used() -> None:
    for n in (LARGE, LARGE - 7, LARGE, 3, 1):
        for _ in range(3):
            out = counted(n)
            assert out[0] == 1.0
            assert not out[1:].any()
            out[:] = np.nan


def test_memory_is_released_on_request() -> None:
    a = np.ones(LARGE)
    doubled.compile(a)  # a call that compiles returns its result in memory of NumPy's
    doubled(a)
    assert release_memory() >= 8 * LARGE
    assert release_memory() == 0


def test_what_is_kept_is_bounded() -> None:
    a = np.ones(LARGE)
    with keeping(0):
        doubled(a)
        assert release_memory() == 0
    with keeping(3 * 8 * LARGE):
        results = [doubled(a) for _ in range(6)]
        results.clear()
        assert 2 * 8 * LARGE <= release_memory() <= 3 * 8 * LARGE
    with keeping(1 << 40):
        results = [doubled(a[: LARGE // 8]) for _ in range(200)]
        results.clear()
        assert 0 < release_memory() <= 64 * 1.2 * LARGE


def test_a_lower_bound_frees_at_once() -> None:
    doubled(np.ones(LARGE))
    with keeping(0):
        assert release_memory() == 0


def test_small_arrays_are_left_to_the_library() -> None:
    for n in (0, 1, 2, 1000):
        assert doubled(np.ones(n)).shape == (n,)
    assert release_memory() == 0


def test_threads_share_what_is_kept() -> None:
    """Kernels run without the GIL; each result must be its own, whoever gave its memory back."""
    wrong: list[int] = []

    def work(seed: int) -> None:
        a = np.full(LARGE // 8 + seed, float(seed))
        for _ in range(200):
            kept = [doubled(a) for _ in range(3)]
            if not all((k == 2.0 * seed).all() for k in kept):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_child_works_with_what_its_parent_kept() -> None:
    a = np.ones(LARGE)
    doubled(a)
    child = os.fork()
    if child == 0:
        os._exit(0 if doubled(a).sum() == 2.0 * LARGE else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert doubled(a).sum() == 2.0 * LARGE


def test_a_faulting_call_gives_back_what_it_took() -> None:
    @appyc.jit(cache=False, target="cpu")
    def beyond(a, at):
        twice = a * 2.0
        s = 0.0
        for i in range(at.shape[0]):
            s += twice[at[i]]
        return twice, s

    a = np.ones(LARGE)
    for _ in range(5):
        with pytest.raises(IndexError):
            beyond(a, np.array([LARGE]))
    gc.collect()
    assert release_memory() <= 2 * 8 * LARGE * 1.2


def test_the_bound_comes_from_the_environment() -> None:
    assert options.kept_bytes({"APPYC_KEPT_BYTES": "12345"}) == 12345
    assert 0 <= options.kept_bytes({}) <= 1 << 30
    with pytest.raises(ValueError, match="APPYC_KEPT_BYTES"):
        options.kept_bytes({"APPYC_KEPT_BYTES": "much"})


def test_poison_shows_what_nobody_wrote() -> None:
    @appyc.jit(cache=False, target="cpu")
    def unwritten(n):
        return np.empty(n)

    for n in (3, LARGE):
        with poisoned(0xFF):
            assert np.isnan(unwritten(n)).all()
            assert not counted(n)[1:].any()


@pytest.mark.parametrize("dtype", ["float64", ">f8", "int32", "complex64", "bool", "U3"])
@pytest.mark.parametrize("shape", [(), (0, 4), (5,), (300, 301)])
def test_copies_are_their_own_whatever_they_are_of(dtype: str, shape: tuple[int, ...]) -> None:
    values = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    for view in (values, values.T, values[::-1]) if shape else (values,):
        for found in (copied(view), lazy.array(view).numpy()):
            assert found.dtype == view.dtype
            np.testing.assert_array_equal(found, view)
            assert not np.shares_memory(found, values)
        assert copied(view).flags.c_contiguous
        assert lazy.array(view).strides == np.array(view).strides
    read_only = values.copy()
    read_only.flags.writeable = False
    again = lazy.array(read_only)
    again[...] = again
    assert again.numpy().tolist() == values.tolist()


def test_copies_take_memory_that_was_given_back() -> None:
    values = np.ones(1 << 18)
    with keeping(1 << 24):
        release_memory()
        del_me = copied(values)
        at = del_me.ctypes.data
        del del_me
        assert copied(values).ctypes.data == at
