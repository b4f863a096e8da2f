"""Python ints beyond 64 bits, which compiled code does not have."""

from __future__ import annotations

import pytest

import appyc


def constants(k):
    return 2**64, 10**30, -(2**64) + k


def longer_and_longer(n):
    h = 1
    for _ in range(n):
        h = h * 0x9E3779B97F4A7C15
    return h


@pytest.mark.filterwarnings("ignore::appyc.FallbackWarning")
@pytest.mark.parametrize("fn", [constants, longer_and_longer])
def test_they_are_python_s(fn):
    assert appyc.jit(cache=False)(fn)(3) == fn(3)


@pytest.mark.parametrize("fn", [constants, longer_and_longer])
def test_strict_refuses_them(fn):
    with pytest.raises(appyc.UnsupportedError):
        appyc.jit(cache=False, strict=True)(fn)(3)


@pytest.mark.filterwarnings("ignore::appyc.FallbackWarning")
@pytest.mark.parametrize("items", [(2**63, 1), (5, 2**63), [2**64 - 1, -3], (2**63, 2**64 - 1)])
def test_items_are_summed_and_indexed_at_run_time(items):
    assert appyc.jit(cache=False)(lambda items: sum(items, 0))(items) == sum(items)
    compiled = appyc.jit(cache=False)(lambda items, k: items[k])
    assert [compiled(items, k) for k in (0, 1)] == [*items]
