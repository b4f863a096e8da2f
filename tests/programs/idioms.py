"""Python's own ways of saying things, in numerical code; nothing is left to Python."""

from functools import partial

import numpy as np

from tests.programs.registry import Programs, floats, ints

PROGRAMS = Programs(strict=True)
_on = partial(PROGRAMS.on, targets=("cpu", "interpret"))  # what threads share is tested elsewhere

_M = floats(5, 7)


@_on(_M)
@_on(_M[::-1, ::2])
@_on(floats(1, 3, dtype=np.float32))
@_on(floats(0, 3), joined=True)
def places(a):
    out = np.zeros_like(a)
    for i, j in np.ndindex(*a.shape):
        if i == j:
            continue
        out[i, j] = a[i, j] * (i + 2 * j)
    for at in np.ndindex(a.shape):
        out[at] += a[at]
    total = 0.0
    for (i, j), x in np.ndenumerate(a):
        total += x * (i - j)
    for x in a.flat:
        total += x
    return out, total


@_on(floats(9))
@_on(floats(9, dtype=np.float32))
@_on(ints(11))
def lists_that_are_looked_at(a):
    moves = [(-1, 0.5), (1, 0.25), (0, 1.0)]
    weights = [1, 2, 4]
    kernel = [[1, 2], [3, 4]]
    out = np.zeros(a.shape[0])
    for i in range(1, a.shape[0] - 1):
        for step, weight in moves:
            out[i] += a[i + step] * weight
        for k in range(-3, len(moves)):
            step, weight = moves[k]
            out[i] += a[i + step] * weight * weights[k]
        for k in range(2):
            out[i] *= kernel[i % 2][k]
    return out, (0.5, 2.0, 8.0)[a.shape[0] % 3]


@_on(floats(9), 1)
@_on(floats(9), 7)  # raises IndexError
@_on(floats(3), -1)
def unpacking(a, k):
    first, *rest = (*a.shape, 2, 3)
    *front, last = (1.0, 2.0)
    shape = (*rest, first)
    table = np.ones((*shape,)) * front[0]
    return rest[0] + last, table.sum() + shape[k], np.clip(a, *(-0.5, 0.5))


@_on(floats(9), 2)
@_on(floats(9), 7)
@_on(floats(2), 1)
def membership(a, k):
    mode = "fast"
    total = 0
    for i in range(a.shape[0]):
        if i in (1, k, 5) and i not in [0, 8]:
            total += i
    if mode in ("fast", "slow") and mode not in {"none"}:
        total += 100
    return total, k in (2.0, 3), 3 in (1, 2)


@_on(floats(9))
@_on(-np.abs(floats(9)))
@_on(np.array([1.0, np.nan, 2.0]))
@_on(floats(1))
def assignment_expressions(a):
    i = 0
    while i < a.shape[0] - 1 and i < 4:
        i += 1
    k = 0
    while (v := a[k]) < 0.5 and k < a.shape[0] - 1:
        k += 1
    if (s := a.sum()) > 0:
        k += 10
    return k, v, s, i


@_on(floats(9))
@_on(np.abs(floats(9)))
@_on(ints(9, dtype=np.int32))
def comprehensions_with_conditions(a):
    n = a.shape[0]
    positive = np.array([x * 2 for x in a if x > 0])
    numbers = np.array([i * i for i in range(n) if i % 3 == 1 if i != 4])
    return positive, numbers, sum(i for i in range(n) if i % 2), sum(a[i] * 1.0 for i in range(n) if a[i] > 0)


@_on(floats(9))
@_on(np.abs(floats(9)))
@_on(ints(4, 4))
@_on(floats(0))
@_on(np.array([0.5, np.nan, 2.0]))
def tests_of_generators(a):
    b = a.ravel()
    n = b.shape[0]
    found = any(x > 1 for x in b), all(x > -1 for x in b)
    early = any(b[i] < 5 for i in range(n + 3)) if n else False  # never comes to what is out of range
    pairs = any(b[i] == b[j] for i in range(n) for j in range(i))
    return found, early, pairs, all((True, n >= 0))


@_on(floats(9))
@_on(ints(3))
@_on(floats(0))  # raises ValueError
def extremes(a):
    return max(abs(x) for x in a), min(a), max(i % 4 for i in range(a.shape[0] + 1))


def _distance(item):
    return abs(item - 0.3)


@_on(floats(5, 5))
@_on(floats(4, 5))
@_on(floats(2, 5))  # raises ValueError, since no row is left
@_on(np.array([[1.0, np.nan, 2.0], [0.5, np.nan, np.nan]]))
def extremes_by_a_key(a):
    item = 2.0
    pivots = np.zeros(a.shape[1], int)
    for k in range(a.shape[1] - 1):
        pivots[k] = max(range(k, min(a.shape[0], 4)), key=lambda i: abs(a[i, k]))
    rounded = [int(x * 10) for x in a[:, 0]]
    near = min(a[0, 1:], key=_distance), max((x * item for x in a[1]), key=lambda x: -abs(x))
    return pivots, near, max(rounded, key=lambda n: (n % 3, -n)), min(rounded, key=abs), item


@_on(4, 3)
@_on(1, 0)
def open_grids(n, m):
    y, x = np.ogrid[0:n, 0:m]
    b, a = np.mgrid[-1.5 : 1.5 : m * 1j, 0 : n : 1j * n]
    c, d = np.ogrid[1 : 2 : n * 1j, 1 : 2 : -3 * 1j]
    v, u = np.ogrid[-1:1:5j, 0 : n * 0.5 : 0.5]
    p, q = np.mgrid[-1:1:3j, 0:m]
    s, t = np.meshgrid(np.arange(n), np.arange(m), sparse=True)
    return y * 10 + x, u + v, p - q, s - t, np.mgrid[0:1:4j], b * a, c + d


@_on(floats(5, 7), np.array([0, 3]), np.array([1, 2, -1]))
@_on(floats(5, 7), np.array([0, 3]), np.array([1, 9]))  # raises IndexError
@_on(ints(5, 7), np.array([], dtype=np.int64), np.array([1]))
def index_grids(a, rows, columns):
    a[np.ix_(rows, columns)] += 1
    b = a[np.ix_([0, 2], a[0] > 0)]
    first = a[0]
    first[[1, 0]] = first[[0, 1]]
    c = np.zeros((3, 3))
    c[np.diag_indices(3)] = 2.0
    return b, c


@_on(floats(9), floats(6, 6), np.array([0, 3, -1]))
@_on(floats(9)[::2], floats(6, 12)[:, ::-2], np.array([3, 1, 1]))
@_on(floats(9), floats(6, 6), np.array([0, 7]))
@_on(floats(9), floats(6, 6), np.array([8]))  # raises IndexError: outside the view, inside its array
@_on(floats(9), floats(6, 6), np.array([-9]))  # the same
@_on(floats(9), floats(6, 6), np.array([], dtype=np.int32))
def through_views(a, m, at):
    tail = a[1:]
    tail[at] = 5.0
    tail[at] *= 2.0
    inner = m[1:, 1:5]
    inner[at % 4, 2] = -1.0
    inner[1, at % 4] += a[at]
    m[::-1][at % 3] = 7.0


@_on(floats(12))
@_on(floats(0))
def with_contexts_and_shapes(a):
    with np.errstate(divide="ignore", invalid="ignore"):
        b = a / (a - a)
    b.shape = (a.shape[0] // 3, 3)
    eps = np.finfo(a.dtype).eps + np.iinfo(np.int32).max
    return b, eps


def _added(a, *more):
    return a + more[0] if len(more) == 1 else a * len(more)


@_on(floats(5))
def calls_with_any_number(a):
    pair = (1.0, 2.0)
    return _added(a), _added(a, 2.0), _added(a, *pair)


def _bounded(x, low):
    if x < low:
        return low
    return x * 2


@_on(floats(4, 6))
@_on(floats(2, 6)[:, ::2])
def comprehensions_with_statements(m):
    rows = np.array([row.sum() for row in m])
    pairs = np.array([(i, j) for i in range(m.shape[0]) for j in range(i)])
    bounded = np.array([_bounded(x, 0.5) for x in m[0]])
    even = np.array([k for k in (1, 2, 3, 4) if k % 2 == 0])
    return rows, pairs, bounded, even, sum(_bounded(x, 0.5) for x in m[1])


@_on(floats(9))
@_on(floats(3, 4))
@_on(floats(5, dtype=np.float32))
@_on(ints(7))
@_on(floats(0))
def selections(x):
    conditions = [x < -1, x < 0, x > 1]
    choices = [x * 2, -1, x]
    return np.select(conditions, choices), np.select([x > 0], [x], default=7)


@_on(floats(9, 3, 4))
@_on(floats(9, 1, 1))
def lists_put_together(f):
    """The weights of a lattice, and its directions."""
    directions = [(0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)]
    weights = [4 / 9] + [1 / 9] * 4 + [1 / 36] * 4
    out = np.zeros(f.shape[1:])
    for k, (x, y) in enumerate(directions):
        out += weights[k] * (x - 2 * y) * np.roll(f[k], x, axis=0)
    for weight, (x, y) in zip(weights, directions):
        out[0, 0] += weight * x * y
    return out


@PROGRAMS.on(floats(7))
@PROGRAMS.on(floats(0))
def ranges_run_backwards(a):
    last = -1
    for i in range(len(a) - 1)[::-1]:
        a[i] += a[i + 1]
        last = i
    for i in range(1, len(a), 3)[::-1]:
        a[i] *= 2
    return last


@_on(floats(6), 3)
@_on(ints(4), -2)
def mapped(a, k):
    total = 0.0
    for x in map(_distance, a):
        total += x
    for x in map(lambda u, v: u * v, a, a[::-1]):
        total += x
        if total > 5.0:
            break
    kept = sum(filter(lambda x: x > 0.5, a)), len(list(filter(None, a)))
    rounded = list(map(int, a * 10))
    rounded.append(k)
    return total, kept, max(map(abs, a)), sorted(map(_distance, a)), np.array(list(map(_distance, a))), rounded


@_on(floats(4), 7, 2.5)
def extremes_of_what_is_written_out(a, k, x):
    found = [[0] * 3 for _ in range(4)]
    for i in range(1, 4):
        for j in range(1, 3):
            found[i][j] = min([found[i - 1][j] + k, found[i][j - 1] + 1, found[i - 1][j - 1] + i])
    told = any([k > 7, x > 2]), all([a[0] > 0, k > 7]), len([k] * 3 + [1])
    return min([x, 9.0], key=abs), max((x, -x), key=abs), max([k]), min((x,)), max([a[0], a[1]]), found[3][2], told


@_on(floats(5, 2))
@_on(floats(5, 3))  # ValueError: three coordinates
@_on(floats(1, 2))
def pairs_in_comprehensions(a):
    found = [x * y for x, y in a]
    found += [i * x for i, (x, y) in enumerate(a)]
    total = sum(x - y for x, y in a if x > y)
    ends = sorted((x, y) for x, y in a)
    parts = []
    for k in range(len(ends) - 1):
        parts.append((k, *ends[k], *ends[k + 1]))
    return found, total, {k: x for k, (x, _) in enumerate(a)}, parts, np.hypot(*ends[0])


@_on(floats(5))
@_on(floats(2))
def tuples_beside_arrays(a):
    total = 0.0
    weights = (1, 4, 1)
    for _ in range(2):
        for i, (w, x) in enumerate(zip(weights, a)):
            total += w * x * i
            a[i] += weights[0]
        weights = (weights[2] + 1, 2, weights[0])
    codes = [c + k for c, k in zip(b"abc", range(9))]
    return total, codes, sum(x * y for x, y in zip((a[0], a[1]), a[::-1]))


@_on(floats(4, 5))
@_on(floats(4, 5)[:, ::2])
@_on(floats(5, 4).T)
@_on(floats(7))
def elements_with_their_numbers(a):
    best, at = -np.inf, -1
    for i, x in enumerate(a.flat):
        if x > best:
            best, at = x, i
    out = a.copy()
    total = 0.0
    for x, k in zip(out.flat, range(9)):
        total += x * k
        out *= 0.5
    return best, at, total, out
