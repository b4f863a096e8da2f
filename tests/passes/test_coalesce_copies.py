"""Scalars that are only copied are the ones that they are copied into."""

from __future__ import annotations

import numpy as np
import pytest

import appyc
from tests.e2e.harness import run_everywhere


def total(p):
    x = 0
    for i in range(len(p)):
        x += p[i]
    return x


def checksum(p):
    x = 0
    for i in range(len(p)):
        x ^= p[i] * 2654435761
    return x


def several(p):
    x, y, z = 255, 0, 3
    for i in range(len(p)):
        x &= p[i]
        y |= p[i]
        z ^= p[i]
    return x, y, z


def extremes(p):
    most, large = -1000, 0
    for i in range(len(p)):
        most = max(most, p[i])
        if p[i] > 9:
            large += 1
    return most, large


@pytest.mark.sampled
@pytest.mark.parametrize("fn", [total, checksum, several, extremes])
def test_accumulators_of_integers_are_reductions(fn) -> None:
    p = np.arange(50) * 7
    jitted = appyc.jit(strict=True, cache=False, target="cpu")(fn)
    assert jitted(p) == fn(p)
    assert "reduction" in str(jitted.explain())
    assert "carried" not in str(jitted.explain())
    run_everywhere(fn, p, strict=True)


def leaves(p, limit):
    x = 0
    for i in range(len(p)):
        y = x + p[i]
        if y > limit:
            break
        x = y
    return x


def reads_between(p, out):
    x = 0
    for i in range(len(p)):
        y = x + p[i]
        out[i] = x
        x = y
    return x


def test_copies_behind_a_jump_or_a_read_stay() -> None:
    p = np.arange(50)
    run_everywhere(leaves, p, 100, strict=True)
    run_everywhere(reads_between, p, np.zeros(50, int), strict=True)
