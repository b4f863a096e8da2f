"""Orthogonal factorisations of small matrices in loops; nothing is left to Python."""

import numpy as np

from tests.programs.registry import Programs, floats, ints

PROGRAMS = Programs(strict=True)

_A = floats(3, 4, 3, seed=1) + 3 * np.eye(4, 3)
_SQUARE = floats(3, 3, 3, seed=2)
_OF_RANK_1 = np.ones((2, 4, 3))


@PROGRAMS.on(_A)
@PROGRAMS.on(_A.transpose(0, 2, 1))
@PROGRAMS.on(ints(2, 2, 2) + 20 * np.eye(2, dtype=np.int64))
@PROGRAMS.on(floats(2, 0, 3))
@PROGRAMS.on(floats(2, 3, 1))
def triangles(a):
    total = np.zeros((len(a), 3))
    for i in range(len(a)):
        q, r = np.linalg.qr(a[i])
        whole, below = np.linalg.qr(a[i], mode="complete")
        total[i, 0] = np.sum(q @ r) + np.sum(np.abs(r))
        total[i, 1] = np.sum(whole) + below.shape[0]
        total[i, 2] = np.sum(np.linalg.qr(a[i], "r"))
    return total


@PROGRAMS.on(_A)
@PROGRAMS.on(_A.transpose(0, 2, 1))
@PROGRAMS.on(_OF_RANK_1)
def singular_values(a):
    out = np.zeros((len(a), 4))
    for i in range(len(a)):
        out[i, 0] = np.linalg.svdvals(a[i])[0]
        out[i, 1] = np.linalg.svd(a[i], compute_uv=False).max()
        out[i, 2] = np.linalg.matrix_rank(a[i])
        out[i, 3] = np.sum(np.linalg.pinv(a[i], 1e-10))
    return out


@PROGRAMS.on(_A, floats(3, 4))
@PROGRAMS.on(_A, floats(3, 4, 2))
@PROGRAMS.on(_A.transpose(0, 2, 1), floats(3, 3))
@PROGRAMS.on(_OF_RANK_1, floats(2, 4))
@PROGRAMS.on(_A, floats(3, 3))  # raises LinAlgError
def least_squares(a, b):
    out = np.zeros((len(a), 3))
    for i in range(len(a)):
        x, rest, rank, values = np.linalg.lstsq(a[i], b[i], rcond=1e-10)
        out[i, 0] = np.sum(x)
        out[i, 1] = np.sum(rest) + len(rest)
        out[i, 2] = rank + values[0]
    return out


@PROGRAMS.on(floats(4, 7), 1)
@PROGRAMS.on(floats(4, 7), 2)
@PROGRAMS.on(floats(4, 1), 0)
@PROGRAMS.on(floats(4, 5), -1)  # raises ValueError
def slopes(y, degree):
    out = np.zeros(len(y))
    for i in range(len(y)):
        out[i] = np.polyfit(np.arange(y.shape[1]), y[i], degree)[0]
    return out


@PROGRAMS.on(_SQUARE, np.zeros((3, 3)))
@PROGRAMS.on(np.zeros((1, 2, 2)), np.zeros((1, 2)))
@PROGRAMS.on(_A, np.zeros((3, 3)))  # raises LinAlgError
def eigenvalues_in_parallel(a, out):
    #pragma parallel for
    for i in range(a.shape[0]):
        out[i] = np.linalg.eigvalsh(a[i]) + np.linalg.eigvalsh(a[i], "U")


@PROGRAMS.on(_SQUARE)
@PROGRAMS.on(_A)
@PROGRAMS.on(_A.transpose(0, 2, 1))
@PROGRAMS.on(floats(2, 0, 0))  # raises LinAlgError
def conditions(a):
    out = np.zeros(len(a))
    #pragma parallel for
    for i in range(len(a)):
        out[i] = np.linalg.cond(a[i])
    return out
