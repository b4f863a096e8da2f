"""Kernels of parallel nests that reduce scalars: each program has several blocks of iterations."""

from __future__ import annotations

import numpy as np
import pytest

from appyc.passes.gpu import grid_kernels
from tests.triton_gen.source_runner import compare, program_of


def of_line(a):
    s, least = 0.5, 1e9
    for i in range(a.size):
        s += a[i]
        least = min(least, a[i])
    return s, least


def of_plane(a):
    """The last value of a private scalar comes from the program that has the last block."""
    s, t = 0.0, 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            t = a[i, j] * 2.0
            s += t
    return s, t


def of_triangle(a):
    """Programs are rows, whose lanes are in strips."""
    s = 0.0
    for i in range(a.shape[0]):
        for j in range(i, a.shape[1]):
            s += a[i, j]
    return s


@pytest.mark.parametrize("fn", [of_line, of_plane, of_triangle], ids=lambda fn: fn.__name__)
@pytest.mark.parametrize("shape", [(1, 1), (3, 130), (7, 129), (40, 300), (2, 1024)])
def test_programs_with_several_blocks(fn, shape, monkeypatch):
    monkeypatch.setattr(grid_kernels, "SHARES", 3)
    a = np.cos(np.arange(float(np.prod(shape)))).reshape(shape)
    program = compare(fn, a.ravel() if fn is of_line else a, exact=False, build=False)
    assert "blocks" in program.text


def test_number_of_programs_is_bounded():
    text = program_of(of_plane, np.zeros((3, 4))).text
    assert f"min(blocks, {grid_kernels.SHARES})" in text


def test_no_iterations():
    compare(of_line, np.zeros(0), build=False)
