"""Launches of one program are joined: in the text, and by results of the interpreter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from appyc.runtime.triton_interpret import interpret
from tests.triton_gen.source_runner import compare, program_of


def substitution(a, x):
    """A lower triangular system: a sum for each row, then one element."""
    for i in range(a.shape[0]):
        acc = 0.0
        for j in range(i):
            acc += a[i, j] * x[j]
        x[i] = (x[i] - acc) / a[i, i]


def two_sums(a, x):
    """What combines two sums, and what follows, is one kernel."""
    for k in range(x.shape[0]):
        s = 1.0
        largest = 0.0
        for j in range(a.shape[1]):
            s += a[k, j]
            largest = max(largest, a[k, j])
        x[k] = s / (largest + 1.0)
        for j in range(a.shape[1]):
            a[(k + 1) % a.shape[0], j] += x[k]


def start_is_the_hosts(a, x):
    """The second sum starts with a scalar of the host's that has the name of the first."""
    for k in range(x.shape[0]):
        s = 1.0 * k
        for j in range(a.shape[1]):
            s += a[k, j]
        x[k] = s
        s = 2.0 * k
        x[0] += s
        for j in range(a.shape[1]):
            s += a[k, j] * x[0]
        for j in range(a.shape[1]):
            a[(k + 1) % a.shape[0], j] += s


def faults(a, x):
    """An index that is outside in the second iteration; what came before it is stored."""
    for i in range(a.shape[0]):
        acc = 0.0
        for j in range(a.shape[1]):
            acc += a[i, j]
        x[int(acc)] = acc


def arguments(size: int) -> list[np.ndarray]:
    return [np.tril(np.arange(1.0, 1.0 + size * size).reshape(size, size)), np.arange(1.0, 1.0 + size)]


@pytest.mark.parametrize(("fn", "launches"), [(substitution, 2), (two_sums, 3)])
def test_number_of_launches(fn: Callable[..., Any], launches: int) -> None:
    assert program_of(fn, *arguments(4)).host.count("rt.launch") == launches


def test_text(golden: Callable[[str, str], None]) -> None:
    golden("ir/join_launches.txt", program_of(substitution, *arguments(4)).text)


@pytest.mark.sampled
@pytest.mark.parametrize("size", [0, 1, 2, 9])
@pytest.mark.parametrize("fn", [substitution, two_sums, start_is_the_hosts])
def test_results(fn: Callable[..., Any], size: int) -> None:
    if size or fn is substitution:
        compare(fn, *arguments(size), exact=False, build=size == 9)


def test_nan() -> None:
    a, x = arguments(9)
    a[3, 1] = np.nan
    compare(substitution, a, x, build=False, exact=False)


def test_fault() -> None:
    program = program_of(faults, *arguments(3), checked=True)
    a, x = arguments(3)
    with pytest.raises(IndexError):
        interpret(program)([a, x])
    assert x[1] == 1.0
