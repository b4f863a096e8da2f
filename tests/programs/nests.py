"""Triangular loops, steps, stencils with a time loop, dynamic programming."""

import numpy as np

from tests.programs.registry import C_ONLY, Programs, floats, ints

PROGRAMS = Programs()


@PROGRAMS.on(floats(5, 5))
@PROGRAMS.on(np.asfortranarray(floats(5, 5)))
def symmetrise(a):
    n = a.shape[0]
    #pragma parallel for
    for i in range(n):
        for j in range(i + 1, n):
            a[i, j] = a[j, i]


@PROGRAMS.on(floats(5, 5), floats(5), np.zeros(5))
def lower_triangle_product(l, x, y):
    #pragma parallel for
    for i in range(x.shape[0]):
        s = 0.0
        for j in range(i + 1):
            s += l[i, j] * x[j]
        y[i] = s


@PROGRAMS.on(floats(6, 6))
def antidiagonal(a):
    n = a.shape[0]
    #pragma parallel for
    for i in range(n):
        for j in range(n - 1, n - 1 - i, -1):
            a[i, j] = i * 10 + j


@PROGRAMS.on(floats(4, 4) + 8 * np.eye(4), floats(4), np.zeros(4))
def forward_substitution(l, b, x):
    for i in range(4):
        s = b[i]
        for j in range(i):
            s -= l[i, j] * x[j]
        x[i] = s / l[i, i]


@PROGRAMS.on(floats(4, 4) + 8 * np.eye(4))
def lu(a):
    n = a.shape[0]
    for k in range(n):
        #pragma parallel for
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
        #pragma parallel for
        for i in range(k + 1, n):
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]


@PROGRAMS.on(9 * np.eye(4) + 1)
def cholesky(a):
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            for k in range(j):
                a[i, j] -= a[i, k] * a[j, k]
            a[i, j] /= a[j, j]
        for k in range(i):
            a[i, i] -= a[i, k] * a[i, k]
        a[i, i] = np.sqrt(a[i, i])


@PROGRAMS.on(floats(8), 3)
@PROGRAMS.on(floats(2), 3)
@PROGRAMS.on(floats(8), 0)
@PROGRAMS.on(floats(20_000), 3, targets=C_ONLY)
def jacobi(a, steps):
    b = np.zeros_like(a)
    for t in range(steps):
        #pragma parallel for
        for i in range(1, a.shape[0] - 1):
            b[i] = 0.33333 * (a[i - 1] + a[i] + a[i + 1])
        #pragma parallel for
        for i in range(1, a.shape[0] - 1):
            a[i] = b[i]


@PROGRAMS.on(floats(5, 5), np.zeros((5, 5)), 2)
def heat(a, b, steps):
    for t in range(steps):
        #pragma parallel for
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                b[i, j] = 0.2 * (a[i, j] + a[i, j - 1] + a[i, j + 1] + a[i + 1, j] + a[i - 1, j])
        #pragma parallel for
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                a[i, j] = b[i, j]


@PROGRAMS.on(floats(5, 5), 2)
def seidel(a, steps):
    for t in range(steps):
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                a[i, j] = (a[i - 1, j] + a[i, j - 1] + a[i, j] + a[i, j + 1] + a[i + 1, j]) / 5.0


@PROGRAMS.on(ints(5, 5, lo=1))
def floyd_warshall(d):
    n = d.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                d[i, j] = min(d[i, j], d[i, k] + d[k, j])


@PROGRAMS.on(ints(6, lo=0, hi=3), ints(7, lo=0, hi=3, seed=1), np.zeros((7, 8), np.int32))
def longest_common_subsequence(x, y, table):
    for i in range(1, len(x) + 1):
        for j in range(1, len(y) + 1):
            if x[i - 1] == y[j - 1]:
                table[i, j] = table[i - 1, j - 1] + 1
            else:
                table[i, j] = max(table[i - 1, j], table[i, j - 1])
    return table[len(x), len(y)]


@PROGRAMS.on(floats(12), np.zeros(12))
def strided_loops(a, b):
    #pragma parallel for
    for i in range(0, 12, 3):
        b[i] = a[i]
    #pragma parallel for
    for i in range(11, -1, -4):
        b[i] += a[i] * 2
    #pragma parallel for
    for i in range(10, 2, -3):
        b[i] -= 1


@PROGRAMS.on(floats(12), 1, 11, 2)
@PROGRAMS.on(floats(12), 11, -1, -3)
@PROGRAMS.on(floats(12), 5, 5, 1)
@PROGRAMS.on(floats(12), 3, 7, -1)
@PROGRAMS.on(floats(12), 3, 7, 0)
def variable_step(a, lo, hi, step):
    last = -1
    for i in range(lo, hi, step):
        a[i] += 1.5
        last = i
    return last


@PROGRAMS.on(floats(3, 4, 5), np.zeros(3))
def triple_sum(a, out):
    #pragma parallel for
    for i in range(a.shape[0]):
        s = 0.0
        for j in range(a.shape[1]):
            for k in range(j, a.shape[2]):
                s += a[i, j, k]
        out[i] = s


@PROGRAMS.on(floats(10), np.zeros(10))
def prefix_sum(a, out):
    s = 0.0
    for i in range(len(a)):
        s += a[i]
        out[i] = s
    return s


@PROGRAMS.on(floats(8), np.zeros(8))
def exclusive_prefix_in_array(a, out):
    for i in range(1, len(a)):
        out[i] = out[i - 1] + a[i - 1]


@PROGRAMS.on(ints(8))
def bubble_sort(a):
    n = len(a)
    swaps = 0
    for i in range(n):
        for j in range(n - 1 - i):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
                swaps += 1
    return swaps


@PROGRAMS.on(ints(9))
def insertion_sort(a):
    for i in range(1, len(a)):
        key = a[i]
        j = i - 1
        while j >= 0 and a[j] > key:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = key


@PROGRAMS.on(floats(10))
def even_odd_independent(a):
    #pragma parallel for
    for i in range(5):
        a[2 * i] = a[2 * i + 1] * 0.5


@PROGRAMS.on(floats(9))
def reverse_in_place(a):
    n = len(a)
    #pragma parallel for
    for i in range(n // 2):
        t = a[i]
        a[i] = a[n - 1 - i]
        a[n - 1 - i] = t


@PROGRAMS.on(floats(5, 5), floats(3, 3), np.zeros((3, 3)))
def convolution(image, kernel, out):
    #pragma parallel for collapse(2)
    for y in range(3):
        for x in range(3):
            s = 0.0
            for dy in range(3):
                for dx in range(3):
                    s += image[y + dy, x + dx] * kernel[dy, dx]
            out[y, x] = s


@PROGRAMS.on(floats(4, 6), np.zeros((4, 6)))
def loop_variable_after_loop(a, b):
    i = 99
    for i in range(4):
        for j in range(i, 6):
            b[i, j] = a[i, j]
    return i, j


@PROGRAMS.on(0)
@PROGRAMS.on(3)
def unassigned_loop_variable(n):
    for k in range(n):
        pass
    return k


@PROGRAMS.on(floats(6))
def rebinds_loop_variable(a):
    total = 0
    for i in range(6):
        a[i] = i
        i = i * 2
        total += i
    return total


@PROGRAMS.on(ints(7, 40, lo=0, hi=256, dtype=np.uint8), np.zeros((7, 40), np.uint8))
@PROGRAMS.on(floats(6, 35, dtype=np.float32), np.zeros((6, 35), np.float32))
def means_of_neighbours(image, out):
    for i in range(1, image.shape[0] - 1):
        for j in range(1, image.shape[1] - 1):
            s = 0.0
            for di in range(-1, 2):
                for dj in range(-1, 2):
                    s += image[i + di, j + dj]
            out[i, j] = s / 9


@PROGRAMS.on(ints(7, 40, lo=0, hi=2), np.zeros((7, 40), np.int64))
def living_neighbours(cells, out):
    for i in range(1, cells.shape[0] - 1):
        for j in range(1, cells.shape[1] - 1):
            s = 0
            for di in range(-1, 2):
                for dj in range(-1, 2):
                    if di == 0 and dj == 0:
                        continue
                    s += cells[i + di, j + dj]
            out[i, j] = 1 if s == 3 or (s == 2 and cells[i, j] == 1) else 0


@PROGRAMS.on(floats(33, 3), floats(3, 3), np.zeros((33, 3)))
@PROGRAMS.on(floats(33, 2), floats(3, 3), np.zeros((33, 3)))
def turned_points(points, turn, out):
    """A point of two numbers is out of range, after what comes before it has been stored."""
    for i in range(len(points)):
        for a in range(3):
            s = 0.0
            for b in range(3):
                s += turn[a, b] * points[i, b]
            out[i, a] = s


@PROGRAMS.on(np.linspace(0.0, 1.0, 42).reshape(6, 7))
@PROGRAMS.on(np.linspace(0.0, 1.0, 2).reshape(1, 2))
@PROGRAMS.on(np.linspace(0.0, 1.0, 3).reshape(3, 1))
@PROGRAMS.on(np.ones((1, 1), np.float32))
@PROGRAMS.on(np.ones((0, 3)))
def blurred_to_the_edge(a):
    n, m = a.shape
    out = np.zeros_like(a)
    for i in range(n):
        for j in range(m):
            s = a[i, j] + a[i, max(j - 1, 0)] + a[i, min(j + 1, m - 1)]
            out[i, j] = s + a[max(0, i - 1), j] * a[min(n - 1, i + 1), min(max(j - 2, 0), m - 1)]
    return out


@PROGRAMS.on(floats(9), np.zeros((6, 9)))
@PROGRAMS.on(floats(4), np.zeros((1, 9)))
@PROGRAMS.on(floats(4), np.zeros((1, 8)))  # raises IndexError
def products_by_a_counter(x, out):
    """A nest of constant length moves the counter by a constant."""
    for i in range(len(x) - 3):
        k = 0
        for p in range(3):
            for q in range(3):
                out[i, k] = x[i + p] * x[i + q]
                k += 1


@PROGRAMS.on(floats(7, 6), np.zeros((7, 6)))
@PROGRAMS.on(floats(2, 6), np.zeros((2, 6)))
def windows_by_a_counter(a, out):
    w = np.empty(9)
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            k = 0
            for p in range(-1, 2):
                for q in range(-1, 2):
                    w[k] = a[i + p, j + q]
                    k += 1
            out[i, j] = np.sort(w)[4]


@PROGRAMS.on(floats(5, 7), 3)
@PROGRAMS.on(floats(5, 7), 9)
@PROGRAMS.on(floats(5, 0), 3)
def collapsed_around_a_condition_on_columns(a, k):
    #pragma parallel for collapse(2)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if j < k:
                a[i, j] = 1.0
            else:
                a[i, j] *= 2.0
