"""doitgen: every row A[r, q, :] ← A[r, q, :]·C4.

A is NR×NQ×NP, C4 is NP×NP; double precision. All elements of the result are parallel,
but a row is read whole before any of it is overwritten: the products go to S first.
"""

import numpy as np

import appyc
from benchmarks.polybench.data import undefined, uniform
from benchmarks.polybench.kernel import Arguments, Kernel, sizes_table

SIZES = sizes_table(
    "NQ NR NP",
    MINI=(8, 10, 12),
    SMALL=(20, 25, 30),
    MEDIUM=(40, 50, 60),
    LARGE=(140, 150, 160),
    EXTRALARGE=(220, 250, 270),
)


def initialise(NQ: int, NR: int, NP: int) -> Arguments:
    r, q, p = np.ogrid[:NR, :NQ, :NP]
    s = np.arange(NP)
    return {
        "A": ((r * q + p) % NP) / NP,
        "C4": (np.outer(s, s) % NP) / NP,
        "S": np.zeros((NR, NQ, NP)),
    }


def random(rng: np.random.Generator, NQ: int, NR: int, NP: int) -> Arguments:
    return {"A": uniform(rng, NR, NQ, NP), "C4": uniform(rng, NP, NP), "S": undefined(NR, NQ, NP)}


def numpy_version(A, C4, S):
    rows = A.reshape(-1, A.shape[2])
    np.matmul(rows, C4, out=S.reshape(rows.shape))
    A[:] = S


@appyc.jit
def loops(A, C4, S):
    nr = A.shape[0]
    nq = A.shape[1]
    np_ = A.shape[2]
    # pragma parallel for
    for r in range(nr):
        # pragma parallel for
        for q in range(nq):
            # pragma parallel for
            for p in range(np_):
                acc = 0.0
                for s in range(np_):
                    acc += A[r, q, s] * C4[s, p]
                S[r, q, p] = acc
    # pragma parallel for
    for r in range(nr):
        # pragma parallel for
        for q in range(nq):
            # pragma parallel for
            for p in range(np_):
                A[r, q, p] = S[r, q, p]


@appyc.jit(strict=True)
def tensors(A, C4, S):
    S[:] = A @ C4
    A[:] = S


def flops(NQ: int, NR: int, NP: int) -> int:
    return 2 * NR * NQ * NP * NP


def traffic(NQ: int, NR: int, NP: int) -> int:
    return 8 * (2 * NR * NQ * NP + NP * NP)


KERNEL = Kernel(
    name="doitgen",
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
