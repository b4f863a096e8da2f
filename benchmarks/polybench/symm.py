"""symm: C ← β·C + α·S·B, where S is symmetric and only its lower triangle is stored, in A.

A is M×M, B and C are M×N; double precision. The published loops scatter each element of A
into two rows of C; gathered instead, every element of C is a sum of its own. The upper
triangle of A must not be read.
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
    i, j = np.ogrid[:M, :N]
    k = np.arange(M)
    return {
        "alpha": 1.5,
        "beta": 1.2,
        "A": np.where(k <= i, ((i + k) % 100) / M, -999.0),
        "B": ((N + i - j) % 100) / M,
        "C": ((i + j) % 100) / M,
    }


def random(rng: np.random.Generator, M: int, N: int) -> Arguments:
    return {
        "alpha": scalar(rng),
        "beta": scalar(rng),
        "A": np.where(np.tri(M, dtype=bool), uniform(rng, M, M), np.nan),
        "B": uniform(rng, M, N),
        "C": uniform(rng, M, N),
    }


def numpy_version(alpha, beta, A, B, C):
    S = np.tril(A) + np.tril(A, -1).T
    C *= beta
    C += alpha * (S @ B)


@appyc.jit
def loops(alpha, beta, A, B, C):
    m = C.shape[0]
    n = C.shape[1]
    # pragma parallel for
    for i in range(m):
        # pragma parallel for
        for j in range(n):
            acc = 0.0
            for k in range(i + 1):
                acc += A[i, k] * B[k, j]
            for k in range(i + 1, m):
                acc += A[k, i] * B[k, j]
            C[i, j] = beta * C[i, j] + alpha * acc


@appyc.jit(strict=True)
def tensors(alpha, beta, A, B, C):
    S = np.tril(A) + np.tril(A, -1).T
    C[:] = alpha * S @ B + beta * C


def flops(M: int, N: int) -> int:
    return 2 * M * M * N + 3 * M * N


def traffic(M: int, N: int) -> int:
    return 8 * (M * (M + 1) // 2 + 3 * M * N)


KERNEL = Kernel(
    name="symm",
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
