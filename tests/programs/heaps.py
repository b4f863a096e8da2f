"""Priority queues and binary search: `heapq` on lists that a function makes, `bisect` in lists and arrays."""

import bisect
import heapq
from heapq import heapify, heappop, heappush

import numpy as np

from tests.programs.registry import C_ONLY, Programs, floats, ints

PROGRAMS = Programs(strict=True)

_FIRST = np.array([0, 2, 4, 5, 7, 7])
_TO = np.array([1, 2, 3, 2, 4, 0, 1])


@PROGRAMS.on(_FIRST, _TO, np.array([2.0, 7.0, 4.0, 1.5, 0.5, 3.0, 1.0]), 0)
@PROGRAMS.on(_FIRST, _TO, np.zeros(7), 2)
@PROGRAMS.on(np.array([0, 0]), ints(0), floats(0), 0)
def shortest_paths(first, to, length, source):
    far = np.full(len(first) - 1, np.inf)
    far[source] = 0.0
    queue = [(0.0, source)]
    while queue:
        d, u = heapq.heappop(queue)
        if d > far[u]:
            continue
        for k in range(first[u], first[u + 1]):
            v = to[k]
            if d + length[k] < far[v]:
                far[v] = d + length[k]
                heapq.heappush(queue, (d + length[k], int(v)))
    return far


@PROGRAMS.on(ints(40, lo=-9, hi=9))
@PROGRAMS.on(ints(1))
@PROGRAMS.on(ints(0))
def sorted_by_a_heap(a):
    heap = [int(x) for x in a]
    heapify(heap)
    layout = np.array(heap, dtype=np.int64)
    out = np.empty(len(a), np.int64)
    for i in range(len(a)):
        out[i] = heappop(heap)
    return layout, out


@PROGRAMS.on(floats(50))
@PROGRAMS.on(floats(3))
def largest_of_a_stream(a):
    heap = [0.0]
    for x in a:
        if len(heap) < 8:
            heappush(heap, float(x))
        elif x > heap[0]:
            heapq.heapreplace(heap, float(x))
    return np.array(heap)


@PROGRAMS.on(3)
@PROGRAMS.on(0)
def a_heap_that_runs_empty(n):
    heap = [5]
    total = 0
    for _ in range(n):
        total += heappop(heap)
        if total < 10:
            heappush(heap, total)
    return total


@PROGRAMS.on(np.sort(floats(9)), floats(20, seed=1))
@PROGRAMS.on(np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, -1.0, np.nan, 2.0]))
@PROGRAMS.on(floats(0), floats(3))
def positions(edges, x):
    own = [0.0, 0.25, 0.25, 0.5]
    out = np.zeros((4, len(x)), np.int64)
    for i in range(len(x)):
        out[0, i] = bisect.bisect_left(edges, x[i])
        out[1, i] = bisect.bisect(edges, x[i], 0, len(edges))
        out[2, i] = bisect.bisect_right(own, x[i])
        out[3, i] = bisect.bisect_left(own, x[i], 1)
    return out


@PROGRAMS.on(np.array([1.0, 2.0]), 1, 5)
@PROGRAMS.on(np.array([1.0, 2.0]), -1, 2)
def a_search_beyond_the_end(edges, lo, hi):
    return bisect.bisect(edges, 9.0, lo, hi)


@PROGRAMS.on([1, 0, 1, 0, 0, 1], [5.0, 4.5, 4.0, 3.5, 6.0, 7.0], [3, 2, 4, 9, 1, 5], targets=("cpu",))
@PROGRAMS.on(ints(30, lo=0, hi=2), floats(30), ints(30, lo=1, hi=9), targets=("cpu", "interpret"))
def matched_orders(sides, prices, amounts):
    """Items are indexed, and what is left of one is put back, before the text shows what the list holds."""
    bids, asks = [], []
    traded, turnover = 0, 0.0
    for side, price, amount in zip(sides, prices, amounts):
        if side == 1:
            while amount > 0 and asks and asks[0][0] <= price:
                best, there = heapq.heappop(asks)
                part = min(amount, there)
                traded += part
                turnover += part * best
                amount -= part
                if there > part:
                    heapq.heappush(asks, (best, there - part))
            if amount > 0:
                heapq.heappush(bids, (-price, amount))
        else:
            while amount > 0 and bids and -bids[0][0] >= price:
                best, there = heapq.heappop(bids)
                part = min(amount, there)
                traded += part
                turnover -= part * best
                amount -= part
                if there > part:
                    heapq.heappush(bids, (best, there - part))
            if amount > 0:
                heapq.heappush(asks, (price, amount))
    return traded, turnover, len(bids), len(asks), asks


@PROGRAMS.on([3, 1, 9, 2, 8], [4, 2, 12, 5, 9], targets=("cpu",))
@PROGRAMS.on([3], [4], targets=("cpu",))
def merged_intervals(low, high):
    merged = []
    for k in range(len(low)):
        if merged and low[k] <= merged[-1][1]:
            merged[-1] = (min(merged[-1][0], low[k]), max(merged[-1][1], high[k]))
        else:
            merged.append((low[k], high[k]))
    return merged


@PROGRAMS.on(np.arange(60) * 37 % 50, 10)
def largest(x, k):
    import heapq

    heap = []
    for v in x:
        if len(heap) < k:
            heapq.heappush(heap, int(v))
        elif v > heap[0]:
            heapq.heapreplace(heap, int(v))
    return sorted(heap, reverse=True)


@PROGRAMS.on(np.arange(60) * 37 % 50)
def longest_increasing(x):
    from bisect import bisect_left

    tails = []
    for v in x:
        i = bisect_left(tails, int(v))
        if i == len(tails):
            tails.append(int(v))
        else:
            tails[i] = int(v)
    return len(tails)


@PROGRAMS.on(floats(40), 7)
@PROGRAMS.on(floats(7), 7)
@PROGRAMS.on(ints(30, lo=0, hi=4), 5)
def window_that_stays_sorted(x, width):
    window = sorted(x[:width])
    out = np.empty(len(x))
    for i in range(width, len(x)):
        window.pop(bisect.bisect_left(window, x[i - width]))
        bisect.insort(window, x[i])
        out[i] = window[width // 2]
    return out[width:], window


@PROGRAMS.on(ints(20))
@PROGRAMS.on(np.zeros(0, np.int64))
def items_put_before_and_behind_equal_ones(a):
    pairs = []

    def add(number, position):
        bisect.insort(pairs, (number, position))
        bisect.insort_left(pairs, (number, -position))

    for k in range(len(a)):
        add(a[k] % 3, k)
    return pairs


@PROGRAMS.on(9)
@PROGRAMS.on(2)
def searched_in_lists_of_several_kinds(n):
    multiples = [3 * k for k in range(n)]
    pairs = [(k % 3, k) for k in range(n)]
    pairs.sort()
    mixed = [0.5] * n
    for k in range(n):
        mixed[k] = k
    found = 0
    for k in range(1, n):
        found = found * 3 + bisect.bisect_right(multiples, 2 * k, 0, k - 1)
    return found, bisect.bisect_left(pairs, (1, 4)), bisect.bisect_left(mixed, 2), bisect.bisect_right((1, 4, 6), n)


_JOBS = [(3, 5, 2), (1, 4, 9), (4, 8, 3), (0, 2, 1), (5, 6, 4), (2, 3, 7), (6, 9, 2), (7, 8, 8), (8, 9, 1)]


@PROGRAMS.on(_JOBS, targets=C_ONLY)
def best_jobs(jobs):
    jobs = sorted(jobs, key=lambda j: j[1])
    ends = [j[1] for j in jobs]
    best = [0] * (len(jobs) + 1)
    for i in range(1, len(jobs) + 1):
        start, _, gain = jobs[i - 1]
        best[i] = max(best[i - 1], best[bisect.bisect_right(ends, start, 0, i - 1)] + gain)
    return best


@PROGRAMS.on([3, 1, 2], targets=C_ONLY)
def parameters_that_are_sorted_anew(xs):
    xs = sorted(xs, reverse=True)
    first = xs[0]
    xs = sorted(xs, key=lambda x: (x - 2) * (x - 2))
    return first, xs
