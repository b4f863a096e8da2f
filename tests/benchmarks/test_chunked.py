"""The programs of `benchmarks.chunked` give the same over blocks, in plain `dask.array` and in loops."""

from __future__ import annotations

import numpy as np
import pytest

dask = pytest.importorskip("dask")
from benchmarks.chunked import programs  # noqa: E402


@pytest.mark.sampled
@pytest.mark.parametrize("name", programs(0.01))
def test_sides_agree(name: str) -> None:
    *sides, args = programs(0.01)[name]
    loops, blocks, plain = dask.compute(*(side(*args) for side in sides), scheduler="sync")
    np.testing.assert_allclose(blocks, loops, rtol=1e-9)
    np.testing.assert_allclose(plain, loops, rtol=1e-9)
