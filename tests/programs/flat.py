"""Arrays of two and three axes kept in one: flat indices over lengths that the call brings."""

import numpy as np

from tests.programs.registry import C_ONLY, Programs, floats, ints

PROGRAMS = Programs()


def numbers(count: int, dtype=np.float64) -> np.ndarray:
    return (np.arange(count) % 7 - 3).astype(dtype)


@PROGRAMS.on(numbers(35), floats(5, 7), 5, 7)
@PROGRAMS.on(numbers(0), floats(0, 0), 0, 0)
@PROGRAMS.on(numbers(7), floats(5, 7), 0, 7)
@PROGRAMS.on(numbers(1), floats(1, 1), 1, 1)
@PROGRAMS.on(numbers(6, np.int32), ints(2, 3, dtype=np.int32), np.int32(2), 3)
@PROGRAMS.on(numbers(35, np.complex128), floats(5, 7), 5, 7)
@PROGRAMS.on(numbers(80)[::2], floats(5, 7), 5, 7)
@PROGRAMS.on(numbers(35), floats(5, 7), 5, 6)
@PROGRAMS.on(numbers(34), floats(5, 7), 5, 7)
@PROGRAMS.on(numbers(13 * 1009, np.float32), floats(13, 1009, dtype=np.float32), 13, 1009, targets=C_ONLY)
def square(flat, a, n, m):
    for i in range(n):
        for j in range(m):
            flat[i * m + j] = a[i, j] + flat[i * m + j]


@PROGRAMS.on(numbers(36), 6, 6)
@PROGRAMS.on(numbers(13 * 101), 13, 101, targets=C_ONLY)
@PROGRAMS.on(numbers(5), 1, 5)
@PROGRAMS.on(numbers(0), 0, 3)
@PROGRAMS.on(numbers(12), -2, 3)
@PROGRAMS.on(numbers(12), 3, -2)
def rows_below(flat, n, m):
    for i in range(1, n):
        #pragma parallel for
        for j in range(m):
            flat[i * m + j] = flat[(i - 1) * m + j] * 0.5 + flat[i * m + j]


@PROGRAMS.on(numbers(35), 5, 7)
@PROGRAMS.on(numbers(2), 2, 1)
@PROGRAMS.on(numbers(33), 5, 7)
def backwards(flat, n, m):
    #pragma parallel for
    for i in range(n - 1, -1, -1):
        for j in range(m):
            flat[(n - 1 - i) * m + m - 1 - j] *= 2


@PROGRAMS.on(numbers(60), numbers(60), 3, 4, 5)
@PROGRAMS.on(numbers(60), numbers(60), 3, 0, 5)
@PROGRAMS.on(numbers(60, np.float32), numbers(60, np.float32), 5, 3, 4)
@PROGRAMS.on(numbers(7 * 11 * 13), numbers(7 * 11 * 13), 7, 11, 13, targets=C_ONLY)
def cube(a, b, n, m, l):
    #pragma parallel for
    for i in range(n):
        for j in range(m):
            for k in range(l):
                a[i * m * l + j * l + k] += b[(i * m + j) * l + k]


@PROGRAMS.on(numbers(70), 5, 7)
@PROGRAMS.on(numbers(70), 35, 1)
@PROGRAMS.on(numbers(69), 5, 7)
def complex_by_hand(a, n, m):
    #pragma parallel for
    for i in range(n):
        for j in range(m):
            re = a[2 * (i * m + j)]
            im = a[2 * (i * m + j) + 1]
            a[2 * (i * m + j)] = re * re - im * im
            a[(i * m + j) * 2 + 1] = 2 * re * im


@PROGRAMS.on(numbers(12), numbers(20), numbers(15), 3, 4, 5)
@PROGRAMS.on(numbers(1), numbers(1), numbers(1), 1, 1, 1)
@PROGRAMS.on(numbers(12), numbers(20), numbers(15), 3, 4, 0)
@PROGRAMS.on(*(numbers(31 * 31) for _ in range(3)), 31, 31, 31, targets=C_ONLY)
def gemm(c, b, a, n, m, p):
    for i in range(n):
        for j in range(m):
            for k in range(p):
                c[i * m + j] += a[i * p + k] * b[k * m + j]


@PROGRAMS.on(numbers(40), 5, 7, 7)
@PROGRAMS.on(numbers(40), 5, 7, 3)
@PROGRAMS.on(numbers(40), 5, 3, 7)
@PROGRAMS.on(numbers(40), 5, 0, 7)
def part_of_each_row(a, n, m, p):
    for i in range(n):
        for j in range(p):
            a[i * m + j] = a[i * m + j] * 2 + i


@PROGRAMS.on(numbers(40), 5, 9)
@PROGRAMS.on(numbers(40), 5, 2)
@PROGRAMS.on(numbers(40), 5, 1)
def inner_rows(a, n, m):
    for i in range(n):
        for j in range(m - 2):
            a[i * (m - 2) + j] += i - j


@PROGRAMS.on(numbers(40), numbers(10), 4)
@PROGRAMS.on(numbers(40), numbers(10), 1)
@PROGRAMS.on(numbers(40), numbers(10), 0)
@PROGRAMS.on(numbers(40), numbers(10), -3)
@PROGRAMS.on(numbers(40), numbers(10), 5)
def every_kth(a, b, k):
    for i in range(len(b)):
        a[i * k] = a[i * k] + b[i]
