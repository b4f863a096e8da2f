"""lu: A = L·U without pivoting, both written over A; L has a diagonal of ones.

A is N×N; double precision. Step k divides the column below the pivot and subtracts its
outer product with the pivot's row from what remains: parallel in that, sequential in k.
"""

import numpy as np

import appyc
from benchmarks.polybench.data import dominant, lower_product
from benchmarks.polybench.kernel import Arguments, Kernel, sizes_table

SIZES = sizes_table("N", MINI=(40,), SMALL=(120,), MEDIUM=(400,), LARGE=(2000,), EXTRALARGE=(4000,))


def initialise(N: int) -> Arguments:
    return {"A": lower_product(N)}


def random(rng: np.random.Generator, N: int) -> Arguments:
    return {"A": dominant(rng, N)}


def numpy_version(A):
    """Row k of U, then column k of L, each from what is known: only matrix-vector products."""
    for k in range(A.shape[0]):
        A[k, k:] -= A[k, :k] @ A[:k, k:]
        A[k + 1 :, k] -= A[k + 1 :, :k] @ A[:k, k]
        A[k + 1 :, k] /= A[k, k]


@appyc.jit
def loops(A):
    n = A.shape[0]
    for k in range(n):
        # pragma parallel for
        for i in range(k + 1, n):
            A[i, k] /= A[k, k]
        # pragma parallel for
        for i in range(k + 1, n):
            # pragma parallel for
            for j in range(k + 1, n):
                A[i, j] -= A[i, k] * A[k, j]


@appyc.jit(strict=True)
def tensors(A):
    for k in range(A.shape[0]):
        A[k + 1 :, k] /= A[k, k]
        A[k + 1 :, k + 1 :] -= np.outer(A[k + 1 :, k], A[k, k + 1 :])


def flops(N: int) -> int:
    return N * (N - 1) * (4 * N + 1) // 6


def traffic(N: int) -> int:
    return 8 * 2 * N * N


KERNEL = Kernel(
    name="lu",
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
