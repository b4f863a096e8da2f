"""What the host of a GPU program computes once for a time loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.triton_gen.source_runner import compare, program_of


def diffusion(steps, a, b):
    for _ in range(steps):
        for i in range(1, a.shape[0] - 1):
            b[i] = 0.5 * (a[i - 1] + a[i + 1])
        for i in range(1, a.shape[0] - 1):
            a[i] = b[i]


def nested(n, m, a, b):
    for _ in range(n):
        for _ in range(m):
            for i in range(1, a.shape[0] - 1):
                b[i] = 0.5 * (a[i - 1] + a[i + 1])
            for i in range(1, a.shape[0] - 1):
                a[i] = b[i]


def until(a, limit):
    """The host reads a scalar in each iteration."""
    total = 0.0
    for _ in range(3):
        for i in range(a.shape[0]):
            a[i] = a[i] * 0.5
        for i in range(a.shape[0]):
            total += a[i]
        if total < limit:
            break
    return total


def with_index(n, a):
    for t in range(n):
        for i in range(a.shape[0]):
            a[i] = a[a.shape[0] - 1 - i] + t


def with_array(n, a):
    for _ in range(n):
        b = np.empty(a.shape[0])
        for i in range(a.shape[0]):
            b[i] = a[i] * 2.0
        for i in range(a.shape[0]):
            a[i] = b[a.shape[0] - 1 - i]


def carried(n, a):
    """A scalar of kernels of one program alone goes from iteration to iteration."""
    t = 1.0
    for _ in range(n):
        t = t * 0.5 + a[0]
        a[1] = t
        for i in range(a.shape[0]):
            a[i] = a[i] + 1.0


def stencil(n, a, b):
    """A nest for short rows and one for long ones, in each iteration."""
    for _ in range(n):
        for i in range(1, a.shape[0] - 1):
            for j in range(a.shape[1]):
                b[i, j] = a[i - 1, j] + a[i + 1, j]
        for i in range(1, a.shape[0] - 1):
            for j in range(a.shape[1]):
                a[i, j] = b[i, j] * 0.5


def host_of(fn: Callable[..., Any], *args: Any) -> str:
    return program_of(fn, *args).host


def test_text(golden: Callable[[str, str], None]) -> None:
    golden("ir/hoist_launches.txt", host_of(diffusion, 3, np.ones(5), np.ones(5)))


@pytest.mark.parametrize("fn", [with_index])
def test_other_loops_do_not_repeat(fn: Callable[..., Any]) -> None:
    assert "rt.steps" not in host_of(fn, 3, np.ones(5))


def test_inner_loop_repeats() -> None:
    text = host_of(nested, 2, 3, np.ones(5), np.ones(5))
    assert text.count("rt.steps") == 1
    assert text.index("rt.lanes") < text.index("for ")
    assert "rt.recorded" not in text


def test_what_a_branch_launches_is_computed_before_the_loop() -> None:
    text = host_of(stencil, 3, np.ones((5, 5)), np.ones((5, 5)))
    inside = text[text.index("rt.steps") :]
    assert inside.count("if ") == 1
    assert "rt.lanes" not in inside


@pytest.mark.parametrize("steps", [0, 1, 5])
def test_results(steps: int) -> None:
    for fn in (with_index, with_array, carried):
        compare(fn, steps, np.arange(7.0), build=False)
    compare(diffusion, steps, np.arange(7.0), np.zeros(7), build=False)
    for columns in (3, 130):
        rows = np.arange(5.0 * columns).reshape(5, columns)
        compare(stencil, steps, rows, np.zeros_like(rows), build=False)
    compare(nested, steps, 2, np.arange(7.0), np.zeros(7), build=False)
    compare(until, np.arange(7.0), float(steps), build=False, exact=False)
