"""Functions that begin with a call of themselves with their arguments exchanged, and ones that only look like that."""

import numpy as np

import appyc
from tests.programs.registry import Programs, floats, ints

PROGRAMS = Programs(strict=True)


@PROGRAMS.on(7, 5, 0.3)
@PROGRAMS.on(5, 7, 0.3)
@PROGRAMS.on(6, 6, 0.5)
def band(rows, columns, width):
    """A new array, transposed in the call of itself."""
    if rows > columns:
        return band(columns, rows, width).T
    out = np.full((rows, columns), False)
    reach = int(width * rows)
    for step in range(columns):
        row = step * rows // columns
        out[max(0, row - reach) : min(rows, row + reach + 1), step] = True
    return out


@PROGRAMS.on(floats(9), floats(7, seed=1), 0.3)
@PROGRAMS.on(floats(7), floats(9, seed=1), 0.3)
@PROGRAMS.on(floats(7), floats(9, seed=1), None)
def given_an_array_that_it_makes(x, y, width):
    inside = np.full((x.size, y.size), True) if width is None else band(x.size, y.size, width)
    total = 0.0
    for i in range(x.size):
        for j in range(y.size):
            if inside[i, j]:
                total += abs(x[i] - y[j])
    return total


@PROGRAMS.on(ints(9, lo=0, hi=3), ints(6, lo=0, hi=3, seed=1))
@PROGRAMS.on(ints(6, lo=0, hi=3), ints(9, lo=0, hi=3, seed=1))
@PROGRAMS.on("kitten", "sitting", targets=("cpu", "threads"))
def edit_distance(a, b):
    if len(a) < len(b):
        return edit_distance(b, a)
    before = list(range(len(b) + 1))
    for i in range(len(a)):
        row = [i + 1]
        for j in range(len(b)):
            row.append(min(before[j + 1] + 1, row[j] + 1, before[j] + (a[i] != b[j])))
        before = row
    return before[-1]


@PROGRAMS.on(floats(5, 4), floats(6, 3, seed=1))
@PROGRAMS.on(floats(5, 3), floats(6, 4, seed=1))
def in_a_parallel_loop(x, y):
    out = np.empty((x.shape[0], y.shape[0]))
    for i in appyc.prange(x.shape[0]):
        for j in range(y.shape[0]):
            out[i, j] = largest_shift(x[i], y[j])
    return out


def largest_shift(x, y):
    if x.shape[0] > y.shape[0]:
        return -largest_shift(y, x)
    best = 0.0
    for k in range(y.shape[0] - x.shape[0] + 1):
        total = 0.0
        for i in range(x.shape[0]):
            total += x[i] * y[k + i]
        best = max(best, total)
    return best + y[0] - x[0]


@PROGRAMS.on(3, 5)
@PROGRAMS.on(5, 3)
@PROGRAMS.on(4, 4)
def gives_tuples(a, b):
    if a < b:
        return gives_tuples(b=a, a=b)[::-1]
    return a // 2, 3 * b


@PROGRAMS.on(1, 2, -1)
@PROGRAMS.on(2, 1, -1)
def leaves_an_argument_to_its_default(a, b, sign=1):
    if sign * a < sign * b:
        return leaves_an_argument_to_its_default(b, a)
    return 10 * a + b


@PROGRAMS.on(1, 5)
@PROGRAMS.on(5, 1)
def changes_an_argument(a, b):
    if a < b:
        return changes_an_argument(b - 3, a) + 100
    return 10 * a + b


@PROGRAMS.on(5, 1)
@PROGRAMS.on(2, 2)
def calls_itself_behind_it_too(a, b):
    if a < b:
        return calls_itself_behind_it_too(b, a)
    return 1 if a < 1 else 1 + calls_itself_behind_it_too(a - 2, b)


@PROGRAMS.on(np.array([1.0]), np.array([2.0]))
@PROGRAMS.on(np.array([2.0]), np.array([1.0]))
def changes_what_it_compares(a, b):
    if a[0] < b[0]:
        return lowered(b) + changes_what_it_compares(b, a)
    return 10.0 * a[0] + b[0]


def lowered(b):
    if b[0] > 0:
        b[0] -= 3.0
    return 100.0
