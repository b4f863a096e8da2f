"""One statement for each element; nests; layouts."""

import numpy as np

from tests.programs.registry import C_ONLY, Programs, bools, floats, ints

PROGRAMS = Programs()


@PROGRAMS.on(floats(7), floats(7, seed=1), np.zeros(7))
@PROGRAMS.on(floats(14)[::2], floats(7, seed=1)[::-1], np.zeros(21)[::3])
@PROGRAMS.on(floats(0), floats(0), np.zeros(0))
@PROGRAMS.on(floats(1), floats(1), np.zeros(1))
@PROGRAMS.on(ints(6), floats(6), np.zeros(6, np.float32))
@PROGRAMS.on(floats(50_000), floats(50_000, seed=1), np.zeros(50_000), targets=C_ONLY)
def add(a, b, c):
    #pragma parallel for
    for i in range(c.shape[0]):
        c[i] = a[i] + b[i]


@PROGRAMS.on(floats(3, 4), np.zeros((3, 4)), 2.5)
@PROGRAMS.on(np.asfortranarray(floats(3, 4)), np.zeros((3, 4)), 2)
@PROGRAMS.on(floats(4, 3).T, np.zeros((4, 3)).T, np.float32(0.1))
@PROGRAMS.on(floats(6, 8)[::2, ::-2], np.zeros((3, 4), order="F"), True)
@PROGRAMS.on(floats(200, 300), np.zeros((200, 300)), 2.5, targets=C_ONLY)
def scale_matrix(a, b, alpha):
    #pragma parallel for
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[i, j] = alpha * a[i, j]


@PROGRAMS.on(floats(3, 4), np.zeros((4, 3)))
@PROGRAMS.on(floats(3, 4), np.zeros((3, 4)).T)
@PROGRAMS.on(np.asfortranarray(floats(3, 4)), np.zeros((8, 3))[::2])
def transpose(a, b):
    m, n = a.shape
    #pragma parallel for collapse(2)
    for i in range(m):
        for j in range(n):
            b[j, i] = a[i, j]


@PROGRAMS.on(floats(2, 3, 4), np.zeros((2, 3, 4)))
@PROGRAMS.on(floats(4, 3, 2).T, np.zeros((2, 4, 3)).transpose(0, 2, 1))
def cube(a, out):
    #pragma parallel for
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            #pragma simd
            for k in range(a.shape[2]):
                out[i, j, k] = a[i, j, k] ** 3 - i + j * k


@PROGRAMS.on(floats(3, 4), floats(4, 5), np.zeros((3, 5)))
@PROGRAMS.on(floats(3, 4, dtype=np.float32), floats(4, 5, dtype=np.float32), np.zeros((3, 5), np.float32))
@PROGRAMS.on(floats(40, 50), floats(50, 60), np.zeros((40, 60)), targets=C_ONLY)
def matmul(a, b, c):
    #pragma parallel for
    for i in range(c.shape[0]):
        #pragma parallel for
        for j in range(c.shape[1]):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            c[i, j] = s


@PROGRAMS.on(floats(4, 4), np.zeros((4, 4)))
def chained_subscripts(a, b):
    #pragma parallel for
    for i in range(a.shape[0]):
        row = a[i]
        for j in range(a.shape[1]):
            b[i][j] = row[j] + a[j][i]


@PROGRAMS.on(np.array(3.5), np.array(0.0))
def zero_dimensional(a, b):
    b[()] = a[()] * 2.0
    return b[()]


@PROGRAMS.on(floats(5), bools(5))
@PROGRAMS.on(floats(5, dtype=np.float32), bools(5))
def masked(a, mask):
    #pragma parallel for
    for i in range(len(a)):
        if mask[i]:
            a[i] = -a[i]
        elif a[i] > 0:
            a[i] = 1.0
        else:
            a[i] += 10


@PROGRAMS.on(floats(6))
def in_place(a):
    #pragma parallel for
    for i in range(a.size):
        a[i] = a[i] * a[i] + 1


@PROGRAMS.on(floats(6), np.zeros(6))
def sequential_for(a, b):
    #pragma sequential for
    for i in range(6):
        b[i] = a[i] * 2


@PROGRAMS.on(floats(9), np.zeros(9), 4)
@PROGRAMS.on(floats(9), np.zeros(9), 400)
def clauses(a, b, threshold):
    #pragma parallel for if(a.shape[0] > threshold) schedule(dynamic, 2) \
    #       private(t)
    for i in range(a.shape[0]):
        t = a[i] + 1
        b[i] = t * t


@PROGRAMS.on(floats(4, 5), np.zeros(4))
def row_sums(a, out):
    #pragma parallel for
    for i in range(a.shape[0]):
        out[i] = 0.0
        for j in range(a.shape[1]):
            out[i] += a[i, j]


@PROGRAMS.on(floats(6), floats(6, seed=1))
def swap(a, b):
    #pragma parallel for
    for i in range(6):
        a[i], b[i] = b[i], a[i]


@PROGRAMS.on(floats(5), np.zeros(5))
def chained_assignment(a, b):
    t = 0.0
    for i in range(5):
        t = a[i] = b[i] = a[i] + i
    return t


@PROGRAMS.on(floats(8), np.zeros(8))
def constant_negative_index(a, b):
    b[-1] = a[-2]
    b[-8] = a[-1] + a[0]
    return a[-3]


@PROGRAMS.on(floats(4, 3), np.zeros(4))
def negative_in_matrix(a, b):
    #pragma parallel for
    for i in range(4):
        b[i] = a[i, -1] - a[i, 0]


@PROGRAMS.on(floats(8), np.zeros(8))
def dynamic_negative_index(a, b):
    for i in range(8):
        b[i - 4] = a[i - 8] + a[-i]


@PROGRAMS.on(floats(5), 5)
@PROGRAMS.on(floats(5), -6)
@PROGRAMS.on(floats(5), 4)
@PROGRAMS.on(floats(5), -5)
def read_one(a, k):
    return a[k]


@PROGRAMS.on(floats(5), np.zeros(5), 1)
@PROGRAMS.on(floats(5), np.zeros(5), 0)
@PROGRAMS.on(floats(5), np.zeros(5), -1)
def shifted_out_of_range(a, b, k):
    for i in range(5):
        b[i] = a[i + k]


@PROGRAMS.on(floats(5), np.zeros(5), 1)
@PROGRAMS.on(floats(5), np.zeros(5), -3)
def parallel_out_of_range(a, b, k):
    #pragma parallel for
    for i in range(5):
        b[i] = a[i + k] * 2


@PROGRAMS.on(floats(3, 3), 3)
@PROGRAMS.on(floats(3, 3), 4)
def diagonal_band(a, n):
    s = 0.0
    for i in range(n):
        if i < 3:
            s += a[i, i]
    return s
