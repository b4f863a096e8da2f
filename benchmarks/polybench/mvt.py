"""mvt: x1 ← x1 + A·y1 and x2 ← x2 + Aᵀ·y2.

A is N×N; double precision. Two independent products, one along rows, one down columns.
"""

import numpy as np

import appyc
from benchmarks.polybench.data import uniform
from benchmarks.polybench.kernel import Arguments, Kernel, sizes_table

SIZES = sizes_table("N", MINI=(40,), SMALL=(120,), MEDIUM=(400,), LARGE=(2000,), EXTRALARGE=(4000,))


def initialise(N: int) -> Arguments:
    i = np.arange(N)
    return {
        "A": (np.outer(i, i) % N) / N,
        "x1": (i % N) / N,
        "x2": ((i + 1) % N) / N,
        "y1": ((i + 3) % N) / N,
        "y2": ((i + 4) % N) / N,
    }


def random(rng: np.random.Generator, N: int) -> Arguments:
    return {
        "A": uniform(rng, N, N),
        "x1": uniform(rng, N),
        "x2": uniform(rng, N),
        "y1": uniform(rng, N),
        "y2": uniform(rng, N),
    }


def numpy_version(A, x1, x2, y1, y2):
    x1 += A @ y1
    x2 += y2 @ A


@appyc.jit
def loops(A, x1, x2, y1, y2):
    n = A.shape[0]
    # pragma parallel for
    for i in range(n):
        acc = 0.0
        for j in range(n):
            acc += A[i, j] * y1[j]
        x1[i] += acc
    # pragma parallel for
    for j in range(n):
        acc = 0.0
        for i in range(n):
            acc += A[i, j] * y2[i]
        x2[j] += acc


@appyc.jit(strict=True)
def tensors(A, x1, x2, y1, y2):
    x1 += A @ y1
    x2 += y2 @ A


def flops(N: int) -> int:
    return 4 * N * N


def traffic(N: int) -> int:
    return 8 * (N * N + 6 * N)


KERNEL = Kernel(
    name="mvt",
    dtype=np.float64,
    sizes=SIZES,
    initialise=initialise,
    random=random,
    numpy_version=numpy_version,
    loops=loops,
    tensors=tensors,
    outputs=("x1", "x2"),
    flops=flops,
    traffic=traffic,
)
