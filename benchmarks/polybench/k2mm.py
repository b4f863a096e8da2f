"""2mm: D ← β·D + α·A·B·C, by way of P = α·A·B.

A is NI×NK, B is NK×NJ, C is NJ×NL, D is NI×NL; double precision. Two matrix products,
each parallel in its rows and columns; the second needs rows of the first.
"""

import numpy as np

import appyc
from benchmarks.polybench.data import scalar, undefined, uniform
from benchmarks.polybench.kernel import Arguments, Kernel, sizes_table

SIZES = sizes_table(
    "NI NJ NK NL",
    MINI=(16, 18, 22, 24),
    SMALL=(40, 50, 70, 80),
    MEDIUM=(180, 190, 210, 220),
    LARGE=(800, 900, 1100, 1200),
    EXTRALARGE=(1600, 1800, 2200, 2400),
)


def initialise(NI: int, NJ: int, NK: int, NL: int) -> Arguments:
    i, j, k, m = np.arange(NI), np.arange(NJ), np.arange(NK), np.arange(NL)
    return {
        "alpha": 1.5,
        "beta": 1.2,
        "A": ((np.outer(i, k) + 1) % NI) / NI,
        "B": (np.outer(k, j + 1) % NJ) / NJ,
        "C": ((np.outer(j, m + 3) + 1) % NL) / NL,
        "D": (np.outer(i, m + 2) % NK) / NK,
        "P": np.zeros((NI, NJ)),
    }


def random(rng: np.random.Generator, NI: int, NJ: int, NK: int, NL: int) -> Arguments:
    return {
        "alpha": scalar(rng),
        "beta": scalar(rng),
        "A": uniform(rng, NI, NK),
        "B": uniform(rng, NK, NJ),
        "C": uniform(rng, NJ, NL),
        "D": uniform(rng, NI, NL),
        "P": undefined(NI, NJ),
    }


def numpy_version(alpha, beta, A, B, C, D, P):
    np.matmul(A, B, out=P)
    P *= alpha
    D *= beta
    D += P @ C


@appyc.jit
def loops(alpha, beta, A, B, C, D, P):
    ni = A.shape[0]
    nk = A.shape[1]
    nj = B.shape[1]
    nl = C.shape[1]
    # pragma parallel for
    for i in range(ni):
        # pragma parallel for
        for j in range(nj):
            acc = 0.0
            for k in range(nk):
                acc += A[i, k] * B[k, j]
            P[i, j] = alpha * acc
    # pragma parallel for
    for i in range(ni):
        # pragma parallel for
        for j in range(nl):
            acc = 0.0
            for k in range(nj):
                acc += P[i, k] * C[k, j]
            D[i, j] = beta * D[i, j] + acc


@appyc.jit(strict=True)
def tensors(alpha, beta, A, B, C, D, P):
    P[:] = alpha * A @ B
    D[:] = P @ C + beta * D


def flops(NI: int, NJ: int, NK: int, NL: int) -> int:
    return 2 * NI * NJ * NK + NI * NJ + 2 * NI * NJ * NL + 2 * NI * NL


def traffic(NI: int, NJ: int, NK: int, NL: int) -> int:
    return 8 * (NI * NK + NK * NJ + NJ * NL + 2 * NI * NL)


KERNEL = Kernel(
    name="2mm",
    dtype=np.float64,
    sizes=SIZES,
    initialise=initialise,
    random=random,
    numpy_version=numpy_version,
    loops=loops,
    tensors=tensors,
    outputs=("D",),
    flops=flops,
    traffic=traffic,
)
