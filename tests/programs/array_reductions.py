"""Elements of arrays that iterations combine into, or that each iteration uses for itself."""

import numpy as np

from tests.programs.registry import C_ONLY, Programs, complexes, floats, ints

PROGRAMS = Programs()


@PROGRAMS.on(floats(9), floats(1))
@PROGRAMS.on(floats(0), floats(1))
@PROGRAMS.on(floats(0), floats(0))
@PROGRAMS.on(floats(1), floats(0))
@PROGRAMS.on(ints(9), ints(1))
@PROGRAMS.on(ints(9, dtype=np.int8, lo=-128, hi=128), ints(3, dtype=np.int8))
@PROGRAMS.on(floats(9, dtype=np.float32), floats(2, dtype=np.float32))
@PROGRAMS.on(complexes(9), complexes(1))
@PROGRAMS.on(floats(50_021), floats(1), targets=C_ONLY)
def into_first(x, t):
    for i in range(len(x)):
        t[0] += x[i]


@PROGRAMS.on(floats(9), floats(9), floats(1))
@PROGRAMS.on(floats(0), floats(0), floats(0))
@PROGRAMS.on(floats(1), floats(1), floats(1))
@PROGRAMS.on(ints(9, dtype=np.int32), ints(9, dtype=np.int32), ints(1, dtype=np.int32))
@PROGRAMS.on(complexes(9), complexes(9), complexes(1))
def by_way_of_a_cell(x, y, t):
    #pragma parallel for
    for i in range(len(x)):
        t[0] = x[i]
        y[i] = t[0] + x[i]


@PROGRAMS.on(floats(5, 7), floats(1), 0)
@PROGRAMS.on(floats(5, 7), floats(3), 2)
@PROGRAMS.on(floats(5, 7), floats(3), -1)
@PROGRAMS.on(floats(5, 7), floats(3), 3)
@PROGRAMS.on(floats(5, 0), floats(3), 3)
@PROGRAMS.on(floats(0, 5), floats(0), 3)
def square_into_one(x, t, k):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            t[k] += x[i, j]


@PROGRAMS.on(floats(7, 5), floats(5, 3), floats(7, 3))
@PROGRAMS.on(floats(7, 0), floats(0, 3), floats(7, 3))
@PROGRAMS.on(floats(14, 10)[::2, ::-2], floats(5, 3), floats(3, 7).T)
@PROGRAMS.on(ints(7, 5), ints(5, 3), ints(7, 3))
@PROGRAMS.on(complexes(7, 5), complexes(5, 3), complexes(7, 3))
def product_into(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


@PROGRAMS.on(floats(7), floats(9), np.array([0, 3, 3, 9]))
@PROGRAMS.on(floats(7), floats(9), np.array([0, 3, 3, 19]))
def rows_of_unequal_length(y, x, start):
    for i in range(3):
        for k in range(start[i], start[i + 1]):
            y[i] += x[k]


@PROGRAMS.on(floats(8), floats(3), 1)
@PROGRAMS.on(floats(8), floats(3), 3)
@PROGRAMS.on(floats(8), floats(3), -3)
@PROGRAMS.on(floats(0), floats(3), 3)
def where_the_index_may_be_wrong(x, t, k):
    for i in range(len(x)):
        t[k] += x[i]
        x[i] = 0


@PROGRAMS.on(floats(9), floats(9), 3)
@PROGRAMS.on(floats(9), floats(9), 11)
def what_is_written_before_a_fault_shows(x, t, n):
    for i in range(n):
        t[0] = x[i]
        t[1] += t[0]


@PROGRAMS.on(floats(9), np.array([1.0, np.nan]))
@PROGRAMS.on(np.array([1.0, np.nan, 3.0]), floats(2))
@PROGRAMS.on(-np.zeros(4), -np.zeros(2))
def extremes_of_elements(x, t):
    for i in range(len(x) - 1, -1, -1):
        t[0] = max(t[0], x[i])
        t[1] = np.minimum(t[1], x[i])
