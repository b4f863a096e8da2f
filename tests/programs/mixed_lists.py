"""Lists of ints and floats: each item keeps its type."""

import heapq
import math
from functools import partial

import numpy as np

from tests.programs.registry import Programs, floats, ints

PROGRAMS = Programs(strict=True)
_on = partial(PROGRAMS.on, targets=("cpu", "interpret"))


@_on(7, 2)
@_on(1, 2)
@_on(0, 1)
def some_halved(n, k):
    out = [0] * n
    for i in range(n):
        if i % k:
            out[i] = i * 0.5
    total = sum(out)
    return out, total


@_on([3.0, 1.0, 4.0, 1.0, 5.0], 2)
@_on([3, 1, 4], 3)
def moving_means(numbers, width):
    means = [0] * max(len(numbers) - width + 1, 0)
    for i in range(len(means)):
        total = 0
        for j in range(width):
            total += numbers[i + j]
        means[i] = total / width
    return means


@_on([[0, 3, 9, 0], [1, 0, 2, 0], [0, 0, 0, 0], [0, 1, 0, 0]], 0)
@_on([[0, 3, 9, 0], [1, 0, 2, 0], [0, 0, 0, 0], [0, 1, 0, 0]], 3)
def shortest_paths(weights, start):
    far = [math.inf] * len(weights)
    far[start] = 0
    queue = [(0, start)]
    while queue:
        d, u = heapq.heappop(queue)
        if d > far[u]:
            continue
        for v in range(len(weights)):
            w = weights[u][v]
            if w > 0 and d + w < far[v]:
                far[v] = d + w
                heapq.heappush(queue, (far[v], v))
    return far


@_on(0)
@_on(1)
@_on(6)
def grown_from_themselves(n):
    xs = [1]
    for i in range(n):
        x = xs[-1]
        y = x * 0.5 if i % 2 else x + 3
        xs.append(y)
    best = xs[0]
    for x in xs:
        best = max(best, x)
    return xs, best, min(xs[0], xs[-1]), -xs[0], abs(xs[-1]), xs[-1] // 2, xs[-1] % 2, xs[0] / 2


@_on(3)
@_on(6)
def with_all_methods(n):
    a = [0, 0.5]
    for i in range(n):
        a.append(a[i] * -1)
        a.append(-a[i + 1])
        a.append(abs(a[i]) // 2 if i % 2 else a[i] % 3)
    b = a[1:]
    b.reverse()
    b.insert(1, 7)
    b[2] += 1
    t = b.pop()
    a.extend(b)
    b[:2] = a[-3:]
    c = sorted(b)
    c.sort(reverse=True)
    return a, b, c, t, [x * 2 for x in b if x], 0.5 in b, b.index(7), max(b), min(b), sum(a)


@_on(4)
@_on(0)
def ints_that_floats_join(n):
    a = [k for k in range(n)]  # noqa: C416  (a list of the function's own)
    a.append(0.5)
    b = [3, 2]
    b[:1] = a[-2:]
    return a, b


@_on(1)
@_on(3)  # Python runs it: a float64 does not hold the int
def a_large_one(n):
    a = [2**53 - 2, 0.5]
    for _ in range(n):
        a[0] = a[0] + 1
    return a


@_on(floats(5))
@_on(floats(0))
def of_numpys_floats(x):
    out = [0] * len(x)
    for i in range(len(x)):
        if x[i] > 0:
            out[i] = x[i] * 2
    return out


@_on(3, 2)
def rows(n, m):
    table = [[0] * m for _ in range(n)]
    for i in range(n):
        for j in range(i % 2, m):
            table[i][j] = (i + j) / 2
    first = 0
    for row in table:
        first += row[0]
    return table, first


@_on(7)
@_on(0)
def values_of_a_dict(n):
    sums = {}
    for i in range(n):
        if i % 3 not in sums:
            sums[i % 3] = 0
        if i > 2:
            sums[i % 3] += i * 0.5
    return sums


@_on(4)
@_on(3)
def returned_early(n):
    a = [0] * n
    for i in range(n):
        if i % 2:
            a[i] = i
        else:
            a[i] = i * 0.5
        if a[i] > 2:
            return a[i], i
    return a[0], a[-1]


@_on(ints(5), 2)
def multiplied_into_an_array(a, n):
    factors = [1] * len(a)
    factors[n] = 0.5
    out = np.zeros(len(a))
    for i in range(len(a)):
        out[i] = factors[i] / 2 + math.sqrt(factors[i])
    return out


@_on(4, 5)
@_on(1, 1)
def a_table(n, m):
    t = [[0] * m for _ in range(n)]
    for i in range(n):
        for j in range(m):
            if j > i:
                t[i][j] = t[i][j - 1] * 0.5 + i
            elif i > 0:
                t[i][j] += max(t[i - 1][j], 2) - 1
    return t[0][0], t[-1][-1], t[n - 1][0], t[0][m // 2] * 0


def _put(out, x):
    out.append(x)


@_on((1, 3, 2.5))
@_on((2.5, 1))
@_on((4, 2))
def by_one_statement_that_is_written_out(numbers):
    out, sums = [], {}
    for k, x in enumerate(numbers):
        out.append(10 // x)
        sums[k] = x
    return out, sums


@_on(1, 2.5)
@_on(2.5, 1)
def by_a_function_called_twice(x, y):
    out = []
    _put(out, x)
    _put(out, y)
    return out
