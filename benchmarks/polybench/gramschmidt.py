"""gramschmidt: A = Q·R by the modified Gram-Schmidt process.

For each column k: r_kk = ‖a_k‖, q_k = a_k/r_kk, and for all j > k: r_kj = q_k·a_j,
a_j ← a_j - r_kj·q_k. A and Q are M×N, R is N×N; double precision. Columns k are
sequential, all that follows from one is parallel.
"""

from collections.abc import Mapping

import numpy as np

import appyc
from benchmarks.polybench.data import undefined, uniform
from benchmarks.polybench.kernel import Arguments, Kernel, sizes_table

SIZES = sizes_table(
    "M N",
    MINI=(20, 30),
    SMALL=(60, 80),
    MEDIUM=(200, 240),
    LARGE=(1000, 1200),
    EXTRALARGE=(2000, 2600),
)


def initialise(M: int, N: int) -> Arguments:
    A = 100 * ((np.outer(np.arange(M), np.arange(N)) % M) / M) + 10
    return {"A": A, "R": np.zeros((N, N)), "Q": np.zeros((M, N))}


def random(rng: np.random.Generator, M: int, N: int) -> Arguments:
    """M and N exchanged: only a matrix with no more columns than rows has independent ones."""
    A = uniform(rng, N, M)
    A[:M] += np.diag(rng.uniform(1.0, 2.0, M)) * np.sqrt(N)
    return {"A": A, "R": np.zeros((M, M)), "Q": undefined(N, M)}


def numpy_version(A, R, Q):
    for k in range(A.shape[1]):
        R[k, k] = np.sqrt(A[:, k] @ A[:, k])
        Q[:, k] = A[:, k] / R[k, k]
        R[k, k + 1 :] = Q[:, k] @ A[:, k + 1 :]
        A[:, k + 1 :] -= np.outer(Q[:, k], R[k, k + 1 :])


@appyc.jit
def loops(A, R, Q):
    m = A.shape[0]
    n = A.shape[1]
    for k in range(n):
        acc = 0.0
        # pragma parallel for
        for i in range(m):
            acc += A[i, k] * A[i, k]
        norm = np.sqrt(acc)
        R[k, k] = norm
        # pragma parallel for
        for i in range(m):
            Q[i, k] = A[i, k] / norm
        # pragma parallel for
        for j in range(k + 1, n):
            acc = 0.0
            for i in range(m):
                acc += Q[i, k] * A[i, j]
            R[k, j] = acc
        # pragma parallel for
        for i in range(m):
            # pragma parallel for
            for j in range(k + 1, n):
                A[i, j] -= Q[i, k] * R[k, j]


@appyc.jit(strict=True)
def tensors(A, R, Q):
    for k in range(A.shape[1]):
        R[k, k] = np.sqrt(A[:, k] @ A[:, k])
        Q[:, k] = A[:, k] / R[k, k]
        R[k, k + 1 :] = Q[:, k] @ A[:, k + 1 :]
        A[:, k + 1 :] -= np.outer(Q[:, k], R[k, k + 1 :])


def independent_columns(reference: Arguments, arguments: Arguments) -> Mapping[str, np.ndarray]:
    """Q and R up to the first column that depends on those before it.

    PolyBench's matrix has many equal columns. What is left of one after its projection is
    rounding noise, which the process scales up to length one: that column of Q, and all
    that follow from it, differ from one summation order to the next.
    """
    diagonal = np.abs(np.diag(reference["R"]))
    dependent = ~(diagonal > 1e-6 * diagonal.max(initial=0.0, where=~np.isnan(diagonal)))
    rank = int(np.argmax(dependent)) if dependent.any() else len(diagonal)
    return {"Q": arguments["Q"][:, :rank], "R": arguments["R"][:rank]}


def flops(M: int, N: int) -> int:
    return 2 * M * N * N + M * N + N


def traffic(M: int, N: int) -> int:
    return 8 * (3 * M * N + N * (N + 1) // 2)


KERNEL = Kernel(
    name="gramschmidt",
    dtype=np.float64,
    sizes=SIZES,
    initialise=initialise,
    random=random,
    numpy_version=numpy_version,
    loops=loops,
    tensors=tensors,
    outputs=("Q", "R"),
    flops=flops,
    traffic=traffic,
    polybench_tolerance=1e-8,  # the last of its columns that count are nearly dependent
    compared=independent_columns,
)
