"""Large functions with several calls, of which a function has one callee in place of many inlined bodies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import appyc
from appyc.frontend.expressions import callee_facts
from appyc.ir.nodes import Call
from appyc.ir.visit import walk
from tests.e2e.harness import run_everywhere
from tests.lowering import lowered


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions of few statements are large, and few bodies are too much."""
    monkeypatch.setattr(callee_facts, "LARGE", 3)
    monkeypatch.setattr(callee_facts, "MOST_INLINED", 9)


def loss(x, scale):
    total = 0.0
    for i in range(len(x)):
        d = x[i] * scale - 1
        total += d * d if d > 0 else -d
    return total


def least_of_several(x):
    best = loss(x, 1)
    for k in range(3):
        for j in range(2):
            best = min(best, loss(x, k), loss(x[j:], k + 0.5))
    return best


def both_ends(x, k):
    low, high, at = x[0], x[0], 0
    for i in range(1, len(x)):
        if x[i] < low:
            low, at = x[i], i
        high = max(high, x[i])
    x[k] = 0.0
    return low, high, at


def ends_of_parts(x, n):
    a = both_ends(x, 0)
    b = both_ends(x[:n], 1)
    c = both_ends(x[n:], 0)
    return a, b[1] - c[0], c[2]


def smoothed(x, k):
    y = np.empty(len(x))
    for i in range(len(x)):
        y[i] = x[i] if i < k else (x[i - k] + x[i]) / 2
    return y


def smoothed_often(x):
    y = smoothed(smoothed(smoothed(x, 1), 2), 3)
    for k in range(3):
        y += smoothed(x, k)
    return y


def rows_in_parallel(a):
    n = len(a)
    out = np.empty(n)
    # pragma parallel for
    for i in range(n):
        out[i] = loss(a[i], 1) + loss(a[i], 2) + loss(a[i], 3)
    return out


def marked(x, y):
    n = len(x)
    # pragma parallel for
    for i in range(n):
        t = x[i] * 2 + 1
        y[i] = t * t + y[i] * x[i]
    return y[0]


def marked_often(x, y):
    return marked(x, y) + marked(y, x) + marked(x, y) + marked(y, x)


def power(b, n):
    p = 1
    q = 1
    for _ in range(n):
        p = p * b
        q = q + p
    return q


def powers(n):
    return power(3, n) + power(5, n) - power(7, n)


PROGRAMS: tuple[tuple[Callable[..., Any], tuple[Any, ...], int], ...] = (
    (least_of_several, (np.linspace(-1, 2, 7),), 1),
    (ends_of_parts, (np.linspace(-1, 2, 7) ** 2, 3), 1),
    (rows_in_parallel, (np.linspace(-1, 2, 12).reshape(4, 3),), 1),
    (smoothed_often, (np.linspace(-1, 2, 7),), 1),
    (marked_often, (np.linspace(0, 1, 5), np.linspace(1, 2, 5)), 0),  # a callee has no parallel loops
)


@pytest.mark.parametrize(("program", "args", "callees"), PROGRAMS)
def test_it_is_called_where_a_callee_can_be(program, args, callees):
    fn = lowered(program, *args)
    assert len(fn.callees) >= callees
    assert bool(fn.callees) == bool(callees) == any(isinstance(n, Call) for n in walk(fn.body))
    run_everywhere(program, *args, targets=("cpu", "threads", "interpret"), strict=True)


def test_a_function_with_one_call_is_inlined():
    def once(x):
        best = np.inf
        for k in range(9):
            best = min(best, loss(x, k))
        return best

    assert not lowered(once, np.ones(4)).callees


def test_its_int_beyond_64_bits_is_pythons():
    compiled = appyc.jit(strict=True)(powers)
    assert [compiled(n) for n in (3, 30)] == [powers(n) for n in (3, 30)]
