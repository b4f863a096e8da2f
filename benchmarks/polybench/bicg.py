"""bicg: s = Aᵀ·r and q = A·p, the two products of the biconjugate gradient method.

A is N×M; double precision. The products do not depend on each other; q sums along rows,
s down columns.
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
    i, j = np.arange(N), np.arange(M)
    return {
        "A": (np.outer(i, j + 1) % N) / N,
        "s": np.zeros(M),
        "q": np.zeros(N),
        "p": (j % M) / M,
        "r": (i % N) / N,
    }


def random(rng: np.random.Generator, M: int, N: int) -> Arguments:
    return {
        "A": uniform(rng, N, M),
        "s": undefined(M),
        "q": undefined(N),
        "p": uniform(rng, M),
        "r": uniform(rng, N),
    }


def numpy_version(A, s, q, p, r):
    s[:] = r @ A
    q[:] = A @ p


@appyc.jit
def loops(A, s, q, p, r):
    n = A.shape[0]
    m = A.shape[1]
    # pragma parallel for
    for j in range(m):
        acc = 0.0
        for i in range(n):
            acc += r[i] * A[i, j]
        s[j] = acc
    # pragma parallel for
    for i in range(n):
        acc = 0.0
        for j in range(m):
            acc += A[i, j] * p[j]
        q[i] = acc


@appyc.jit(strict=True)
def tensors(A, s, q, p, r):
    s[:] = r @ A
    q[:] = A @ p


def flops(M: int, N: int) -> int:
    return 4 * M * N


def traffic(M: int, N: int) -> int:
    return 8 * (M * N + 2 * M + 2 * N)


KERNEL = Kernel(
    name="bicg",
    dtype=np.float64,
    sizes=SIZES,
    initialise=initialise,
    random=random,
    numpy_version=numpy_version,
    loops=loops,
    tensors=tensors,
    outputs=("s", "q"),
    flops=flops,
    traffic=traffic,
)
