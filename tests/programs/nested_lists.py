"""Lists of lists that grow, and dicts of lists; nothing is left to Python."""

import heapq
from collections import defaultdict

import numpy as np

from tests.programs.registry import Programs, ints

PROGRAMS = Programs(strict=True)

_EDGES = np.random.default_rng(0).integers(0, 40, (70, 2))
_WEIGHTS = np.random.default_rng(1).random(70)
_NONE = np.zeros((0, 2), np.int64)


@PROGRAMS.on(_EDGES, 40)
@PROGRAMS.on(_NONE, 1)
@PROGRAMS.on(_EDGES[:3], 5)  # IndexError
def distances(edges, n):
    near = [[] for _ in range(n)]
    for k in range(len(edges)):
        u, v = edges[k, 0], edges[k, 1]
        near[u].append(v)
        near[v].append(u)
    out = [-1] * n
    out[0] = 0
    queue = [0]
    head = 0
    while head < len(queue):
        u = queue[head]
        head += 1
        for v in near[u]:
            if out[v] < 0:
                out[v] = out[u] + 1
                queue.append(int(v))
    return out


@PROGRAMS.on(_EDGES, _WEIGHTS, 40)
@PROGRAMS.on(_NONE, _WEIGHTS[:0], 2)
def shortest_paths(edges, weights, n):
    near = [[] for i in range(n)]
    for k in range(len(weights)):
        near[edges[k, 0]].append((int(edges[k, 1]), float(weights[k])))
    dist = [1e18] * n
    dist[0] = 0.0
    heap = [(0.0, 0)]
    while heap:
        d, u = heapq.heappop(heap)
        if d > dist[u]:
            continue
        for v, c in near[u]:
            if d + c < dist[v]:
                dist[v] = d + c
                heapq.heappush(heap, (d + c, v))
    return dist


@PROGRAMS.on(_EDGES, 40)
def topological_order(edges, n):
    out = [[] for _ in range(n)]
    into = [0] * n
    for u, v in edges:
        if u < v:
            out[u].append(v)
            into[v] += 1
    stack = [i for i in range(n) if into[i] == 0]
    order = []
    while stack:
        u = stack.pop()
        order.append(u)
        for v in out[u]:
            into[v] -= 1
            if into[v] == 0:
                stack.append(int(v))
    return order, out


@PROGRAMS.on(np.random.default_rng(2).random(100), 8)
@PROGRAMS.on(np.zeros(0), 3)
@PROGRAMS.on(np.ones(2), 3)  # IndexError
def bucket_sort(a, k):
    buckets = [[] for _ in range(k)]
    for x in a:
        buckets[int(x * k)].append(x)
    out = []
    for bucket in buckets:
        bucket.sort()
        for x in bucket:
            out.append(x)
    return out


@PROGRAMS.on(9)
@PROGRAMS.on(1)
@PROGRAMS.on(0)
def triangle_of_names(n):
    rows = []
    for i in range(n):
        row = [1] * (i + 1)
        for j in range(1, i):
            row[j] = rows[i - 1][j - 1] + rows[i - 1][j]
        rows.append(row)
    return rows


@PROGRAMS.on(7)
@PROGRAMS.on(0)
def shrinking_rows(n):
    rows = [[k * k % 5 for k in range(n)]]
    while len(rows[-1]) > 1:
        last = rows[-1]
        rows.append([last[k] + last[k + 1] for k in range(len(last) - 1)])
    return rows, len(rows)


@PROGRAMS.on(6)
@PROGRAMS.on(4)
@PROGRAMS.on(3)  # IndexError
def all_methods(n):
    t = [[i] * 3 for i in range(n)]
    t[1].append(9)
    t[-1].extend([4, 5])
    t[-1].extend(t[1])
    t[0] = [8, 8]
    t[2].clear()
    t[3].sort()
    t[3].reverse()
    s = 0
    for k, row in enumerate(t):
        s += k * len(row)
    for row in t:
        if row:
            s += row[-1] + sum(row)
        if 9 in row:
            s += 100
        if not row:
            s += 1000
    x = t[1].pop()
    t[1][0] += 5
    t[1][-1] = t[1][0] * 2
    return t, s, x, len(t), max(t[1]), sorted(t[3]), [v + 1 for v in t[1]]


@PROGRAMS.on(0)  # IndexError: there is no item to take
@PROGRAMS.on(2)
def taken_from_rows(n):
    rows = [[], [0.5]]
    rows.append([])
    for k in range(n):
        rows[0].append(k * 0.5)
    total = rows[0].pop() + rows[1].pop()
    return total, rows


@PROGRAMS.on(3)
@PROGRAMS.on(-4)
@PROGRAMS.on(4)  # IndexError
@PROGRAMS.on(-5)  # IndexError
def rows_from_the_end(k):
    rows = [[i, i + 1] for i in range(4)]
    rows[k].append(7)
    row = rows[k]
    row.append(8)
    return rows, len(row), row[-1], row[0]


@PROGRAMS.on(5)
def rows_moved_apart(n):
    """Rows that grow in turn, so that each moves to the end more than once."""
    rows = [[] for _ in range(3)]
    for k in range(n * 20):
        rows[k % 3].append(k)
        if k % 7 == 0:
            rows[(k + 1) % 3].pop() if len(rows[(k + 1) % 3]) > 0 else 0
    return rows


@PROGRAMS.on(60)
def rows_replaced(n):
    """Rolling rows: a row takes the part of the one before where it fits."""
    rows = [[], [1]]
    for k in range(n):
        rows[k % 2] = [rows[(k + 1) % 2][0] + j for j in range(k % 9 + 1)]
    last = [5, 6]
    rows[-1] = last
    return rows, len(rows[0])


@PROGRAMS.on(_EDGES)
@PROGRAMS.on(_NONE)
def neighbours_by_key(edges):
    near = defaultdict(list)
    for u, v in edges:
        near[u].append(v)
    total = 0
    for u in near:
        for v in near[u]:
            total += int(u * v)
        total += len(near[u])
    return total, len(near), near


@PROGRAMS.on(_EDGES[:, 0])
@PROGRAMS.on(_NONE[:, 0])
def groups(a):
    d = {}
    for i in range(len(a)):
        k = int(a[i]) // 3
        if k in d:
            d[k].append(i)
        else:
            d[k] = [i]
    total = 0
    for k, items in d.items():
        total += k * len(items) + items[0]
    for items in d.values():
        total += sum(items)
    return d, total


@PROGRAMS.on(_EDGES[:, 0])
def groups_by_default(a):
    d = {}
    e = {}
    for i in range(len(a)):
        k = int(a[i]) % 5
        if k not in e:
            e[k] = []
        e[k].append(0.5 * i)
        d.setdefault(k, []).append(a[i])
    return d, e


@PROGRAMS.on(_EDGES)
def reached(edges):
    near = defaultdict(list)
    for k in range(len(edges)):
        near[int(edges[k, 0])].append(int(edges[k, 1]))
    seen = set()
    order = []
    stack = [int(edges[0, 0])]
    while stack:
        u = stack.pop()
        if u in seen:
            continue
        seen.add(u)
        order.append(u)
        for v in near[u]:  # which enters the keys that are missing
            if v not in seen:
                stack.append(v)
    return order, len(near), near


@PROGRAMS.on(_EDGES, np.random.default_rng(3).random(40))
def rows_in_parallel(edges, x):
    n = len(x)
    near = [[] for _ in range(n)]
    for u, v in edges:
        near[u].append(v)
    y = np.zeros(n)
    #pragma parallel for
    for u in range(n):
        for v in near[u]:
            y[u] += x[v]
    return y


@PROGRAMS.on(8)
@PROGRAMS.on(3)
def parts_of_lists(n):
    xs = []
    for i in range(n):
        xs.append(i * i)
    s = 0
    for k, x in enumerate(xs[1 : n - 2]):
        s += k * x
    for x in xs[::-2]:
        s += x
        xs.append(x)  # it runs over a copy
    for a, b in zip(xs, xs[2:]):
        s += a * b
    return s, sum(xs[1:3]), sorted(xs[:3]), [x * 2 for x in xs[-3:]], max(xs[1:4]), 4 in xs[:3]


@PROGRAMS.on(4)
@PROGRAMS.on(0)
def extended_by_lists(n):
    xs = [1, 2]
    ys = []
    for i in range(n):
        ys.append(i)
        xs.extend(ys)
    ys += xs
    xs += [7] * n
    xs.extend([1, 2] + [0] * n)
    xs += xs
    return xs, ys


@PROGRAMS.on(ints(5, 6, lo=0, hi=9))
@PROGRAMS.on(ints(1, 3))
def matrices_returned(a):
    """Rows of one length that are run over in comprehensions, exchanged, and returned."""
    n = len(a)
    m = [[0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            m[i][j] = i * j + n
        m[i], m[n - 1 - i] = m[n - 1 - i], m[i]
    sums = [sum(row) for row in m]
    return m, sums, [x for row in m for x in row], sum(max(row) for row in m)


@PROGRAMS.on(40)
@PROGRAMS.on(0)
def in_buckets(n):
    buckets = [[] for _ in range(5)]
    for i in range(n):
        buckets[i * 7 % 5].append(i)
    longest = 0
    if n > 0:
        longest = max(len(bucket) for bucket in buckets)
    return longest, [x for bucket in buckets for x in bucket], any(len(b) > 3 for b in buckets)


@PROGRAMS.on(3)
def exchanged_while_a_name_stands_for_a_row(n):
    m = [[k, k + 1] for k in range(n)]
    m.append([7])
    m[0], m[2] = m[2], m[0]
    row = m[0]
    row.append(5)
    return m, len(row)


@PROGRAMS.on(np.arange(6.0).reshape(2, 3))
@PROGRAMS.on(np.zeros((3, 0)))
@PROGRAMS.on(np.array([[np.nan]]))  # ValueError
def of_rows(a):
    """Rows of an array have one length."""
    found = [[int(x) for x in row] for row in a]
    s = 0
    for i in range(len(found)):
        for j in range(len(found[0])):
            s += found[i][j]
    return s


_BOARD = np.array([[0, 2, 0, 4], [3, 0, 1, 0], [0, 1, 0, 3], [4, 0, 2, 0]])


@PROGRAMS.on(_BOARD, targets=("cpu", "threads"))
@PROGRAMS.on(np.zeros((4, 4), np.int64), targets=("cpu", "threads"))
def solved(board):
    """Nested functions store into a matrix around them."""
    grid = [[int(v) for v in row] for row in board]

    def fits(r, c, v):
        for k in range(4):
            if grid[r][k] == v or grid[k][c] == v:
                return False
        for i in range(2):
            for j in range(2):
                if grid[2 * (r // 2) + i][2 * (c // 2) + j] == v:
                    return False
        return True

    def solve(at):
        if at == 16:
            return True
        r, c = at // 4, at % 4
        if grid[r][c] != 0:
            return solve(at + 1)
        for v in range(1, 5):
            if fits(r, c, v):
                grid[r][c] = v
                if solve(at + 1):
                    return True
                grid[r][c] = 0
        return False

    found = solve(0)
    return found, np.array(grid)


@PROGRAMS.on(8, targets=("cpu", "threads"))
def largest_region(n):
    grid = [[(i * j) % 3 == 0 for j in range(n)] for i in range(n)]
    seen = [[False] * n for _ in range(n)]

    def size(i, j):
        if i < 0 or j < 0 or i >= n or j >= n or seen[i][j] or not grid[i][j]:
            return 0
        seen[i][j] = True
        return 1 + size(i + 1, j) + size(i - 1, j) + size(i, j + 1) + size(i, j - 1)

    best = 0
    for i in range(n):
        for j in range(n):
            best = max(best, size(i, j))
    return best


@PROGRAMS.on(5)
def shared_and_named(n):
    """Rows have names, in the function and in nested ones."""
    grid = [[0.0] * n for _ in range(n)]

    def fill(i, v):
        row = grid[i]
        for j in range(n):
            row[j] += v

    for i in range(n):
        fill(i, 1.0 + i)
    for row in grid:
        row[0] = -1.0
    return sum(sum(row) for row in grid)


@PROGRAMS.on(5)
def shared_and_returned(n):
    """What a nested function uses is returned as the lists that it is."""
    best = [[0] * n for _ in range(n)]
    is_even = [[False] * n for _ in range(2)]

    def cost(i, j):
        return 1 if i == j else best[i][j] + cost(i + 1, j) + is_even[0][j]

    for j in range(n):
        is_even[0][j] = j % 2 == 0
        for i in range(j - 1, -1, -1):
            best[i][j] = cost(i, j) * 2 + i
    return cost(0, n - 1), best, is_even


@PROGRAMS.on(_EDGES, 40)
@PROGRAMS.on(_EDGES[:0], 3)
def components(edges, n):
    """Nested functions use lists of Python's numbers that get NumPy's."""
    parent = list(range(n))
    size = [1] * n
    weight = [0.0] * n

    def find(i):
        if parent[i] != i:
            parent[i] = find(parent[i])
        return parent[i]

    joined = 0
    for a, b in edges:
        one, other = find(a), find(b)
        if one != other:
            if size[one] < size[other]:
                one, other = other, one
            parent[other] = one
            size[one] += size[other]
            weight[one] = 0.5 * size[one]
            joined += 1
    sizes = np.zeros(n, np.int64)
    for i in range(n):
        sizes[find(i)] += 1
    return joined, sizes, weight[find(0)], len(parent)


@PROGRAMS.on(7)
@PROGRAMS.on(1)
@PROGRAMS.on(0)  # raises IndexError
def a_row_of_them(n):
    rows = [[1]]
    for i in range(1, n):
        row = [1]
        for j in range(1, i):
            row.append(rows[-1][j - 1] + rows[-1][j])
        row.append(1)
        rows.append(row)
    return rows[n - 1 if n > 0 else 2], len(rows)


@PROGRAMS.on(6)
@PROGRAMS.on(3)  # raises IndexError
def the_first_that_is_found(n):
    found = []
    columns = [-1] * n

    def place(row):
        if row == n:
            found.append(columns[:])
            return
        for c in range(n):
            if all(columns[k] != c and abs(columns[k] - c) != row - k for k in range(row)):
                columns[row] = c
                place(row + 1)

    place(0)
    return len(found), found[0]
