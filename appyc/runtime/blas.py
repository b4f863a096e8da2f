"""Finds and tests the BLAS library that NumPy uses, so that kernels can call its matrix products.

NumPy's extension modules are linked with it, so its symbols are looked up in these modules, under the names that
builds of the library give them. So kernels and NumPy share one library and its threads. Each function is tested
on small matrices first: for the width of its integers, for each element type, and for NaN times 0, which not every
library computes as NaN. Where no function is found, or one fails the test, products stay loops.
"""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

_MODULES = ("numpy._core._multiarray_umath", "numpy.core._multiarray_umath")

_SPELLINGS = (
    ("scipy_cblas_{}64_", 63),
    ("cblas_{}64_", 63),
    ("cblas_{}$NEWLAPACK$ILP64", 63),
    ("scipy_cblas_{}", 31),
    ("cblas_{}", 31),
)
"""The spellings of CBLAS function names in builds of libraries, each with the bits of a matrix side's
length."""

_THREADS = (
    "scipy_openblas_{}_num_threads64_",
    "openblas_{}_num_threads64_",
    "scipy_openblas_{}_num_threads",
    "openblas_{}_num_threads",
)

_TYPES: tuple[tuple[str, type[np.generic]], ...] = (
    ("s", np.float32), ("d", np.float64), ("c", np.complex64), ("z", np.complex128),
)  # fmt: skip
"""The dtypes in the order of the table, each with its letter in function names."""

_BY_ROWS, _AS_IS, _TRANSPOSED, _LOWER = 101, 111, 112, 122


class _Table(ctypes.Structure):
    """The table of functions that C code reads (`c_gen/headers/library_products.h`)."""

    _fields_ = (
        ("gemm", ctypes.c_void_p * 4),
        ("syrk", ctypes.c_void_p * 2),
        ("syr2k", ctypes.c_void_p * 2),
        ("threads", ctypes.c_void_p),
        ("set_threads", ctypes.c_void_p),
        ("longest", ctypes.c_int64),
    )


def table_address() -> int | None:
    """The address of the table of the BLAS functions that were found, for compiled libraries with matrix
    products; None where there are none."""
    table = _table()
    return None if table is None else ctypes.addressof(table)


def multiply() -> Callable[[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]], None] | None:
    """The library's c = a b on one thread, for square matrices in C's order; None where there is none."""
    table = _table()
    if table is None or not table.gemm[1]:
        return None
    gemm = _gemm(table.gemm[1], ctypes.c_double)
    count = ctypes.CFUNCTYPE(ctypes.c_int)(table.threads) if table.threads else None
    change = ctypes.CFUNCTYPE(None, ctypes.c_int)(table.set_threads) if table.set_threads else None

    def call(a: NDArray[np.float64], b: NDArray[np.float64], c: NDArray[np.float64]) -> None:
        n, busy = len(a), count() if count is not None else 0
        if change is not None:
            change(1)
        gemm(
            _BY_ROWS, _AS_IS, _AS_IS, n, n, n, 1.0, a.ctypes.data, n, b.ctypes.data, n, 0.0, c.ctypes.data, n
        )
        if change is not None:
            change(busy)

    return call


@cache
def _table() -> _Table | None:
    library = _numpys_library()
    if library is None:
        return None
    for spelling, bits in _SPELLINGS:
        table = _Table(longest=(1 << bits) - 1)
        for number, (letter, dtype) in enumerate(_TYPES):
            gemm = _address(library, spelling.format(letter + "gemm"))
            if gemm is not None and _multiplies(gemm, np.dtype(dtype)):
                table.gemm[number] = gemm
        for number, (letter, dtype) in enumerate(_TYPES[:2]):
            for name, (twice, found) in {"syrk": (False, table.syrk), "syr2k": (True, table.syr2k)}.items():
                address = _address(library, spelling.format(letter + name))
                if address is not None and _squares(address, np.dtype(dtype), twice=twice):
                    found[number] = address
        if any(table.gemm):
            for names in _THREADS:
                count, change = (_address(library, names.format(word)) for word in ("get", "set"))
                if count is not None and change is not None:
                    table.threads, table.set_threads = count, change
                    break
            return table
    return None


def _numpys_library() -> ctypes.CDLL | None:
    for name in _MODULES:
        try:
            file = importlib.import_module(name).__file__
        except ImportError:
            continue
        if file is not None:
            try:
                return ctypes.CDLL(file)  # loaded already: this is one more handle
            except OSError:
                return None
    return None


def _address(library: ctypes.CDLL, name: str) -> int | None:
    try:
        return ctypes.cast(getattr(library, name), ctypes.c_void_p).value
    except AttributeError:
        return None


# ---------------------------------------------------------------- does it do as it should?


def _sample(rows: int, columns: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """A matrix of small integers, whose products are exact in any order of summation."""
    numbers = np.arange(rows * columns).reshape(rows, columns) % 7 - 3.0
    return (numbers + 1j * (numbers % 3) if dtype.kind == "c" else numbers).astype(dtype)


_FACTORS = {"f": ctypes.c_float, "d": ctypes.c_double, "F": ctypes.c_void_p, "D": ctypes.c_void_p}
"""Real factors are given by value, complex ones through a pointer."""


def _given(factor: NDArray[Any]) -> float | int:
    return factor.ctypes.data if factor.dtype.kind == "c" else float(factor)


def _multiplies(address: int, dtype: np.dtype[Any]) -> bool:
    """Whether c = 2 a b' + 3 c comes out, with NaN where a column of a 0 meets one."""
    rows, columns, summed = 9, 5, 6
    shapes = ((rows, summed), (columns, summed), (rows, columns))
    a, b, c = (_sample(*shape, dtype) for shape in shapes)
    a[2], b[3, 1] = 0, np.nan
    expected = 3 * c + 2 * np.sum(a[:, None, :] * b[None, :, :], axis=2)
    two, three = np.array(2, dtype), np.array(3, dtype)
    call = _gemm(address, _FACTORS[dtype.char])
    call(_BY_ROWS, _AS_IS, _TRANSPOSED, rows, columns, summed, _given(two), a.ctypes.data, summed,
         b.ctypes.data, summed, _given(three), c.ctypes.data, columns)  # fmt: skip
    return np.array_equal(c, expected, equal_nan=True)


def _gemm(address: int, factor: Any) -> Callable[..., None]:
    """The function of that address, whose factors have that type in C."""
    size, pointer = ctypes.c_int64, ctypes.c_void_p
    parameters = (size, size, size, factor, pointer, size, pointer, size, factor, pointer, size)
    return ctypes.CFUNCTYPE(None, *(ctypes.c_int,) * 3, *parameters)(address)


def _squares(address: int, dtype: np.dtype[Any], *, twice: bool) -> bool:
    """Whether c = 2 a a' + 3 c comes out in the lower triangle (twice: 2 a b' + 2 b a' + 3 c), with NaN where a 0
    meets one."""
    rows, summed = 9, 6
    a, c = _sample(rows, summed, dtype), _sample(rows, rows, dtype)
    a[2], a[3, 1] = 0, np.nan
    b = a[::-1].copy() if twice else a
    half = np.sum(a[:, None, :] * b[None, :, :], axis=2)
    whole = 3 * c + 2 * (half + half.T if twice else half)
    expected = np.where(np.tri(rows, dtype=bool), whole, c)
    size, pointer, factor = ctypes.c_int64, ctypes.c_void_p, _FACTORS[dtype.char]
    second = (pointer, size) if twice else ()
    call = ctypes.CFUNCTYPE(
        None, *(ctypes.c_int,) * 3, size, size, factor, pointer, size, *second, factor, pointer, size
    )(address)
    other = (b.ctypes.data, summed) if twice else ()
    call(_BY_ROWS, _LOWER, _AS_IS, rows, summed, 2.0, a.ctypes.data, summed, *other, 3.0, c.ctypes.data, rows)
    return np.array_equal(c, expected, equal_nan=True)
