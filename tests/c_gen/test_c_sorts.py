"""Calls of NumPy's sort: when compiled code makes them, and what it does where NumPy has no such function."""

from __future__ import annotations

import numpy as np
import pytest

import appyc
from appyc.runtime import attaching


def rows_in_order(a):
    out = np.empty(a.shape, a.dtype)
    order = np.empty(a.shape, np.int64)
    for i in range(a.shape[0]):
        out[i] = np.sort(a[i])
        order[i] = np.argsort(a[i])
    return out, order


def few_in_order(a):
    total = 0.0
    for i in range(len(a) - 4):
        total += np.sort(a[i : i + 5])[2]
    return total


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int32", "uint64", "float32", "float64"])
@pytest.mark.parametrize("has_functions", [True, False])
def test_rows_are_sorted_by_numpy_and_without_it(dtype, has_functions, monkeypatch):
    if not has_functions:
        monkeypatch.delitem(attaching._ADDRESSES, "appyc_sorts")
    rng = np.random.default_rng(0)
    a = rng.permuted(np.tile(np.arange(100), (3, 1)), axis=1).astype(dtype)
    out, order = appyc.jit(rows_in_order, cache=False, strict=True)(a)
    np.testing.assert_array_equal(out, np.sort(a))
    np.testing.assert_array_equal(np.take_along_axis(a, order, 1), out)


def test_few_elements_are_sorted_by_a_loop():
    assert "numpy_sort_float64(" in appyc.jit(rows_in_order).source("c", np.ones((3, 4)))
    assert "numpy_sort" not in appyc.jit(few_in_order).source("c", np.ones(9))


def test_indices_of_equal_elements_are_in_numpys_order():
    a = np.random.default_rng(1).integers(0, 5, (2, 300))
    _, order = appyc.jit(rows_in_order, cache=False)(a)
    np.testing.assert_array_equal(order, np.argsort(a, axis=1))
