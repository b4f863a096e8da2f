"""gemm: C ← β·C + α·A·B.

C is NI×NJ, A is NI×NK, B is NK×NJ; double precision. Every element of C is a sum over k
of its own: i and j are parallel.
"""

import numpy as np

import appyc
from benchmarks.polybench.data import scalar, uniform
from benchmarks.polybench.kernel import Arguments, Kernel, sizes_table

SIZES = sizes_table(
    "NI NJ NK",
    MINI=(20, 25, 30),
    SMALL=(60, 70, 80),
    MEDIUM=(200, 220, 240),
    LARGE=(1000, 1100, 1200),
    EXTRALARGE=(2000, 2300, 2600),
)


def initialise(NI: int, NJ: int, NK: int) -> Arguments:
    i, j, k = np.arange(NI), np.arange(NJ), np.arange(NK)
    return {
        "alpha": 1.5,
        "beta": 1.2,
        "A": (np.outer(i, k + 1) % NK) / NK,
        "B": (np.outer(k, j + 2) % NJ) / NJ,
        "C": ((np.outer(i, j) + 1) % NI) / NI,
    }


def random(rng: np.random.Generator, NI: int, NJ: int, NK: int) -> Arguments:
    return {
        "alpha": scalar(rng),
        "beta": scalar(rng),
        "A": uniform(rng, NI, NK),
        "B": uniform(rng, NK, NJ),
        "C": uniform(rng, NI, NJ),
    }


def numpy_version(alpha, beta, A, B, C):
    C *= beta
    C += alpha * (A @ B)


@appyc.jit
def loops(alpha, beta, A, B, C):
    ni = C.shape[0]
    nj = C.shape[1]
    nk = A.shape[1]
    # pragma parallel for
    for i in range(ni):
        # pragma parallel for
        for j in range(nj):
            acc = 0.0
            for k in range(nk):
                acc += A[i, k] * B[k, j]
            C[i, j] = beta * C[i, j] + alpha * acc


@appyc.jit(strict=True)
def tensors(alpha, beta, A, B, C):
    C[:] = alpha * A @ B + beta * C


def flops(NI: int, NJ: int, NK: int) -> int:
    return 2 * NI * NJ * NK + 3 * NI * NJ


def traffic(NI: int, NJ: int, NK: int) -> int:
    return 8 * (NI * NK + NK * NJ + 2 * NI * NJ)


KERNEL = Kernel(
    name="gemm",
    dtype=np.float64,
    sizes=SIZES,
    initialise=initialise,
    random=random,
    numpy_version=numpy_version,
    loops=loops,
    tensors=tensors,
    outputs=("C",),
    flops=flops,
    traffic=traffic,
)
