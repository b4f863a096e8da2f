"""Makers of arrays that several kernels share."""

from __future__ import annotations

import numpy as np


def uniform(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Random numbers of both signs."""
    return rng.uniform(-1.0, 1.0, shape)


def scalar(rng: np.random.Generator) -> float:
    """A random factor that is neither 0 nor 1."""
    return float(rng.uniform(1.1, 1.9))


def undefined(*shape: int) -> np.ndarray:
    """An array that must be written before it is read: whoever reads it first spreads NaN."""
    return np.full(shape, np.nan)


def lower_product(N: int) -> np.ndarray:
    """PolyBench's positive definite matrix T·Tᵀ: t_ij = 1 - j/N below the diagonal, 1 on it."""
    T = np.tril(np.broadcast_to(1.0 - np.arange(N) / N, (N, N)), -1)
    np.fill_diagonal(T, 1.0)
    return T @ T.T


def dominant(rng: np.random.Generator, N: int) -> np.ndarray:
    """A random matrix whose elimination needs no pivoting, with pivots other than 1.

    The elements beside the diagonal are so large that they are a good part of the norm,
    and so small that every leading minor is well conditioned.
    """
    A = rng.uniform(-0.5, 0.5, (N, N)) / np.sqrt(N)
    A[np.diag_indices(N)] += rng.uniform(1.5, 2.5, N)
    return A
