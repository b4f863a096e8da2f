"""atax: y = Aᵀ·(A·x), by way of t = A·x.

A is M×N; double precision. The first product is a sum along each row, the second one
down each column: rows and columns are parallel in turn.
"""

import numpy as np

import appyc
from benchmarks.polybench.data import undefined, uniform
from benchmarks.polybench.kernel import Arguments, Kernel, sizes_table

SIZES = sizes_table(
    "M N",
    MINI=(38, 42),
    SMALL=(116, 124),
    MEDIUM=(390, 410),
    LARGE=(1900, 2100),
    EXTRALARGE=(1800, 2200),
)


def initialise(M: int, N: int) -> Arguments:
    i, j = np.ogrid[:M, :N]
    return {
        "A": ((i + j) % N) / (5 * M),
        "x": 1 + np.arange(N) / N,
        "y": np.zeros(N),
        "t": np.zeros(M),
    }


def random(rng: np.random.Generator, M: int, N: int) -> Arguments:
    return {"A": uniform(rng, M, N), "x": uniform(rng, N), "y": undefined(N), "t": undefined(M)}


def numpy_version(A, x, y, t):
    t[:] = A @ x
    y[:] = t @ A


@appyc.jit
def loops(A, x, y, t):
    m = A.shape[0]
    n = A.shape[1]
    # pragma parallel for
    for i in range(m):
        acc = 0.0
        for j in range(n):
            acc += A[i, j] * x[j]
        t[i] = acc
    # pragma parallel for
    for j in range(n):
        acc = 0.0
        for i in range(m):
            acc += A[i, j] * t[i]
        y[j] = acc


@appyc.jit(strict=True)
def tensors(A, x, y, t):
    t[:] = A @ x
    y[:] = t @ A


def flops(M: int, N: int) -> int:
    return 4 * M * N


def traffic(M: int, N: int) -> int:
    return 8 * (M * N + 2 * N)


KERNEL = Kernel(
    name="atax",
    dtype=np.float64,
    sizes=SIZES,
    initialise=initialise,
    random=random,
    numpy_version=numpy_version,
    loops=loops,
    tensors=tensors,
    outputs=("y",),
    flops=flops,
    traffic=traffic,
)
