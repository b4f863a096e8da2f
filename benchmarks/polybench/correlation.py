"""correlation: the correlation matrix of M variables from N observations.

D is N×M: m its column means, σ its columns' standard deviations (1 where they are 0.1 or
less); D ← (D - m)/(√N·σ); corr = Dᵀ·D with ones on the diagonal; double precision.
Columns are parallel, then all elements of D, then all pairs of columns.
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
    i = np.arange(N)
    return {
        "D": np.outer(i, np.arange(M)) / M + i[:, None],
        "corr": np.zeros((M, M)),
        "mean": np.zeros(M),
        "deviation": np.zeros(M),
    }


def random(rng: np.random.Generator, M: int, N: int) -> Arguments:
    D = 0.5 + uniform(rng, N, M)
    D[:, ::7] *= 0.1  # some columns vary too little to be scaled
    return {"D": D, "corr": undefined(M, M), "mean": undefined(M), "deviation": undefined(M)}


def numpy_version(D, corr, mean, deviation):
    mean[:] = D.mean(axis=0)
    deviation[:] = D.std(axis=0)
    deviation[deviation <= 0.1] = 1.0
    D -= mean
    D /= np.sqrt(D.shape[0]) * deviation
    np.matmul(D.T, D, out=corr)
    np.fill_diagonal(corr, 1.0)


@appyc.jit
def loops(D, corr, mean, deviation):
    n = D.shape[0]
    m = D.shape[1]
    root = np.sqrt(n)
    # pragma parallel for
    for j in range(m):
        acc = 0.0
        for i in range(n):
            acc += D[i, j]
        mean[j] = acc / n
    # pragma parallel for
    for j in range(m):
        acc = 0.0
        for i in range(n):
            difference = D[i, j] - mean[j]
            acc += difference * difference
        sigma = np.sqrt(acc / n)
        deviation[j] = 1.0 if sigma <= 0.1 else sigma
    # pragma parallel for
    for i in range(n):
        # pragma parallel for
        for j in range(m):
            D[i, j] = (D[i, j] - mean[j]) / (root * deviation[j])
    # pragma parallel for
    for i in range(m):
        corr[i, i] = 1.0
    # pragma parallel for
    for i in range(m):
        # pragma parallel for
        for j in range(i + 1, m):
            acc = 0.0
            for k in range(n):
                acc += D[k, i] * D[k, j]
            corr[i, j] = acc
            corr[j, i] = acc


@appyc.jit(strict=True)
def tensors(D, corr, mean, deviation):
    mean[:] = D.mean(axis=0)
    deviation[:] = D.std(axis=0)
    deviation[:] = np.where(deviation <= 0.1, 1.0, deviation)
    D[:] = (D - mean) / (np.sqrt(D.shape[0]) * deviation)
    corr[:] = D.T @ D
    for i in range(corr.shape[0]):
        corr[i, i] = 1.0


def flops(M: int, N: int) -> int:
    return M * (M - 1) * N + 6 * M * N + 5 * M


def traffic(M: int, N: int) -> int:
    return 8 * (M * N + M * M)


KERNEL = Kernel(
    name="correlation",
    dtype=np.float64,
    sizes=SIZES,
    initialise=initialise,
    random=random,
    numpy_version=numpy_version,
    loops=loops,
    tensors=tensors,
    outputs=("corr",),
    flops=flops,
    traffic=traffic,
)
