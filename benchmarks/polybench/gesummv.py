"""gesummv: y = α·A·x + β·B·x.

A and B are N×N; double precision. Rows are parallel, each with two sums over one loop.
"""

import numpy as np

import appyc
from benchmarks.polybench.data import scalar, undefined, uniform
from benchmarks.polybench.kernel import Arguments, Kernel, sizes_table

SIZES = sizes_table("N", MINI=(30,), SMALL=(90,), MEDIUM=(250,), LARGE=(1300,), EXTRALARGE=(2800,))


def initialise(N: int) -> Arguments:
    i = np.arange(N)
    return {
        "alpha": 1.5,
        "beta": 1.2,
        "A": ((np.outer(i, i) + 1) % N) / N,
        "B": ((np.outer(i, i) + 2) % N) / N,
        "x": (i % N) / N,
        "y": np.zeros(N),
    }


def random(rng: np.random.Generator, N: int) -> Arguments:
    return {
        "alpha": scalar(rng),
        "beta": scalar(rng),
        "A": uniform(rng, N, N),
        "B": uniform(rng, N, N),
        "x": uniform(rng, N),
        "y": undefined(N),
    }


def numpy_version(alpha, beta, A, B, x, y):
    y[:] = alpha * (A @ x) + beta * (B @ x)


@appyc.jit
def loops(alpha, beta, A, B, x, y):
    n = A.shape[0]
    # pragma parallel for
    for i in range(n):
        a = 0.0
        b = 0.0
        for j in range(n):
            a += A[i, j] * x[j]
            b += B[i, j] * x[j]
        y[i] = alpha * a + beta * b


@appyc.jit(strict=True)
def tensors(alpha, beta, A, B, x, y):
    y[:] = alpha * A @ x + beta * B @ x


def flops(N: int) -> int:
    return 4 * N * N + 3 * N


def traffic(N: int) -> int:
    return 8 * (2 * N * N + 2 * N)


KERNEL = Kernel(
    name="gesummv",
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
