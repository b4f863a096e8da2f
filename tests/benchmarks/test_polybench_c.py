"""The C that PolyBench's loops are beside gives NumPy's results."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.polybench.measure import copied
from benchmarks.polybench.suite import KERNELS
from benchmarks.polybench_peers import ALLOWED, _c


@pytest.mark.parametrize("name", KERNELS)
def test_results(name: str, tmp_path: Path) -> None:
    kernel = KERNELS[name]
    given = kernel.arguments("random", "MINI")
    expected, found = copied(given), copied(given)
    kernel.numpy_version(**expected)
    _c(kernel, given, tmp_path, openmp=True)(*found.values())
    assert kernel.error(expected, found) <= ALLOWED * kernel.allowed_error("random")
