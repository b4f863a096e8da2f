"""Functions that compare and measure: np.isclose and its kin, norms, averages."""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from appyc.library.primitives import refuse
from appyc.library.table import of


@of(np.isclose, elements=4)
def isclose(a, b, rtol=1e-5, atol=1e-8, equal_nan=False):
    """|a - b| <= atol + rtol * |b| where b is finite, a == b elsewhere."""
    x, y = np.float64(a), np.float64(b)
    near = (abs(x - y) <= atol + rtol * abs(y)) & np.isfinite(y) | (x == y)
    return near | np.isnan(x) & np.isnan(y) if equal_nan else near


@of(np.allclose)
def allclose(a: np.ndarray, b: np.ndarray, rtol=1e-5, atol=1e-8, equal_nan=False):
    """Whether all elements are close."""
    return bool(np.all(np.isclose(a, b, rtol, atol, equal_nan)))


@of(np.array_equal)
def array_equal(a1: np.ndarray, a2: np.ndarray, equal_nan=False):
    """Whether shapes and elements are the same."""
    same = a1.shape == a2.shape
    if same:
        if equal_nan:
            same = bool(np.all((a1 == a2) | np.isnan(a1) & np.isnan(a2)))
        else:
            same = bool(np.all(a1 == a2))
    return same


@of(np.nan_to_num, elements=1)
def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    """A number for NaN, and for the infinities, by default the largest of the type."""
    real = x.dtype.type
    if x.dtype.kind != "f":
        if x.dtype.kind == "c":
            refuse("np.nan_to_num of complex numbers is not compiled")
        return x
    most = np.finfo(x.dtype).max
    high = most if posinf is None else real(posinf)
    low = -most if neginf is None else real(neginf)
    return real(nan) if np.isnan(x) else high if x == np.inf else low if x == -np.inf else x


@of(np.linalg.norm)
def norm(x: np.ndarray, ord=None, axis=None, keepdims=False):
    """The Euclidean length of all elements, or of vectors along axes; of vectors, norms of any order."""
    values = x if x.dtype.kind in ("f", "c") else x.astype(np.float64)
    is_vector = x.ndim == 1 if axis is None else not isinstance(axis, tuple)
    if ord is None or (ord == 2 and is_vector) or (isinstance(ord, str) and ord == "fro" and not is_vector):
        squares = values.real**2 + values.imag**2 if x.dtype.kind == "c" else values * values
        return np.sqrt(np.sum(squares, axis, keepdims=keepdims))
    if not is_vector or isinstance(ord, str):
        refuse("this norm is not compiled")
    if ord == np.inf:
        return np.max(np.abs(values), axis, keepdims=keepdims)
    if ord == -np.inf:
        return np.min(np.abs(values), axis, keepdims=keepdims)
    if ord == 1:
        return np.sum(np.abs(values), axis, keepdims=keepdims)
    if ord == 0:
        return np.sum((values != 0).astype(np.abs(values).dtype), axis, keepdims=keepdims)
    return np.sum(np.abs(values) ** ord, axis, keepdims=keepdims) ** (1 / ord)


@of(np.linalg.vector_norm)
def vector_norm(x: np.ndarray, axis=None, keepdims=False, ord=2):
    """The norm of vectors along an axis, or of all elements."""
    return norm(np.ravel(x) if axis is None and not keepdims else x, ord, axis, keepdims)


@of(np.average)
def average(a: np.ndarray, axis=None, weights=None, returned=False, keepdims=False):
    """The mean, or the weighted sum over the sum of the weights."""
    if returned:
        refuse("np.average is compiled without its weights")
    if weights is None:
        return np.mean(a, axis, keepdims=keepdims)
    if weights.ndim != a.ndim:
        if weights.ndim != 1 or axis is None:
            refuse("the weights need the shape of the array, or one axis of it")
        weights = np.moveaxis(np.expand_dims(weights, tuple(range(1, a.ndim))), 0, axis)
    if a.dtype.kind not in ("f", "c"):
        a = a.astype(np.float64)
    scale = np.sum(weights * np.ones_like(a), axis, keepdims=keepdims)
    if np.any(scale == 0.0):
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    return np.sum(a * weights, axis, keepdims=keepdims) / scale
