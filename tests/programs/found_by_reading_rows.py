"""Programs that go over a row several times. A sceptical reader found that GPUs take what they loaded for another."""

import numpy as np

from tests.programs.registry import Programs, floats, ints

PROGRAMS = Programs()

ROWS, NUMBERS = floats(7, 150), np.array([3, 1, 4, 1, 5, 0, 2])


@PROGRAMS.on(ROWS, NUMBERS, np.zeros((7, 150)))
def loaded_under_a_condition(x, q, y):
    """Rows without it found nothing in the registers."""
    for i in range(len(q)):
        s, wanted = 0.0, q[i]
        for j in range(x.shape[1]):
            if wanted > 2:
                s += x[i, j]
        for j in range(x.shape[1]):
            y[i, j] = x[i, j] * (s + 1)


@PROGRAMS.on(ROWS, np.zeros((7, 150)), 3)
@PROGRAMS.on(ROWS, np.zeros((7, 150)), 1)
def loaded_in_one_of_two_branches(x, y, wanted):
    for i in range(x.shape[0]):
        s = 0.0
        for j in range(x.shape[1]):
            if wanted > 2:
                s += x[i, j]
            else:
                s -= 1.0
        for j in range(x.shape[1]):
            y[i, j] = x[i, j] * (s + 1)


@PROGRAMS.on(ROWS, NUMBERS, np.zeros((7, 150)))
def number_of_the_row_changes(x, q, y):
    last = x.shape[0] - 1
    for i in range(len(q) - 1):
        k = min(max(q[i], 0), last)
        s = 0.0
        for j in range(x.shape[1]):
            s += x[k, j]
        k = min(max(q[i + 1], 0), last)
        for j in range(x.shape[1]):
            y[i, j] = x[k, j] * 2 + s


@PROGRAMS.on(ROWS, ints(7, 150, lo=0, hi=150), np.zeros((7, 150)))
def indices_change(x, q, y):
    last = x.shape[1] - 1
    for i in range(x.shape[0]):
        s = 0.0
        for j in range(x.shape[1]):
            s += x[i, min(max(q[i, j], 0), last)]
            q[i, j] = q[i, j] * 2 % 101
        for j in range(x.shape[1]):
            y[i, j] = x[i, min(max(q[i, j], 0), last)] * 2 + s


@PROGRAMS.on([[1, 2], [3, 4]])
def rows_that_a_slice_shares(d):
    part = d[:]
    part[0][0] = 5
    return d[0][0], part[1][1]


@PROGRAMS.on(3)
def rows_that_a_slice_of_a_table_shares(n):
    g = [[0] * n for _ in range(n)]
    h = g
    part = h[1:]
    part[0][0] = 5
    return g[1][0], sum(sum(row) for row in h[1:])


@PROGRAMS.on(3)
def lists_of_lists_made_of_themselves(n):
    g = [[] for _ in range(n)]
    g[0].append(3)
    g = [[len(g)], [len(g[0]), g[0][0]]]
    g[0].append(4)
    return g


@PROGRAMS.on(5)
def a_set_made_in_two_loops(n):
    frontier, seen = {0}, {0}
    for _ in range(n):
        frontier = {y for x in frontier for y in (x + 1, x * 2) if y not in seen}
        seen |= frontier
    return len(seen)
