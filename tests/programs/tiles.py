"""Nests whose rows are short, and arrays whose axes change places: a program of a GPU computes a tile of rows."""

import numpy as np

from tests.programs.registry import Programs, complexes, floats, ints

PROGRAMS = Programs(strict=True)


@PROGRAMS.on(floats(70, 3), floats(70, 3, seed=1))
@PROGRAMS.on(floats(1, 1), floats(1, 1, seed=1))
@PROGRAMS.on(floats(3, 200), floats(3, 200, seed=1))
@PROGRAMS.on(floats(0, 4), floats(0, 4))
@PROGRAMS.on(floats(4, 0), floats(4, 0))
@PROGRAMS.on(ints(70, 5, dtype=np.int32), ints(70, 5, dtype=np.int32))
@PROGRAMS.on(complexes(9, 3), complexes(9, 3))
@PROGRAMS.on(floats(140, 6)[::2, ::-2], floats(70, 3))
def scaled(a, b):
    # pragma parallel for collapse(2)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[i, j] = 2 * a[i, j]


@PROGRAMS.on(floats(33, 70), floats(70, 33))
@PROGRAMS.on(floats(5, 3), floats(3, 5))
@PROGRAMS.on(floats(5, 3, dtype=np.float32), floats(3, 5, dtype=np.float32))
@PROGRAMS.on(np.asfortranarray(floats(33, 70)), np.asfortranarray(floats(70, 33)))
def transposed(a, b):
    # pragma parallel for collapse(2)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[j, i] = a[i, j]


@PROGRAMS.on(floats(3, 5, 40), floats(40, 5, 3))
def axes_in_reverse(a, b):
    # pragma parallel for collapse(3)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            for k in range(a.shape[2]):
                b[k, j, i] = a[i, j, k] + j


@PROGRAMS.on(floats(70, 8), floats(70))
@PROGRAMS.on(floats(2, 300), floats(2))
@PROGRAMS.on(floats(5, 0), floats(5))
@PROGRAMS.on(ints(70, 3), ints(70))
def least_of_rows(a, out):
    # pragma parallel for
    for i in range(a.shape[0]):
        least = out[i]
        for j in range(a.shape[1]):
            least = min(least, a[i, j])
        out[i] = least


@PROGRAMS.on(ints(70, 8), ints(8))
@PROGRAMS.on(ints(1, 1), ints(1))
def weighted_total_of_rows(a, w):
    """A sum over rows of what each row has combined, and elements that all rows share."""
    total, last = 0, 0
    for i in range(a.shape[0]):
        row = 0
        for j in range(a.shape[1]):
            row += a[i, j] * w[j]
        total += row * row
        last = row
    return total, last


@PROGRAMS.on(ints(70, 8), ints(8), ints(70))
@PROGRAMS.on(ints(7, 300), ints(300), ints(7))
@PROGRAMS.on(ints(1, 2000), ints(2000), ints(1))
@PROGRAMS.on(ints(9, 0), ints(0), ints(9))
def weighted_totals_of_rows(a, w, out):
    """Rows that share what one loop, and the next one, loads."""
    # pragma parallel for
    for i in range(a.shape[0]):
        total, most = 0, -100
        for j in range(a.shape[1]):
            total += a[i, j] * w[j]
        for j in range(a.shape[1]):
            most = max(most, w[j] - a[i, j])
        out[i] = total + most


@PROGRAMS.on(floats(70, 300), floats(70), floats(300, seed=1))
@PROGRAMS.on(floats(9, 5), floats(9), floats(5, seed=1))
@PROGRAMS.on(floats(1, 600, dtype=np.float32), floats(1), floats(600, seed=1))
def updates_of_one_element(a, x, y):
    """Two updates of each element, and one that reads another element of the array."""
    # pragma parallel for
    for i in range(a.shape[0]):
        for j in range(a.shape[1] - 1):
            a[i, j] += x[i] * y[j]
            a[i, j] -= x[i] + y[j + 1]
            a[i, j] += y[j]


@PROGRAMS.on(ints(70, 8), ints(70, 8))
@PROGRAMS.on(ints(5, 150), ints(5, 150))
def running_totals(a, out):
    # pragma parallel for
    for i in range(a.shape[0]):
        total = 0
        for j in range(a.shape[1]):
            total += a[i, j]
            out[i, j] = total


@PROGRAMS.on(ints(70, 8), ints(70, 8))
@PROGRAMS.on(ints(5, 150), ints(5, 150))
def less_the_total(a, out):
    """Rows that stay in the lanes between their loops."""
    # pragma parallel for
    for i in range(a.shape[0]):
        total = 0
        for j in range(a.shape[1]):
            total += a[i, j]
        for j in range(a.shape[1]):
            out[i, j] = a[i, j] - total


@PROGRAMS.on(floats(70, 4), ints(70, lo=0, hi=5), ints(70, 4))
@PROGRAMS.on(floats(70, 4), ints(70, lo=0, hi=70), ints(70, 4))
def rows_by_index(a, rows, out):
    # pragma parallel for collapse(2)
    for i in range(rows.shape[0]):
        for j in range(a.shape[1]):
            out[i, j] = a[rows[i], j] > a[i, rows[i] % 4]


@PROGRAMS.on(ints(70, 8), ints(70, 8))
def conditions_of_rows_and_lanes(a, out):
    # pragma parallel for
    for i in range(a.shape[0]):
        count = 0
        for j in range(a.shape[1]):
            if a[i, j] > 0:
                count += 1
        if count > 3:
            for j in range(a.shape[1]):
                out[i, j] = count if a[i, j] > count else -1


@PROGRAMS.on(ints(70, 8, lo=1, hi=9), ints(70, 8))
def steps_until_small(a, out):
    """A `while` that each element leaves by itself, and powers of a row's and a column's number."""
    # pragma parallel for collapse(2)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            left, steps = a[i, j] * (i + 1), 0
            while left > 3:
                left //= 2
                steps += 1
            out[i, j] = steps + (i % 3) ** (j % 4)


@PROGRAMS.on(ints(70, 8, lo=0, hi=4), ints(70, 4))
def counts_of_rows(key, count):
    # pragma parallel for
    for i in range(key.shape[0]):
        for j in range(key.shape[1]):
            count[i, key[i, j]] += 1


@PROGRAMS.on(floats(70, 8), floats(70, 8))
@PROGRAMS.on(floats(1, 8), floats(1, 8))
def beyond_the_end_of_rows(a, out):
    # pragma parallel for collapse(2)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[i, j] = a[i, j + i]


@PROGRAMS.on(floats(5, 20, 3), floats(5, 20, 3, seed=1))
@PROGRAMS.on(floats(4, 5, 150), floats(4, 5, 150, seed=1))
@PROGRAMS.on(floats(2, 20, 3), floats(2, 20, 3, seed=1))
def laplacian_of_an_image(a, b):
    """A stencil whose rows are short or long: another nest computes several long rows at once."""
    for _ in range(3):
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                for k in range(a.shape[2]):
                    b[i, j, k] = a[i - 1, j, k] + a[i + 1, j, k] + a[i, j - 1, k] + a[i, j + 1, k] - 4 * a[i, j, k]
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                for k in range(a.shape[2]):
                    a[i, j, k] = b[i - 1, j, k] + b[i + 1, j, k] + b[i, j - 1, k] + b[i, j + 1, k] - 4 * b[i, j, k]
