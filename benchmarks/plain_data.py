"""Programs on plain Python data (lists, dicts, queues, texts), beside plain Python and Numba, in one process.

    python -m benchmarks.plain_data [--json FILE] [--only NAME]

Times are of the process, each the least of several rounds in turn, as in `benchmarks.fallbacks`, without those of
making the lists.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Sequence

import numpy as np

from benchmarks.fallbacks import Program, compare

R = random.Random(0)


def bubble_sort(xs):
    for i in range(len(xs)):
        for j in range(len(xs) - 1 - i):
            if xs[j] > xs[j + 1]:
                xs[j], xs[j + 1] = xs[j + 1], xs[j]


def prefix_sums(xs):
    for i in range(1, len(xs)):
        xs[i] += xs[i - 1]
    return xs[-1]


def sieve(is_prime):
    n = len(is_prime)
    is_prime[0] = is_prime[1] = False
    i = 2
    while i * i < n:
        if is_prime[i]:
            for j in range(i * i, n, i):
                is_prime[j] = False
        i += 1
    return sum(is_prime)


def edit_distance(s, t):
    previous = list(range(len(t) + 1))
    for i in range(len(s)):
        current = [i + 1]
        for j in range(len(t)):
            cost = 0 if s[i] == t[j] else 1
            current.append(min(previous[j + 1] + 1, current[j] + 1, previous[j] + cost))
        previous = current
    return previous[-1]


def shortest_paths(m):
    n = len(m)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if m[i][k] + m[k][j] < m[i][j]:  # noqa: PLR1730  (as users write it)
                    m[i][j] = m[i][k] + m[k][j]
    return m[0][n - 1]


def queens(n):
    columns, rising, falling = [False] * n, [False] * (2 * n), [False] * (2 * n)
    found = 0

    def place(row):
        nonlocal found
        if row == n:
            found += 1
            return
        for c in range(n):
            if not (columns[c] or rising[row + c] or falling[row - c + n]):
                columns[c] = rising[row + c] = falling[row - c + n] = True
                place(row + 1)
                columns[c] = rising[row + c] = falling[row - c + n] = False

    place(0)
    return found


def binary_searches(xs, wanted):
    found = 0
    for x in wanted:
        lo, hi = 0, len(xs)
        while lo < hi:
            mid = (lo + hi) // 2
            if xs[mid] < x:
                lo = mid + 1
            else:
                hi = mid
        found += lo
    return found


def run_lengths(s):
    runs = []
    last, length = "", 0
    for c in s:
        if c == last:
            length += 1
        else:
            if length > 0:
                runs.append((ord(last), length))
            last, length = c, 1
    runs.append((ord(last), length))
    return runs


def few(xs):
    best = xs[0]
    for x in xs:
        if x > best:  # noqa: PLR1730  (as users write it)
            best = x
    return best


def frequencies(xs):
    counts = {}
    for x in xs:
        if x in counts:
            counts[x] += 1
        else:
            counts[x] = 1
    best = 0
    for n in counts.values():
        if n > best:  # noqa: PLR1730  (as users write it)
            best = n
    return best


def longest_chain(n):
    steps = {1: 1}
    best = 0
    for start in range(1, n):
        x = start
        taken = 0
        while x not in steps:
            x = x // 2 if x % 2 == 0 else 3 * x + 1
            taken += 1
        steps[start] = taken + steps[x]
        best = max(best, steps[start])
    return best


def pairs_seen(xs, ys):
    seen = set()
    again = 0
    for i in range(len(xs)):
        if (xs[i], ys[i]) in seen:
            again += 1
        seen.add((xs[i], ys[i]))
    return again


def flooded(grid):
    n, m = grid.shape
    front = deque([(0, 0)])
    filled = 1
    grid[0, 0] = 1
    while front:
        i, j = front.popleft()
        for y, x in ((i + 1, j), (i - 1, j), (i, j + 1), (i, j - 1)):
            if 0 <= y < n and 0 <= x < m and grid[y, x] == 0:
                grid[y, x] = 1
                filled += 1
                front.append((y, x))
    return filled


def generations(n, steps):
    g = [[(i * 7 + j * 3) % 5 // 4 for j in range(n)] for i in range(n)]
    for _ in range(steps):
        out = [[0] * n for _ in range(n)]
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                c = g[i - 1][j - 1] + g[i - 1][j] + g[i - 1][j + 1] + g[i][j - 1]
                c += g[i][j + 1] + g[i + 1][j - 1] + g[i + 1][j] + g[i + 1][j + 1]
                if c == 3 or (c == 2 and g[i][j] == 1):
                    out[i][j] = 1
        g = out
    total = 0
    for i in range(n):
        for j in range(n):
            total += g[i][j]
    return total


def diffused(n, steps):
    g = [[float((i * 7 + j * 3) % 5) for j in range(n)] for i in range(n)]
    h = [[0.0] * n for _ in range(n)]
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                h[i][j] = 0.25 * (g[i - 1][j] + g[i + 1][j] + g[i][j - 1] + g[i][j + 1])
        g, h = h, g
    return g[n // 2][n // 2]


def matrix_power(n, e):
    def product(a, b):
        return [[sum(a[i][k] * b[k][j] for k in range(n)) % 1000007 for j in range(n)] for i in range(n)]

    out = [[1 if i == j else 0 for j in range(n)] for i in range(n)]
    b = [[(i + j) % 3 for j in range(n)] for i in range(n)]
    while e > 0:
        if e % 2:
            out = product(out, b)
        b = product(b, b)
        e //= 2
    return out[0][n - 1]


def boxes(n):
    d = [[[0] * n for _ in range(n)] for _ in range(n)]
    for i in range(1, n):
        for j in range(1, n):
            for k in range(1, n):
                d[i][j][k] = max(d[i - 1][j][k], d[i][j - 1][k], d[i][j][k - 1]) + (i * j + k) % 3 // 2
    return d[n - 1][n - 1][n - 1]


def encoded(s):
    out, i = "", 0
    while i < len(s):
        j = i
        while j < len(s) and s[j] == s[i]:
            j += 1
        out += s[i] + str(j - i)
        i = j
    return out


NUMBERS = [R.randrange(10_000) for _ in range(1000)]
LONG = [R.random() for _ in range(100_000)]
WORDS = ["".join(R.choice("abcd") for _ in range(300)) for _ in range(2)]
MATRIX = [[R.randrange(1, 1000) for _ in range(60)] for _ in range(60)]
SORTED = sorted(R.random() for _ in range(20_000))
RUNS = "".join(R.choice("ab") * R.randrange(1, 9) for _ in range(10_000))
KEYS = np.random.default_rng(0).integers(0, 500, 100_000)
WALLS = np.random.default_rng(0).integers(0, 4, (300, 300)) // 3

PROGRAMS = (
    Program(bubble_sort, lambda: (list(NUMBERS),)),
    Program(prefix_sums, lambda: (list(LONG),)),
    Program(sieve, lambda: ([True] * 100_000,)),
    Program(edit_distance, lambda: tuple(WORDS)),
    Program(shortest_paths, lambda: ([list(row) for row in MATRIX],)),
    Program(queens, lambda: (7,)),
    Program(binary_searches, lambda: (SORTED, LONG[:20_000])),
    Program(run_lengths, lambda: (RUNS,)),
    Program(frequencies, lambda: (KEYS,)),
    Program(longest_chain, lambda: (20_000,)),
    Program(pairs_seen, lambda: (KEYS, KEYS[::-1])),
    Program(flooded, lambda: (WALLS.copy(),)),
    Program(generations, lambda: (100, 10)),
    Program(diffused, lambda: (100, 20)),
    Program(matrix_power, lambda: (12, 1000)),
    Program(boxes, lambda: (50,)),
    Program(encoded, lambda: (RUNS,)),
    Program(few, lambda: ([3, 1, 2, 5, 4, 9, 8, 7],)),
)


def main(args: Sequence[str] | None = None) -> None:
    compare(PROGRAMS, args, __doc__)


if __name__ == "__main__":
    main()
