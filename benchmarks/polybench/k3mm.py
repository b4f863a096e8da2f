"""3mm: G = (A·B)·(C·D), by way of E = A·B and F = C·D.

A is NI×NK, B is NK×NJ, C is NJ×NM, D is NM×NL; double precision. Three matrix products,
each parallel in its rows and columns; the third needs the other two.
"""

import numpy as np

import appyc
from benchmarks.polybench.data import undefined, uniform
from benchmarks.polybench.kernel import Arguments, Kernel, sizes_table

SIZES = sizes_table(
    "NI NJ NK NL NM",
    MINI=(16, 18, 20, 22, 24),
    SMALL=(40, 50, 60, 70, 80),
    MEDIUM=(180, 190, 200, 210, 220),
    LARGE=(800, 900, 1000, 1100, 1200),
    EXTRALARGE=(1600, 1800, 2000, 2200, 2400),
)


def initialise(NI: int, NJ: int, NK: int, NL: int, NM: int) -> Arguments:
    i, j, k, m, n = np.arange(NI), np.arange(NJ), np.arange(NK), np.arange(NL), np.arange(NM)
    return {
        "A": ((np.outer(i, k) + 1) % NI) / (5 * NI),
        "B": ((np.outer(k, j + 1) + 2) % NJ) / (5 * NJ),
        "C": (np.outer(j, n + 3) % NL) / (5 * NL),
        "D": ((np.outer(n, m + 2) + 2) % NK) / (5 * NK),
        "E": np.zeros((NI, NJ)),
        "F": np.zeros((NJ, NL)),
        "G": np.zeros((NI, NL)),
    }


def random(rng: np.random.Generator, NI: int, NJ: int, NK: int, NL: int, NM: int) -> Arguments:
    return {
        "A": uniform(rng, NI, NK),
        "B": uniform(rng, NK, NJ),
        "C": uniform(rng, NJ, NM),
        "D": uniform(rng, NM, NL),
        "E": undefined(NI, NJ),
        "F": undefined(NJ, NL),
        "G": undefined(NI, NL),
    }


def numpy_version(A, B, C, D, E, F, G):
    np.matmul(A, B, out=E)
    np.matmul(C, D, out=F)
    np.matmul(E, F, out=G)


@appyc.jit
def loops(A, B, C, D, E, F, G):
    ni = A.shape[0]
    nk = A.shape[1]
    nj = B.shape[1]
    nm = C.shape[1]
    nl = D.shape[1]
    # pragma parallel for
    for i in range(ni):
        # pragma parallel for
        for j in range(nj):
            acc = 0.0
            for k in range(nk):
                acc += A[i, k] * B[k, j]
            E[i, j] = acc
    # pragma parallel for
    for i in range(nj):
        # pragma parallel for
        for j in range(nl):
            acc = 0.0
            for k in range(nm):
                acc += C[i, k] * D[k, j]
            F[i, j] = acc
    # pragma parallel for
    for i in range(ni):
        # pragma parallel for
        for j in range(nl):
            acc = 0.0
            for k in range(nj):
                acc += E[i, k] * F[k, j]
            G[i, j] = acc


@appyc.jit(strict=True)
def tensors(A, B, C, D, E, F, G):
    E[:] = A @ B
    F[:] = C @ D
    G[:] = E @ F


def flops(NI: int, NJ: int, NK: int, NL: int, NM: int) -> int:
    return 2 * (NI * NJ * NK + NJ * NL * NM + NI * NJ * NL)


def traffic(NI: int, NJ: int, NK: int, NL: int, NM: int) -> int:
    return 8 * (NI * NK + NK * NJ + NJ * NM + NM * NL + NI * NL)


KERNEL = Kernel(
    name="3mm",
    dtype=np.float64,
    sizes=SIZES,
    initialise=initialise,
    random=random,
    numpy_version=numpy_version,
    loops=loops,
    tensors=tensors,
    outputs=("G",),
    flops=flops,
    traffic=traffic,
)
