"""The first look at a GPU (`benchmarks.gpu_check`), with what stands for CuPy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from benchmarks import gpu_check
from benchmarks.machine import Peaks
from benchmarks.polybench.suite import KERNELS
from tests import stand_in_cupy


@pytest.fixture(autouse=True)
def _stand_in() -> Iterator[None]:
    with stand_in_cupy.installed():
        yield


def test_a_kernel_is_compared_timed_and_predicted():
    row = gpu_check.checked("atax", "loops", "MINI")
    assert row.failure is None
    assert row.predicted_of_copy > 0
    row = gpu_check.timed(row, "MINI", Peaks(dgemm_gflops=60_000.0, triad_gbytes=4_300.0))
    assert row.seconds is not None
    assert row.host is not None
    assert row.seconds >= row.host > 0
    assert row.of_copy > 0


def test_a_wrong_kernel_is_told_and_ends_nothing(monkeypatch):
    other = replace(KERNELS["atax"], loops=KERNELS["bicg"].loops)
    monkeypatch.setitem(gpu_check.KERNELS, "atax", other)
    row = gpu_check.checked("atax", "tensors", "MINI")
    assert row.failure is not None
    assert "Traceback" in row.failure
    assert row.seconds is None
