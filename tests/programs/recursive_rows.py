"""Lists of lists that nested functions, recursive ones too, append rows to, or read; nothing is left to Python."""

import numpy as np

from tests.programs.registry import Programs, ints

PROGRAMS = Programs(strict=True)

EDGES = np.array([(0, 1), (1, 2), (3, 4), (5, 6), (6, 7), (5, 7), (0, 2)])


@PROGRAMS.on(3)
@PROGRAMS.on(0)
def permutations(n):
    found, path = [], []
    used = [False] * n

    def fill():
        if len(path) == n:
            found.append(path[:])
            return
        for i in range(n):
            if not used[i]:
                used[i] = True
                path.append(i)
                fill()
                path.pop()
                used[i] = False

    fill()
    return found


@PROGRAMS.on(5)
def partitions(n):
    rows, parts = [], []

    def split(left, most):
        if left == 0:
            rows.append(list(parts))
        for k in range(min(left, most), 0, -1):
            parts.append(k)
            split(left - k, k)
            parts.pop()

    split(n, n)
    total = 0
    for row in rows:
        total += len(row) * row[0]
    return total, rows


@PROGRAMS.on(np.array([2, 3, 5]), 8)
def sums_of_some(numbers, wanted):
    found, path = [], []

    def search(start, left):
        if left == 0:
            found.append(path.copy())
        for k in range(start, len(numbers)):
            if numbers[k] <= left:
                path.append(int(numbers[k]))
                search(k, left - numbers[k])
                path.pop()

    search(0, wanted)
    return found, len(found)


@PROGRAMS.on(EDGES, 9)
def components(edges, n):
    near = [[] for _ in range(n)]
    for k in range(len(edges)):
        u, v = edges[k]
        near[u].append(v)
        near[v].append(u)
    seen = np.zeros(n, np.bool_)

    def visit(u):
        seen[u] = True
        size = 1
        for v in near[u]:
            if not seen[v]:
                size += visit(v)
        return size

    sizes = []
    for u in range(n):
        if not seen[u]:
            sizes.append(visit(u))
    return sizes, near


@PROGRAMS.on(np.array([-1, 0, 0, 1, 1, 2, 5]))
def levels_of_a_tree(parents):
    children, rows = [[] for _ in range(len(parents))], []
    for i, p in enumerate(parents):
        if p >= 0:
            children[p].append(i)

    def walk(u, depth):
        if depth == len(rows):
            rows.append([])
        rows[depth].append(u)
        below = children[u]
        for v in below:
            walk(v, depth + 1)

    walk(0, 0)
    return rows


@PROGRAMS.on(ints(20, lo=0, hi=50), 3)
@PROGRAMS.on(ints(0), 3)
def a_helper_fills_buckets(x, n):
    buckets = [[] for _ in range(n)]

    def put(v):
        buckets[v % n].append(v)

    for v in x:
        put(v)
        if len(buckets[0]) > 4:
            buckets[0].clear()
    return buckets

