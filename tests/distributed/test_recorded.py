"""Recorded NumPy calls over Dask's arrays are fused: a block of several operations is one task."""

from __future__ import annotations

import contextlib

import numpy
import pytest

import appyc
import appyc.numpy as np
from tests.in_turn import in_turn

da = pytest.importorskip("dask.array")

SHAPES = [((100,), (30,), (40,)), ((100,), (100,), (100,)), ((7,), (1,), (3,)), ((0,), (1,), (1,)),
          ((50, 40), (20, 15), (25, 40)), ((9, 8, 7), (4, 8, 3), (9, 3, 7))]  # fmt: skip


def made(shape, *chunks, dtype=float):
    """NumPy's arrays, and recorded ones with their values in these chunks."""
    rng = numpy.random.default_rng(1)
    values = [(rng.random(shape) * 10).astype(dtype) for _ in chunks]
    return [*values, *(np.asarray(da.from_array(v, chunks=c)) for v, c in zip(values, chunks, strict=True))]


def blocks(array):
    """How many tasks run kernels."""
    graph = array.to_dask_array().__dask_graph__()
    return sum("_line_" in str(key[0]) for key in graph)


def chain(np, a, b):
    x = (a + b) * 2.0 - np.sqrt(b) / (a + 1.0)
    return np.where(x > 0.5, x, -x)


@pytest.mark.sampled
@pytest.mark.parametrize(("shape", "first", "second"), SHAPES)
def test_a_chain_of_operations_is_one_task_a_chunk(shape, first, second):
    a, b, recorded_a, recorded_b = made(shape, first, second)
    found = chain(np, recorded_a, recorded_b)
    chunked = found.to_dask_array()
    assert chunked.chunks == recorded_a.to_dask_array().chunks
    assert blocks(found) == (chunked.npartitions if chunked.size else 0)
    assert numpy.array_equal(chunked.compute(), chain(numpy, a, b))
    assert numpy.array_equal(numpy.asarray(found), chain(numpy, a, b))


def test_a_sum_is_computed_in_the_tasks_of_what_it_sums():
    a, recorded = made((60, 40), (20, 15))
    found = recorded * 2.0 + 1.0
    total, most = found.sum(), found.max()
    del found
    assert blocks(total) == 9
    assert float(total) == pytest.approx((a * 2.0 + 1.0).sum(), rel=1e-14)
    assert float(most) == (a * 2.0 + 1.0).max()


def test_operations_on_dask_arrays_themselves_are_recorded():
    a, b, recorded, _ = made((30,), (7,), (10,))
    chunked = da.from_array(b, chunks=10)
    for found in (
        recorded + chunked,
        chunked + recorded,
        np.add(chunked, recorded),
        numpy.add(recorded, chunked),
    ):
        assert type(found) is np.ndarray
        assert numpy.array_equal(found.to_dask_array().compute(), a + b)
    assert float(np.sum(chunked)) == pytest.approx(b.sum())


def test_arrays_and_numbers_of_numpy_are_read_whole():
    a, recorded = made((30, 20), (7, 11))
    row = numpy.arange(20.0)
    found = recorded * row + recorded[0, 0].item() - numpy.float32(2)
    assert blocks(found) == 10
    assert numpy.array_equal(numpy.asarray(found), a * row + a[0, 0] - numpy.float32(2))


def test_stores_leave_other_arrays_as_they_are():
    a, recorded = made((40,), (9,))
    before = recorded.to_dask_array()
    copied = recorded.copy()
    recorded[1:-1] += recorded[2:]
    after = recorded.to_dask_array()
    recorded[:] = 0.0
    want = a.copy()
    want[1:-1] += a[2:]
    assert numpy.array_equal(before.compute(), a)
    assert numpy.array_equal(after.compute(), want)
    assert numpy.array_equal(copied.to_dask_array().compute(), a)
    assert not recorded.to_dask_array().compute().any()


def test_a_stencil_of_views_is_one_task_a_block():
    a, recorded = made((50, 40), (20, 15))

    def smooth(a):
        return 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:]) - a[1:-1, 1:-1]

    found = smooth(recorded)
    assert blocks(found) == found.to_dask_array().npartitions
    assert numpy.array_equal(numpy.asarray(found), smooth(a))


def test_results_larger_than_memory_are_fused():
    values = da.ones((1 << 14, 1 << 14), chunks=(1 << 12, 1 << 12))  # 2 GiB
    recorded = np.asarray(values)
    found = (recorded + 1.0) * 2.0 - 3.0
    found = found[:2, :2] * found[-2:, -2:]
    assert blocks(found) == 16 + 1
    assert numpy.array_equal(numpy.asarray(found), numpy.ones((2, 2)))  # of which three are run


def stores(np, a, b):
    c = np.zeros(a.shape)
    c[1:-1] = a[:-2] + b[2:]
    c[c > 5.0] = 1.0
    c[3], c[:, 2] = b[4], a[:, 0]
    np.add(c, b, out=c)
    return c


def steps(np, a, b):
    a = a.copy()
    for _ in range(3):
        a[1:-1] = 0.5 * (a[:-2] + a[2:])
    return a


PROGRAMS = [
    stores, steps,
    lambda np, a, b: (a * b).sum(axis=0),
    lambda np, a, b: a / a.sum(axis=1, keepdims=True),
    lambda np, a, b: a.mean(axis=0) + b.std(),
    lambda np, a, b: (a + b).argmax(axis=1),
    lambda np, a, b: np.cumsum(a * 2.0, axis=1),
    lambda np, a, b: a.T[::-1] + b[:, ::2].sum(),
    lambda np, a, b: np.concatenate([a, b]).reshape(20, 60) + 1.0,
    lambda np, a, b: (a > b) & (a.astype(numpy.int32) % 3 == 1),
    lambda np, a, b: np.sort(a + b, axis=1),
]  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize(("program", "chunks"), in_turn(PROGRAMS, [(10, 20), (30, 7), (8, 6), (30, 20)]))
def test_programs_give_what_numpy_gives(program, chunks):
    a, b, *recorded = made((30, 20), chunks, (7, 9))
    found, want = program(np, *recorded).to_dask_array().compute(), program(numpy, a, b)
    assert found.dtype == want.dtype
    numpy.testing.assert_allclose(found, want, rtol=1e-12)


@appyc.jit(strict=True)
def smooth(a, b):
    # pragma parallel for
    for i in range(1, a.shape[0] - 1):
        b[i] = 0.5 * (a[i - 1] + a[i + 1])


@appyc.jit(strict=True)
def scaled(a, x):
    # pragma parallel for
    for i in range(a.shape[0]):
        a[i] = a[i] * x + 1.0


@pytest.mark.parametrize("is_deferred", [True, False])
def test_compiled_functions_are_tasks_with_the_operations_around_them(is_deferred):
    a, recorded = made((60,), (20,))
    other = np.array(numpy.zeros(60))
    with appyc.deferred() if is_deferred else contextlib.nullcontext():
        scaled(recorded, 3.0)
        recorded -= 0.5
        smooth(recorded, other)
        found = other * 2.0
    scaled.py_func(a, 3.0)
    a -= 0.5
    want = numpy.zeros(60)
    smooth.py_func(a, want)
    assert "dask" in type(found.to_dask_array()).__module__
    assert numpy.array_equal(found.to_dask_array().compute(), want * 2.0)
    assert blocks(recorded) == (
        6 if is_deferred else 3
    )  # of one program with those that `found` needs, or two
    assert numpy.array_equal(recorded.to_dask_array().compute(), a)


@appyc.jit(strict=True)
def gathered(a, index, b):
    for i in range(b.shape[0]):
        b[i] = a[index[i] * index[i]]


def test_what_cannot_be_distributed_is_an_error_of_the_function():
    index, b = np.asarray(da.arange(5, chunks=2)), np.asarray(da.zeros(5, chunks=2))
    gathered(np.asarray(da.zeros(1 << 25, chunks=1 << 22)), index, b)  # 256 MiB
    with pytest.raises(appyc.UnsupportedError, match="which chunks of 'a' a block reads is not known"):
        b.to_dask_array()


def test_operations_that_cannot_be_distributed_are_those_of_dask():
    a, b, recorded, other = made((40, 40), (20, 10), (10, 20))
    found = (recorded + 1.0) @ other
    assert "dask" in type(found.to_dask_array()).__module__
    numpy.testing.assert_allclose(numpy.asarray(found), (a + 1.0) @ b)


def test_the_report_counts_the_tasks():
    _, recorded = made((40,), (10,))
    found = recorded * 2.0 + 1.0
    found.to_dask_array()
    assert "recorded, over chunked arrays: 4 tasks" in appyc.explain()
