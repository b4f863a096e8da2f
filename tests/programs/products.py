"""Products of matrices, with sides on both sides of where a library is called for them, and what may stand around."""

import math

import numpy as np

from tests.programs.registry import C_ONLY, Programs, complexes, floats, ints

PROGRAMS = Programs(strict=True)

LARGE = (floats(29, 31), floats(31, 37, seed=1))
TINY = (floats(2, 1), floats(1, 3, seed=1))
NONE = (np.zeros((3, 0)), np.zeros((0, 2)))


def with_nan(a):
    a = a.copy()
    a[1, 2] = np.nan
    a[3] = 0.0
    return a


@PROGRAMS.on(*LARGE)
@PROGRAMS.on(*TINY)
@PROGRAMS.on(*NONE)
@PROGRAMS.on(floats(0, 4), floats(4, 3))
@PROGRAMS.on(floats(31, 29).T, floats(37, 31).T, targets=C_ONLY)
@PROGRAMS.on(floats(29, 62)[:, ::2], floats(31, 37), targets=C_ONLY)
@PROGRAMS.on(floats(29, 31)[::-1], floats(62, 37)[::2], targets=C_ONLY)
@PROGRAMS.on(np.broadcast_to(floats(31), (29, 31)), LARGE[1], targets=C_ONLY)
@PROGRAMS.on(with_nan(floats(29, 31)), with_nan(floats(31, 37)), targets=C_ONLY)
@PROGRAMS.on(*(ints(29, 31), ints(31, 37)), targets=C_ONLY)
@PROGRAMS.on(floats(29, 31, dtype=np.float32), floats(31, 37, dtype=np.float32), targets=C_ONLY)
@PROGRAMS.on(complexes(29, 31), complexes(31, 37), targets=C_ONLY)
@PROGRAMS.on(complexes(29, 31, dtype=np.complex64), complexes(31, 37, dtype=np.complex64), targets=C_ONLY)
def product(a, b):
    return a @ b


@PROGRAMS.on(1.5, 1.25, floats(29, 37), *LARGE)
@PROGRAMS.on(1.5, 0.0, with_nan(floats(29, 37)), *LARGE, targets=C_ONLY)
@PROGRAMS.on(0.0, 1.5, floats(29, 37), with_nan(LARGE[0]), LARGE[1], targets=C_ONLY)
@PROGRAMS.on(-0.5, np.nan, floats(29, 37), *LARGE, targets=C_ONLY)
@PROGRAMS.on(1.5, 1.25, np.asfortranarray(floats(29, 37)), *LARGE, targets=C_ONLY)
@PROGRAMS.on(1.5, 1.25, floats(29, 74)[:, ::2], *LARGE, targets=C_ONLY)
def scaled(alpha, beta, c, a, b):
    c[:] = alpha * (a @ b) + beta * c


@PROGRAMS.on(1.5, 1.25, floats(29, 37), *LARGE)
@PROGRAMS.on(1.5, 1.25, floats(2, 3), *TINY)
@PROGRAMS.on(1.5, 0.0, with_nan(floats(29, 37)), *LARGE, targets=C_ONLY)
def scaled_rows_first(alpha, beta, c, a, b):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            c[i, j] *= beta
        for k in range(a.shape[1]):
            for j in range(c.shape[1]):
                c[i, j] += alpha * a[i, k] * b[k, j]


@PROGRAMS.on(floats(29, 37), *LARGE)
@PROGRAMS.on(floats(2, 3), *TINY)
def subtracted_with_the_sum_outside(c, a, b):
    for k in range(a.shape[1]):
        for i in range(a.shape[0]):
            for j in range(b.shape[1]):
                c[i, j] -= a[i, k] * b[k, j]


@PROGRAMS.on(*LARGE, floats(37))
@PROGRAMS.on(*TINY, floats(3))
def layer(a, b, c):
    return np.maximum(a @ b + c, 0.0)


@PROGRAMS.on(floats(33, 29), floats(33, 29, seed=1), np.zeros((29, 29)))
@PROGRAMS.on(floats(3, 2), floats(3, 2, seed=1), np.zeros((2, 2)))
def two_products_at_once(a, b, c):
    n = c.shape[0]
    for i in range(n):
        for j in range(n):
            s = 0.0
            for k in range(a.shape[0]):
                s += a[k, i] * b[k, j] + b[k, i] * a[k, j]
            c[i, j] = s / (1.0 + i)


@PROGRAMS.on(floats(33, 29))
@PROGRAMS.on(np.asfortranarray(floats(33, 29)), targets=C_ONLY)
@PROGRAMS.on(floats(33, 58)[:, ::2], targets=C_ONLY)
@PROGRAMS.on(with_nan(floats(33, 29)), targets=C_ONLY)
@PROGRAMS.on(floats(33, 29, dtype=np.float32), targets=C_ONLY)
@PROGRAMS.on(complexes(33, 29), targets=C_ONLY)
@PROGRAMS.on(floats(1, 1))
def by_itself(a):
    return a.T @ a, a @ a.T


@PROGRAMS.on(floats(30, 31), floats(31, 30, seed=1))
def part_of_an_array(a, b):
    c = np.zeros((40, 40))
    c[3:33, 5:35] = a @ b
    c[3:33, 5:35] += 2.0 * (a @ b)
    return c


@PROGRAMS.on(floats(29, 29), floats(29, 29, seed=1))
def through_an_operand(a, b):
    """What a product reads the same nest writes: no library may have it."""
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            a[i, j] = s


@PROGRAMS.on(floats(29, 29), floats(29, 29, seed=1), np.zeros((29, 29)))
def rows_of_the_operand_change(a, b, c):
    """Row i of b is scaled when row i of c is done, and read by all rows of c after it."""
    n = c.shape[0]
    for i in range(n):
        for j in range(n):
            for k in range(n):
                c[i, j] += a[i, k] * b[k, j]
        for j in range(n):
            b[i, j] *= 0.5


@PROGRAMS.on(floats(3, 29, 31), floats(3, 31, 33, seed=1))
def stacks(a, b):
    return a @ b


@PROGRAMS.on(4, floats(29, 29), floats(29, 29, seed=1))
def again_and_again(steps, a, b):
    for _ in range(steps):
        a = a @ b * 0.25
    return a


@PROGRAMS.on(floats(9, 7), floats(9, 9))
@PROGRAMS.on(floats(300, 11), floats(300, 300), targets=C_ONLY)
@PROGRAMS.on(floats(257, 11), floats(257, 257), targets=C_ONLY)
def lower_triangle(a, c):
    for i in range(c.shape[0]):
        for j in range(i + 1):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * a[j, k]
            c[i, j] = 0.5 * c[i, j] + s


@PROGRAMS.on(floats(9, 9), floats(9, 7))
@PROGRAMS.on(floats(300, 300), floats(300, 13), targets=C_ONLY)
@PROGRAMS.on(floats(269, 269), floats(269, 9), targets=C_ONLY)
def triangle_in_place(a, b):
    for j in range(b.shape[1]):
        for i in range(b.shape[0]):
            s = b[i, j]
            for k in range(i + 1, b.shape[0]):
                s += a[k, i] * b[k, j]
            b[i, j] = 0.5 * s


@PROGRAMS.on(1.5, floats(9, 7), floats(9, 6, seed=1)[:, ::-1], floats(9, 9))
@PROGRAMS.on(-1.5, floats(269, 11), floats(269, 9)[:, ::-1], floats(269, 269), targets=C_ONLY)
@PROGRAMS.on(1.5, *(floats(n, m, dtype=np.float32) for n, m in ((257, 9), (257, 9), (257, 257))), targets=C_ONLY)
@PROGRAMS.on(1.5, *(complexes(n, m) for n, m in ((256, 8), (257, 9), (256, 257))), targets=C_ONLY)
@PROGRAMS.on(1.5, floats(0, 3), floats(0, 3), floats(0, 0))
@PROGRAMS.on(1.5, floats(2, 1), floats(2, 1), floats(2, 2))
def rows_of_a_triangle(alpha, a, b, c):
    for i in range(c.shape[0]):
        products = a[: i + 1] @ a[i] - b[: i + 1] @ b[i]
        c[i, : i + 1] = 0.5 * c[i, : i + 1] + alpha * products
        c[i, : i + 1] += alpha * a[: i + 1] @ a[i]


@PROGRAMS.on(floats(9, 9), floats(9, 7))
@PROGRAMS.on(floats(269, 269), floats(9, 269).T, targets=C_ONLY)
def rows_below(a, b):
    for i in range(b.shape[0]):
        b[i] += a[i + 1 :, i] @ b[i + 1 :]


def dominant(n, dtype=np.float64):
    """A symmetric matrix whose pivots are all about as large."""
    half = np.tril(floats(n, n, dtype=dtype)) / n
    return half + half.T + 2 * np.eye(n, dtype=dtype)


@PROGRAMS.on(dominant(9))
@PROGRAMS.on(dominant(1))
@PROGRAMS.on(np.zeros((0, 0)))
@PROGRAMS.on(dominant(269), targets=C_ONLY)
@PROGRAMS.on(with_nan(dominant(300)), targets=C_ONLY)
@PROGRAMS.on(dominant(269)[::-1, ::-1].T, targets=C_ONLY)
@PROGRAMS.on(np.repeat(dominant(257, np.float32), 2, axis=1)[:, ::2], targets=C_ONLY)
def factor_by_columns(a):
    """Column k from those before it."""
    for k in range(a.shape[0]):
        a[k:, k] -= a[k:, :k] @ a[k, :k]
        a[k, k] = np.sqrt(a[k, k])
        a[k + 1 :, k] /= a[k, k]


@PROGRAMS.on(dominant(9))
@PROGRAMS.on(dominant(2))
@PROGRAMS.on(np.zeros((0, 0)))
@PROGRAMS.on(dominant(269), targets=C_ONLY)
@PROGRAMS.on(dominant(257)[:, ::-1][::-1], targets=C_ONLY)
@PROGRAMS.on(np.asfortranarray(dominant(259, np.float32)), targets=C_ONLY)
@PROGRAMS.on(dominant(256) + 0.5j * np.eye(256), targets=C_ONLY)
def factor_step_by_step(a):
    for k in range(a.shape[0]):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])


@PROGRAMS.on(dominant(9))
@PROGRAMS.on(dominant(263), targets=C_ONLY)
def factor_of_a_half_step_by_step(a):
    n = a.shape[0]
    for k in range(n):
        a[k, k] = math.sqrt(a[k, k])
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
        for i in range(k + 1, n):
            for j in range(k + 1, i + 1):
                a[i, j] -= a[i, k] * a[j, k]


@PROGRAMS.on(floats(2, 130, 129), floats(2, 129, 131, seed=1), targets=C_ONLY)
def stack_of_large_ones(a, b):
    return a @ b


@PROGRAMS.on(3, 5, 7, floats(3, 5, 7), floats(7, 7, seed=1))
@PROGRAMS.on(1, 1, 1, floats(1, 1, 1), floats(1, 1, seed=1))
@PROGRAMS.on(2, 0, 3, floats(2, 0, 3), floats(3, 3, seed=1))
@PROGRAMS.on(5, 3, 7, floats(3, 5, 7), floats(7, 7, seed=1))  # nothing but the size is right: it raises
@PROGRAMS.on(3, 7, 5, floats(3, 5, 7), floats(5, 5, seed=1))
@PROGRAMS.on(3, 5, 7, floats(3, 5, 7), floats(7, 4, seed=1))
@PROGRAMS.on(2, 130, 129, floats(2, 130, 129), floats(129, 129, seed=1), targets=C_ONLY)
def rows_as_matrices(nr, nq, size, a, c):
    """Lengths come as numbers beside the arrays: what is guarded to be equal has one name."""
    a[:] = np.reshape(np.reshape(a, (nr, nq, 1, size)) @ c, (nr, nq, size))


@PROGRAMS.on(floats(4, 6), 4, 6)
@PROGRAMS.on(floats(4, 6), 6, 4)
@PROGRAMS.on(floats(4, 6), 5, 6)
@PROGRAMS.on(floats(0, 6), 0, 6)
@PROGRAMS.on(floats(6, 4).T, 4, 6)
@PROGRAMS.on(ints(1, 1), 1, 1)
def lengths_beside_the_array(a, n, m):
    b = np.zeros((n, m)) + a.reshape(n, 1, m)[:, 0]
    n += 1
    return b, n, a.reshape(1, m, -1).sum(axis=2)
