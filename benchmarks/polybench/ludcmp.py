"""ludcmp: solve A·x = b by A = L·U (over A, no pivoting), L·y = b, U·x = y.

A is N×N; double precision. The factorisation is that of lu; the two substitutions are
sequential in the rows, with a sum in each.
"""

import numpy as np

import appyc
from benchmarks.polybench import lu
from benchmarks.polybench.data import dominant, lower_product, undefined, uniform
from benchmarks.polybench.kernel import Arguments, Kernel, sizes_table

SIZES = sizes_table("N", MINI=(40,), SMALL=(120,), MEDIUM=(400,), LARGE=(2000,), EXTRALARGE=(4000,))


def initialise(N: int) -> Arguments:
    b = (np.arange(N) + 1) / (2 * N) + 4
    return {"A": lower_product(N), "b": b, "x": np.zeros(N), "y": np.zeros(N)}


def random(rng: np.random.Generator, N: int) -> Arguments:
    return {"A": dominant(rng, N), "b": uniform(rng, N), "x": undefined(N), "y": undefined(N)}


def numpy_version(A, b, x, y):
    lu.numpy_version(A)
    n = A.shape[0]
    for i in range(n):
        y[i] = b[i] - A[i, :i] @ y[:i]
    for i in range(n - 1, -1, -1):
        x[i] = (y[i] - A[i, i + 1 :] @ x[i + 1 :]) / A[i, i]


@appyc.jit
def loops(A, b, x, y):
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
    for i in range(n):
        acc = 0.0
        # pragma parallel for
        for j in range(i):
            acc += A[i, j] * y[j]
        y[i] = b[i] - acc
    for i in range(n - 1, -1, -1):
        acc = 0.0
        # pragma parallel for
        for j in range(i + 1, n):
            acc += A[i, j] * x[j]
        x[i] = (y[i] - acc) / A[i, i]


@appyc.jit(strict=True)
def tensors(A, b, x, y):
    n = A.shape[0]
    for k in range(n):
        A[k + 1 :, k] /= A[k, k]
        A[k + 1 :, k + 1 :] -= np.outer(A[k + 1 :, k], A[k, k + 1 :])
    for i in range(n):
        y[i] = b[i] - A[i, :i] @ y[:i]
    for i in range(n - 1, -1, -1):
        x[i] = (y[i] - A[i, i + 1 :] @ x[i + 1 :]) / A[i, i]


def flops(N: int) -> int:
    return N * (N - 1) * (4 * N + 1) // 6 + 2 * N * N - N


def traffic(N: int) -> int:
    return 8 * (2 * N * N + 2 * N)


KERNEL = Kernel(
    name="ludcmp",
    dtype=np.float64,
    sizes=SIZES,
    initialise=initialise,
    random=random,
    numpy_version=numpy_version,
    loops=loops,
    tensors=tensors,
    outputs=("A", "x"),
    flops=flops,
    traffic=traffic,
)
