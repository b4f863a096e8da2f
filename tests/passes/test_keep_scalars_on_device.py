"""Scalars that only kernels read are cells of the device: in the text, and by results of the interpreter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.triton_gen.source_runner import compare, program_of


def normalised(a):
    """One scalar follows from another; two kernels read it."""
    for k in range(a.shape[1]):
        acc = 0.0
        for i in range(a.shape[0]):
            acc += a[i, k] * a[i, k]
        norm = np.sqrt(acc) + k
        a[0, k] = norm
        for i in range(1, a.shape[0]):
            a[i, k] = a[i, k] / norm
        if k + 1 < a.shape[1]:
            for i in range(a.shape[0]):
                a[i, k + 1] -= a[i, k]


def iterated(a, b, steps):
    """All launches of an iteration are the same."""
    for _ in range(steps):
        largest = 0.5
        for i in range(a.shape[0]):
            largest = max(largest, abs(a[i]))
        for i in range(a.shape[0]):
            b[i] = a[i] / largest
        for i in range(a.shape[0]):
            a[i] = b[i] - b[a.shape[0] - 1 - i]


def set_twice(a, b):
    """The second sum starts with half of the first; the kernel between them reads the first."""
    s = 1.0
    for i in range(a.shape[0]):
        s += a[i]
    for i in range(a.shape[0]):
        b[i] = a[i] - s
    s = s * 0.5
    for i in range(a.shape[0]):
        s += b[i]
    for i in range(a.shape[0]):
        a[i] = s


def two_loops(a, b):
    """The first value of the second loop is none of the first loop's."""
    for k in range(1, a.shape[0]):
        s = a[k] * 0.5
        for i in range(a.shape[0]):
            a[i] = a[i] + s
    for k in range(1, a.shape[0]):
        s = a[k] + b[k - 1]
        for i in range(a.shape[0]):
            b[i] = b[i] + a[i] * s


def integers(a, b):
    """The place of the largest element is an index of the next kernel."""
    at = 0
    for i in range(a.shape[0]):
        if a[i] > a[at]:
            at = i
    for i in range(a.shape[0]):
        b[i] = a[at] - a[i]


KEPT = [(normalised, 2), (iterated, 1), (set_twice, 1), (two_loops, 1)]


def returned(a, b):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i]
    for i in range(a.shape[0]):
        b[i] = a[i] - s
    return s


def condition(a, b):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i]
    if s > 2.0:
        for i in range(a.shape[0]):
            b[i] = a[i] - s


def count(a, b):
    n = 0
    for i in range(a.shape[0]):
        n += 1 if a[i] > 1.0 else 0
    for i in range(n):
        b[i] = a[i] + n


def handed_on(a, b):
    """An iteration reads what the one before has left."""
    s = 0.0
    for _ in range(b.shape[0]):
        for i in range(a.shape[0]):
            a[i] = a[i] + s
        s = 1.0
        for i in range(a.shape[0]):
            s += a[i]


def overtaken(a, b):
    """What the host computes from the scalar depends on a second one, which changes before it is read."""
    for k in range(2):
        c = 2.0 + k
        s = 0.0
        for i in range(a.shape[0]):
            s += a[i]
        t = s * c
        c = t - s
        for i in range(a.shape[0]):
            b[i] = a[i] - t + c


READ_BACK = [returned, condition, count, handed_on]


def arguments(size: int, rank: int) -> list[np.ndarray]:
    if rank == 2:
        return [np.arange(1.0, 1.0 + 3 * size).reshape(size, 3)]
    return [np.arange(float(size)) + 0.25, np.zeros(size)]


def with_steps(fn: Callable[..., Any], args: list[Any]) -> list[Any]:
    return [*args, 3] if fn is iterated else args


@pytest.mark.parametrize(("fn", "rank"), KEPT, ids=lambda fn: getattr(fn, "__name__", ""))
def test_nothing_is_copied_to_the_host(fn: Callable[..., Any], rank: int) -> None:
    assert "rt.read" not in program_of(fn, *with_steps(fn, arguments(4, rank))).host


@pytest.mark.parametrize("fn", READ_BACK, ids=lambda fn: fn.__name__)
def test_what_the_host_reads_is_copied(fn: Callable[..., Any]) -> None:
    assert program_of(fn, *arguments(4, 1)).host.count("rt.read") == 1


def test_text(golden: Callable[[str, str], None]) -> None:
    golden("ir/keep_scalars_on_device.txt", program_of(normalised, *arguments(4, 2)).text)


def test_the_launches_of_an_iteration_are_a_graph() -> None:
    assert "rt.steps" in program_of(iterated, *arguments(4, 1), 3).host


@pytest.mark.sampled
@pytest.mark.parametrize("size", [0, 1, 2, 9])
def test_results(size: int) -> None:
    if size:
        compare(normalised, *arguments(size, 2), exact=False)
        compare(integers, *arguments(size, 1))
    for steps in (0, 1, 4):
        compare(iterated, *arguments(size, 1), steps, build=size == 9)
    for fn in (set_twice, two_loops, *READ_BACK, overtaken):
        compare(fn, *arguments(size, 1), build=False, exact=False)


def test_nan_and_infinity() -> None:
    for value in (np.nan, np.inf):
        a, b = arguments(9, 1)
        a[3] = value
        compare(iterated, a, b, 2, build=False)
        compare(set_twice, a, b, build=False, exact=False)
