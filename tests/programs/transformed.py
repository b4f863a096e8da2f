"""Loops that pragmas tile, interchange, unroll and jam: the results are those of the loops as written."""

from __future__ import annotations

from tests.programs.registry import Programs, floats, ints

PROGRAMS = Programs(strict=True)


@PROGRAMS.on(floats(19, 40), floats(40, 19))
@PROGRAMS.on(floats(3, 2), floats(2, 3))
@PROGRAMS.on(floats(0, 2), floats(2, 0))
def transposed(a, out):
    #pragma parallel for tile(8, 32)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[j, i] = a[i, j] * 2.0


@PROGRAMS.on(ints(9, 11), ints(11, 13), ints(9, 13))
def product_in_tiles(a, b, c):
    #pragma parallel for interchange(i, k, j) tile(4, 4)
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


@PROGRAMS.on(floats(17, 17))
@PROGRAMS.on(floats(1, 1))
def triangle_in_tiles(a):
    #pragma tile(4, 4)
    for i in range(a.shape[0]):
        for j in range(i):
            a[i, j] = a[i, j] + a[j, i] * 0.5


@PROGRAMS.on(floats(12, 15))
def wavefront_in_tiles(a):
    #pragma tile(4, 5)
    for i in range(1, a.shape[0]):
        for j in range(1, a.shape[1]):
            a[i, j] = a[i, j] + a[i - 1, j] * 0.5 - a[i, j - 1] * 0.25


@PROGRAMS.on(floats(9, 7), floats(9, 7))
def columns_first(a, b):
    #pragma interchange(j, i)
    for i in range(1, a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] = a[i - 1, j] + b[i, j]


@PROGRAMS.on(floats(9, 9))
def interchanged_triangle(a):
    #pragma sequential for interchange(j, i)
    for i in range(a.shape[0]):
        for j in range(i):
            a[i, j] = a[j, i] + 1.0


@PROGRAMS.on(ints(23), ints(23))
@PROGRAMS.on(ints(4), ints(4))
@PROGRAMS.on(ints(0), ints(0), joined=True)
def unrolled(a, b):
    total = 0
    #pragma unroll(4)
    for i in range(a.shape[0]):
        b[i] = a[i] * 3
        total += b[i]
    return total


@PROGRAMS.on(ints(23))
def unrolled_backwards(a):
    #pragma sequential for unroll(3)
    for i in range(a.shape[0] - 2, -1, -2):
        a[i] = a[i + 1] - a[i]


@PROGRAMS.on(ints(13, 9), ints(9), ints(13))
@PROGRAMS.on(ints(1, 9), ints(9), ints(1))
def rows_side_by_side(a, x, y):
    #pragma parallel for jam(4)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            y[i] += a[i, j] * x[j]


@PROGRAMS.on(floats(3, 20, 20), floats(3, 20, 20))
def tiles_of_a_stencil(a, b):
    for t in range(3):
        #pragma parallel for tile(8, 8)
        for i in range(1, a.shape[1] - 1):
            #pragma simd unroll(2)
            for j in range(1, a.shape[2] - 1):
                b[t, i, j] = a[t, i, j] + a[t, i - 1, j] + a[t, i + 1, j] - a[t, i, j - 1]


@PROGRAMS.on(floats(40), floats(40))
def strips(a, b):
    #pragma simd tile(16)
    for i in range(a.shape[0]):
        b[i] = a[i] * a[i] + 1.0


@PROGRAMS.on(floats(19, 23), floats(19, 23))
def collapsed_tiles(a, b):
    #pragma parallel for tile(8, 8) collapse(2)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[i, j] = a[i, j] + 1.0
