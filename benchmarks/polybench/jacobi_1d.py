"""jacobi-1d: T steps of a three-point mean, from A to B and back to A.

B_i = ⅓(A_{i-1} + A_i + A_{i+1}) on the interior, then the same from B to A, with 0.33333
for ⅓; vectors of length N, double precision. Space is parallel, time is sequential.
"""

import numpy as np

import appyc
from benchmarks.polybench.data import uniform
from benchmarks.polybench.kernel import Arguments, Kernel, sizes_table

SIZES = sizes_table(
    "TSTEPS N",
    MINI=(20, 30),
    SMALL=(40, 120),
    MEDIUM=(100, 400),
    LARGE=(500, 2000),
    EXTRALARGE=(1000, 4000),
)


def initialise(TSTEPS: int, N: int) -> Arguments:
    i = np.arange(N)
    return {"steps": TSTEPS, "A": (i + 2) / N, "B": (i + 3) / N}


def random(rng: np.random.Generator, TSTEPS: int, N: int) -> Arguments:
    return {"steps": TSTEPS, "A": uniform(rng, N), "B": uniform(rng, N)}


def numpy_version(steps, A, B):
    for _ in range(steps):
        B[1:-1] = 0.33333 * (A[:-2] + A[1:-1] + A[2:])
        A[1:-1] = 0.33333 * (B[:-2] + B[1:-1] + B[2:])


@appyc.jit
def loops(steps, A, B):
    n = A.shape[0]
    for _ in range(steps):
        # pragma parallel for
        for i in range(1, n - 1):
            B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1])
        # pragma parallel for
        for i in range(1, n - 1):
            A[i] = 0.33333 * (B[i - 1] + B[i] + B[i + 1])


@appyc.jit(strict=True)
def tensors(steps, A, B):
    for _ in range(steps):
        B[1:-1] = 0.33333 * (A[:-2] + A[1:-1] + A[2:])
        A[1:-1] = 0.33333 * (B[:-2] + B[1:-1] + B[2:])


def flops(TSTEPS: int, N: int) -> int:
    return 6 * TSTEPS * (N - 2)


def traffic(TSTEPS: int, N: int) -> int:
    return 8 * 4 * N


KERNEL = Kernel(
    name="jacobi-1d",
    dtype=np.float64,
    sizes=SIZES,
    initialise=initialise,
    random=random,
    numpy_version=numpy_version,
    loops=loops,
    tensors=tensors,
    outputs=("A", "B"),
    flops=flops,
    traffic=traffic,
)
