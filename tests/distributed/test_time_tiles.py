"""Several time steps in one task give what one step after the other gives, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

import appyc
from benchmarks.polybench.suite import KERNELS

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")


@appyc.jit
def one_way(steps, a, b):
    for _ in range(steps):
        # pragma parallel for
        for i in range(3, a.shape[0]):
            b[i] = a[i - 3] - 0.5 * a[i]
        # pragma parallel for
        for i in range(a.shape[0] - 1):
            a[i] = b[i] + b[i + 1]


@appyc.jit
def with_the_step(steps, a, b, edge):
    for t in range(1, steps):
        # pragma parallel for
        for i in range(t, a.shape[0] - 1):
            b[i] = a[i - 1] + t * a[i + 1] - edge[i]
        # pragma parallel for
        for i in range(1, a.shape[0] - 1):
            if edge[i] > 0.5:
                a[i] = 0.5 * b[i]


@appyc.jit
def in_place(steps, a):
    for _ in range(steps):
        for i in range(1, a.shape[0] - 1):
            a[i] = a[i - 1] + a[i + 1]


def values(*shape, seed=1):
    return np.random.default_rng(seed).random(shape)


def compare(function, given, chunks):
    own = [np.copy(a) if isinstance(a, np.ndarray) else a for a in given]
    chunked = [da.from_array(a, chunks) if isinstance(a, np.ndarray) else a for a in given]
    plan = function.explain(*chunked)
    function.py_func(*own)
    function(*chunked)
    for expected, found in zip(own, dask.compute(*chunked, scheduler="sync"), strict=True):
        np.testing.assert_array_equal(found, expected)
    return plan


def test_steps_are_joined():
    plan = compare(one_way, (7, values(100), values(100, seed=2)), 40)
    assert len(plan.layers) < 7
    assert len(compare(in_place, (3, values(100)), 40).layers) == 3


@pytest.mark.parametrize("chunks", [(30, 1, 69), (100,), (50, 0, 50)])
def test_chunks_of_any_size(chunks):
    compare(one_way, (5, values(100), values(100, seed=2)), (chunks,))


def test_conditions_and_bounds_of_the_step():
    plan = compare(with_the_step, (9, values(90), values(90, seed=2), values(90, seed=3)), 45)
    assert len(plan.layers) < 8


@pytest.mark.parametrize("name", ["jacobi-1d", "jacobi-2d", "heat-3d", "fdtd-2d"])
def test_polybench(name):
    kernel = KERNELS[name]
    given = kernel.random(
        np.random.default_rng(1), **{n: 7 if n == "TSTEPS" else 30 for n in kernel.sizes["MINI"]}
    )
    own = {n: np.copy(v) if isinstance(v, np.ndarray) else v for n, v in given.items()}
    chunked = {n: da.from_array(v, 15) if isinstance(v, np.ndarray) else v for n, v in given.items()}
    layers = kernel.loops.explain(**chunked).layers if name != "fdtd-2d" else ()
    assert len(layers) < 7
    kernel.loops(**own)
    kernel.loops(**chunked)
    for n in kernel.outputs:
        np.testing.assert_array_equal(chunked[n].compute(scheduler="sync"), own[n])


@appyc.jit
def up_to(steps, a, b, first, end):
    for _ in range(steps):
        # pragma parallel for
        for i in range(first, end):
            b[i] = 0.5 * a[i]
        # pragma parallel for
        for i in range(first, end):
            a[i] = b[i] + 1.0


@pytest.mark.parametrize(("n", "first", "end"), [(40, 0, 41), (40, 50, 60), (40, -50, 20), (0, 0, 1)])
def test_iterations_outside_of_the_array_raise(n, first, end):
    a, b = (da.from_array(values(n), max(n // 2, 1)) for _ in "ab")
    with pytest.raises(IndexError, match="has length"):
        up_to(4, a, b, first, end)


def test_some_iterations_and_none():
    for first, end in ((3, 35), (20, 20), (25, 4), (-3, 10), (-3, 0)):
        compare(up_to, (4, values(40), values(40, seed=2), first, end), 13)
