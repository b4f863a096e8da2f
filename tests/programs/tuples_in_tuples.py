"""Lists whose items are tuples with tuples in them; nothing is left to Python."""

import heapq
from collections import deque, namedtuple
from functools import partial

import numpy as np

from tests.programs.registry import Programs, floats, ints

PROGRAMS = Programs(strict=True)
_on = partial(PROGRAMS.on, targets=("cpu", "interpret"))
_Point = namedtuple("_Point", "x y")


@_on(ints(5, 6, lo=1))
@_on(ints(1, 1, lo=1))
def shortest_path(grid):
    """The guess of an item's type has to have its form: items are taken out before one is put in."""
    h, w = grid.shape
    least = np.full((h, w), 10**9)
    least[0, 0] = 0
    heap = [(0, (0, 0))]
    while heap:
        d, (y, x) = heapq.heappop(heap)
        if d > least[y, x]:
            continue
        for dy, dx in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            ny, nx = y + dy, x + dx
            if 0 <= ny < h and 0 <= nx < w and d + grid[ny, nx] < least[ny, nx]:
                least[ny, nx] = d + grid[ny, nx]
                heapq.heappush(heap, (least[ny, nx], (ny, nx)))
    return least


@_on(4)
@_on(0)
def queue_of_places(n):
    queue = deque([((0, 0), 0)])
    steps = 0
    while queue:
        (y, x), d = queue.popleft()
        steps += d
        if y + x < n:
            queue.append(((y + 1, x), d + 1))
    return steps


@_on(floats(7))
@_on(floats(0))
def changed_in_all_ways(a):
    late = []
    for i in range(len(a)):
        if late and late[-1][1][0] > 0.0:
            (k, _), (x, _) = late.pop()
            a[k] += x
        late.append(((i, i % 3), (float(a[i]), 2.0 * float(a[i]))))
    late += [((i, 0), (0.5, 1.5)) for i in range(3)]
    late.extend([((9, 9), (2.0, 3.0))])
    late.insert(1, ((5, 5), (3.0, 4.0)))
    late[0] = ((8, 8), (4.0, 5.0))
    part = late[1:3]
    late[-1], late[0] = late[0], late[-1]
    late.reverse()
    in_order = sorted(late, key=lambda item: item[1][0])
    late.sort()
    return part, in_order, late, max(late), ((5, 5), (3.0, 4.0)) in late


@_on(floats(4, 2))
def named_tuples_inside(a):
    points = []

    def add(i):
        points.append((_Point(a[i, 0], a[i, 1]), i))

    for i in range(len(a)):
        add(i)
    total = 0.0
    for point, i in points:
        total += point.x * point.y * i
    return total


@_on(5)
@_on(0)
def ints_among_floats(n):
    flat = [(0, 1.5)]
    deep = []
    for i in range(n):
        if i % 2:
            flat.append((i, i))
            deep.append(((7, i), 2.5))
        else:
            flat.append((i, i / 2))
            deep.append(((i / 4, i), 2.5))
    return flat, deep


def _next_to(y, x, n):
    found = []
    for dy, dx in ((0, 1), (1, 0)):
        if y + dy < n and x + dx < n:
            found.append(((y + dy, x + dx), dy + 2))
    return found


@_on(4)
@_on(1)
def lists_of_called_functions(n):
    least = {(0, 0): 0}
    late = [((0, 0), 0)]
    while late:
        (y, x), d = late.pop()
        for (v, u), step in _next_to(y, x, n):
            if (v, u) not in least or least[v, u] > d + step:
                least[v, u] = d + step
                late.append(((v, u), d + step))
    near = _next_to(0, 0, n)
    near.append(((0, 0), 1))
    near.sort()
    return least[n - 1, n - 1], near, len(_next_to(0, 0, n))
