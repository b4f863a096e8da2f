"""Differences and sums along an axis: np.diff, np.trapezoid, np.gradient."""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from appyc.library.primitives import refuse
from appyc.library.table import of


def part(a, axis, first, behind):
    """A slice along an axis."""
    return np.moveaxis(np.moveaxis(a, axis, -1)[..., first:behind], -1, axis)


@of(np.diff)
def diff(a: np.ndarray, n=1, axis=-1):
    """The differences of neighbours along an axis, n times."""
    if a.ndim == 0:
        refuse("diff requires input that is at least one dimensional")
    if n < 0:
        refuse("the order must not be negative")
    for _ in (0,) * n:
        high, low = part(a, axis, 1, None), part(a, axis, None, -1)
        a = high != low if a.dtype.kind == "b" else high - low
    return a


@of(np.ediff1d)
def ediff1d(ary: np.ndarray, to_end=None, to_begin=None):
    """The differences of neighbours in C order, with numbers before and behind them."""
    flat = np.ravel(ary)
    out = flat[1:] - flat[:-1]
    if to_begin is not None:
        out = np.concatenate((np.atleast_1d(to_begin).astype(ary.dtype), out))
    if to_end is not None:
        out = np.concatenate((out, np.atleast_1d(to_end).astype(ary.dtype)))
    return out


@of(np.trapezoid)
def trapezoid(y: np.ndarray, x: np.ndarray = None, dx=1.0, axis=-1):
    """The area under the lines between points."""
    heights = np.moveaxis(y, axis, -1)
    widths = dx
    if x is not None:
        widths = diff(x) if x.ndim == 1 else np.moveaxis(diff(x, axis=axis), axis, -1)
    return np.sum(widths * (heights[..., 1:] + heights[..., :-1]) / 2.0, axis=-1)
