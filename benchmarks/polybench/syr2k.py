"""syr2k: C ← β·C + α·(A·Bᵀ + B·Aᵀ) on the lower triangle.

A and B are N×M, C is N×N; double precision. The elements on and below the diagonal are
parallel, each with a sum over k; those above keep their values.
"""

import numpy as np

import appyc
from benchmarks.polybench.data import scalar, uniform
from benchmarks.polybench.kernel import Arguments, Kernel, sizes_table

SIZES = sizes_table(
    "M N",
    MINI=(20, 30),
    SMALL=(60, 80),
    MEDIUM=(200, 240),
    LARGE=(1000, 1200),
    EXTRALARGE=(2000, 2600),
)


def initialise(M: int, N: int) -> Arguments:
    i, k = np.arange(N), np.arange(M)
    return {
        "alpha": 1.5,
        "beta": 1.2,
        "A": ((np.outer(i, k) + 1) % N) / N,
        "B": ((np.outer(i, k) + 2) % M) / M,
        "C": ((np.outer(i, i) + 3) % N) / M,
    }


def random(rng: np.random.Generator, M: int, N: int) -> Arguments:
    return {
        "alpha": scalar(rng),
        "beta": scalar(rng),
        "A": uniform(rng, N, M),
        "B": uniform(rng, N, M),
        "C": uniform(rng, N, N),
    }


def numpy_version(alpha, beta, A, B, C):
    P = A @ B.T
    np.copyto(C, beta * C + alpha * (P + P.T), where=np.tri(C.shape[0], dtype=bool))


@appyc.jit
def loops(alpha, beta, A, B, C):
    n = A.shape[0]
    m = A.shape[1]
    # pragma parallel for
    for i in range(n):
        # pragma parallel for
        for j in range(i + 1):
            acc = 0.0
            for k in range(m):
                acc += A[j, k] * B[i, k] + B[j, k] * A[i, k]
            C[i, j] = beta * C[i, j] + alpha * acc


@appyc.jit(strict=True)
def tensors(alpha, beta, A, B, C):
    for i in range(C.shape[0]):
        products = A[: i + 1] @ B[i] + B[: i + 1] @ A[i]
        C[i, : i + 1] = beta * C[i, : i + 1] + alpha * products


def flops(M: int, N: int) -> int:
    return N * (N + 1) // 2 * (4 * M + 3)


def traffic(M: int, N: int) -> int:
    return 8 * (2 * N * M + N * (N + 1))


KERNEL = Kernel(
    name="syr2k",
    dtype=np.float64,
    sizes=SIZES,
    initialise=initialise,
    random=random,
    numpy_version=numpy_version,
    loops=loops,
    tensors=tensors,
    outputs=("C",),
    flops=flops,
    traffic=traffic,
)
