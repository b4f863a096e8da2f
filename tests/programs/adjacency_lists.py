"""Lists of lists of several lengths as arguments, such as the neighbours of each vertex of a graph."""

from collections import deque
from functools import partial
from heapq import heappop, heappush

import numpy as np

import appyc
from tests.programs.registry import Programs, floats, ints

PROGRAMS = Programs(strict=True)
_on = partial(PROGRAMS.on, targets=("cpu", "interpret"))


def _neighbours(n, at_most, seed=0):
    rows = zip(ints(n, lo=0, hi=at_most, seed=seed), ints(n, at_most, lo=0, hi=n, seed=seed + 1))
    return [sorted({int(v) for v in row[:count]}) for count, row in rows]


_NEAR = _neighbours(12, 5)
_LATER = [[v for v in row if v > u] for u, row in enumerate(_NEAR)]
_WEIGHED = [[(v, 0.5 + (u * v) % 7) for v in row] for u, row in enumerate(_NEAR)]
_LENGTHS = [[w for _, w in row] for row in _WEIGHED]


@_on(_NEAR, 0)
@_on([[1], [], [0, 1]], 2)
def distances(near, start):
    out = [-1] * len(near)
    out[start] = 0
    queue = deque([start])
    while queue:
        u = queue.popleft()
        for v in near[u]:
            if out[v] < 0:
                out[v] = out[u] + 1
                queue.append(v)
    return out


@_on(_LATER)
def topological(near):
    waits = [0] * len(near)
    for row in near:
        for v in row:
            waits[v] += 1
    ready = [u for u in range(len(near)) if waits[u] == 0]
    out = []
    while ready:
        u = ready.pop()
        out.append(u)
        for v in near[u]:
            waits[v] -= 1
            if waits[v] == 0:
                ready.append(v)
    return out


@_on(_WEIGHED, 0)
@_on([[(1, 2.0)], [], [(0, 1.0), (1, 0.5)]], 2)
def shortest(near, start):
    """The rows are lists of tuples."""
    out = [float("inf")] * len(near)
    out[start] = 0.0
    heap = [(0.0, start)]
    while heap:
        d, u = heappop(heap)
        if d > out[u]:
            continue
        for v, w in near[u]:
            if d + w < out[v]:
                out[v] = d + w
                heappush(heap, (d + w, v))
    return out


@_on(_WEIGHED)
@_on([[], [(1, 2, 3)]])
def rows_of_tuples(near):
    total = 0.0
    for u, row in enumerate(near):
        for k, item in enumerate(row):
            total += k * item[1] - item[0] * u
        if row:
            total += row[-1][1] + row[len(row) - 1][0]
    for u in range(len(near)):
        some = near[u]
        if len(some) > 1:
            first = some[0]
            total += first[1] - near[u][1][1]
    return total


@_on(_NEAR, _LENGTHS, floats(12))
def products(columns, values, x):
    """A sparse matrix by rows."""
    out = np.zeros(len(columns))
    for i, (where, what) in enumerate(zip(columns, values)):
        for j, a in zip(where, what):
            out[i] += a * x[j]
    return out


@PROGRAMS.on(_NEAR, floats(12))
def in_parallel(near, x):
    y = np.zeros(len(near))
    # pragma parallel for
    for u in appyc.prange(len(near)):
        for v in near[u]:
            y[u] += x[v]
    return y


@_on(_NEAR, 3)
@_on(_NEAR, -1)
@_on(_LENGTHS, 1)
def looked_at(rows, k):
    row, rest = rows[k], rows[k][1:]
    total = 0
    for x, y in zip(row, rest):
        total += x * y
    longest, items = 0, 0
    for r in rows:
        longest = max(longest, len(r))
        items += len(r)
        total += max(r) if r else 0
        total += 1 if 3 in r else 0
    copy = list(rows[k])
    copy.append(row[0])
    return total, longest, items, copy, sorted(rows[k]), [x for r in rows for x in r], any(x > 8 for x in row), sum(row)


@_on(_NEAR)
@_on([[1, 2], [3, 4]])
def put_at_ends(rows):
    """Rows, and the items of other containers, are put at the end of a list."""
    mine, queue, out = [[] for _ in rows], deque([7]), [0]
    for k in range(len(rows)):
        out.extend(rows[k])
        out += rows[k]
        mine[k].append(len(out))
        mine[k].extend(rows[k])
        out += mine[k]
        out.extend(mine[k])
        queue.append(k)
    out.extend(queue)
    out += queue
    return out


@_on(_NEAR)
def through_calls(near):
    seen = np.zeros(len(near), np.int64)
    return [_reached(near, u, seen) for u in range(len(near))]


def _reached(near, u, seen):
    if seen[u]:
        return 0
    seen[u] = 1
    out = 1
    for v in near[u]:
        out += _reached(near, v, seen)
    return out


@_on(_NEAR)
def around_a_function(near):
    colours = [-1] * len(near)

    def paint(u, c):
        colours[u] = c
        for v in near[u]:
            if colours[v] < 0:
                paint(v, 1 - c)

    for u in range(len(near)):
        if colours[u] < 0:
            paint(u, 0)
    return colours


@_on(_NEAR, 12)
@_on(_NEAR, -13)
@_on([[], [1]], 0)
def outside(rows, k):
    return rows[k][0]


@_on(_LATER)
@_on(_LENGTHS)
def lengths_in_a_comprehension(rows):
    lengths = [len(row) for row in rows]
    return lengths, sum(len(row) for row in rows), max(2 * len(row) for row in rows)
