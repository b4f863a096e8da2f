"""jacobi-2d: T steps of a five-point mean, from A to B and back to A.

B_ij = (A_ij + its four neighbours)/5 on the interior, then the same from B to A; N×N,
double precision. Space is parallel, time is sequential.
"""

import numpy as np

import appyc
from benchmarks.polybench.data import uniform
from benchmarks.polybench.kernel import Arguments, Kernel, sizes_table

SIZES = sizes_table(
    "TSTEPS N",
    MINI=(20, 30),
    SMALL=(40, 90),
    MEDIUM=(100, 250),
    LARGE=(500, 1300),
    EXTRALARGE=(1000, 2800),
)


def initialise(TSTEPS: int, N: int) -> Arguments:
    i, j = np.ogrid[:N, :N]
    return {"steps": TSTEPS, "A": (i * (j + 2) + 2) / N, "B": (i * (j + 3) + 3) / N}


def random(rng: np.random.Generator, TSTEPS: int, N: int) -> Arguments:
    return {"steps": TSTEPS, "A": uniform(rng, N, N), "B": uniform(rng, N, N)}


def five_point_mean(source, target):
    inner = target[1:-1, 1:-1]
    np.add(source[1:-1, 1:-1], source[1:-1, :-2], out=inner)
    inner += source[1:-1, 2:]
    inner += source[2:, 1:-1]
    inner += source[:-2, 1:-1]
    inner *= 0.2


def numpy_version(steps, A, B):
    for _ in range(steps):
        five_point_mean(A, B)
        five_point_mean(B, A)


@appyc.jit
def loops(steps, A, B):
    n = A.shape[0]
    for _ in range(steps):
        # pragma parallel for
        for i in range(1, n - 1):
            # pragma parallel for
            for j in range(1, n - 1):
                B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j] + A[i - 1, j])
        # pragma parallel for
        for i in range(1, n - 1):
            # pragma parallel for
            for j in range(1, n - 1):
                A[i, j] = 0.2 * (B[i, j] + B[i, j - 1] + B[i, j + 1] + B[i + 1, j] + B[i - 1, j])


@appyc.jit(strict=True)
def tensors(steps, A, B):
    for _ in range(steps):
        B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
        A[1:-1, 1:-1] = 0.2 * (B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1])


def flops(TSTEPS: int, N: int) -> int:
    return 10 * TSTEPS * (N - 2) ** 2


def traffic(TSTEPS: int, N: int) -> int:
    return 8 * 3 * N * N


KERNEL = Kernel(
    name="jacobi-2d",
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
