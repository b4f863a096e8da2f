"""Pragmas on tensor statements: what they ask changes how a statement runs, never what it gives."""

import numpy as np

from tests.programs.registry import C_ONLY, Programs, complexes, floats, ints

PROGRAMS = Programs(strict=True)


@PROGRAMS.on(floats(7, 11), floats(7, 11, seed=1))
@PROGRAMS.on(floats(7, 11, dtype=np.float32), floats(7, 11, seed=1))
@PROGRAMS.on(floats(14, 22)[::2, ::-2], floats(11, 7, seed=1).T)
@PROGRAMS.on(floats(3, 3), floats(3, 3, seed=1))
@PROGRAMS.on(floats(2, 2), floats(2, 2, seed=1))
@PROGRAMS.on(floats(1, 5), floats(1, 5, seed=1))
@PROGRAMS.on(floats(0, 4), floats(0, 4))
@PROGRAMS.on(floats(300, 310), floats(300, 310, seed=1), targets=C_ONLY)
def five_points(a, b):
    M, N = a.shape
    #pragma 1:M-1=>parallel 1:N-1=>simd
    b[1:M-1, 1:N-1] = 0.2 * (
        a[1:M-1, 1:N-1] + a[:-2, 1:N-1] + a[2:, 1:N-1] + a[1:M-1, :-2] + a[1:M-1, 2:]
    )


@PROGRAMS.on(floats(7, 11))
@PROGRAMS.on(floats(2, 1))
def five_points_in_place(a):
    M, N = a.shape
    #pragma 1:M-1=>parallel,block(4) 1:N-1=>parallel,simd,block(32)
    a[1:M-1, 1:N-1] = 0.25 * (a[:-2, 1:N-1] + a[2:, 1:N-1] + a[1:M-1, :-2] + a[1:M-1, 2:])


@PROGRAMS.on(floats(7, 11), floats(11, seed=1), 7, 11)
@PROGRAMS.on(floats(7, 11), floats(11, seed=1), 5, 3)
@PROGRAMS.on(floats(7, 11), floats(11, seed=1), 0, 3)
@PROGRAMS.on(floats(7, 11), floats(11, seed=1), 3, 0)
@PROGRAMS.on(floats(13, 11), floats(11, seed=1), -1, -2)
@PROGRAMS.on(complexes(7, 11), complexes(11, seed=1), 7, 11)
@PROGRAMS.on(ints(7, 11, dtype=np.int32), ints(11, dtype=np.int32), 7, 11)
def matrix_times_vector(a, x, M, K):
    y = np.zeros(a.shape[0], dtype=a.dtype)
    #pragma :M=>parallel :K=>reduce(sum)
    y[:M] = a[:M, :K] @ x[:K]
    return y


@PROGRAMS.on(floats(5, 6), floats(6, 7, seed=1), floats(5, 7, seed=2), 1.5)
@PROGRAMS.on(floats(1, 1), floats(1, 1, seed=1), floats(1, 1, seed=2), 1.5)
@PROGRAMS.on(floats(5, 0), floats(0, 7), floats(5, 7, seed=2), 1.5)
def matrix_product(a, b, c, alpha):
    M, N, K = c.shape[0], c.shape[1], a.shape[1]
    #pragma :M=>parallel :N=>parallel,le(1024) :K=>reduce(sum),simd
    c[:M, :N] += alpha * (a[:M, :K] @ b[:K, :N])


@PROGRAMS.on(floats(6, 9), 6, 9)
@PROGRAMS.on(floats(6, 9), 2, 4)
@PROGRAMS.on(floats(6, 9, dtype=np.float32), 6, 9)
def largest_and_sums(a, M, N):
    #pragma :M=>parallel :N=>reduce(max)
    high = a[:M, :N].max(axis=1)
    #pragma :M=>parallel,reduce(sum) :N=>simd
    total = np.sum(a[:M, :N], axis=0)
    #pragma :M=>reduce(min),parallel :N=>reduce(min)
    low = np.min(a[:M, :N])
    return high, total, low


@PROGRAMS.on(floats(9), np.array([3, 1, 4, 0, 8]), floats(5, seed=1), 5)
@PROGRAMS.on(floats(9), np.array([3, 1, 4, 0, 8]), floats(5, seed=1), 0)
def scattered(a, places, x, N):
    #pragma :N=>parallel
    a[places[:N]] = x[:N] * 2.0


@PROGRAMS.on(floats(8, 9), 6)
@PROGRAMS.on(floats(8, 9), 1)
def rows_by_name(a, N):
    """The slices of a view; the same slice for two axes."""
    rows = a[1:]
    #pragma :N=>parallel ::2=>simd
    rows[:N, ::2] = rows[:N, ::2] * 2.0 + rows[:N, :1]
    #pragma :N=>parallel
    rows[:N, :N] -= 1.0
    return rows[:N, :N].sum()


@PROGRAMS.on(floats(8, 8), floats(8), 8)
@PROGRAMS.on(floats(8, 8), floats(8), 2)
def one_slice_for_each_axis(a, x, N):
    """What is said of a slice twice is said of the first such axis, and of the second."""
    #pragma 1:N-1=>parallel 1:N-1=>simd
    a[1:N-1, 1:N-1] = (a[:N-2, 1:N-1] + a[2:N, 1:N-1]) * x[1:N-1]
    return a


@PROGRAMS.on(floats(5, 6), floats(5, 6, seed=1), 5)
@PROGRAMS.on(floats(5, 6), floats(5, 6, seed=1), 3)
@PROGRAMS.on(floats(5, 6), floats(5, 6, seed=1), 6)
def longer_than_promised(a, b, N):
    """A promise that holds: le(6) with at most six columns."""
    #pragma :N=>le(6)
    a[0, :N] = b[1, :N]
    #pragma :=>parallel
    a[:] = b


@PROGRAMS.on(floats(5, 6), 1)
@PROGRAMS.on(floats(5, 6), 0)
def above_returns(a, k):
    M, N = a.shape
    if k > 0:
        #pragma 1:N=>reduce(sum)
        return np.sum(a[:, 1:N], axis=1)
    #pragma 0:M=>parallel
    return a[0:M, 0] * 2.0


def _weighted(a, x):
    return a @ x


@PROGRAMS.on(floats(7, 9), floats(9, seed=1), np.zeros(7), 7, 9)
@PROGRAMS.on(floats(7, 9), floats(9, seed=1), np.zeros(7), 4, 1)
@PROGRAMS.on(floats(7, 9, dtype=np.float32), floats(9, seed=1), np.zeros(7), 1, 5)
def products_by_function(a, x, y, M, K):
    """What is said of slices holds in the functions that get them."""
    #pragma :M=>parallel :K=>reduce(sum)
    y[:M] = np.dot(a[:M, :K], x[:K])
    #pragma :M=>parallel :K=>reduce(sum)
    y[:M] += np.einsum("ij,j->i", a[:M, :K], x[:K])
    #pragma :M=>parallel :K=>reduce(sum)
    y[:M] += np.tensordot(a[:M, :K], x[:K], 1)
    #pragma :M=>parallel :K=>reduce(sum)
    y[:M] += _weighted(a[:M, :K], x[:K])
    return y
