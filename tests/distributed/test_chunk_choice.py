"""Chunks of arrays that come without: NumPy's that are read, and those that a function makes."""

from __future__ import annotations

import numpy as np
import pytest

import appyc
from appyc.distributed.chunk_choice import LEAST

da = pytest.importorskip("dask.array")

LENGTH = LEAST // 8


@pytest.fixture(autouse=True)
def _two_threads():
    import dask

    with dask.config.set(num_workers=2, scheduler="threads"):
        yield


@appyc.jit(target="dask")
def rows(n, m):
    a = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            a[i, j] = i + 0.5 * j
    return a


@appyc.jit(target="dask")
def columns(n, m):
    a = np.zeros((m, n))
    for j in range(n):
        for i in range(m):
            a[i, j] = i + 0.5 * j
    return a


@appyc.jit(target="dask")
def doubled(x):
    y = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        y[i] = 2.0 * x[i]
    return y


@appyc.jit
def weighted(a, x, table, index):
    for i in range(a.shape[0]):
        a[i] = a[i] * x[i] + table[index[i]]


def test_an_array_is_cut_along_the_axis_of_the_outermost_loop():
    by_rows, by_columns = rows(8192, 128), columns(8192, 128)
    assert by_rows.chunks == ((2048,) * 4, (128,))
    assert by_columns.chunks == ((128,), (2048,) * 4)
    np.testing.assert_array_equal(by_rows.compute(), rows.py_func(8192, 128))
    np.testing.assert_array_equal(by_columns.compute(), columns.py_func(8192, 128))


def test_a_small_array_is_one_chunk():
    assert rows(8, 8).chunks == ((8,), (8,))
    assert rows(0, 8).chunks == ((0,), (8,))


def test_arrays_of_numpy_are_cut_too():
    x = np.random.default_rng(0).random(4 * LENGTH + 3)
    y = doubled(x)
    assert len(y.chunks[0]) == 4
    assert doubled.explain(x).layers[0].blocks == 4
    np.testing.assert_array_equal(y.compute(), 2.0 * x)


def test_chunks_are_no_larger_than_memory_allows(monkeypatch):
    monkeypatch.setattr("appyc.distributed.chunk_choice._resources", lambda: (2, 32 * 2**20))
    y = doubled(np.ones(2 * LENGTH))
    assert y.chunks == ((2**17,) * 4,)


def test_arrays_beside_chunked_ones_are_cut_like_them_or_whole():
    count = 2 * LENGTH
    values = np.random.default_rng(1)
    a, x, table = (values.random(count) for _ in range(3))
    index = values.integers(0, count, count)
    chunked = da.from_array(a.copy(), chunks=count // 3)
    (layer,) = weighted.explain(chunked, x, table, index).layers
    assert layer.joined == {}  # the table, whose indices are elements, is one chunk
    weighted(chunked, x, table, index)
    weighted.py_func(a[:50], x[:50], table, index[:50])
    np.testing.assert_array_equal(chunked[:50].compute(), a[:50])


def test_the_workers_say_how_many(workers):
    assert len(doubled(np.ones(8 * LENGTH)).chunks[0]) == 6
