"""Estimates of how often a function's innermost statements run."""

from __future__ import annotations

import ast
from types import SimpleNamespace

import numpy as np
import pytest

from appyc.frontend.syntax.trip_counts import UNKNOWN, evaluations, has_own_loop, iterations


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


@pytest.mark.parametrize("around", ["", "for t in range(7):\n"])
def test_each_statement_is_evaluated_as_often_as_its_own_loops_run(around):
    """And not as often as all loops of the function do: a row of loops would seem to take the square of its length."""
    indent = "    " if around else ""
    loop = f"{indent}for i in range(50):\n{indent}    a[i] = a[i] * 2.0 + i\n"
    one, many = (evaluations(ast.parse(around + loop * count).body, {}) for count in (1, 60))
    assert 50 * 10 < one / (7 if around else 1) < 50 * 40
    assert many <= 60 * one


def test_calls_of_wrapped_functions_count():
    assert estimate("for i in range(5):\n    f(i)", f=SimpleNamespace(py_func=len)) == 5 * UNKNOWN
    assert estimate("for i in range(5):\n    f(i)", f=len) == 5


def test_loops_of_inner_functions_are_not_a_functions_own():
    assert not has_own_loop(
        ast.parse("def f():\n    def g():\n        for i in x:\n            pass\n").body[0]
    )
    assert has_own_loop(ast.parse("def f():\n    if x:\n        while y:\n            pass\n").body[0])
