"""Long sums of single precision keep their digits, as NumPy's do, which adds in pairs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.e2e.harness import run_on

MANY = {"cpu": 400_000, "threads": 400_000, "interpret": 40_000}
"""One after the other, so many tenths come to a sum that is right in three digits, or four."""


def total(a):
    return a.sum()


def means(a):
    return a.reshape(2, -1).mean(axis=1)


def spread(a):
    return a.std(), a.mean()


def chosen(a):
    return a[a > 0].sum(), a.sum(where=a > 0)


def of_complex(a):
    return (a * np.complex64(1 + 2j)).sum()


@pytest.mark.sampled
@pytest.mark.parametrize("target", ["cpu", "threads", "interpret"])
@pytest.mark.parametrize("fn", [total, means, spread, chosen, of_complex])
def test_digits_are_kept(fn: Callable[..., Any], target: str) -> None:
    tenths = np.full(MANY[target], 0.1, np.float32)
    if fn is spread:
        wave = np.sin(np.arange(MANY[target])).astype(np.float32) + np.float32(1000)
        found, expected = run_on(fn, (wave,), target).value, fn(wave.astype(np.float64))
    else:
        found, expected = run_on(fn, (tenths,), target).value, fn(tenths)
    one, other = np.asarray(found), np.asarray(expected)
    np.testing.assert_allclose(one, other, rtol=2e-6 if fn is not spread else 1e-4)
    if fn is not spread:
        assert one.dtype == other.dtype
