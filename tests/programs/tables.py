"""Lists of equally long lists, which have several names, are exchanged, given to functions, copied, run over and
returned; nothing is left to Python."""

from tests.programs.registry import Programs

PROGRAMS = Programs(strict=True)


@PROGRAMS.on(9, 0)
@PROGRAMS.on(9, 5)
@PROGRAMS.on(1, 2)
@PROGRAMS.on(0, 2)
def generations(n, steps):
    g = [[(i * 7 + j * 3) % 5 // 4 for j in range(n)] for i in range(n)]
    alive = []
    for _ in range(steps):
        out = [[0] * n for _ in range(n)]
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                c = g[i - 1][j - 1] + g[i - 1][j] + g[i - 1][j + 1] + g[i][j - 1]
                c += g[i][j + 1] + g[i + 1][j - 1] + g[i + 1][j] + g[i + 1][j + 1]
                if c == 3 or (c == 2 and g[i][j] == 1):
                    out[i][j] = 1
        g = out
        alive.append(sum(sum(row) for row in g))
    return g, alive


@PROGRAMS.on(7, 4)
@PROGRAMS.on(7, 5)
def exchanged(n, steps):
    g = [[float(i * j % 5) for j in range(n)] for i in range(n)]
    h = [[0.0] * n for _ in range(n)]
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                h[i][j] = 0.25 * (g[i - 1][j] + g[i + 1][j] + g[i][j - 1] + g[i][j + 1])
        g, h = h, g
    return g, h[1][1]


@PROGRAMS.on(3)
def of_two_names(n):
    g = [[0] * n for _ in range(n)]
    h = [[1] * n for _ in range(n)]
    old = g
    old[0][0] = 5
    g[0][1] = old[0][0] + 1
    g = h
    g[0][0] = 7
    return old[0][2], g[0][0], h[0][0], old[0][1] * 10


def _new(n, value):
    return [[value] * n for _ in range(n)]


def _step(g):
    n = len(g)
    out = _new(n, 0)
    for i in range(n):
        for j in range(n):
            out[i][j] = g[i][j] + i - j
    return out


def _fill(g, value):
    for i in range(len(g)):
        for j in range(len(g[i])):
            g[i][j] = value


def _around(g, i, j):
    n, c = len(g), 0
    for di in (-1, 0, 1):
        for dj in (-1, 0, 1):
            if di or dj:
                c += g[(i + di) % n][(j + dj) % n]
    return c


@PROGRAMS.on(4)
@PROGRAMS.on(0)
def given_and_returned(n):
    g = _new(n, 3)
    for _ in range(3):
        g = _step(g)
    h = _step(g)
    total = 0
    for i in range(n):
        for j in range(n):
            total += _around(h, i, j)
    _fill(h, 4)
    return g, h, total


@PROGRAMS.on(5, 13)
@PROGRAMS.on(2, 0)
def powers(n, e):
    def product(a, b):
        return [[sum(a[i][k] * b[k][j] for k in range(n)) % 1000007 for j in range(n)] for i in range(n)]

    out = [[1 if i == j else 0 for j in range(n)] for i in range(n)]
    b = [[(i + j) % 3 for j in range(n)] for i in range(n)]
    while e > 0:
        if e % 2:
            out = product(out, b)
        b = product(b, b)
        e //= 2
    return out


@PROGRAMS.on(6)
def copied_and_run_over(n):
    g = [[(i * 7 + j * 3) % 5 for j in range(n)] for i in range(n)]
    for _ in range(3):
        before = [row[:] for row in g]
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                g[i][j] = (before[i - 1][j] + before[i + 1][j]) % 7
    total, row = 0, g[1]
    row[0] = 11
    for k, items in enumerate(g):
        for x in items:
            total += k * x
    turned = [[g[j][i] for j in range(n)] for i in range(n)]
    g = turned
    return g, total, max(max(items) for items in turned), len(g), len(g[0])


@PROGRAMS.on(4)
@PROGRAMS.on(1)
def along_three_axes(n):
    d = [[[0] * 2 for _ in range(n)] for _ in range(3)]
    e = [[[i * j + k for k in range(2)] for j in range(n)] for i in range(3)]
    for i in range(1, 3):
        for j in range(n):
            for k in range(2):
                d[i][j][k] = max(d[i - 1][j][k], d[i][j - 1][k]) + e[i][j][k] * 2
    d, e = e, d
    return d, e[2][-1][1], len(d), len(d[0]), len(d[0][0])


@PROGRAMS.on(3)
def truths(n):
    seen = [[False] * n for _ in range(n)]
    now = seen
    now[0][1] = True
    return seen, any(seen[0]), not now[0][1]


@PROGRAMS.on(3)
def complex_numbers(n):
    g = [[0j] * n for _ in range(n)]
    h = [[1j] * n for _ in range(n)]
    for i in range(n):
        g[i][i] = h[i][0] * (2 + i)
    g, h = h, g
    return h


@PROGRAMS.on([[[1, 2], [3, 4]], [[5, 6], [7, 8]], [[9, 10], [11, 12]]], 20)
@PROGRAMS.on([[[1.5, 2.0]]], 20.0)
def lists_of_lists_of_lists(d, v):
    total = 0
    for plane in d:
        for row in plane:
            for x in row:
                total += x
    d[0][0][1] = v
    d[-1][0][0] += d[0][0][1]
    return total, len(d), len(d[0]), len(d[0][0]), sum(sum(sum(row) for row in plane) for plane in d)


@PROGRAMS.on(4, 2)
@PROGRAMS.on(1, 1)
@PROGRAMS.on(0, 1)
def made_of_themselves(n, steps):
    g = [[i + j for j in range(n)] for i in range(n)]
    for _ in range(steps):
        g = [[(g[i - 1][j] if i else 0) + (g[i][j - 1] if j else 1) for j in range(n)] for i in range(n)]
    turns, h = 0, [[0] * n for _ in range(n)]
    while n > 0 and h[0][0] < 5:
        h = [[x + 1 for x in row] for row in h]
        turns += 1
    return g, h, turns


@PROGRAMS.on(3, 4)
@PROGRAMS.on(2, 0)
def exchanged_by_three(n, steps):
    a, b = [[1] * n for _ in range(n)], [[2] * n for _ in range(n)]
    c = [[3] * n for _ in range(n)]
    for k in range(steps):
        a, b, c = b, c, a
        if k % 3 == 1:
            b, c = c, b
        a[0][0] += 10
    return a[0][0], b[0][0], c[0][0]


@PROGRAMS.on([[1, 2, 3], [4, 5, 6], [7, 8, 9]], 3)
@PROGRAMS.on([[1.5]], 1)
@PROGRAMS.on([[1, 2], [3, 4]], 0)
def turned(grid, k):
    """A name that is an argument first."""
    n = len(grid)
    for _ in range(k):
        grid = [[grid[n - 1 - j][i] for j in range(n)] for i in range(n)]
    return grid


@PROGRAMS.on([[1, 2], [3, 4]])
def bound_anew(g):
    h = g
    g = [[0] * 2 for _ in range(2)]
    g[0][0] = 1
    h[1][1] = 7
    return g, h[0][0], g[0].count(0), h[1].index(7), [row.count(7) for row in h]
