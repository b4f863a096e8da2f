"""Steps, items and targets of arrays that the run shows; grids. Nothing is left to Python."""

import numpy as np

from tests.programs.registry import Programs, complexes, floats, ints

PROGRAMS = Programs(strict=True)

_LINE = floats(11)


@PROGRAMS.on(_LINE, 2)
@PROGRAMS.on(_LINE, 1)
@PROGRAMS.on(_LINE, -1)
@PROGRAMS.on(_LINE, -3)
@PROGRAMS.on(_LINE, 100)
@PROGRAMS.on(_LINE, -100)
@PROGRAMS.on(_LINE, 0)
@PROGRAMS.on(floats(0), 2)
@PROGRAMS.on(floats(1), -2)
def steps_from_a_number(a, k):
    return a[::k] + 0, a[1::k] * 2, a[:7:k] - 1, a[-2:1:k] + 1


@PROGRAMS.on(floats(11), 2, 9, 3)
@PROGRAMS.on(floats(11), 9, 2, -3)
@PROGRAMS.on(floats(11), -100, 100, 4)
@PROGRAMS.on(floats(11), 3, 3, 2)
def stored_with_a_step(a, lo, hi, k):
    a[lo:hi:k] = 7.0
    a[lo:hi:k] += a[lo:hi:k]
    view = a[::k]
    view[0:1] = -1.0
    return view


@PROGRAMS.on(floats(3, 4))
@PROGRAMS.on(floats(0, 4))
@PROGRAMS.on(ints(3, 1, dtype=np.int16))
def items_of_arrays(a):
    total = np.float64(0.0)
    for row in a:
        total += row.sum()
    for column in a.T:
        column[0:1] = 2
        total += column.max() if a.shape[0] > 0 else 1.0
    for x in a[:, 0] * 2:
        total += x
    for k, row in enumerate(a[::-1]):
        total += k * row[0]
    for x, y in zip(a[:, 0], a[:, -1]):
        total += x * y
    return total


@PROGRAMS.on(floats(2, 4))
@PROGRAMS.on(floats(2, 1))
@PROGRAMS.on(floats(3, 4))
def unpacked(a):
    first, second = a
    second[0] = 5.0
    x, y = a[:, 0] * 2
    (p, q), r = a[:, :1].sum(axis=1), a.shape[1]
    return first + second, x - y, p * q, r


@PROGRAMS.on(3, 4, 0.5)
@PROGRAMS.on(0, 2, 1.5)
@PROGRAMS.on(2, 0, 1.0)
@PROGRAMS.on(-3, 1, 1.0)
@PROGRAMS.on(1, 1, 2.0)
def grids(n, m, step):
    X, Y = np.mgrid[0:n, 1:m]
    U, V = np.mgrid[0:n:step, :m]
    I, J = np.indices((n, m))
    return X * 10 + Y, U - V, I * J, np.mgrid[2:m], np.mgrid[0:n, 0:m]


@PROGRAMS.on(floats(6), floats(6, seed=1))
@PROGRAMS.on(floats(6, dtype=np.float32), floats(6, seed=1))
@PROGRAMS.on(ints(6), ints(6, seed=1))
@PROGRAMS.on(complexes(6), floats(6))
@PROGRAMS.on(floats(1), floats(4))
def results_put_into_arrays(a, b):
    c = np.zeros(a.shape, np.complex128)
    np.add(a, b, c)
    np.multiply(a[:-1], b[1:], out=c[1:])
    d = np.subtract(c, a, out=c)
    d[0] = 9.0
    return c


@PROGRAMS.on(floats(6), floats(6, seed=1))
@PROGRAMS.on(ints(6), ints(6, seed=1))
def results_put_into_operands(a, b):
    np.negative(a, out=a)
    np.maximum(a[1:], a[:-1], a[1:])
    np.square(b, b)
    return a.sum() + b.sum()


@PROGRAMS.on(floats(5))
@PROGRAMS.on(-np.abs(floats(5)))
def conditions_of_arrays(a):
    rounds = 0
    while not (a < 0).any() and rounds < 4:
        a = a - 0.25
        rounds += 1
    return rounds, a


@PROGRAMS.on(floats(3, 4, 5))
def chained(a):
    a[1][2][3] = 7.0
    a[0][1:][1] = 2.0
    return a[1][2] + 0, a[2][::2][0] * 1


@PROGRAMS.on(floats(4, 3), 3)
@PROGRAMS.on(floats(4, 4), 3)  # ValueError
def rows_of_numbers(a, n):
    """Numbers that are written out are stored one by one, after all have been read, each in its own type."""
    whole = np.zeros(3, np.int64)
    whole[:] = 2**53 + 1, 0.5, True
    for i in range(n):
        a[i] = a[i, 1], a[i, 0], i
    a[0] = [a[1, 1], 2, a[0, 0]]
    a[::2, 0] = [7, 8.5]
    a[:] = [1.5] * 1 + [a[2, 1], a[3, 2]]
    a[1:3] = [[1, 2, 3], [4, 5, 6]]
    a[[0, 3]] = [n, 0.5, 1]
    [p, q], r = a[0, :2], a[1, 1]
    x, y = [a[2, 0], n]
    return whole, p + q + r, x, y


@PROGRAMS.on(6)
@PROGRAMS.on(0)
def rows_of_numbers_in_parallel(n):
    out = np.empty((n, 3))
    #pragma parallel for
    for i in range(n):
        out[i] = [i * 0.5, 2.0, -i]
    return out
