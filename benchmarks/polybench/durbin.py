"""durbin: solve T·y = -r for a symmetric Toeplitz matrix T with first row (1, r_0, r_1, …).

Levinson and Durbin's recursion: y_0 = α = -r_0, β = 1; then for k = 1, 2, …
β ← (1 - α²)β; α ← -(r_k + Σ_i r_{k-1-i}·y_i)/β; y_i ← y_i + α·y_{k-1-i} for i < k; y_k = α.
Vectors of length N, double precision. Steps are sequential; each is a sum and an update
that reads y backwards, hence the second vector z.
"""

import numpy as np

import appyc
from benchmarks.polybench.data import undefined, uniform
from benchmarks.polybench.kernel import Arguments, Kernel, sizes_table

SIZES = sizes_table("N", MINI=(40,), SMALL=(120,), MEDIUM=(400,), LARGE=(2000,), EXTRALARGE=(4000,))


def initialise(N: int) -> Arguments:
    return {"r": N + 1.0 - np.arange(N), "y": np.zeros(N), "z": np.zeros(N)}


def random(rng: np.random.Generator, N: int) -> Arguments:
    # So small beside the diagonal of ones that T is positive definite.
    return {"r": uniform(rng, N) * (0.15 / np.sqrt(N)), "y": undefined(N), "z": undefined(N)}


def numpy_version(r, y, z):
    alpha = -r[0]
    beta = 1.0
    y[0] = alpha
    for k in range(1, r.shape[0]):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + r[k - 1 :: -1] @ y[:k]) / beta
        y[:k] += alpha * y[k - 1 :: -1]
        y[k] = alpha


@appyc.jit
def loops(r, y, z):
    n = r.shape[0]
    alpha = -r[0]
    beta = 1.0
    y[0] = alpha
    for k in range(1, n):
        beta = (1.0 - alpha * alpha) * beta
        acc = 0.0
        # pragma parallel for
        for i in range(k):
            acc += r[k - 1 - i] * y[i]
        alpha = -(r[k] + acc) / beta
        # pragma parallel for
        for i in range(k):
            z[i] = y[i] + alpha * y[k - 1 - i]
        # pragma parallel for
        for i in range(k):
            y[i] = z[i]
        y[k] = alpha


@appyc.jit(strict=True)
def tensors(r, y, z):
    alpha = -r[0]
    beta = 1.0
    y[0] = alpha
    for k in range(1, r.shape[0]):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + r[k - 1 :: -1] @ y[:k]) / beta
        y[:k] += alpha * y[k - 1 :: -1]
        y[k] = alpha


def flops(N: int) -> int:
    return 2 * N * (N - 1) + 5 * (N - 1)


def traffic(N: int) -> int:
    return 8 * 2 * N


KERNEL = Kernel(
    name="durbin",
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
    polybench_tolerance=1e-6,  # its matrix is indefinite, and rounding errors grow
)
