"""trmm: B ← α·Lᵀ·B, in place, where L is lower triangular with a diagonal of ones.

A is M×M and holds L below its diagonal, B is M×N; double precision. Row i of the result
needs the old rows below it, so a column is computed from top to bottom; columns are
parallel. The diagonal of A and what lies above must not be read.
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
    A = np.where(k < i, ((i + k) % M) / M, 0.0)
    np.fill_diagonal(A, 1.0)
    return {"alpha": 1.5, "A": A, "B": ((N + i - j) % N) / N}


def random(rng: np.random.Generator, M: int, N: int) -> Arguments:
    below = np.tri(M, k=-1, dtype=bool)
    return {
        "alpha": scalar(rng),
        "A": np.where(below, uniform(rng, M, M), np.nan),
        "B": uniform(rng, M, N),
    }


def numpy_version(alpha, A, B):
    B += np.tril(A, -1).T @ B
    B *= alpha


@appyc.jit
def loops(alpha, A, B):
    m = B.shape[0]
    n = B.shape[1]
    # pragma parallel for
    for j in range(n):
        for i in range(m):
            acc = B[i, j]
            for k in range(i + 1, m):
                acc += A[k, i] * B[k, j]
            B[i, j] = alpha * acc


@appyc.jit(strict=True)
def tensors(alpha, A, B):
    for i in range(B.shape[0]):
        B[i] += A[i + 1 :, i] @ B[i + 1 :]
    B *= alpha


def flops(M: int, N: int) -> int:
    return M * M * N


def traffic(M: int, N: int) -> int:
    return 8 * (M * (M - 1) // 2 + 2 * M * N)


KERNEL = Kernel(
    name="trmm",
    dtype=np.float64,
    sizes=SIZES,
    initialise=initialise,
    random=random,
    numpy_version=numpy_version,
    loops=loops,
    tensors=tensors,
    outputs=("B",),
    flops=flops,
    traffic=traffic,
)
