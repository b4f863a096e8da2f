"""Nests whose loops change places, and some that must not; also empty, with one row, and of odd sizes."""

import numpy as np

from tests.programs.registry import Programs, complexes, floats, ints

PROGRAMS = Programs()


@PROGRAMS.on(floats(0, 0), floats(0, 0, seed=1))
@PROGRAMS.on(floats(1, 1), floats(1, 1, seed=1))
@PROGRAMS.on(floats(7, 5), floats(7, 5, seed=1))
@PROGRAMS.on(np.asfortranarray(floats(7, 5)), np.asfortranarray(floats(7, 5, seed=1)))
@PROGRAMS.on(floats(14, 10)[::2, ::2], floats(7, 5, seed=1)[::-1])
@PROGRAMS.on(floats(7, 5, dtype=np.float32), floats(7, 5, dtype=np.float32, seed=1))
@PROGRAMS.on(ints(7, 5, dtype=np.int32), ints(7, 5, dtype=np.int32, seed=1))
@PROGRAMS.on(complexes(3, 5), complexes(3, 5, seed=1))
def columns_first(a, b):
    for j in range(a.shape[1]):
        for i in range(a.shape[0]):
            b[i, j] = a[i, j] * 2 + b[i, j]


@PROGRAMS.on(floats(6, 7), floats(6, 7, seed=1))
@PROGRAMS.on(floats(1, 7), floats(1, 7, seed=1))
@PROGRAMS.on(ints(6, 7), ints(6, 7, seed=1))
@PROGRAMS.on(complexes(6, 7, dtype=np.complex64), complexes(6, 7, dtype=np.complex64, seed=1))
def rows_from_rows(a, b):
    for i in range(1, a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] = a[i - 1, j] + b[i, j]


@PROGRAMS.on(floats(6, 7), floats(6, 7, seed=1))
@PROGRAMS.on(ints(6, 7), ints(6, 7, seed=1))
def each_from_its_left(a, b):
    for j in range(1, a.shape[1]):
        for i in range(a.shape[0]):
            a[i, j] = a[i, j - 1] - b[i, j]


@PROGRAMS.on(floats(6, 6))
@PROGRAMS.on(ints(7, 7))
def upward_diagonals(a):
    """Column by column reads what the column before has not overwritten yet: the order stays."""
    for j in range(a.shape[1] - 1):
        for i in range(1, a.shape[0]):
            a[i, j] = a[i - 1, j + 1] + 1


@PROGRAMS.on(floats(5, 7), floats(5, 3, seed=1), floats(3, 7, seed=2))
@PROGRAMS.on(floats(5, 7), np.zeros((5, 0)), np.zeros((0, 7)))
@PROGRAMS.on(floats(35, 37), floats(35, 33, seed=1), floats(33, 37, seed=2))
@PROGRAMS.on(
    floats(9, 7, dtype=np.float32), floats(9, 3, dtype=np.float32, seed=1), floats(3, 7, dtype=np.float32)
)
@PROGRAMS.on(ints(5, 7), ints(5, 3, seed=1), ints(3, 7, seed=2))
def product_by_columns(c, a, b):
    for k in range(a.shape[1]):
        for j in range(c.shape[1]):
            for i in range(c.shape[0]):
                c[i, j] += a[i, k] * b[k, j]


@PROGRAMS.on(floats(7, 7), floats(7, 7, seed=1))
@PROGRAMS.on(floats(1, 1), floats(1, 1, seed=1))
@PROGRAMS.on(np.zeros((0, 0)), np.zeros((0, 0)))
def triangle_by_columns(a, b):
    for i in range(a.shape[0]):
        for j in range(i):
            b[j, i] = a[j, i] * 2.0


@PROGRAMS.on(floats(8, 8), floats(8, 8, seed=1), 2)
@PROGRAMS.on(floats(8, 8), floats(8, 8, seed=1), 0)
@PROGRAMS.on(floats(8, 8), floats(8, 8, seed=1), 20)
@PROGRAMS.on(floats(8, 8), floats(8, 8, seed=1), -3)
def band_by_columns(a, b, k):
    n = a.shape[0]
    for i in range(n):
        for j in range(max(0, i - k), min(n, i + k + 1)):
            b[j, i] += a[j, i]


@PROGRAMS.on(floats(8, 8), floats(8, 8, seed=1))
@PROGRAMS.on(floats(3, 3), floats(3, 3, seed=1))
def countdown_by_columns(a, b):
    n = a.shape[0]
    for j in range(n - 1, -1, -1):
        for i in range(n - 1, j - 1, -1):
            b[i, j] = a[i, j] + b[i, j]


@PROGRAMS.on(floats(6, 7), 2.5)
@PROGRAMS.on(floats(0, 7), 2.5, joined=True)
def totals(a, x):
    """The sum of all, walked along the wrong way."""
    rows, columns = a.shape
    total = 0.0
    for j in range(columns):
        for i in range(rows):
            total += a[i, j] * x
    return total


@PROGRAMS.on(floats(6, 7), np.zeros(7))
@PROGRAMS.on(ints(6, 7), np.zeros(7, np.int64))
def column_totals(a, x):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            x[j] += a[i, j]


@PROGRAMS.on(floats(4, 5, 6), floats(4, 5, 6, seed=1))
@PROGRAMS.on(floats(4, 1, 6), floats(4, 1, 6, seed=1))
def box_inside_out(a, b):
    for k in range(a.shape[2]):
        for j in range(a.shape[1]):
            for i in range(1, a.shape[0]):
                b[i, j, k] = b[i - 1, j, k] + a[i, j, k]


@PROGRAMS.on(floats(7, 5), floats(7, 5, seed=1), 5)
@PROGRAMS.on(floats(7, 5), floats(7, 5, seed=1), 9)
def leaves_the_array(a, b, n):
    """Where the index leaves the array, what came before in the order written is done."""
    for j in range(n):
        for i in range(a.shape[0]):
            b[i, j] = a[i, j] + 1.0


# ---------------------------------------------------------------- waves


@PROGRAMS.on(np.zeros((0, 0)))
@PROGRAMS.on(floats(1, 1))
@PROGRAMS.on(floats(2, 9))
@PROGRAMS.on(floats(9, 2))
@PROGRAMS.on(floats(10, 10))
@PROGRAMS.on(floats(19, 41))
@PROGRAMS.on(np.asfortranarray(floats(11, 13)))
@PROGRAMS.on(floats(22, 26)[::2, ::2])
@PROGRAMS.on(floats(13, 17, dtype=np.float32))
@PROGRAMS.on(complexes(11, 12))
@PROGRAMS.on(ints(11, 12))
def smoothed_towards_the_corner(a):
    for i in range(1, a.shape[0]):
        for j in range(1, a.shape[1]):
            a[i, j] = (a[i - 1, j] + a[i, j - 1]) * 2 - a[i, j] * 3


@PROGRAMS.on(floats(12, 15), 2)
@PROGRAMS.on(floats(3, 3), 2)
@PROGRAMS.on(floats(20, 4, dtype=np.float32), 3)
def nine_points_in_place(a, steps):
    for _ in range(steps):
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                total = a[i - 1, j - 1] + a[i - 1, j] + a[i - 1, j + 1] + a[i, j - 1] + a[i, j]
                a[i, j] = (total + a[i, j + 1] + a[i + 1, j - 1] + a[i + 1, j] + a[i + 1, j + 1]) / 9.0


@PROGRAMS.on(np.zeros((12, 17)), ints(12, lo=0, hi=4), ints(17, lo=0, hi=4, seed=1))
@PROGRAMS.on(np.zeros((1, 17)), ints(12, lo=0, hi=4), ints(17, lo=0, hi=4, seed=1))
def distance_of_words(d, s, t):
    for i in range(1, d.shape[0]):
        for j in range(1, d.shape[1]):
            cost = 0.0 if s[i] == t[j] else 1.0
            d[i, j] = min(d[i - 1, j] + 1.0, d[i, j - 1] + 1.0, d[i - 1, j - 1] + cost)


@PROGRAMS.on(floats(4, 12, 13))
def a_wave_in_every_plane(a):
    for k in range(a.shape[0]):
        for i in range(1, a.shape[1]):
            for j in range(2, a.shape[2] - 1):
                if a[k, i, j] > 0.0:
                    a[k, i, j] = (a[k, i - 1, j + 1] + a[k, i, j - 1]) * 0.5


@PROGRAMS.on(floats(40, 40), floats(41, seed=1))
@PROGRAMS.on(floats(1, 1), floats(2, seed=1))
@PROGRAMS.on(floats(0, 0), floats(1, seed=1))
@PROGRAMS.on(floats(12, 12, dtype=np.float32), floats(13, dtype=np.float32, seed=1))
@PROGRAMS.on(np.asfortranarray(floats(9, 9)), floats(10, seed=1))
def order_of_matrix_products(m, p):
    n = m.shape[0]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            best = np.inf
            for k in range(i, j):
                cost = m[i, k] + m[k + 1, j] + p[i] * p[k + 1] * p[j + 1]
                if cost < best:
                    best = cost
            m[i, j] = best


@PROGRAMS.on(floats(40, 40) + 40 * np.eye(40))
@PROGRAMS.on(floats(1, 1) + np.eye(1))
@PROGRAMS.on(complexes(12, 12) + 12 * np.eye(12))
@PROGRAMS.on((floats(24, 24) + 40 * np.eye(24))[::2, ::2])
def left_looking_factors(a):
    for i in range(a.shape[0]):
        for j in range(i):
            s = a[i, j]
            for k in range(j):
                s -= a[i, k] * a[k, j]
            a[i, j] = s / a[j, j]
        for j in range(i, a.shape[0]):
            s = a[i, j]
            for k in range(i):
                s -= a[i, k] * a[k, j]
            a[i, j] = s


@PROGRAMS.on(np.zeros((40, 40), dtype=np.int32), ints(40, lo=0, hi=4, dtype=np.int32))
@PROGRAMS.on(np.zeros((2, 2), dtype=np.int8), ints(2, lo=0, hi=4, dtype=np.int8))
@PROGRAMS.on(np.zeros((12, 12), dtype=np.int32), ints(12, lo=0, hi=4, dtype=np.int32))
def folded_pairs(t, q):
    n = q.shape[0]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            best = max(t[i, j - 1], t[i + 1, j]) if i + 1 < n else t[i, j - 1]
            if i + 1 < j and q[i] + q[j] == 3:
                best = max(best, t[i + 1, j - 1] + 1)
            for k in range(i + 1, j):
                best = max(best, t[i, k] + t[k + 1, j])
            t[i, j] = best
