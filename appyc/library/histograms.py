"""Counts of values in bins: np.histogram, np.bincount."""

# mypy: ignore-errors

from __future__ import annotations

import builtins

import numpy as np

from appyc.library.primitives import refuse
from appyc.library.searching import precedes
from appyc.library.table import of


@of(np.bincount)
def bincount(x: np.ndarray, weights: np.ndarray = None, minlength=0):
    """The number of occurrences of each integer from 0 on among the values; the sum of their weights."""
    if x.ndim != 1 or x.dtype.kind not in ("b", "i", "u") or x.dtype == np.uint64:
        refuse("np.bincount counts a vector of integers below 2**63")
    if minlength < 0:
        raise ValueError("'minlength' must not be negative")
    if weights is not None:
        if weights.ndim != 1 or weights.dtype.kind == "c":
            refuse("the weights must be a vector of real numbers")
        if len(weights) != len(x):
            raise ValueError("The weights and list don't have the same length.")
    largest = np.max(x.astype(np.uint64), initial=np.uint64(0))
    if largest >= np.uint64(9223372036854775807):  # as a negative one is
        raise ValueError("'list' argument must have no negative elements")
    n = max(minlength, np.int64(largest) + 1 if len(x) > 0 else 0)
    counts = np.zeros(n, np.int64 if weights is None else np.float64)
    np.add.at(counts, x.astype(np.int64), 1 if weights is None else weights.astype(np.float64))
    return counts


@of(np.histogram)
def histogram(a: np.ndarray, bins=10, range=None, density=False, weights=None):
    """The number of values in each bin, or the sum of their weights, and the bins' edges."""
    if a.dtype.kind == "c":
        refuse("complex numbers have no order")
    if weights is not None:
        if weights.dtype.kind in ("b", "c"):
            refuse("np.histogram with such weights is not compiled")
        if weights.shape != a.shape:
            raise ValueError("weights should have the same shape as a.")
        weights = np.ravel(weights)
    values = np.ravel(a)
    if isinstance(bins, np.ndarray):
        edges = bins
        counts = counted_between(values, edges, weights)
    else:
        edges = edges_of(values, bins, range)
        counts = counted_evenly(values, edges, weights)
    if weights is not None:
        counts = counts.astype(weights.dtype)
    if density:
        return counts / np.diff(edges) / counts.sum(), edges
    return counts, edges


@of(np.histogram_bin_edges)
def edges_of(a: np.ndarray, bins=10, range=None):
    """The edges of bins of one width."""
    if isinstance(bins, str):
        refuse("the number of bins must be a number")
    if bins < 1:
        raise ValueError("`bins` must be positive, when an integer")
    real = a.dtype.type if a.dtype.kind == "f" else np.float64
    first, last = real(0), real(1)
    if range is not None:
        first, last = real(range[0]), real(range[1])
        if first > last:
            raise ValueError("max must be larger than min in range parameter.")
    elif a.size > 0:
        first, last = real(np.min(a)), real(np.max(a))
    if not np.isfinite(last - first):
        raise ValueError("the range is not finite")
    if first == last:
        first, last = first - real(0.5), last + real(0.5)
    return np.linspace(first, last, bins + 1, dtype=real)


def counted_evenly(values, edges, weights):
    """Counts in bins of one width. What the quotient says may be one beside the bin, so the edges are asked."""
    bins = len(edges) - 1
    real = edges.dtype.type
    first, last = edges[0], edges[bins]
    width = last - first
    counts = np.zeros(bins, np.int64 if weights is None else np.float64)
    for i in builtins.range(len(values)):
        x = real(values[i])
        if first <= x <= last:
            at = max(min(int((x - first) / width * real(bins)), bins - 1), 0)
            if at > 0 and x < edges[at]:
                at -= 1
            elif at < bins - 1 and x >= edges[at + 1]:
                at += 1
            counts[at] += 1 if weights is None else weights[i]
    return counts


def counted_between(values, edges, weights):
    """Counts between given edges, in which the values are looked for."""
    if edges.ndim != 1 or edges.dtype.kind == "c":
        refuse("`bins` must be 1d, when an array")
    if len(edges) == 0:
        raise ValueError("there are no edges")
    if not np.all(edges[:-1] <= edges[1:]):
        raise ValueError("`bins` must increase monotonically, when an array")
    bins = len(edges) - 1
    rounds = (bins + 1).bit_length()
    counts = np.zeros(bins, np.int64 if weights is None else np.float64)
    for i in builtins.range(len(values)):
        x = values[i]
        if bins > 0 and edges[0] <= x <= edges[bins]:
            at, step = 0, (1 << rounds) // 2
            for _ in builtins.range(rounds):
                if at + step <= bins + 1 and not precedes(x, edges[at + step - 1]):
                    at += step
                step //= 2
            counts[min(at, bins) - 1] += 1 if weights is None else weights[i]
    return counts
