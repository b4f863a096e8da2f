"""Reductions that leave NaN out, and spreads."""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from appyc.library.primitives import refuse
from appyc.library.table import of


def put(out, value):
    """The value, in the array that the caller gave for it."""
    if out is None:
        return value
    out[...] = value
    return out


def filled(a, number):
    """The elements, with NaN replaced by a number."""
    return np.where(np.isnan(a), a.dtype.type(number), a) if a.dtype.kind in ("f", "c") else a


@of(np.nansum)
def nansum(a: np.ndarray, axis=None, dtype=None, out=None, keepdims=False):
    """The sum of the elements that are numbers."""
    return np.sum(filled(a, 0), axis, dtype, out, keepdims)


@of(np.nanprod)
def nanprod(a: np.ndarray, axis=None, dtype=None, out=None, keepdims=False):
    """The product of the elements that are numbers."""
    return np.prod(filled(a, 1), axis, dtype, out, keepdims)


@of(np.nanmean)
def nanmean(a: np.ndarray, axis=None, dtype=None, out=None, keepdims=False):
    """The mean of the elements that are numbers."""
    if a.dtype.kind not in ("f", "c"):
        return np.mean(a, axis, dtype, out, keepdims)
    total = np.sum(filled(a, 0), axis, dtype, keepdims=keepdims)
    count = np.sum(~np.isnan(a), axis, keepdims=keepdims)
    return put(out, total / count.astype(total.dtype))


@of(np.nanvar)
def nanvar(a: np.ndarray, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
    """The variance of the elements that are numbers."""
    if a.dtype.kind == "c":
        refuse("np.nanvar of complex numbers is not compiled")
    if a.dtype.kind != "f":
        return put(out, np.var(a, axis, dtype, ddof=ddof, keepdims=keepdims))
    apart = np.where(np.isnan(a), a.dtype.type(0), a - nanmean(a, axis, dtype, keepdims=True))
    total = np.sum(apart * apart, axis, dtype, keepdims=keepdims)
    count = np.sum(~np.isnan(a), axis, keepdims=keepdims) - ddof
    return put(out, np.where(count > 0, total / count.astype(total.dtype), np.nan))


@of(np.nanstd)
def nanstd(a: np.ndarray, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
    """The standard deviation of the elements that are numbers."""
    return put(out, np.sqrt(nanvar(a, axis, dtype, None, ddof, keepdims)))


def extreme_without_nan(reduce, a, none, axis, out, keepdims):
    """The extreme of the elements that are numbers; NaN where there is none."""
    if a.dtype.kind == "c":
        refuse("complex numbers have no order here")
    if a.dtype.kind != "f":
        return reduce(a, axis, out, keepdims)
    nowhere = np.isnan(a)
    best = reduce(np.where(nowhere, none, a), axis, keepdims=keepdims)
    return put(out, np.where(np.all(nowhere, axis, keepdims=keepdims), np.nan, best))


@of(np.nanmin)
def nanmin(a: np.ndarray, axis=None, out=None, keepdims=False):
    """The smallest of the elements that are numbers."""
    return extreme_without_nan(np.min, a, np.inf, axis, out, keepdims)


@of(np.nanmax)
def nanmax(a: np.ndarray, axis=None, out=None, keepdims=False):
    """The largest of the elements that are numbers."""
    return extreme_without_nan(np.max, a, -np.inf, axis, out, keepdims)


def first_without_nan(first, a, none, axis, out, keepdims):
    """The index of the first extreme element among those that are numbers, along an axis."""
    if a.dtype.kind == "c":
        refuse("complex numbers have no order here")
    found = first(filled(a, none), axis, keepdims=keepdims)
    if a.dtype.kind == "f" and np.any(np.all(np.isnan(a), axis)):
        raise ValueError("All-NaN slice encountered")
    return put(out, found)


@of(np.nanargmin)
def nanargmin(a: np.ndarray, axis=None, out=None, keepdims=False):
    """The index of the smallest of the elements that are numbers."""
    return first_without_nan(np.argmin, a, np.inf, axis, out, keepdims)


@of(np.nanargmax)
def nanargmax(a: np.ndarray, axis=None, out=None, keepdims=False):
    """The index of the largest of the elements that are numbers."""
    return first_without_nan(np.argmax, a, -np.inf, axis, out, keepdims)


@of(np.ptp)
def ptp(a: np.ndarray, axis=None, out=None, keepdims=False):
    """The distance from the smallest element to the largest."""
    return put(out, np.max(a, axis, keepdims=keepdims) - np.min(a, axis, keepdims=keepdims))
