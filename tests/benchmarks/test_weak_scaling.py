"""The graphs of `benchmarks.weak_scaling`: what a worker does and gets does not grow with the workers."""

from __future__ import annotations

import pytest

pytest.importorskip("dask.array")

from benchmarks.weak_scaling import KERNELS, SIDE, facts


@pytest.mark.sampled
@pytest.mark.parametrize("name", KERNELS)
def test_the_longest_way_does_not_grow(name):
    few, many = facts(name, 4), facts(name, 16)
    assert few["blocks in a row"] == many["blocks in a row"] <= 2
    assert many["tasks"] <= 8 * few["tasks"]


def test_a_stencil_moves_its_halo_and_a_scan_nothing():
    assert facts("jacobi-2d", 16)["moved"] < SIDE * SIDE * 8 / 50
    assert facts("scan", 16)["moved"] == facts("dot", 16)["moved"] == 0
