"""The 30 kernels of PolyBench over chunked arrays give what they give on one machine."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.polybench.suite import KERNELS

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

IN_ANOTHER_ORDER = {
    "gemm",
    "2mm",
    "3mm",
    "syrk",
    "syr2k",
    "symm",
    "doitgen",
    "gramschmidt",
    "durbin",
    "deriche",
    "atax",
    "gemver",
}
"""One machine sums their products in the order of its library, and their reductions in that of its lanes, as chunks do
in rows that they cut; of deriche, NumPy computes the coefficients."""


def unequal(array):
    """5 and the rest, so that there are 2 x 2 chunks."""
    return da.from_array(array, tuple((5, n - 5) for n in array.shape))


def whole(array):
    return da.from_array(array, -1)


def both(name, chunked):
    kernel = KERNELS[name]
    sizes = {n: 2 if n == "TSTEPS" else 9 + k for k, n in enumerate(kernel.sizes["MINI"])}
    given = kernel.random(np.random.default_rng(3), **sizes)
    expected = {n: np.copy(v) for n, v in given.items()}
    expected |= {n: v for n, v in given.items() if not isinstance(v, np.ndarray)}
    kernel.loops(**expected)
    found = {n: chunked(v) if isinstance(v, np.ndarray) else v for n, v in given.items()}
    kernel.loops(**found)
    return kernel, expected, found


def compare(kernel, expected, found, **options):
    outputs = dict(
        zip(kernel.outputs, dask.compute(*(found[n] for n in kernel.outputs), **options), strict=True)
    )
    if kernel.name not in IN_ANOTHER_ORDER:
        for n in kernel.outputs:
            np.testing.assert_array_equal(outputs[n], expected[n])
    assert kernel.error(expected, outputs) <= kernel.tolerance


@pytest.mark.sampled
@pytest.mark.parametrize("name", KERNELS)
def test_four_chunks_of_unequal_sizes(name):
    compare(*both(name, unequal), scheduler="threads", num_workers=2)


@pytest.mark.parametrize("name", ["heat-3d", "nussinov", "correlation"])
def test_one_chunk(name):
    compare(*both(name, whole), scheduler="sync")


OFTEN = ("jacobi-2d", "cholesky")


@pytest.mark.sampled
@pytest.mark.parametrize(
    "name", [*OFTEN, *(pytest.param(n, marks=pytest.mark.slow) for n in KERNELS if n not in OFTEN)]
)
def test_worker_processes(name, workers):
    compare(*both(name, unequal))
