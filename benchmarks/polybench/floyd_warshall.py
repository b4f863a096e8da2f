"""floyd-warshall: the lengths of the shortest paths between all pairs of N nodes.

For k = 0, 1, …: p_ij ← min(p_ij, p_ik + p_kj) for all i, j; P is N×N, int32. Steps are
sequential. No length is negative, so a step leaves its own row and column as they are:
reading copies of them gives the same result, and makes all i and j parallel.
"""

import numpy as np

import appyc
from benchmarks.polybench.kernel import Arguments, Kernel, sizes_table

SIZES = sizes_table("N", MINI=(60,), SMALL=(180,), MEDIUM=(500,), LARGE=(2800,), EXTRALARGE=(5600,))

ROWS_AT_A_TIME = 64
"""So few that the sums of a step stay in the cache."""


def initialise(N: int) -> Arguments:
    i, j = np.ogrid[:N, :N]
    far = ((i + j) % 13 == 0) | ((i + j) % 7 == 0) | ((i + j) % 11 == 0)
    return {
        "P": np.where(far, 999, i * j % 7 + 1).astype(np.int32),
        "row": np.zeros(N, np.int32),
        "column": np.zeros(N, np.int32),
    }


def random(rng: np.random.Generator, N: int) -> Arguments:
    return {
        "P": rng.integers(0, 1_000_000, (N, N), np.int32),
        "row": np.full(N, -1, np.int32),
        "column": np.full(N, -1, np.int32),
    }


def numpy_version(P, row, column):
    n = P.shape[0]
    sums = np.empty((ROWS_AT_A_TIME, n), P.dtype)
    for k in range(n):
        row[:] = P[k]
        column[:] = P[:, k]
        for start in range(0, n, ROWS_AT_A_TIME):
            part = P[start : start + ROWS_AT_A_TIME]
            through_k = sums[: len(part)]
            np.add(column[start : start + ROWS_AT_A_TIME, None], row, out=through_k)
            np.minimum(part, through_k, out=part)


@appyc.jit
def loops(P, row, column):
    n = P.shape[0]
    for k in range(n):
        # pragma parallel for
        for i in range(n):
            row[i] = P[k, i]
            column[i] = P[i, k]
        # pragma parallel for
        for i in range(n):
            # pragma parallel for
            for j in range(n):
                P[i, j] = min(P[i, j], column[i] + row[j])


@appyc.jit(strict=True)
def tensors(P, row, column):
    for k in range(P.shape[0]):
        row[:] = P[k]
        column[:] = P[:, k]
        P[:] = np.minimum(P, column[:, None] + row)


def flops(N: int) -> int:
    return 2 * N**3


def traffic(N: int) -> int:
    return 4 * 2 * N * N


KERNEL = Kernel(
    name="floyd-warshall",
    dtype=np.int32,
    sizes=SIZES,
    initialise=initialise,
    random=random,
    numpy_version=numpy_version,
    loops=loops,
    tensors=tensors,
    outputs=("P",),
    flops=flops,
    traffic=traffic,
    tolerance=0.0,
)
