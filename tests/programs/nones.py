"""Names and results that are numbers on some paths and None on others; nothing is left to Python."""
# ruff: noqa: RET503  (the end of a function gives None)

from functools import partial

import numpy as np

from tests.programs.registry import Programs, floats, ints

PROGRAMS = Programs(strict=True)
_on = partial(PROGRAMS.on, targets=("cpu", "interpret"))


@_on(floats(20))
@_on(floats(0))
@_on(ints(20, dtype=np.int32))
def greatest(x):
    best = None
    for i in range(x.shape[0]):
        if best is None or x[i] > best:
            best = x[i]
    return best


@_on(floats(20), 1.9)
@_on(floats(20), 0.5)
@_on(floats(20), 3.0)
def first_above(x, limit):
    for i in range(x.shape[0]):
        if x[i] > limit:
            return i


@_on(floats(20), 1.5)
@_on(floats(20), 3.0)
def head_below(x, limit):
    for i in range(x.shape[0]):
        if x[i] > limit:
            return x[:i].copy()


@_on(floats(9))
@_on(floats(0))
@_on(np.ones(3))
def centred(x):
    if x.size == 0:
        return None, None
    deviation = x.std()
    if deviation == 0:
        return x - x.mean(), None
    return (x - x.mean()) / deviation, deviation


@_on(np.array([1, 2, 0]), np.array([2, 2, 1]), 3)
@_on(np.array([1, 2]), np.array([2, 0]), 3)
def in_order(src, dst, n):
    """None where the graph has a cycle."""
    degree = np.zeros(n, np.int64)
    for v in dst:
        degree[v] += 1
    order = []
    stack = [i for i in range(n) if degree[i] == 0]
    while stack:
        u = stack.pop()
        order.append(u)
        for k in range(len(src)):
            if src[k] == u:
                degree[dst[k]] -= 1
                if degree[dst[k]] == 0:
                    stack.append(dst[k])
    if len(order) != n:
        return None
    return np.array(order)


@_on(floats(5), None)
@_on(floats(5), 0)
@_on(floats(5), 3)
def with_a_default(x, n):
    m = n or 2 * len(x)
    s = 0.0
    for i in range(m):
        s += x[i % 5]
    name = None or "sum"  # noqa: SIM222
    return s, m, n and m + 1, name == "sum"


def _place(x, limit):
    found = None
    k = 0
    while found is None and k < x.shape[0]:
        if x[k] > limit:
            found = k
        k += 1
    return found


@_on(floats(20), 1.0, None)
@_on(floats(20), 3.0, None)
@_on(floats(20), 1.0, 2.0)
def of_a_callee(x, limit, other):
    """The callee's None is tested here, where one is passed too."""
    if other is None:
        other = -1.0
    if first_above(x, limit) is not None:
        other += 1
    k = _place(x, limit)
    if k is None:
        return other, None
    return other, x[k]


@_on(floats(20), 0.5)
@_on(floats(20), 3.0, joined=True)
def extremes(x, limit):
    low = high = None
    for v in x:
        if v > limit:
            if not low or v < low:
                low = v
            if high != None and v <= high:  # noqa: E711
                continue
            high = v
    asked = 0
    if low:
        asked += 1
    if not high:
        asked += 10
    other = low
    span = high - low if low is not None and high is not None else 0.0
    return low, high, asked, other, span


@_on(floats(20), 1.0)
@_on(floats(20), 3.0)  # raises TypeError
def used(x, limit):
    k = None
    for i in range(x.shape[0]):
        if x[i] > limit:
            k = i
    return k + 1


@_on(floats(30))
@_on(floats(2))
def runs(x):
    start = None
    lengths = []
    for i in range(x.shape[0]):
        if x[i] > 0.0:
            if start is None:
                start = i
        elif start is not None:
            lengths.append(i - start)
            start = None
    while start is not None:
        lengths.append(x.shape[0] - start)
        start = None
    return lengths, start


# ---------------------------------------------------------------- tuples or None

_X = np.array([1.0, 3.0, 2.0, 3.0])


@_on(_X)
@_on(np.zeros(3), joined=True)
def place_of_greatest(a):
    best = a.dtype.type(0)
    place = None
    for i in range(a.shape[0]):
        for j in range(2):
            if a[i] > best:
                best = a[i]
                place = (i, j)
    return best, place


@_on(_X)
@_on(np.zeros(3))
def asked_in_the_loop(a):
    found = None
    for i in range(a.shape[0]):
        if found is None or a[i] > found[1]:
            found = (i, a[i], i % 2)
    i, v, k = found
    return i, v, k, found


@_on(_X, 2.5)
@_on(_X, 9.0)
def pair_above(a, limit):
    for i in range(len(a)):
        if a[i] > limit:
            return i, a[i]


@_on(_X, 2.5)
@_on(_X, 9.0)
def asked_in_all_ways(a, limit):
    best = None
    for i in range(len(a)):
        if a[i] > limit:
            best = i, a[i]
    s = a[0]
    if best:
        s = best[1]
    if best is not None and best[0] > 0:
        s += 100
    other = best
    if other != None:  # noqa: E711
        s += other[0]
    return s, other


@_on(_X, 2.5)
@_on(_X, 9.0)
def unpacked_unasked(a, limit):
    best = None
    for i in range(len(a)):
        if a[i] > limit:
            best = (i, a[i])
    j, v = best
    return j + v


@_on(_X, 2.5)
@_on(_X, 9.0)
def pair_of_a_callee(a, limit):
    found = pair_above(a, limit)
    if found is None:
        return a[0]
    return found[0] + found[1]


@_on(_X, 2.5, (1, 2))
@_on(_X, 9.0, (1, 2))
def given_or_none(a, limit, pair):
    kept = pair
    for i in range(len(a)):
        if a[i] > limit:
            kept = None
            break
    return kept, pair


@_on(_X, 2.5)
@_on(_X, 9.0)
def none_anew_in_each_iteration(a, limit):
    for t in range(3):
        best = None
        for i in range(len(a)):
            if a[i] > limit:
                best = (i, t)
        if best is None:
            break
        a[best[0]] -= 1
    return best, t


@_on(floats(9), 0.5)
@_on(floats(9), 3.0)
@_on(ints(9), 3)
def conditional_expressions(x, limit):
    n = 0
    total = 0
    for v in x:
        if v > limit:
            n += 1
            total += v
    mean = total / n if n else None
    ends = None if n < 2 else (total, n if n > 2 else 1)
    return n, mean, mean is None, ends, (n // 2 if n != 3 else None)


@_on(floats(9), 0.5)
@_on(floats(9), 3.0)
def conditional_expressions_in_loops(x, limit):
    best = None
    for i in range(len(x)):
        found = x[i] * x[i - 1] if x[i] > limit else None
        if found is not None and (best is None or found > best):
            best = found
    return best


def _or_one(v):
    if v is None:
        return 1.0
    return v * v


@_on(floats(9), 0.5)
@_on(floats(9), 3.0, joined=True)
def given_to_a_helper(x, limit):
    """The helper reads its argument twice."""
    first = None
    for v in x:
        if first is None and v > limit:
            first = v
    return _or_one(first), _or_one(x[0] if x[0] > limit else None)


@_on(floats(3, 3), 50)
@_on(floats(3, 3), 1)
@_on(floats(3, 3), 0)
@_on(np.eye(3), 5)
def beside_different_arrays(A, n):
    v = np.ones(A.shape[0])
    for k in range(n):
        w = A @ v
        if w[0] > 3.0:
            return w, k, (k, 2)
        v = w
    return v, None, None
