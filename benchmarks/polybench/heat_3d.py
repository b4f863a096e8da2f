"""heat-3d: T steps of the heat equation in three dimensions, from A to B and back to A.

B = A + ⅛(δ²_x + δ²_y + δ²_z)A on the interior, δ² the second difference along an axis, then
the same from B to A; N×N×N, double precision. Space is parallel, time is sequential.
"""

import numpy as np

import appyc
from benchmarks.polybench.data import uniform
from benchmarks.polybench.kernel import Arguments, Kernel, sizes_table

SIZES = sizes_table(
    "TSTEPS N",
    MINI=(20, 10),
    SMALL=(40, 20),
    MEDIUM=(100, 40),
    LARGE=(500, 120),
    EXTRALARGE=(1000, 200),
)


def initialise(TSTEPS: int, N: int) -> Arguments:
    i, j, k = np.ogrid[:N, :N, :N]
    A = 10 * (i + j + (N - k)) / N
    return {"steps": TSTEPS, "A": A, "B": A.copy()}


def random(rng: np.random.Generator, TSTEPS: int, N: int) -> Arguments:
    return {"steps": TSTEPS, "A": uniform(rng, N, N, N), "B": uniform(rng, N, N, N)}


def spread(source, target):
    """Half a step; the second differences are added up as the six neighbours less six times the middle."""
    inner = target[1:-1, 1:-1, 1:-1]
    np.add(source[2:, 1:-1, 1:-1], source[:-2, 1:-1, 1:-1], out=inner)
    inner += source[1:-1, 2:, 1:-1]
    inner += source[1:-1, :-2, 1:-1]
    inner += source[1:-1, 1:-1, 2:]
    inner += source[1:-1, 1:-1, :-2]
    inner *= 0.125
    inner += 0.25 * source[1:-1, 1:-1, 1:-1]


def numpy_version(steps, A, B):
    for _ in range(steps):
        spread(A, B)
        spread(B, A)


@appyc.jit
def loops(steps, A, B):
    n = A.shape[0]
    for _ in range(steps):
        # pragma parallel for
        for i in range(1, n - 1):
            # pragma parallel for
            for j in range(1, n - 1):
                # pragma parallel for
                for k in range(1, n - 1):
                    B[i, j, k] = (
                        0.125 * (A[i + 1, j, k] - 2.0 * A[i, j, k] + A[i - 1, j, k])
                        + 0.125 * (A[i, j + 1, k] - 2.0 * A[i, j, k] + A[i, j - 1, k])
                        + 0.125 * (A[i, j, k + 1] - 2.0 * A[i, j, k] + A[i, j, k - 1])
                        + A[i, j, k]
                    )
        # pragma parallel for
        for i in range(1, n - 1):
            # pragma parallel for
            for j in range(1, n - 1):
                # pragma parallel for
                for k in range(1, n - 1):
                    A[i, j, k] = (
                        0.125 * (B[i + 1, j, k] - 2.0 * B[i, j, k] + B[i - 1, j, k])
                        + 0.125 * (B[i, j + 1, k] - 2.0 * B[i, j, k] + B[i, j - 1, k])
                        + 0.125 * (B[i, j, k + 1] - 2.0 * B[i, j, k] + B[i, j, k - 1])
                        + B[i, j, k]
                    )


def second_differences(A):
    """Along all three axes, on the interior."""
    centre = 2.0 * A[1:-1, 1:-1, 1:-1]
    return (
        0.125 * (A[2:, 1:-1, 1:-1] - centre + A[:-2, 1:-1, 1:-1])
        + 0.125 * (A[1:-1, 2:, 1:-1] - centre + A[1:-1, :-2, 1:-1])
        + 0.125 * (A[1:-1, 1:-1, 2:] - centre + A[1:-1, 1:-1, :-2])
    )


@appyc.jit(strict=True)
def tensors(steps, A, B):
    for _ in range(steps):
        B[1:-1, 1:-1, 1:-1] = second_differences(A) + A[1:-1, 1:-1, 1:-1]
        A[1:-1, 1:-1, 1:-1] = second_differences(B) + B[1:-1, 1:-1, 1:-1]


def flops(TSTEPS: int, N: int) -> int:
    return 30 * TSTEPS * (N - 2) ** 3


def traffic(TSTEPS: int, N: int) -> int:
    return 8 * 3 * N**3


KERNEL = Kernel(
    name="heat-3d",
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
