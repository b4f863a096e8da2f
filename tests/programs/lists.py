"""Lists that a function makes for itself; nothing is left to Python."""

from functools import partial

import numpy as np

from tests.programs.registry import Programs, floats, ints

PROGRAMS = Programs(strict=True)
_on = partial(PROGRAMS.on, targets=("cpu", "interpret"))  # what threads share is tested elsewhere


@_on(floats(60))
@_on(floats(17, dtype=np.float32))
@_on(ints(40, dtype=np.int32))
@_on(np.array([1.0, 3.0, 2.0]))
def peaks(x):
    """Lists that grow past the room that they have at first."""
    places = []
    pairs = []
    for i in range(1, x.shape[0] - 1):
        if x[i] > x[i - 1] and x[i] >= x[i + 1]:
            places.append(i)
        pairs.append((i, x[i] * 2.0))
    total = 0.0
    for place in places:
        total += x[place]
    for i, value in pairs:
        total += i * value
    return np.array(places), np.array(pairs), total, len(places), max(places), sum(places)


@_on(40)
@_on(1)
@_on(0)
def a_stack(n):
    stack = [(0, 0)]
    order = []
    deepest = 0
    while stack:
        node, depth = stack.pop()
        order.append(node)
        deepest = max(deepest, depth)
        for child in (2 * node + 1, 2 * node + 2):
            if child < n:
                stack.append((child, depth + 1))
    return np.array(order), deepest, not stack


@_on(ints(30), 7)
@_on(ints(30), 20)
@_on(ints(30), 2)  # raises IndexError
def a_table(a, n):
    counts = [0] * n
    level = 0
    levels = []
    for x in a[:3]:
        level += x * 0.5
        levels.append(level)
    best = [0.0] * (n + 1)
    for x in a:
        counts[x % 5] += 1
        counts[-1] -= 1
    for i in range(1, n + 1):
        best[i] = best[i - 1] + counts[i - 1] * 0.5
    return np.array(best), np.array(levels), counts[0], any(c > 3 for c in counts)


@_on(3)
@_on(0)  # raises IndexError
def a_new_list_each_time(n):
    sizes = []
    for i in range(n + 2):
        row = [i]
        for j in range(i * 9):
            row.append(j + i)
        while len(row) > n:
            row.pop()
        sizes.append(len(row))
        sizes.append(row[n - 1])
    return np.array(sizes)
