"""What is returned is the array, or a view of it, that Python returns: not a copy."""

from __future__ import annotations

import numpy as np
import pytest

import appyc

TARGETS = ["cpu", "interpret"]


@pytest.mark.parametrize("target", TARGETS)
def test_a_view_shares_the_memory_of_the_argument(target: str) -> None:
    @appyc.jit(strict=True, cache=False, target=target)
    def corner(a, k):  # type: ignore[no-untyped-def]
        return a[k:, ::-2]

    a = np.arange(20.0).reshape(4, 5)
    view = corner(a, 1)
    view[0, 0] = -1.0
    assert a[1, 4] == -1.0
    assert view.strides == a[1:, ::-2].strides


def test_a_view_of_an_array_that_may_not_be_written_may_not_be_written() -> None:
    @appyc.jit(strict=True, cache=False, target="cpu")
    def rest(a):  # type: ignore[no-untyped-def]
        return a[1:]

    a = np.arange(3.0)
    a.setflags(write=False)
    assert not rest(a).flags.writeable


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("n", [0, 2])
def test_a_name_that_no_iteration_bound_anew_is_the_argument(target: str, n: int) -> None:
    @appyc.jit(strict=True, cache=False, target=target)
    def doubled(a, n):  # type: ignore[no-untyped-def]
        x = a
        for _ in range(n):
            x = x * 2
        return x

    a = np.ones(3)
    assert (doubled(a, n) is a) == (n == 0)


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_names_that_are_exchanged_stand_for_the_arguments(n: int) -> None:
    @appyc.jit(strict=True, cache=False, target="cpu")
    def exchanged(a, b, n):  # type: ignore[no-untyped-def]
        for _ in range(n):
            a, b = b, a
        return a, b

    a, b = np.ones(3), np.zeros(3)
    one, other = exchanged(a, b, n)
    assert (one is a, other is b) == (n % 2 == 0, n % 2 == 0)
    assert (one is b, other is a) == (n % 2 == 1, n % 2 == 1)


def test_a_name_that_may_have_another_names_array_is_not_returned() -> None:
    @appyc.jit(strict=True, cache=False, target="cpu")
    def both(a, n):  # type: ignore[no-untyped-def]
        x = a + 1
        y = x
        for _ in range(n):
            x = x * 2
        return x, y

    with pytest.raises(appyc.UnsupportedError, match="another name's array"):
        both(np.ones(3), 1)


def test_a_returned_view_comes_back_from_the_disk(tmp_path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setenv("APPYC_CACHE_DIR", str(tmp_path))

    def tails(a, n):  # type: ignore[no-untyped-def]
        x = a
        for _ in range(n):
            x = x * 2
        return a[n:], x

    a = np.arange(4.0)
    for _ in range(2):
        tail, same = appyc.jit(strict=True, target="cpu")(tails)(a, 0)
        assert np.shares_memory(tail, a)
        assert same is a


def _views(a, k):  # type: ignore[no-untyped-def]
    return a[k:], a[:, None, ::-1], a.T, a[1:1], a[:0, ::-2], (a[::2, k], a[-1]), np.diag(a), a[::-1][:, 1:]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", ["float64", "int8", "complex64", "bool"])
@pytest.mark.parametrize("layout", ["C", "F", "strided", "readonly", "empty"])
def test_views_are_numpys(target: str, dtype: str, layout: str) -> None:
    """The dispatcher makes them of the array and numbers."""
    whole = np.arange(80).reshape(8, 10).astype(dtype)
    a = {"F": np.asfortranarray(whole), "strided": whole[::2, 9:0:-3], "empty": whole[:0]}.get(layout, whole)
    a.setflags(write=layout != "readonly")
    k = min(1, len(a))
    fn = _views if len(a) else _views_of_nothing
    found = [*_flat(appyc.jit(strict=True, cache=False, target=target)(fn)(a, k))]
    for view, wanted in zip(found, _flat(fn(a, k)), strict=True):
        assert (view.shape, view.dtype, view.tolist()) == (wanted.shape, wanted.dtype, wanted.tolist())
        assert view.size == 0 or view.strides == wanted.strides
        assert view.flags.writeable == wanted.flags.writeable or wanted.ndim == 1  # of `np.diag` it is not
        assert view.size == 0 or np.shares_memory(view, a)


def _views_of_nothing(a, k):  # type: ignore[no-untyped-def]
    return a[k:], a[::-1], a.T, a[:, 1:]


def _flat(values):  # type: ignore[no-untyped-def]
    for value in values:
        yield from _flat(value) if isinstance(value, tuple) else (value,)
