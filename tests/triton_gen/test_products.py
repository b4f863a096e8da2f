"""Products of matrices in programs for a GPU: large ones are the library's, small ones are kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import numpy as np
import pytest

import appyc
from appyc.runtime import gpu_products
from tests import stand_in_cupy
from tests.e2e.harness import run_on

RNG = np.random.default_rng(5)


def gemm(alpha, beta, c, a, b):
    c[:] = alpha * (a @ b) + beta * c


def layer(c, a, b):
    return np.maximum(a @ b + c[0], 0.0)


def sum_outside(c, a, b):
    for k in range(a.shape[0]):
        for i in range(c.shape[0]):
            for j in range(c.shape[1]):
                c[i, j] -= 2.0 * a[k, i] * b[k, j]


def part(c, a, b):
    for i in range(2, c.shape[0]):
        for j in range(c.shape[1] - 3):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i - 2, k] * b[k, j + 3]
            c[i, j] = s


def steps(c, a, b):
    for _ in range(3):
        c[:] = a @ c
        c += b


def square(n: int, dtype: Any = np.float64) -> np.ndarray:
    return RNG.uniform(-1, 1, (n, n)).astype(dtype)


@pytest.fixture(autouse=True)
def cupy() -> Iterator[Any]:
    with stand_in_cupy.installed() as module:
        yield module


def check(fn: Callable[..., Any], *args: Any, calls: int) -> None:
    """The results are Python's, and so many products are the library's."""
    ours = [a.copy("K") if isinstance(a, np.ndarray) else a for a in args]
    expected = fn(*ours)
    for target in ("interpret", "gpu", "resident"):
        made: list[bool] = []

        def multiply(*product: Any, made: list[bool] = made) -> bool:
            made.append(gpu_products.multiply(*product))
            return made[-1]

        with (
            mock.patch("appyc.runtime.triton_launch.multiply", multiply),
            mock.patch("appyc.runtime.triton_interpret.multiply", multiply),
        ):
            found = run_on(fn, args, target, strict=True)
        assert found.error is None
        assert sum(made) == calls
        for one, two in zip((*ours, expected), (*found.args, found.value), strict=True):
            if one is not None:
                single = args[-1].dtype == np.float32  # sums in another order, some of them near zero
                np.testing.assert_allclose(one, two, *((1e-4, 1e-4) if single else (1e-10, 1e-10)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("size", "calls"), [(0, 0), (1, 0), (7, 0), (32, 1)])
def test_large_products_are_the_librarys(size: int, calls: int, dtype: Any) -> None:
    matrices = [square(size, dtype) for _ in range(3)]
    check(gemm, dtype(1.5), dtype(1.25), *matrices, calls=calls)
    check(sum_outside, *matrices, calls=calls)


@pytest.mark.parametrize("fn", [gemm, sum_outside, part])
def test_matrices_may_lie_in_any_way(fn: Callable[..., Any]) -> None:
    scalars = (1.5, 1.25) if fn is gemm else ()
    c, a, b = square(36), square(36), square(36)
    check(fn, *scalars, np.asfortranarray(c), a.T, b, calls=1)
    check(fn, *scalars, c, a[::-1], b[:, ::-1], calls=1)
    check(fn, *scalars, square(72)[::2, 1::2], a, b, calls=1)


def test_what_is_around_a_sum_finds_it_in_memory() -> None:
    check(layer, square(32), square(32), square(32), calls=1)


def test_products_between_steps() -> None:
    check(steps, 0.1 * square(32), square(32), square(32), calls=3)


def test_nan_and_infinity_are_not_lost() -> None:
    c, a = square(32), square(32)
    c[0, 0], a[3, 3] = np.nan, np.inf
    check(gemm, 1.0, 0.0, c, a, square(32), calls=1)


def test_complex_numbers_stay_in_kernels() -> None:
    check(gemm, 1.5, 1.25, *(square(28) + 1j * square(28) for _ in range(3)), calls=0)


@pytest.mark.parametrize("option", [{"blas": False}, {"exact": True}])
def test_who_wants_no_library_gets_none(option: dict[str, bool]) -> None:
    fn = appyc.jit(target="interpret", cache=False, **option)(gemm)
    fn(1.0, 1.0, square(4), square(4), square(4))
    assert "rt.multiply" not in fn.source("triton")


def test_the_report_names_the_library() -> None:
    fn = appyc.jit(target="interpret", cache=False)(gemm)
    fn(1.0, 1.0, square(4), square(4), square(4))
    assert "CuPy's BLAS" in str(fn.explain())
