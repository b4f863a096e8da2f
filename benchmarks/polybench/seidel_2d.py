"""seidel-2d: T sweeps of a nine-point mean, in place, row by row.

a_ij ← (a_ij + its eight neighbours)/9 on the interior, of which those above and to the left
are already new; N×N, double precision. No loop is parallel as written: the loops are plain,
and carry no pragma.
"""

import numpy as np

import appyc
from benchmarks.polybench.data import uniform
from benchmarks.polybench.kernel import Arguments, Kernel, sizes_table

SIZES = sizes_table(
    "TSTEPS N",
    MINI=(20, 40),
    SMALL=(40, 120),
    MEDIUM=(100, 400),
    LARGE=(500, 2000),
    EXTRALARGE=(1000, 4000),
)


def initialise(TSTEPS: int, N: int) -> Arguments:
    i, j = np.ogrid[:N, :N]
    return {"steps": TSTEPS, "A": (i * (j + 2) + 2) / N}


def random(rng: np.random.Generator, TSTEPS: int, N: int) -> Arguments:
    return {"steps": TSTEPS, "A": uniform(rng, N, N)}


def numpy_version(steps, A):
    """A row at a time: first all neighbours but the left one, then the recurrence along the row.

    x_j = (x_{j-1} + s_j)/9 is the sum of s_{j-m}/9^(m+1) over m, which is added up in
    doubling steps: two terms, four, eight, sixteen, thirty-two; what remains is below rounding.
    """
    n = A.shape[0]
    if n < 3:
        return
    row = np.empty(n - 2)
    scaled = np.empty(n - 2)
    for _ in range(steps):
        for i in range(1, n - 1):
            above, here, below = A[i - 1], A[i], A[i + 1]
            np.add(above[:-2], above[1:-1], out=row)
            row += above[2:]
            row += here[1:-1]
            row += here[2:]
            row += below[:-2]
            row += below[1:-1]
            row += below[2:]
            row[0] += here[0]
            row *= 1 / 9
            for distance in (1, 2, 4, 8, 16):
                if distance < n - 2:
                    np.multiply(row[:-distance], 9.0**-distance, out=scaled[distance:])
                    row[distance:] += scaled[distance:]
            here[1:-1] = row


@appyc.jit
def loops(steps, A):
    n = A.shape[0]
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                A[i, j] = (
                    A[i - 1, j - 1]
                    + A[i - 1, j]
                    + A[i - 1, j + 1]
                    + A[i, j - 1]
                    + A[i, j]
                    + A[i, j + 1]
                    + A[i + 1, j - 1]
                    + A[i + 1, j]
                    + A[i + 1, j + 1]
                ) / 9.0


@appyc.jit(strict=True)
def tensors(steps, A):
    for _ in range(steps):
        for i in range(1, A.shape[0] - 1):
            above, below = A[i - 1], A[i + 1]
            A[i, 1:-1] += above[:-2] + above[1:-1] + above[2:] + A[i, 2:]
            A[i, 1:-1] += below[:-2] + below[1:-1] + below[2:]
            for j in range(1, A.shape[1] - 1):
                A[i, j] = (A[i, j] + A[i, j - 1]) / 9.0


def flops(TSTEPS: int, N: int) -> int:
    return 9 * TSTEPS * (N - 2) ** 2


def traffic(TSTEPS: int, N: int) -> int:
    return 8 * 2 * N * N


KERNEL = Kernel(
    name="seidel-2d",
    dtype=np.float64,
    sizes=SIZES,
    initialise=initialise,
    random=random,
    numpy_version=numpy_version,
    loops=loops,
    tensors=tensors,
    outputs=("A",),
    flops=flops,
    traffic=traffic,
)
