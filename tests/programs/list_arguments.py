"""Lists as arguments; nothing is left to Python."""

import itertools
from collections import deque
from functools import partial

import numpy as np

from tests.programs.registry import Programs, floats, ints

PROGRAMS = Programs(strict=True)
_on = partial(PROGRAMS.on, targets=("cpu", "interpret"))


@_on(floats(6, 5), [floats(5, 4), floats(4, 4, seed=1), floats(4, 2, seed=2)], [floats(4), floats(4), floats(2)])
@_on(floats(6, 5), [floats(5, 4)], [floats(4)])
@_on(floats(6, 5), (floats(5, 4),), [floats(4)])
def layers(x, weights, biases):
    a = x
    for w, b in zip(weights, biases):
        a = np.maximum(a @ w + b, 0)
    return a, len(weights)


@_on([1, 2, 5, 10], 30)
@_on([], 30)
def ways_to_pay(coins, target):
    ways = [0] * (target + 1)
    ways[0] = 1
    for c in coins:
        for i in range(c, target + 1):
            ways[i] += ways[i - c]
    return ways[target]


@_on([[1.0, 2.0], [3.0, 4.0]], [2, 3])
def of_lists(rows, shape):
    n, m = shape
    out = np.zeros((n, m))
    out[0, 0] = rows[1][0] + rows[0][1]
    return out + np.array(rows).sum(), 3 in shape


@_on([floats(5), floats(3)], 0.5)
def changed_in_place(arrays, scale):
    """The arrays are the caller's."""
    for a in arrays:
        a *= scale
        for i in range(a.shape[0]):
            a[i] += i
    return arrays[0].sum()


@_on(floats(5))
@_on(floats(5), [2, 3])
def with_a_default(x, steps=[1, 4]):  # noqa: B006
    s = 0.0
    for k in steps:
        s += x[k]
    return s


_EDGES = [(int(u), int(v), float(w)) for u, v, w in ints(40, 3, lo=0, hi=20)]
_POINTS = [(int(x), int(y)) for x, y in ints(30, 2, lo=0, hi=9)]


@_on(20, _EDGES)
@_on(20, _EDGES[:3])
@_on(20, _EDGES[:9])
def degrees(n, edges):
    """A list of tuples is gone through, indexed, measured and compared, and has items of several types."""
    degree = [0] * n
    total = 0.0
    for i, (u, v, w) in enumerate(edges):
        degree[u] += 1
        degree[v] += 1
        total += w * i
    for i in range(len(edges)):
        total += edges[i][2] if edges[i] != (1, 2, 3.0) else 1.0
    return degree, total, edges[-1], len(edges)


def _weighed(points, k):
    out = 0
    for a, b in points:
        out += a * k - b
    return out


@_on(_POINTS)
@_on(_POINTS[:2])
def tuples_for_functions_and_sorts(points):
    last = 0
    for a, b in sorted(points, key=lambda p: p[1]):
        last = 2 * last + a - b & 1023
    return _weighed(points, 2) + sum(a for a, b in points), last, sorted(points)


@PROGRAMS.on(b"12, 3\t4\n", targets=("cpu", "interpret"))
@PROGRAMS.on([32, 10, 300], targets=("cpu",))
@PROGRAMS.on(ints(9, lo=0, hi=60, dtype=np.uint8), targets=("cpu", "interpret"))
def words(data):
    """Items are looked for among bytes that are written out."""
    found = 0
    for i in range(len(data)):
        if data[i] not in b" ,\t\n" and (i == 0 or data[i - 1] in b" ,\t\n"):
            found += 1
    return found


@PROGRAMS.on(floats(9), 3)
@PROGRAMS.on(floats(4), 0)
@PROGRAMS.on(floats(3), 9)
@PROGRAMS.on(floats(3), -1, targets=("cpu",))
def moving_sums(x, size):
    """A queue with `maxlen` loses its first item to a new one."""
    window = deque(maxlen=size)
    out = np.zeros(len(x) + 2)
    for i in range(len(x)):
        window.append(x[i])
        for v in window:
            out[i] += v
        if len(window) == window.maxlen:
            out[i] -= 2 * window[0] + window[-1]
    return out


@PROGRAMS.on(20)
@PROGRAMS.on(1)
def triples(n):
    found = 0
    for a, b, c in itertools.product(range(1, n), repeat=3):
        if a * a + b * b == c * c:
            found += a + b + c
    return found


@_on([3.0, 1.0, 2.0, 5.0, 4.0], 1, 3)
@_on([3.0, 1.0, 2.0, 5.0, 4.0], -2, 9)
@_on([3, 1, 3, 5, 4], 0, 5)
def parts_that_keep_their_lengths(xs, i, j):
    xs[i:j] = xs[i:j][::-1]
    xs[1:3] = reversed(xs[1:3])
    xs[:2] = sorted(xs[:2])
    before = xs[0]
    xs[:] = [x + x for x in xs]
    return xs, before


@_on([3, 1, 2, 2], [5, 6, 7])
@_on([3, 1, 2, 2], [5])  # raises ValueError
def methods_that_keep_lengths(xs, ys):
    xs.sort(reverse=True)
    ys.reverse()
    first = xs[0]
    xs.sort()
    return first, xs[0], xs.count(2), ys.index(7), xs


@_on([3, 1, 4, 1, 5], 2)
@_on([3], 1)
def bound_to_copies(xs, k):
    ys = xs
    xs = sorted(xs)
    xs.append(k)
    order = []
    at = 0
    while xs:
        at = (at + k) % len(xs)
        order.append(xs.pop(at))
    return order, ys[0]


@_on(3, [[0, 1], [1, 2]])
@_on(2, [[0, 1], [1, 0]])
def an_order_or_none(n, edges):
    behind = [[] for _ in range(n)]
    missing = [0] * n
    for a, b in edges:
        behind[a].append(b)
        missing[b] += 1
    ready = deque(k for k in range(n) if missing[k] == 0)
    order = []
    while ready:
        u = ready.popleft()
        order.append(u)
        for v in behind[u]:
            missing[v] -= 1
            if missing[v] == 0:
                ready.append(v)
    return order if len(order) == n else []


_SERIES = [floats(4 + k % 3, seed=k) for k in range(70)]
_SERIES[1] = _SERIES[1][::-1]


def _squared_distance(x, y):
    s = 0.0
    for k in range(min(x.shape[0], y.shape[0])):
        s += (x[k] - y[k]) ** 2
    return s


@_on(_SERIES)
@_on(_SERIES[:3])
@_on(tuple(_SERIES[:3]))
@_on([row.astype(np.float32) for row in _SERIES[:3]])
def arrays_picked_in_a_parallel_loop(xs):
    n = len(xs)
    out = np.zeros((n, n))
    # pragma parallel for
    for i in range(n):
        for j in range(i + 1, n):
            x, y = xs[i], xs[j]
            out[i, j] = _squared_distance(x, y)
            out[j, i] = out[i, j]
    return out


@_on([floats(2, 3), floats(3, 2).T, floats(4, 3)], 2)
@_on([floats(2, 3), floats(3, 2).T, floats(4, 3)], -3)
@_on((floats(2, 3), floats(3, 2).T, floats(4, 3)), 2)
@_on([floats(2, 3)], 1)
@_on([ints(2, 3)] * 65, 64)
def arrays_picked_at_run_time(xs, k):
    total = xs[k].sum() + xs[k][-1, 0]
    while k >= 0:
        total += xs[k].shape[0] * xs[k][:, 1:].max()
        k -= 1
    for i, x in enumerate(xs):
        total += i * x[0, 0]
    return total, len(xs), xs[k].copy()
