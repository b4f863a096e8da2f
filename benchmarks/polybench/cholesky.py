"""cholesky: A = L·Lᵀ, L written over the lower triangle of A.

A is N×N, symmetric and positive definite; double precision. Step k takes the root of the
pivot, divides the column below it, and subtracts the column's outer product with itself
from what remains: parallel in that, sequential in k. The column is copied to `column`, so
that the update reads it with stride one. The strict upper triangle keeps its values.
"""

import numpy as np

import appyc
from benchmarks.polybench.data import lower_product, undefined, uniform
from benchmarks.polybench.kernel import Arguments, Kernel, sizes_table

SIZES = sizes_table("N", MINI=(40,), SMALL=(120,), MEDIUM=(400,), LARGE=(2000,), EXTRALARGE=(4000,))


def initialise(N: int) -> Arguments:
    return {"A": lower_product(N), "column": np.zeros(N)}


def random(rng: np.random.Generator, N: int) -> Arguments:
    X = uniform(rng, N, N)
    A = X @ X.T / N
    A[np.diag_indices(N)] += 0.1
    return {"A": A, "column": undefined(N)}


def numpy_version(A, column):
    np.copyto(A, np.linalg.cholesky(A), where=np.tri(A.shape[0], dtype=bool))


@appyc.jit
def loops(A, column):
    n = A.shape[0]
    for k in range(n):
        pivot = np.sqrt(A[k, k])
        A[k, k] = pivot
        # pragma parallel for
        for i in range(k + 1, n):
            A[i, k] /= pivot
            column[i] = A[i, k]
        # pragma parallel for
        for i in range(k + 1, n):
            # pragma parallel for
            for j in range(k + 1, i + 1):
                A[i, j] -= column[i] * column[j]


@appyc.jit(strict=True)
def tensors(A, column):
    """Column k of L from those before it: only matrix-vector products."""
    for k in range(A.shape[0]):
        A[k:, k] -= A[k:, :k] @ A[k, :k]
        A[k, k] = np.sqrt(A[k, k])
        A[k + 1 :, k] /= A[k, k]


def flops(N: int) -> int:
    return N * (N + 1) * (2 * N + 1) // 6


def traffic(N: int) -> int:
    return 8 * N * (N + 1)


KERNEL = Kernel(
    name="cholesky",
    dtype=np.float64,
    sizes=SIZES,
    initialise=initialise,
    random=random,
    numpy_version=numpy_version,
    loops=loops,
    tensors=tensors,
    outputs=("A",),
    flops=flops,
    traffic=traffic,
)
