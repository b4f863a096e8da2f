"""trisolv: solve L·x = b by forward substitution.

L is N×N and lower triangular; double precision. Rows are sequential, with a sum in each.
What lies above the diagonal must not be read.
"""

import numpy as np

import appyc
from benchmarks.polybench.data import dominant, undefined, uniform
from benchmarks.polybench.kernel import Arguments, Kernel, sizes_table

SIZES = sizes_table("N", MINI=(40,), SMALL=(120,), MEDIUM=(400,), LARGE=(2000,), EXTRALARGE=(4000,))


def initialise(N: int) -> Arguments:
    i, j = np.ogrid[:N, :N]
    return {
        "L": np.where(j <= i, 2 * (i + N - j + 1) / N, 0.0),
        "b": np.arange(N, dtype=np.float64),
        "x": np.full(N, -999.0),
    }


def random(rng: np.random.Generator, N: int) -> Arguments:
    L = np.where(np.tri(N, dtype=bool), dominant(rng, N), np.nan)
    return {"L": L, "b": uniform(rng, N), "x": undefined(N)}


def numpy_version(L, b, x):
    for i in range(L.shape[0]):
        x[i] = (b[i] - L[i, :i] @ x[:i]) / L[i, i]


@appyc.jit
def loops(L, b, x):
    n = L.shape[0]
    for i in range(n):
        acc = 0.0
        # pragma parallel for
        for j in range(i):
            acc += L[i, j] * x[j]
        x[i] = (b[i] - acc) / L[i, i]


@appyc.jit(strict=True)
def tensors(L, b, x):
    for i in range(L.shape[0]):
        x[i] = (b[i] - L[i, :i] @ x[:i]) / L[i, i]


def flops(N: int) -> int:
    return N * N


def traffic(N: int) -> int:
    return 8 * (N * (N + 1) // 2 + 2 * N)


KERNEL = Kernel(
    name="trisolv",
    dtype=np.float64,
    sizes=SIZES,
    initialise=initialise,
    random=random,
    numpy_version=numpy_version,
    loops=loops,
    tensors=tensors,
    outputs=("x",),
    flops=flops,
    traffic=traffic,
    polybench_tolerance=1e-9,  # its matrix is the worse conditioned the larger it is
)
