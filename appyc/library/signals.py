"""Interpolation, convolution, polynomials and windows."""

# mypy: ignore-errors

from __future__ import annotations

import math

import numpy as np

from appyc.library.primitives import each, refuse
from appyc.library.table import of


@of(np.interp)
def interp(x: np.ndarray, xp: np.ndarray, fp: np.ndarray, left=None, right=None, period=None):
    """The values of the lines between points, and of the first and the last point beside them."""
    if period is not None or xp.ndim != 1 or fp.ndim != 1 or fp.dtype.kind == "c":
        refuse("np.interp is compiled for vectors of real numbers without a period")
    n = len(xp)
    if n == 0:
        raise ValueError("array of sample points is empty")
    if len(fp) != n:
        raise ValueError("fp and xp are not of the same length.")
    before = np.float64(fp[0] if left is None else left)
    behind = np.float64(fp[n - 1] if right is None else right)
    rounds = n.bit_length()

    def value(number):
        at, step = 0, (1 << rounds) // 2
        here = np.float64(number)
        for _ in range(rounds):
            if at + step <= n and xp[at + step - 1] <= here:
                at += step
            step //= 2
        out = here
        if at == 0 and here < xp[0]:
            out = before
        elif here > xp[n - 1]:
            out = behind
        elif not np.isnan(here):
            k = min(at - 1, n - 1)
            low = np.float64(fp[k])
            out = low
            if k < n - 1 and here != xp[k]:
                slope = (fp[k + 1] - low) / (np.float64(xp[k + 1]) - xp[k])
                out = slope * (here - xp[k]) + low
                if np.isnan(out):
                    out = slope * (here - xp[k + 1]) + fp[k + 1]
                    if np.isnan(out) and fp[k] == fp[k + 1]:
                        out = low
        return out

    return each(value, x)


@of(np.convolve)
def convolve(a: np.ndarray, v: np.ndarray, mode="full"):
    """The sums of products of one vector with the other one reversed, which is moved along it."""
    return slid(a, v, mode, reverse=True)


@of(np.correlate)
def correlate(a: np.ndarray, v: np.ndarray, mode="valid"):
    """The sums of products of one vector with the conjugate of another one, which is moved along it."""
    return slid(a, np.conjugate(v) if v.dtype.kind == "c" else v, mode, reverse=False)


def slid(a, v, mode, reverse):
    """The sums of products of the longer vector with the shorter one at each shift."""
    if a.ndim != 1 or v.ndim != 1 or mode not in ("full", "same", "valid"):
        refuse("vectors, and the mode as a constant, are needed here")
    if len(a) == 0:
        raise ValueError("a cannot be empty")
    if len(v) == 0:
        raise ValueError("v cannot be empty")
    n, m = max(len(a), len(v)), min(len(a), len(v))
    middle = m // 2 if len(v) > len(a) and not reverse else (m - 1) // 2
    start = 0 if mode == "full" else middle if mode == "same" else m - 1
    count = n + m - 1 if mode == "full" else n if mode == "same" else n - m + 1
    out = np.zeros(count, np.result_type(a, v))
    for i in range(count):
        shift = start + i
        total = out[i]
        for k in range(max(0, shift - len(v) + 1), min(len(a), shift + 1)):
            total += a[k] * v[shift - k if reverse else len(v) - 1 - shift + k]
        out[i] = total
    return out


@of(np.polyval)
def polyval(p: np.ndarray, x: np.ndarray):
    """A polynomial's value, the coefficient of the highest power first."""
    if p.ndim != 1:
        refuse("np.polyval takes its coefficients as a vector")
    real = np.result_type(p, x)

    def value(at):
        total = real.type(0)
        for k in range(len(p)):
            total = total * at + p[k]
        return total

    return each(value, x)


@of(np.gradient)
def gradient(f: np.ndarray, *varargs, axis=None, edge_order=1):
    """The central differences along an axis, and one-sided ones at its ends."""
    if edge_order != 1 or f.dtype.kind == "c" or len(varargs) > 1 or (axis is None and f.ndim != 1):
        refuse("np.gradient is compiled along one axis, with edges of the first order")
    if f.dtype.kind in ("i", "u"):
        f = f.astype(np.float64)
    where, h = -1 if axis is None else axis, 1.0
    if len(varargs) == 1:
        h = varargs[0]
        if np.ndim(h) != 0:
            refuse("np.gradient is compiled with a number as spacing")
    made = np.empty(f.shape, f.dtype if f.dtype.kind == "f" else np.float64)
    out, values = np.moveaxis(made, where, -1), np.moveaxis(f, where, -1)
    if values.shape[-1] < 2:
        raise ValueError("Shape of array too small to calculate a numerical gradient")
    out[..., 1:-1] = (values[..., 2:] - values[..., :-2]) / (2.0 * h)
    out[..., 0] = (values[..., 1] - values[..., 0]) / h
    out[..., -1] = (values[..., -1] - values[..., -2]) / h
    return made


@of(np.hanning)
def hanning(M):  # noqa: N803  (NumPy's name)
    """The Hann window."""
    return cosines(M, 0.5, 0.5, 0.0)


@of(np.hamming)
def hamming(M):  # noqa: N803
    """The Hamming window."""
    return cosines(M, 0.54, 0.46, 0.0)


@of(np.blackman)
def blackman(M):  # noqa: N803
    """The Blackman window."""
    return cosines(M, 0.42, 0.5, 0.08)


def cosines(count, mean, first, second):
    """A window of two cosines, 1 alone."""
    n = np.arange(1 - count, count, 2) * (math.pi / max(count - 1, 1))
    window = mean + first * np.cos(n) + second * np.cos(2.0 * n)
    return np.where(count == 1, 1.0, window)
