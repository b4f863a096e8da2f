"""Loops whose names exchange arrays: what is copied, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import appyc


def _swapping(a, b, n):  # type: ignore[no-untyped-def]
    for _ in range(n):
        b[1:-1] = a[:-2] + a[2:]
        a, b = b, a
    return a


def _seven_in_a_ring(a, b, c, d, e, f, g, n):  # type: ignore[no-untyped-def]
    for k in range(n):
        a[0] = k
        a, b, c, d, e, f, g = b, c, d, e, f, g, a
    return a


def _compiled(fn: Any, *args: Any) -> Any:
    out = appyc.jit(strict=True, cache=False, target="cpu")(fn)
    out(*args)
    return out


def test_arrays_are_exchanged_without_copies() -> None:
    text = _compiled(_swapping, np.ones(5), np.ones(5), 3).source("ir")
    assert "empty(" not in text, text
    assert text.count(" in range(") == 3, text  # the time loop, and the step in each of the two arrangements


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_the_caller_gets_its_own_array_back(n: int) -> None:
    a, b = np.ones(5), np.zeros(5)
    assert _compiled(_swapping, np.ones(5), np.ones(5), 1)(a, b, n) is (b if n % 2 else a)


def test_more_arrangements_than_are_compiled_are_refused() -> None:
    with pytest.raises(appyc.UnsupportedError, match="is bound to another array here"):
        _compiled(_seven_in_a_ring, *(np.ones(3) for _ in range(7)), 9)
