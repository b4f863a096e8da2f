"""Gather and scatter, atomics, sparse matrices; overlapping and read-only arguments; empty arrays."""

import numpy as np

from tests.programs.registry import C_ONLY, Programs, floats, ints

PROGRAMS = Programs()


def _readonly(array):
    array.flags.writeable = False
    return array


def _overlapping(n, shift):
    base = floats(n + shift)
    return base[:n], base[shift:]


@PROGRAMS.on(floats(6), ints(8, lo=0, hi=6), np.zeros(8))
@PROGRAMS.on(floats(6), ints(8, lo=-6, hi=6), np.zeros(8))
@PROGRAMS.on(floats(6), ints(8, lo=0, hi=8), np.zeros(8))
@PROGRAMS.on(floats(6), ints(8, lo=0, hi=6, dtype=np.int32), np.zeros(8))
@PROGRAMS.on(floats(6), ints(8, lo=0, hi=6, dtype=np.uint8), np.zeros(8))
def gather(a, index, out):
    #pragma parallel for
    for i in range(len(index)):
        out[i] = a[index[i]]


@PROGRAMS.on(np.array([3, 1, 0, 2]), floats(4), np.zeros(4))
@PROGRAMS.on(np.array([3, 1, -4, 2]), floats(4), np.zeros(4))
def scatter_sworn(index, a, out):
    #pragma parallel for independent
    for i in range(4):
        out[index[i]] = a[i]


@PROGRAMS.on(ints(20, lo=0, hi=5), floats(20), np.zeros(5))
@PROGRAMS.on(ints(20, lo=0, hi=5), ints(20), np.zeros(5, np.int64))
@PROGRAMS.on(ints(20, lo=0, hi=5), floats(20, dtype=np.float32), np.zeros(5, np.float32))
@PROGRAMS.on(ints(20, lo=-5, hi=5), ints(20), np.zeros(5, np.int32))
@PROGRAMS.on(ints(20, lo=-5, hi=5), ints(20), np.zeros(5, np.uint8))
@PROGRAMS.on(ints(20, lo=-5, hi=5), ints(20), np.zeros(5, np.int16))
def scatter_add(index, a, out):
    #pragma parallel for
    for i in range(20):
        #pragma atomic
        out[index[i]] += a[i]


@PROGRAMS.on(ints(20, lo=0, hi=5), floats(20), np.zeros(5))
@PROGRAMS.on(ints(20, lo=0, hi=5), ints(20), np.zeros(5, np.int64))
def scatter_extremes(index, a, out):
    #pragma parallel for
    for i in range(20):
        #pragma atomic
        out[index[i]] = max(out[index[i]], a[i])


@PROGRAMS.on(np.array([200, 3], np.uint8), np.array([1, 200], np.uint8), 300, -5)
@PROGRAMS.on(np.array([200, 3], np.uint8), np.array([1, 200], np.uint8), -1, 0)
@PROGRAMS.on(np.array([200, 3], np.int32), np.array([1, 200], np.int32), 100, 100)
@PROGRAMS.on(np.array([200, 3], np.int32), np.array([1, 200], np.int32), 0, 2**31)
@PROGRAMS.on(np.array([200, -3], np.int32), np.array([1, 200], np.int32), 2**40, -(2**40))
def extremes_beyond_the_type(least, most, low, high):
    """A number that the elements' type does not hold is compared as it is, and refused where it is stored."""
    #pragma parallel for
    for i in range(2):
        #pragma atomic
        least[i] = min(least[i], low)
        #pragma atomic
        most[i] = max(most[i], high)


@PROGRAMS.on(ints(20, lo=0, hi=5), ints(20, lo=0, hi=99), np.zeros(5, np.int64), np.full(5, 127))
def scatter_bits(index, a, some, every):
    #pragma parallel for
    for i in range(20):
        #pragma atomic
        some[index[i]] |= a[i]
        #pragma atomic
        every[index[i]] &= a[i]


@PROGRAMS.on(np.arange(3.0), np.zeros(3), 4)
def indirect_out_of_range(a, out, k):
    for i in range(3):
        out[i] = a[int(a[i]) * k]


@PROGRAMS.on(
    np.array([0, 2, 2, 5, 6]), np.array([0, 3, 1, 2, 3, 0]), floats(6), floats(4), np.zeros(4)
)
def spmv(start, column, value, x, y):
    #pragma parallel for
    for i in range(len(start) - 1):
        s = 0.0
        for k in range(start[i], start[i + 1]):
            s += value[k] * x[column[k]]
        y[i] = s


@PROGRAMS.on(np.array([0, 1, 2, 3]), np.array([1, 2, 3, 0]), floats(4), np.zeros(4))
def graph_edges(source, target, weight, out):
    #pragma parallel for
    for e in range(4):
        #pragma atomic
        out[target[e]] += weight[source[e]]


@PROGRAMS.on(ints(30, lo=0, hi=100), np.zeros(10, np.int64))
def histogram_of_bins(a, counts):
    #pragma parallel for
    for i in range(30):
        #pragma atomic
        counts[a[i] // 10] += 1


@PROGRAMS.on(*_overlapping(8, 1))
@PROGRAMS.on(*_overlapping(8, 1)[::-1])
@PROGRAMS.on(*_overlapping(8, 8))
@PROGRAMS.on(*_overlapping(5000, 1), targets=C_ONLY)
def overlapping_views(a, b):
    #pragma parallel for
    for i in range(a.shape[0]):
        b[i] = a[i] + 1


_SAME = floats(6)


@PROGRAMS.on(_SAME, _SAME)
@PROGRAMS.on(_SAME, _SAME[::-1])
@PROGRAMS.on(_SAME[::2], _SAME[1::2])
def same_array_twice(a, b):
    s = 0.0
    for i in range(len(a)):
        a[i] = 2 * b[i]
        s += b[i]
    return s


_MATRIX = floats(4, 4)


@PROGRAMS.on(_MATRIX, _MATRIX.T)
@PROGRAMS.on(_MATRIX, _MATRIX)
def overlapping_transpose(a, b):
    #pragma parallel for
    for i in range(4):
        for j in range(4):
            a[i, j] = b[j, i] + 1


@PROGRAMS.on(_readonly(floats(5)), np.zeros(5))
@PROGRAMS.on(np.broadcast_to(floats(1), (5,)), np.zeros(5))
def readonly_input(a, b):
    #pragma parallel for
    for i in range(5):
        b[i] = a[i]


@PROGRAMS.on(np.broadcast_to(floats(4), (3, 4)), np.zeros((3, 4)))
@PROGRAMS.on(floats(3, 0), np.zeros((3, 0)))
@PROGRAMS.on(floats(0, 3), np.zeros((0, 3)))
def broadcast_and_empty(a, b):
    m, n = a.shape
    #pragma parallel for
    for i in range(m):
        for j in range(n):
            b[i, j] = a[i, j] + i
    return m, n


@PROGRAMS.on(floats(0))
@PROGRAMS.on(floats(1))
def first_element(a):
    return a[0]


@PROGRAMS.on(floats(0))
@PROGRAMS.on(floats(2))
def last_element(a):
    return a[-1]


@PROGRAMS.on(floats(2, 3, 4), 1, 2)
@PROGRAMS.on(floats(2, 3, 4), -2, -3)
@PROGRAMS.on(floats(2, 3, 4), 0, 3)
@PROGRAMS.on(floats(2, 3, 4), 2, 0)
def partial_indexing(a, i, j):
    plane = a[i]
    row = plane[j]
    return row[0] + a[i, j, 1] + a[i][j][-1]


@PROGRAMS.on(floats(6), np.array([0, 1, 2, 0, 1, 2]), np.array([5, 3, 1]))
def double_indirection(a, p, q):
    s = 0.0
    #pragma parallel for
    for i in range(6):
        s += a[q[p[i]]] * i
    return s


@PROGRAMS.on(floats(8), 2)
@PROGRAMS.on(floats(8), 0)
def modular_index(a, shift):
    n = len(a)
    s = 0.0
    for i in range(n):
        s = s * 0.5 + a[(i + shift) % n] - a[(i - shift) % n]
    return s


@PROGRAMS.on(floats(4), np.zeros(4))
def bool_and_numpy_int_index(a, out):
    k = np.int8(-1)
    u = np.uint64(2)
    out[u] = a[k]
    out[k] = a[u]
    for i in range(4):
        out[i] += a[np.int32(i)]


@PROGRAMS.on(floats(5), np.zeros(5))
def guarded_neighbours(a, b):
    n = len(a)
    #pragma parallel for
    for i in range(n):
        left = a[i - 1] if i > 0 else 0.0
        right = a[i + 1] if i + 1 < n else 0.0
        b[i] = left + right


@PROGRAMS.on(floats(10), np.zeros(5))
def conditional_access(a, b):
    #pragma parallel for
    for i in range(10):
        if i < 5:
            b[i] = a[2 * i]


@PROGRAMS.on(np.arange(6, dtype=np.int64), np.zeros((6, 2), np.int64))
def pointer_jumping(parent, out):
    for i in range(6):
        j = i
        depth = 0
        while parent[j] != j and depth < 6:
            j = parent[j]
            depth += 1
        out[i, 0] = j
        out[i, 1] = depth
