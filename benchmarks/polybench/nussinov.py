"""nussinov: the largest number of base pairs in a folded RNA sequence of length N.

t_ij = 0 for j ≤ i; for j > i it is the largest of t_{i,j-1}, t_{i+1,j},
t_{i+1,j-1} + [i < j-1 and q_i + q_j = 3], and t_ik + t_{k+1,j} for i < k < j. t is N×N,
int32. An element depends on shorter intervals alone: the diagonals j - i are sequential,
the elements of one are parallel.
"""

import numpy as np

import appyc
from benchmarks.polybench.kernel import Arguments, Kernel, sizes_table

SIZES = sizes_table("N", MINI=(60,), SMALL=(180,), MEDIUM=(500,), LARGE=(2500,), EXTRALARGE=(5500,))


def initialise(N: int) -> Arguments:
    return {"q": ((np.arange(N) + 1) % 4).astype(np.int32), "t": np.zeros((N, N), np.int32)}


def random(rng: np.random.Generator, N: int) -> Arguments:
    return {"q": rng.integers(0, 4, N, np.int32), "t": np.zeros((N, N), np.int32)}


def numpy_version(q, t):
    """Two tables of diagonals: t_{i,i+d} is at [d, i] of one and at [d, i+d] of the other.

    The two parts of an interval of length d then lie in the same column of the one and of
    the other, the first part of length s in row s, the second one in row d-1-s.
    """
    n = q.shape[0]
    by_start = np.zeros((n, n), t.dtype)
    by_end = np.zeros((n, n), t.dtype)
    for d in range(1, n):
        best = (by_start[:d, : n - d] + by_end[d - 1 :: -1, d:]).max(axis=0)
        if d > 1:
            pair = q[: n - d] + q[d:] == 3
            np.maximum(best, by_start[d - 2, 1 : n - d + 1] + pair, out=best)
        by_start[d, : n - d] = best
        by_end[d, d:] = best
        np.fill_diagonal(t[:, d:], best)


@appyc.jit
def loops(q, t):
    n = q.shape[0]
    for d in range(1, n):
        # pragma parallel for
        for i in range(n - d):
            j = i + d
            best = max(t[i, j - 1], t[i + 1, j])
            if d > 1 and q[i] + q[j] == 3:
                best = max(best, t[i + 1, j - 1] + 1)
            for k in range(i + 1, j):
                best = max(best, t[i, k] + t[k + 1, j])
            t[i, j] = best


@appyc.jit(strict=True)
def tensors(q, t):
    n = q.shape[0]
    for d in range(1, n):
        for i in range(n - d):
            j = i + d
            best = max(t[i, j - 1], t[i + 1, j])
            if d > 1:
                best = max(best, t[i + 1, j - 1] + (q[i] + q[j] == 3))
                best = max(best, np.max(t[i, i + 1 : j] + t[i + 2 : j + 1, j]))
            t[i, j] = best


def flops(N: int) -> float:
    return N * (N - 1) * (N - 2) / 3 + 2 * N * (N - 1)


def traffic(N: int) -> int:
    return 4 * (N + N * (N + 1) // 2)


KERNEL = Kernel(
    name="nussinov",
    dtype=np.int32,
    sizes=SIZES,
    initialise=initialise,
    random=random,
    numpy_version=numpy_version,
    loops=loops,
    tensors=tensors,
    outputs=("t",),
    flops=flops,
    traffic=traffic,
    tolerance=0.0,
)
