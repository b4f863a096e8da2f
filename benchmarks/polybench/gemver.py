"""gemver: A ← A + u1·v1ᵀ + u2·v2ᵀ, then x ← x + β·Aᵀ·y + z, then w ← w + α·A·x.

A is N×N; double precision. Each of the three steps is parallel in its output's elements;
the last needs all of x.
"""

import numpy as np

import appyc
from benchmarks.polybench.data import scalar, uniform
from benchmarks.polybench.kernel import Arguments, Kernel, sizes_table

SIZES = sizes_table("N", MINI=(40,), SMALL=(120,), MEDIUM=(400,), LARGE=(2000,), EXTRALARGE=(4000,))


def initialise(N: int) -> Arguments:
    i = np.arange(N)
    fraction = (i + 1) / N
    return {
        "alpha": 1.5,
        "beta": 1.2,
        "A": (np.outer(i, i) % N) / N,
        "u1": i.astype(np.float64),
        "v1": fraction / 4,
        "u2": fraction / 2,
        "v2": fraction / 6,
        "w": np.zeros(N),
        "x": np.zeros(N),
        "y": fraction / 8,
        "z": fraction / 9,
    }


def random(rng: np.random.Generator, N: int) -> Arguments:
    return {
        "alpha": scalar(rng),
        "beta": scalar(rng),
        "A": uniform(rng, N, N),
        "u1": uniform(rng, N),
        "v1": uniform(rng, N),
        "u2": uniform(rng, N),
        "v2": uniform(rng, N),
        "w": uniform(rng, N),
        "x": uniform(rng, N),
        "y": uniform(rng, N),
        "z": uniform(rng, N),
    }


def numpy_version(alpha, beta, A, u1, v1, u2, v2, w, x, y, z):
    A += np.outer(u1, v1)
    A += np.outer(u2, v2)
    x += beta * (y @ A) + z
    w += alpha * (A @ x)


@appyc.jit
def loops(alpha, beta, A, u1, v1, u2, v2, w, x, y, z):
    n = A.shape[0]
    # pragma parallel for
    for i in range(n):
        # pragma parallel for
        for j in range(n):
            A[i, j] = A[i, j] + u1[i] * v1[j] + u2[i] * v2[j]
    # pragma parallel for
    for j in range(n):
        acc = 0.0
        for i in range(n):
            acc += A[i, j] * y[i]
        x[j] = x[j] + beta * acc + z[j]
    # pragma parallel for
    for i in range(n):
        acc = 0.0
        for j in range(n):
            acc += A[i, j] * x[j]
        w[i] = w[i] + alpha * acc


@appyc.jit(strict=True)
def tensors(alpha, beta, A, u1, v1, u2, v2, w, x, y, z):
    A += np.outer(u1, v1) + np.outer(u2, v2)
    x += beta * y @ A + z
    w += alpha * A @ x


def flops(N: int) -> int:
    return 8 * N * N + 5 * N


def traffic(N: int) -> int:
    return 8 * (2 * N * N + 10 * N)


KERNEL = Kernel(
    name="gemver",
    dtype=np.float64,
    sizes=SIZES,
    initialise=initialise,
    random=random,
    numpy_version=numpy_version,
    loops=loops,
    tensors=tensors,
    outputs=("A", "x", "w"),
    flops=flops,
    traffic=traffic,
)
