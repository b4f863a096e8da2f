"""Loops whose launches are a CUDA graph; the driver is a stand-in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import appyc
from appyc.runtime.cuda_graphs import STEPS_OF_A_GRAPH
from tests import stand_in_cupy


@pytest.fixture
def cupy() -> Iterator[Any]:
    with stand_in_cupy.installed() as module:
        yield module


def jacobi(steps, a, b):
    for _ in range(steps):
        for i in range(1, a.shape[0] - 1):
            b[i] = 0.5 * (a[i - 1] + a[i + 1])
        for i in range(1, a.shape[0] - 1):
            a[i] = 0.5 * (b[i - 1] + b[i + 1])


def driven(steps, a, b, force):
    for t in range(steps):
        for i in range(1, a.shape[0] - 1):
            b[i] = 0.5 * (a[i - 1] + a[i + 1]) + force[t]
        for i in range(1, a.shape[0] - 1):
            a[i] = 0.5 * (b[i - 1] + b[i + 1])


def growing(steps, a, b):
    for t in range(steps):
        for i in range(1, t + 2):
            b[i] = 0.5 * (a[i - 1] + a[i + 1])
        for i in range(1, t + 2):
            a[i] = 0.5 * (b[i - 1] + b[i + 1])


def ran(cupy: Any, fn: Callable[..., Any], *args: Any) -> Any:
    """Compares a run on the stand-in with one in Python; returns the stand-in's driver."""
    given = [cupy.asarray(a) if isinstance(a, np.ndarray) else a for a in args]
    appyc.jit(fn, target="gpu", cache=False)(*given)
    fn(*args)
    for ours, theirs in zip(given, args, strict=True):
        if isinstance(theirs, np.ndarray):
            np.testing.assert_array_equal(cupy.asnumpy(ours), theirs)
    return cupy.cuda.driver


def test_a_thousand_steps_are_one_graph(cupy: Any) -> None:
    driver = ran(cupy, jacobi, 1000, np.arange(9.0), np.zeros(9))
    left = 999 % STEPS_OF_A_GRAPH
    assert (driver.graphs, driver.replays) == (1, 999 // STEPS_OF_A_GRAPH)
    assert driver.launches == 2 * (1 + STEPS_OF_A_GRAPH + left)


@pytest.mark.parametrize("steps", [0, 1, 2, 3, 4, 17, 18, 40])
def test_few_steps(cupy: Any, steps: int) -> None:
    driver = ran(cupy, jacobi, steps, np.arange(9.0), np.ones(9))
    assert driver.graphs == (steps > 2)


@pytest.mark.parametrize(
    ("fn", "args"),
    [
        (driven, (np.arange(5.0), np.ones(5), np.arange(6.0))),
        (growing, (np.arange(9.0), np.ones(9))),
    ],
)
def test_loops_whose_launches_change_are_no_graph(cupy: Any, fn: Callable[..., Any], args: Any) -> None:
    driver = ran(cupy, fn, 6, *args)
    assert driver.graphs == 0
    assert driver.launches >= 6


def until_it_rests(a, b, limit):
    moved = limit + 1.0
    while moved > limit:
        moved = 0.0
        for i in range(1, a.shape[0] - 1):
            b[i] = 0.5 * (a[i - 1] + a[i + 1])
        for i in range(1, a.shape[0] - 1):
            moved = max(moved, abs(b[i] - a[i]))
        for i in range(1, a.shape[0] - 1):
            a[i] = b[i]


def iterations(a: Any, limit: float) -> int:
    """How many the same makes."""
    count, before = 0, None
    a = a.copy()
    while before is None or np.max(np.abs(before - a)[1:-1], initial=0.0) > limit:
        before = a.copy()
        a[1:-1] = 0.5 * (a[:-2] + a[2:])
        count += 1
    return count


@pytest.mark.sampled
@pytest.mark.parametrize("limit", [1e3, 3.0, 0.5, 1e-3])
def test_a_loop_until_convergence_launches_a_graph(cupy: Any, limit: float) -> None:
    a, b = np.arange(9.0) ** 3, np.zeros(9)
    steps = iterations(a, limit)
    driver = ran(cupy, until_it_rests, a, b, limit)
    assert driver.graphs == (steps > 1)
    assert driver.replays == steps - 1
    assert driver.launches == 3 * min(steps, 2)


def test_a_call_again_with_other_arrays(cupy: Any) -> None:
    compiled = appyc.jit(jacobi, target="gpu", cache=False)
    for size in (9, 9, 30):
        a, b = np.arange(float(size)), np.zeros(size)
        ours, other = cupy.asarray(a), cupy.asarray(b)
        compiled(5, ours, other)
        jacobi(5, a, b)
        np.testing.assert_array_equal(cupy.asnumpy(ours), a)
