"""Functions that compiled code calls, changed between two of its calls: in place, or in another module."""

from __future__ import annotations

import math
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import appyc

HELPERS = """
K = 2.0
def low(x): return x + K
def mid(x, q=3.0, *, r=1.0): return low(x) * q + r
"""


@pytest.fixture
def helpers(tmp_path, monkeypatch) -> Iterator[types.ModuleType]:
    (tmp_path / "changed_helpers.py").write_text(HELPERS)
    monkeypatch.syspath_prepend(tmp_path)
    import changed_helpers  # type: ignore[import-not-found]

    yield changed_helpers
    del sys.modules["changed_helpers"]


def of_module(helpers: types.ModuleType) -> Callable[..., Any]:
    def total(a):
        out = 0.0
        for i in range(a.shape[0]):
            out += helpers.mid(a[i])
        return out

    return total


def of_function(helpers: types.ModuleType) -> Callable[..., Any]:
    mid = helpers.mid

    def total(a):
        out = 0.0
        for i in range(a.shape[0]):
            out += mid(a[i])
        return out

    return total


def of_names(helpers: types.ModuleType) -> Callable[..., Any]:
    def total(a):
        out = 0.0
        for i in range(a.shape[0]):
            out += helpers.low(a[i])
        return out

    return total


def doubled(x):
    return x * 2


def halved(x, q=3.0, *, r=1.0):
    return x / 2 + q + r


CHANGES: list[Callable[[types.ModuleType], object]] = [
    lambda m: setattr(m.mid, "__defaults__", (4.0,)),
    lambda m: setattr(m.mid, "__defaults__", (np.float32(2.5),)),
    lambda m: setattr(m.mid, "__kwdefaults__", {"r": 7.0}),
    lambda m: m.mid.__kwdefaults__.update(r=8.0),
    lambda m: setattr(m.low, "__code__", doubled.__code__),
    lambda m: setattr(m.mid, "__code__", halved.__code__),
    lambda m: setattr(m, "low", math.sin),
    lambda m: setattr(m, "low", math.cos),
    lambda m: setattr(m, "low", abs),
    lambda m: setattr(m, "low", doubled),
    lambda m: setattr(m, "K", 5),
]


@pytest.mark.parametrize("make", [of_module, of_function, of_names])
@pytest.mark.parametrize("cache", [False, True])
def test_changed_helpers_are_seen(helpers, make, cache):
    total = make(helpers)
    compiled = appyc.jit(strict=True, cache=cache)(total)
    a = np.arange(5.0)
    assert compiled(a) == total(a)
    for change in CHANGES:
        change(helpers)
        assert compiled(a) == pytest.approx(total(a)), change


def test_helpers_without_a_default_any_more_are_refused_as_in_python(helpers):
    compiled, a = appyc.jit(cache=False)(of_function(helpers)), np.ones(3)
    compiled(a)
    helpers.mid.__defaults__ = None
    with pytest.raises(TypeError, match="missing"):
        compiled(a)


@pytest.mark.parametrize("wrap", [appyc.jit(cache=False), lambda f: f])
def test_helpers_need_one_version(helpers, wrap):
    helper = wrap(helpers.mid)

    def total(a):
        out = 0.0
        for i in range(a.shape[0]):
            out += helper(a[i])
        return out

    compiled, a = appyc.jit(strict=True, cache=False)(total), np.ones(3)
    for _ in range(4):
        assert compiled(a) == total(a)
    assert sum(map(len, compiled._versions.values())) == 1
