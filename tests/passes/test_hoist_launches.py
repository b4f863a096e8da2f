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


def converges(a, b, limit):
    """Jacobi iterations until nothing moves by more than the limit."""
    moved = limit + 1.0
    while moved > limit:
        moved = 0.0
        for i in range(1, a.shape[0] - 1):
            b[i] = 0.5 * (a[i - 1] + a[i + 1])
        for i in range(1, a.shape[0] - 1):
            moved = max(moved, abs(b[i] - a[i]))
        for i in range(1, a.shape[0] - 1):
            a[i] = b[i]
    return moved


def stops_early(a, b, limit, n):
    moved = 0.0
    for _ in range(n):
        moved = 0.0
        for i in range(1, a.shape[0] - 1):
            b[i] = 0.5 * (a[i - 1] + a[i + 1])
            moved = max(moved, abs(b[i] - a[i]))
        for i in range(1, a.shape[0] - 1):
            a[i] = b[i]
        if moved < limit:
            break
    return moved


def scaled(n, a, b):
    """The second launch takes what the first one of the same iteration leaves; the third may not pass it."""
    for _ in range(n):
        largest = 1.0
        for i in range(a.shape[0]):
            largest = max(largest, a[i])
        for i in range(a.shape[0]):
            a[i] = a[i] / largest + 1.0
        for i in range(a.shape[0]):
            b[i] += a[a.shape[0] - 1 - i]
    return largest


def carried(n, a):
    """A scalar of kernels of one program alone goes from iteration to iteration."""
    t = 1.0
    for _ in range(n):
        t = t * 0.5 + a[0]
        a[1] = t
        for i in range(a.shape[0]):
            a[i] = a[i] + 1.0


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


def test_launches_beside_a_test_of_convergence(golden: Callable[[str, str], None]) -> None:
    golden("ir/record_launches.txt", host_of(converges, np.ones(5), np.ones(5), 1e-3))


def test_no_launch_passes_one_that_changes() -> None:
    recorded = host_of(scaled, 3, np.ones(5), np.ones(5)).partition("rt.recorded(0):")[2]
    assert recorded.index("scaled_1_largest") < recorded.index("rt.read(") < recorded.index("scaled_2")
    assert "rt.recorded" not in recorded


@pytest.mark.sampled
@pytest.mark.parametrize("size", [0, 1, 2, 3, 9])
@pytest.mark.parametrize("limit", [1e3, 0.1, 1e-3])
def test_results_of_loops_with_records(size: int, limit: float) -> None:
    a, b = np.arange(float(size)) ** 2, np.zeros(size)
    compare(converges, a, b, limit, build=False)
    compare(stops_early, a, b, limit, 7, build=False)
    compare(scaled, 3, a, b, build=False)


@pytest.mark.parametrize("steps", [0, 1, 5])
def test_results(steps: int) -> None:
    for fn in (with_index, with_array, carried):
        compare(fn, steps, np.arange(7.0), build=False)
    compare(diffusion, steps, np.arange(7.0), np.zeros(7), build=False)
    compare(nested, steps, 2, np.arange(7.0), np.zeros(7), build=False)
    compare(until, np.arange(7.0), float(steps), build=False, exact=False)
