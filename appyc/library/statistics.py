"""Covariances, ranges of numbers, membership, integers."""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from appyc.library.primitives import refuse
from appyc.library.table import of
from appyc.library.without_nan import filled


@of(np.var, method="var")
def var(a: np.ndarray, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
    """The mean of the squared distances from the mean."""
    if out is not None:
        refuse("np.var with out is not compiled")
    count = a.size if axis is None else 1
    for k in () if axis is None else axis if isinstance(axis, tuple) else (axis,):
        count *= a.shape[k]
    if dtype is None and a.dtype.kind == "f":
        dtype = a.dtype  # also of the sum that gives the mean
    size = np.abs if a.dtype.kind == "c" else np.positive
    total = np.sum(np.square(size(a - np.mean(a, axis, dtype, keepdims=True))), axis, keepdims=keepdims)
    return total / (max(count - ddof, 0) if ddof > 0 else count - ddof)


@of(np.std, method="std")
def std(a: np.ndarray, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
    """The square root of the variance."""
    return np.sqrt(var(a, axis, dtype, out, ddof, keepdims))


@of(np.cov)
def cov(m: np.ndarray, y=None, rowvar=True, bias=False, ddof=None):
    """The covariances of variables, which are rows (a matrix of one element for a matrix of one row), or two vectors;
    the variance of a vector."""
    if m.ndim > (2 if y is None else 1) or m.dtype.kind == "c":
        refuse("np.cov is compiled for one array of real numbers and for two vectors")
    if y is not None and (y.ndim != 1 or y.dtype.kind == "c"):
        refuse("np.cov is compiled for two vectors of real numbers")
    rows = np.atleast_2d(m.astype(np.float64)) if y is None else np.stack((m, y)).astype(np.float64)
    x = rows if rowvar or m.ndim == 1 else rows.T
    n = x.shape[1]
    lost = ddof if ddof is not None else 0 if bias else 1
    apart = x - np.mean(x, 1, keepdims=True)
    products = apart @ apart.T / np.float64(max(n - lost, 0))
    return products if m.ndim == 2 or y is not None else products[0, 0]


@of(np.corrcoef)
def corrcoef(x: np.ndarray, y=None, rowvar=True):
    """The correlation coefficients of variables, which are rows."""
    if x.ndim != (2 if y is None else 1):
        refuse("np.corrcoef is compiled for one matrix and for two vectors")
    c = cov(x, y, rowvar)
    spread = np.sqrt(np.diagonal(c))
    return np.clip(c / spread[:, None] / spread, -1.0, 1.0)


@of(np.logspace)
def logspace(start, stop, num=50, endpoint=True, base=10.0):
    """Powers whose exponents have one distance."""
    return np.power(base, np.linspace(start, stop, num, endpoint))


@of(np.isin)
def isin(element: np.ndarray, test_elements: np.ndarray, assume_unique=False, invert=False):
    """Whether each element is among others."""
    among = np.ravel(test_elements)
    found = np.any(np.expand_dims(element, -1) == among, -1)
    return ~found if invert else found


@of(np.array_equiv)
def array_equiv(a1: np.ndarray, a2: np.ndarray):
    """Whether the elements are the same when one array is stretched."""
    return bool(np.all(a1 == a2))


@of(np.nancumsum)
def nancumsum(a: np.ndarray, axis=None, dtype=None):
    """The running sum of the elements that are numbers."""
    return np.cumsum(filled(a, 0), axis, dtype)


@of(np.nancumprod)
def nancumprod(a: np.ndarray, axis=None, dtype=None):
    """The running product of the elements that are numbers."""
    return np.cumprod(filled(a, 1), axis, dtype)


@of(np.gcd, elements=2)
def gcd(x1, x2):
    """The greatest common divisor."""
    if x1.dtype.kind not in ("i", "u") or x2.dtype.kind not in ("i", "u"):
        refuse("np.gcd takes integers")
    wide = np.result_type(x1, x2).type
    a, b = wide(abs(x1)), wide(abs(x2))
    while b != 0:
        a, b = b, np.remainder(a, b)
    return a


@of(np.lcm, elements=2)
def lcm(x1, x2):
    """The least common multiple."""
    divisor = gcd(x1, x2)
    return abs(np.floor_divide(x1, divisor) * x2)


@of(np.divmod, elements=2)
def quotient_and_rest(x1, x2):
    """The quotient rounded down, and the remainder."""
    return np.floor_divide(x1, x2), np.remainder(x1, x2)


@of(np.modf, elements=1, floats=True)
def modf(x):
    """The parts behind and in front of the point."""
    whole = np.trunc(x)
    return np.copysign(0.0 if np.isinf(x) else x - whole, x), whole
