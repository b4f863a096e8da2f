"""Chunks that are CuPy's arrays: blocks run as Triton kernels where they lie."""

from __future__ import annotations

import numpy as np
import pytest

import appyc
from appyc.distributed.kernels import compiled
from tests import stand_in_cupy

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
pytest.importorskip("triton")


@appyc.jit
def smoothed(a, b, index):
    total = 0.0
    for _ in range(3):
        for i in range(1, a.shape[0] - 1):
            b[i] = 0.5 * (a[i - 1] + a[i + 1])
        for i in range(1, a.shape[0] - 1):
            a[i] = b[i]
    for i in range(a.shape[0]):
        total += a[i]
    return total


@appyc.jit
def scanned(a, b, index):
    s, best, at = 0.0, -1.0, 0
    for i in range(a.shape[0]):
        s += a[i]
        b[i] = s
    for i in range(a.shape[0]):
        if a[i] > best:
            best, at = a[i], i
    return at


@appyc.jit
def gathered(a, b, index):
    half = np.zeros(a.shape[0])
    for i in range(a.shape[0]):
        half[i] = a[index[i]] / 2
    for i in range(a.shape[0]):
        b[i] = half[i]


@appyc.jit
def shuffled(a, b, index):
    for i in range(a.shape[0]):
        b[index[i]] += a[i]


@appyc.jit
def counted(a, b, index):
    counts = np.zeros(4)
    for i in range(a.shape[0]):
        counts[index[i] % 4] += a[i]
    for i in range(4):
        b[i] = counts[i]


@pytest.mark.parametrize("on_gpu", ["abi", "a", "ab"])
@pytest.mark.parametrize("function", [smoothed, scanned, gathered, shuffled, counted])
def test_blocks_of_cupys_chunks(function, on_gpu, monkeypatch):
    compiled.cache_clear()  # kernels keep their driver
    monkeypatch.setattr("appyc.analysis.accesses.access_boxes.WHOLE", 64)  # lists of stores, and named chunks
    numbers = np.random.default_rng(1)
    given = [numbers.random(20), np.zeros(20), numbers.integers(0, 20, 20)]
    with stand_in_cupy.installed() as cupy, dask.config.set(scheduler="sync"):
        chunked = [da.from_array(x.copy(), chunks=7) for x in given]
        own = [x.map_blocks(cupy.asarray, meta=cupy.empty(0, x.dtype)) if name in on_gpu else x
               for name, x in zip("abi", chunked, strict=True)]  # fmt: skip
        result = function(*own)
        found = dask.compute(*own, result)
        expected = function.py_func(*given)
        assert isinstance(found[0], cupy.ndarray)
        assert isinstance(found[1], cupy.ndarray) == ("b" in on_gpu)
        assert cupy.cuda.driver.launches > 0
        for one, other in zip((*given, expected), found, strict=True):
            if one is not None:
                other = other.get() if isinstance(other, cupy.ndarray) else other
                np.testing.assert_allclose(other, one, rtol=1e-14)
