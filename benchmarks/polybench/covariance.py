"""covariance: the covariance matrix of M variables from N observations.

D is N×M: D ← D - its column means; cov = Dᵀ·D/(N-1), M×M; double precision. Columns are
parallel, then all elements of D, then all pairs of columns.
"""

import numpy as np

import appyc
from benchmarks.polybench.data import undefined, uniform
from benchmarks.polybench.kernel import Arguments, Kernel, sizes_table

SIZES = sizes_table(
    "M N",
    MINI=(28, 32),
    SMALL=(80, 100),
    MEDIUM=(240, 260),
    LARGE=(1200, 1400),
    EXTRALARGE=(2600, 3000),
)


def initialise(M: int, N: int) -> Arguments:
    return {"D": np.outer(np.arange(N), np.arange(M)) / M, "cov": np.zeros((M, M)), "mean": np.zeros(M)}


def random(rng: np.random.Generator, M: int, N: int) -> Arguments:
    return {"D": 0.5 + uniform(rng, N, M), "cov": undefined(M, M), "mean": undefined(M)}


def numpy_version(D, cov, mean):
    mean[:] = D.mean(axis=0)
    D -= mean
    np.matmul(D.T, D, out=cov)
    cov /= D.shape[0] - 1


@appyc.jit
def loops(D, cov, mean):
    n = D.shape[0]
    m = D.shape[1]
    # pragma parallel for
    for j in range(m):
        acc = 0.0
        for i in range(n):
            acc += D[i, j]
        mean[j] = acc / n
    # pragma parallel for
    for i in range(n):
        # pragma parallel for
        for j in range(m):
            D[i, j] -= mean[j]
    # pragma parallel for
    for i in range(m):
        # pragma parallel for
        for j in range(i, m):
            acc = 0.0
            for k in range(n):
                acc += D[k, i] * D[k, j]
            value = acc / (n - 1)
            cov[i, j] = value
            cov[j, i] = value


@appyc.jit(strict=True)
def tensors(D, cov, mean):
    mean[:] = D.mean(axis=0)
    D -= mean
    cov[:] = D.T @ D / (D.shape[0] - 1)


def flops(M: int, N: int) -> int:
    return M * (M + 1) // 2 * (2 * N + 1) + 2 * M * N + M


def traffic(M: int, N: int) -> int:
    return 8 * (M * N + M * M)


KERNEL = Kernel(
    name="covariance",
    dtype=np.float64,
    sizes=SIZES,
    initialise=initialise,
    random=random,
    numpy_version=numpy_version,
    loops=loops,
    tensors=tensors,
    outputs=("cov",),
    flops=flops,
    traffic=traffic,
)
