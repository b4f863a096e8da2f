"""NumPy's scalars have the methods of an array with one element."""

from __future__ import annotations

import numpy as np
import pytest

import appyc
from tests.e2e.harness import run_everywhere


def truths_and_totals(a, i):
    x = a[i]
    return x.all(), x.any(), (x == a[0]).all(), x.sum(), x.prod(), x.mean(), x.copy()


def extremes(a, i):
    return a[i].min() + a[0].max(), (a[i] > a[0]).any()


def sizes(a, i):
    x = a[i]
    return x.ndim, x.size, len(x.shape), x.itemsize, x.nbytes


def rows_that_fit(rows, mask):
    out = np.zeros(rows.shape[0], dtype=bool)
    for k, row in enumerate(rows):
        if (mask[k] == np.bitwise_and(mask[k], row[0])).all():
            out[k] = row[1:].any()
    return out


@pytest.mark.sampled
@pytest.mark.parametrize(
    "dtype", [np.bool_, np.int8, np.uint16, np.int64, np.float32, np.float64, np.complex128]
)
def test_as_in_python(dtype):
    a = np.array([0, 1, 3], dtype)
    for i in range(3):
        run_everywhere(truths_and_totals, a, i, strict=True)


@pytest.mark.parametrize("dtype", [np.int8, np.float32, np.float64])
def test_extremes_and_sizes(dtype):
    run_everywhere(extremes, np.array([0, 1, 3], dtype), 2, strict=True)
    run_everywhere(sizes, np.array([0, 1, 3], dtype), 2, strict=True)


def test_not_a_number_is_true():
    run_everywhere(truths_and_totals, np.array([0.0, np.nan]), 1, strict=True)


def test_in_loops():
    rng = np.random.default_rng(0)
    run_everywhere(rows_that_fit, rng.random((9, 3)) > 0.6, rng.random(9) > 0.5, strict=True)


def records(n):
    index = np.empty(n, dtype="u4,u2")
    index["f0"] = 3
    return np.arange(n) * 2.0, len(index), index["f0"].sum()


def texts(n):
    names = np.zeros(n, dtype="U3")
    return len(names), np.arange(n).sum()


@pytest.mark.parametrize("fn", [records, texts], ids=lambda fn: fn.__name__)
def test_arrays_of_records_and_texts_are_left_to_python(fn):
    """They were refused, where Python has them."""
    run_everywhere(fn, 5)


def no_type_at_all(n):
    return np.zeros(n, dtype="whatever")


def test_what_is_no_element_type():
    with pytest.raises(appyc.TypeInferenceError, match="is no element type"):
        appyc.jit(no_type_at_all, cache=False, strict=True)(3)
