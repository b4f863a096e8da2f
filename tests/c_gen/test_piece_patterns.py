"""Loops on threads that are equal but for their variables share one C function."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

import appyc


def functions_of(fn: Callable[..., object], *arguments: object) -> list[str]:
    """The C functions of the parallel loops."""
    text = appyc.jit(target="cpu", cache=False)(fn).source("c", *arguments)
    return re.findall(rf"^static .*void ({fn.__name__}_loop_\w+)\($", text, re.MULTILINE)


def check(fn: Callable[..., object], *arguments: np.ndarray) -> None:
    found, wanted = [a.copy() for a in arguments], [a.copy() for a in arguments]
    appyc.jit(target="cpu", cache=False)(fn)(*found)
    fn(*wanted)
    for one, other in zip(found, wanted, strict=True):
        assert one.tobytes() == other.tobytes()


def sweeps(a, b, c):
    # pragma parallel for
    for i in range(1, a.shape[0] - 1):
        b[i] = a[i - 1] + 2.0 * a[i + 1]
    # pragma parallel for
    for k in range(2, b.shape[0] - 2):
        c[k] = b[k - 1] + 2.0 * b[k + 1]
    # pragma parallel for
    for i in range(3, c.shape[0] - 3):
        a[i] = c[i - 1] + 2.0 * c[i + 1]


def two_constants(a, b, c):
    # pragma parallel for
    for i in range(1, a.shape[0] - 1):
        b[i] = a[i - 1] * 2.0
    # pragma parallel for
    for i in range(2, b.shape[0] - 2):
        c[i] = b[i - 1] * 3.0


def two_zeros(a, b, c):
    # pragma parallel for
    for i in range(1, a.shape[0] - 1):
        b[i] = a[i - 1] * 0.0
    # pragma parallel for
    for i in range(2, b.shape[0] - 2):
        c[i] = b[i - 1] * -0.0


def crossed(a, b, c):
    # pragma parallel for
    for i in range(1, a.shape[0] - 1):
        b[i] = a[i - 1] - c[i]
    # pragma parallel for
    for i in range(2, a.shape[0] - 2):
        a[i] = c[i - 1] - b[i]
    # pragma parallel for
    for i in range(3, a.shape[0] - 3):
        c[i] = c[i] - b[i - 1]


def sums(a, b, c):
    s = 0.0
    # pragma parallel for reduction(+: s)
    for i in range(a.shape[0]):
        s += a[i] * b[i]
    t = 0.0
    # pragma parallel for reduction(+: t)
    for i in range(1, b.shape[0]):
        t += b[i] * c[i]
    c[0] = s
    c[1] = t


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("fn", "count"), [(sweeps, 1), (two_constants, 2), (two_zeros, 2), (crossed, 2), (sums, 1)]
)
def test_equal_loops_share_a_function(fn, count):
    arguments = [np.random.default_rng(k).integers(-9, 9, 50).astype(float) for k in range(3)]
    assert len(functions_of(fn, *arguments)) == count
    check(fn, *arguments)


def test_loops_that_may_raise_keep_their_own():
    """What they raise names their own line."""

    def looked_up(a, b, at):
        # pragma parallel for
        for i in range(at.shape[0]):
            b[i] = a[at[i]]
        # pragma parallel for
        for i in range(at.shape[0]):
            a[i] = b[at[i]]

    arguments = np.arange(20.0), np.zeros(20), np.arange(20)[::-1].copy()
    assert len(functions_of(looked_up, *arguments)) == 2
    check(looked_up, *arguments)
