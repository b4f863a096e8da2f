"""Looking for a BLAS, and believing it only what it has shown."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from appyc.runtime import blas
from appyc.runtime.attaching import attach

SIZE, POINTER = ctypes.c_int64, ctypes.c_void_p
GEMM = ctypes.CFUNCTYPE(
    None, *(ctypes.c_int,) * 3, SIZE, SIZE, SIZE, ctypes.c_double, POINTER, SIZE, POINTER, SIZE, ctypes.c_double,
    POINTER, SIZE,
)  # fmt: skip


@pytest.fixture
def _looked_for_again() -> Iterator[None]:
    blas._table.cache_clear()
    yield
    blas._table.cache_clear()


def _at(address: int, rows: int, columns: int, step: int) -> Any:
    numbers = (ctypes.c_double * (rows * step)).from_address(address)
    return np.frombuffer(numbers, np.float64).reshape(rows, step)[:, :columns]


def _multiply(zeros_skip: bool, swapped: bool) -> Any:
    """A gemm of our own, for b transposed; with faults."""

    def call(order: int, ta: int, tb: int, m: int, n: int, sides: int, alpha: float, a: int, lda: int, b: int,
             ldb: int, beta: float, c: int, ldc: int) -> None:  # fmt: skip
        x, y, z = _at(a, m, sides, lda), _at(b, n, sides, ldb), _at(c, m, n, ldc)
        products = x[:, None, :] * y[None, :, :]
        if zeros_skip:
            products = np.where(x[:, None, :] == 0, 0.0, products)
        total = products.sum(axis=2)
        z[:] = (beta * total + alpha * z) if swapped else (alpha * total + beta * z)

    return GEMM(call)


def test_a_library_that_multiplies_is_believed() -> None:
    call = _multiply(False, False)
    assert blas._multiplies(ctypes.cast(call, POINTER).value or 0, np.dtype(np.float64))


@pytest.mark.parametrize("fault", [(True, False), (False, True)])
def test_one_that_loses_nan_or_mistakes_its_arguments_is_not(fault: tuple[bool, bool]) -> None:
    call = _multiply(*fault)
    assert not blas._multiplies(ctypes.cast(call, POINTER).value or 0, np.dtype(np.float64))


@pytest.mark.usefixtures("_looked_for_again")
def test_products_stay_loops_where_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blas, "_numpys_library", lambda: None)
    assert blas.table_address() is None


@pytest.mark.usefixtures("_looked_for_again")
def test_products_stay_loops_where_none_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blas, "_multiplies", lambda address, dtype: False)
    assert blas.table_address() is None


def test_a_library_without_products_is_left_alone() -> None:
    attach(ctypes.CDLL(None))
