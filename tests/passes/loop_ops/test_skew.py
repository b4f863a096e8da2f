"""Skewed nests do what the nests do."""

from __future__ import annotations

import numpy as np
import pytest

from appyc.ir.names import NameSupply
from appyc.passes.loop_ops.skew import skew, why_not_skew
from tests.loop_operations import agrees, analysed, text, the_loop, with_loop


def smoothed(a):
    for i in range(1, a.shape[0]):
        for j in range(1, a.shape[1]):
            a[i, j] = (a[i - 1, j] + a[i, j - 1]) * 0.5


def triangle(a):
    for i in range(a.shape[0]):
        for j in range(min(i, a.shape[1])):
            a[i, j] = 0.0


def pair(program):
    fn = analysed(program, np.ones((3, 4)))
    return fn, the_loop(fn, "i"), the_loop(fn, "j")


def test_wavefronts():
    fn, outer, inner = pair(smoothed)
    shown = text(with_loop(fn, outer, skew(outer, inner, 1, NameSupply.after(fn)))).splitlines()
    assert shown[1] == (
        "    for i in range(max(1, front - (a.shape[1] - 1)), min(a.shape[0], (front - 1) + 1)):"
    )
    assert shown[2].startswith("        a[i, front - i] = ")


@pytest.mark.parametrize("factor", [1, 2, 3])
@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (2, 5), (5, 2), (6, 7)])
def test_skewing_keeps_the_results(factor, shape):
    fn, outer, inner = pair(smoothed)
    assert why_not_skew(outer, inner) is None
    skewed = with_loop(fn, outer, skew(outer, inner, factor, NameSupply.after(fn)))
    agrees(skewed, smoothed, np.random.default_rng(1).uniform(size=shape))


def test_a_triangle_refuses():
    _, outer, inner = pair(triangle)
    assert why_not_skew(outer, inner) == "the bounds of the inner loop depend on the outer one"
