"""Estimates of how often a function's innermost statements run."""

from __future__ import annotations

import ast
from types import SimpleNamespace

import numpy as np
import pytest

from appyc.frontend.syntax.trip_counts import UNKNOWN, has_own_loop, iterations


def estimate(text, **values):
    return iterations(ast.parse(text).body, values)


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        ("for i in range(10):\n    x = i", {}, 10),
        ("for i in range(2, n, 4):\n    x = i", {"n": 42}, 10),
        ("for i in range(9, -1, -1):\n    x = i", {}, 10),
        ("n, m = a.shape\nfor i in range(n):\n    for j in range(1, m):\n        x = 1", {"a": np.zeros((5, 11))}, 50),
        ("for i in range(len(a)):\n    x = 1", {"a": np.zeros(7)}, 7),
        ("for i in range(a.shape[0]):\n    x = 1", {"a": np.zeros((3, 2))}, 3),
        ("for i in range(s.n):\n    x = 1", {"s": SimpleNamespace(n=8)}, 8),
        ("for x in a:\n    y = x", {"a": [1, 2, 3]}, 3),
        ("while x < 3:\n    x += 1", {}, UNKNOWN),
        ("for i in range(unknown):\n    x = 1", {}, UNKNOWN),
        ("for i in range(5):\n    for j in range(i, 20):\n        x = 1", {}, 100),
        ("n = 10**10**10\nfor i in range(n):\n    x = 1", {}, UNKNOWN),
        ("n = np.int64(3)\nfor i in range(k * 2):\n    x = 1", {"k": np.int64(4)}, 8),
        ("if a:\n    for i in range(4):\n        x = 1\nelse:\n    for i in range(5):\n        x = 1", {}, 9),
        ("x = 1", {}, 0),
        ("x = np.zeros((n, 4))\ny = np.empty_like(x).copy()\nfor i in range(len(y)):\n    x = 1", {"n": 9}, 9),
    ],
)  # fmt: skip
def test_iterations(text, values, expected):
    assert estimate(text, **values) == expected


def test_calls_of_wrapped_functions_count():
    assert estimate("for i in range(5):\n    f(i)", f=SimpleNamespace(py_func=len)) == 5 * UNKNOWN
    assert estimate("for i in range(5):\n    f(i)", f=len) == 5


def test_loops_of_inner_functions_are_not_a_functions_own():
    assert not has_own_loop(
        ast.parse("def f():\n    def g():\n        for i in x:\n            pass\n").body[0]
    )
    assert has_own_loop(ast.parse("def f():\n    if x:\n        while y:\n            pass\n").body[0])
