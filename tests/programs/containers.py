"""Dicts, counters, sets and deques that a function makes for itself; nothing is left to Python."""

# ruff: noqa: C401, C416, PLC0206, SIM401  (as users write it)

import collections
import heapq
from collections import Counter, defaultdict, deque
from functools import partial

import numpy as np

from tests.programs.registry import Programs, ints

PROGRAMS = Programs(strict=True)
_on = partial(PROGRAMS.on, targets=("cpu", "interpret"))  # what threads share is tested elsewhere

ENDS = np.array([3, -1, 3, 2**62, -(2**63), 0, -1])
UNSIGNED = np.array([2**64 - 1, 1, 2**63, 1], np.uint64)


@_on(ENDS)
@_on(UNSIGNED)
@_on(np.array([1, 255, 1], np.uint8))
@_on(np.array([True, False, True]))
@_on(np.zeros(0, int))
@_on([1, 2, 1])
@_on(ints(300, lo=0, hi=90) * 1024)
def counted_with_get(a):
    counts = {}
    for x in a:
        counts[x] = counts.get(x, 0) + 1
    return counts


@_on(ENDS, 3)
@_on(ENDS, 4)  # raises KeyError
@_on(UNSIGNED, 1)
def looked_up(a, key):
    last = {}
    for i in range(len(a)):
        last[a[i]] = i
    return last[key]


@_on(1, 2)
@_on(3, 4)  # raises KeyError
def keys_of_two_numbers(i, j):
    edges = {}
    for k in range(3):
        edges[k, k + 1] = k
    return edges[i, j], (i, j) in edges, (j, i) not in edges


@_on(ENDS)
@_on(UNSIGNED)
def counters(a):
    counts = Counter(a)
    total = 0
    for _, n in counts.items():
        total += n
    for k in counts:
        total += counts[k]
        counts[k] = counts[k] * 2
    return counts, total, counts[12345], sum(counts.values()), sorted(counts), list(counts.values())


@_on(50)
@_on(0)
def counters_of_pairs(n):
    steps = defaultdict(int)
    weights = collections.defaultdict(float)
    for i in range(n):
        steps[i % 7, i % 3] += i
        weights[i % 5] -= i * 0.5
    best = 0
    for v in steps.values():
        best = max(best, v)
    return steps, best, weights, len(weights)


@_on(ENDS)
def sets(a):
    seen = set(a)
    small = {1, 2, 3}
    n = 0
    for i in range(-3, 5):
        if i in seen and i not in small:
            n += 1
        small.add(i * i)
    seen.clear()
    return n, len(seen), sorted(small), small


@_on(4)
def nothing_in_them(n):
    counts = {}
    steps = defaultdict(int)
    front = deque()
    fixed = {}
    total = 0
    for i in range(n):
        total += counts.get(i, 0) + len(front)
        for k, v in steps.items():
            total += k * v
            steps[k] = 0
        if not fixed:
            total += 1
        if i < 0:
            counts[i] = i
    return total, counts, steps, front, fixed


@_on(6)
@_on(0)
def scaled_values(n):
    weights: dict[int, float] = {}
    for i in range(n):
        weights[i] = i * 0.5
    for k in weights:
        weights[k] *= 2.0
    if not weights:
        return weights, -1
    weights[99] = -1.0
    return weights, len(weights)


@_on(50)
def a_memo_table(n):
    memo = {0: 0, 1: 1}
    for i in range(2, n):
        memo[i] = memo[i - 1] + memo[i - 2]
    return memo[n - 1]


@_on(4)
def until_it_repeats(x):
    seen = set()
    while x not in seen:
        seen.add(x)
        x = (x * 7 + 3) % 101
    return len(seen), x


@_on(6)
def made_in_each_iteration(n):
    total = 0
    for i in range(n):
        last = {}
        for j in range(i):
            last[j % 3] = j
        total += len(last)
        for k, v in last.items():
            total += k * v
    return total


@_on(40)
def values_of_two_numbers(n):
    pairs = {}
    for i in range(n):
        pairs[i % 5] = (i, i * 0.5)
    total = 0.0
    for k in pairs:
        p, q = pairs[k]
        total += p * q
    return total, pairs


@_on(ENDS)
def comprehensions(a):
    where = {x: i for i, x in enumerate(a) if x != 0}
    rests = {x % 3 for x in a}
    i = 5
    n = 0
    for k in range(i):
        if k in rests and (where or rests):
            n += k
    return where, len(rests), i, n


@_on(4)
def run_over(n):
    squares = {}
    for i in range(n):
        squares[i] = i * i
    keys = [k for k in squares]
    total = sum(v for v in squares.values())
    there = squares[2] if 2 in squares else -1
    missing = squares[7] if 7 in squares else -1
    for i, (k, v) in enumerate(squares.items()):
        total += i * k * v
    return keys, total, there, missing


@_on(np.array([[1, 1, 0], [0, 1, 1], [0, 0, 0]]))
def neighbours(grid):
    number = {}
    for i in range(grid.shape[0]):
        for j in range(grid.shape[1]):
            if grid[i, j]:
                number[i, j] = len(number)
    n = 0
    for i, j in number:
        if (i + 1, j) in number:
            n += 1
        if (i, j + 1) in number:
            n += number[i, j + 1]
    return n, len(number)


@_on(5)
@_on(0)
@_on(30)
def a_breadth_first_search(n):
    depth = np.zeros((n, n), dtype=np.int64) - 1
    if n == 0:
        return depth
    front = deque([(0, 0)])
    depth[0, 0] = 0
    while front:
        i, j = front.popleft()
        for di, dj in ((0, 1), (1, 0), (-1, 0), (0, -1)):
            y = i + di
            x = j + dj
            if 0 <= y < n and 0 <= x < n and depth[y, x] < 0 and (y * 7 + x * 3) % 5 != 1:
                depth[y, x] = depth[i, j] + 1
                front.append((y, x))
    return depth


@_on(5)
@_on(0)
@PROGRAMS.on(3000, targets=("cpu",))  # the list loses its front
def a_rotation(n):
    circle = deque(range(n))
    out = []
    while len(circle) > 1:
        circle.append(circle.popleft())
        out.append(circle.popleft())
    return circle, out


@_on(50)
@_on(1)
@_on(0)
def most_common_remainders(n):
    counts = Counter()
    for i in range(n):
        counts[i * i % 11] += 1
    code = 0
    for value, count in counts.most_common(3):
        code = code * 1000 + value * 20 + count
    for value, count in counts.most_common():
        code += value * count
    sevenths = [i // 7 for i in range(n)]
    again = Counter(sevenths)
    top = again.most_common(2)
    rest = [value for value, _ in again.most_common(n - 2)]
    if not top:
        return code, top, rest, -1
    return code, top, rest, again.most_common(1)[0][1]


@_on(5)
@_on(1)
@_on(0)
@PROGRAMS.on(300, targets=("cpu",))
def a_rotated_circle(n):
    circle, order = deque(range(n)), []
    while circle:
        circle.rotate(-2)
        order.append(circle.pop())
        circle.rotate(len(order))
    return order


@_on(6)
@_on(1)
@PROGRAMS.on(60, targets=("cpu",))
def least_walls(n):
    walls = [(i * 7 + i // n * 3) % 5 < 2 for i in range(n * n)]
    cost = [-1] * (n * n)
    front = deque([(0, 0)])
    while front:
        place, paid = front.popleft()
        if cost[place] >= 0:
            continue
        cost[place] = paid
        for step in (1, -1, n, -n):
            near = place + step
            if near < 0 or near >= n * n or (abs(step) == 1 and near // n != place // n) or cost[near] >= 0:
                continue
            if walls[near]:
                front.append((near, paid + 1))
            else:
                front.appendleft((near, paid))
    return cost


@_on(5)
@_on(4)
@_on(0)  # raises IndexError
def a_moving_window(n):
    window = deque()
    total = 0
    for i in range(n):
        window.append(i)
        if len(window) > 3:
            window.popleft()
        for x in window:
            total += x * i
        total += window[-1] - window[0]
    window.pop()
    if not window:
        return total, -1
    window.extend((n, n + 1))
    return total, window[1] if n > 4 else window[7]  # raises IndexError


@_on(ints(60, lo=-5, hi=5))
@_on(np.zeros(0, int))
@_on(ENDS)
def many_statements_with_dicts(a):
    seen, total, pairs, late = {}, Counter(), set(), {}
    for i in range(len(a)):
        k = int(a[i])
        total[k % 7] += 1
        if k not in seen:
            seen[k] = i
        else:
            late[k, i % 3] = seen[k]
        pairs.add((k % 5, i % 2))
        total[i % 4] += 2
        if (k % 5, 1) in pairs and (k, 1) in late:
            total[late.get((k, 2), 3) % 11] += seen[k]
        late[k % 3, 0] = total[k % 7]
    return seen, total, late, len(pairs)


@_on(ints(40, lo=-9, hi=9))
@_on(ints(1))
def a_heap_used_in_many_places(a):
    heap, other = [], []
    for x in a:
        heapq.heappush(heap, int(x))
        heapq.heappush(other, (int(x) % 4, 0.5 * x))
    heapq.heapify(heap)
    out = [heapq.heappop(heap), heapq.heapreplace(heap, 3) if heap else 0]
    while len(heap) > 2:
        out.append(heapq.heappop(heap) + heapq.heappop(heap))
        heapq.heappush(heap, out[-1] // 2)
    heapq.heappush(heap, 2)
    total = 0.0
    while other:
        k, x = heapq.heappop(other)
        total = total / 2 + k * x
    return out, total, heap[0]


@_on(ints(400, lo=0, hi=30), 3)
@_on(ints(300, lo=-999, hi=999), 1)
@_on(np.array([3]), 3)
@_on(np.zeros(0, int), 3)
def keys_are_deleted(x, n):
    d, s, log = {}, set(), []
    for i in range(len(x)):
        k = int(x[i])
        if i % 3 == 0 and k in d:
            del d[k]
        elif i % 5 == 1:
            log.append(d.pop(k, -7))
        else:
            d[k] = d.get(k, 0) + i
        if i % 4 == 1:
            s.discard(k)
        elif i % 7 == 2 and k in s:
            s.remove(k)
        else:
            s.add(k * n)
        if i % 50 == 3:
            for key, v in d.items():
                log.append(key * 3 + v)
        log.append(len(d) + 100 * len(s) + (k in d) + 2 * (not d))
    return d, len(s), log


@_on(ints(200, lo=0, hi=9), 3)
@_on(ints(3000, lo=0, hi=2000), 2)
def keys_that_leave_again(x, n):
    """The table neither fills with what is gone, nor does it grow."""
    last, counts, window = {}, Counter(), defaultdict(int)
    missing = 0
    for i in range(len(x)):
        k = int(x[i])
        counts[k] += 1
        window[i, k] += 1
        if i >= n:
            del window[i - n, int(x[i - n])]
            del counts[k - n]
        try:
            missing += last.pop(k)
        except KeyError:
            last[k] = i
    return last, counts, window, missing


@_on(ENDS)
@_on(ints(60, lo=0, hi=9))
@_on(np.zeros(0, int))  # raises ValueError
def keys_of_extreme_values(a):
    counts, left = {}, {}
    for x in a:
        counts[x] = counts.get(x, 0) + 1
        left[x] = 0.5 * x
    least = min(counts, key=counts.get) if counts else -1
    if len(left) > 2:
        del left[a[0]]
    numbers = [len(left)]
    numbers.append(sorted(counts.items())[0][1])
    ends = max(left, key=left.get), min(left, key=left.get)
    return least, max(counts, key=counts.get), max(counts.items(), key=lambda kv: (kv[1], -kv[0])), numbers, ends


@_on(ENDS)
@_on(ints(60, lo=0, hi=9))
@_on(np.zeros(0, int))
def keys_with_one_value(a):
    counts = dict.fromkeys(a, 0)
    for x in a:
        counts[x] += 1
    return counts


@_on(ENDS)
@_on(ints(60, lo=0, hi=9))
def numbered_by_setdefault(a):
    numbers, extra = {}, {}
    seen = np.zeros(len(a), int)
    total = 0
    for i in range(len(a)):
        seen[numbers.setdefault(a[i], len(numbers))] += 1
        total += extra.setdefault(int(a[i]) % 5, i)
        extra.setdefault(i, 100)
        first = extra.setdefault(i, 7) + 1
        total += first
    return numbers, seen, total


@_on(ints(9), 3)  # raises KeyError
def a_missing_key_is_deleted(x, n):
    d = {n: 1}
    for v in x:
        d[int(v) * 100] = 2
    del d[n]
    x[0] = 77
    return d.pop(n)


@PROGRAMS.on([1.0, 5.0, 2.0, 4.0, 0.0, 3.0, 7.0], 3)
@PROGRAMS.on([1.0, 5.0], 1)
def windows(numbers, width):
    means, last = [], deque(maxlen=width)
    recent = deque()
    spread = 0.0
    for x in numbers:
        last.append(x)
        means.append(sum(last) / len(last))
        recent.append(x)
        if len(recent) > 4:
            recent.popleft()
        spread += max(recent) - min(recent) + sum(recent) * 0.5
        if 5.0 in recent and any(recent):
            spread += 2.0
        if all(v > 0.5 for v in recent) and x not in last:
            spread -= 1.0
    return means, spread, sorted(recent), list(last)


@_on(ints(30, lo=0, hi=9))
@_on(ints(200, lo=0, hi=90, seed=1))
def extremes_of_what_is_left(prices):
    """An order book: keys are deleted, and others are looked for among those that are left."""
    book = {}
    seen = []
    for k in range(prices.shape[0]):
        p = int(prices[k])
        book[p] = book.get(p, 0) + k
        if k % 3 == 2:
            best = max(book)
            seen.append(book[best] + min(book))
            del book[best]
            seen.append(sum(book.values()) + len(book))
            seen.append(min(book.values()) if book else -1)
    while book and min(book) < 3:
        del book[min(book)]
    return seen, list(book)


@_on(ints(60, lo=0, hi=90))
def extremes_of_a_set(numbers):
    left = set()
    seen = []
    for k in range(numbers.shape[0]):
        left.add(int(numbers[k]))
        if k % 3 == 2:
            least = min(left)
            left.remove(least)
            seen.append(least + sum(left))
    return seen, sorted(left), max(left)


@_on(ints(20, lo=1, hi=9, dtype=np.int32))
def greatest_beside_a_table(a):
    """A number that is Python's until it is one of NumPy's, returned by a function whose text is rewritten."""
    places = {}
    best = 0
    for i in range(a.shape[0]):
        places[i % 7] = i
        if a[i] > best:
            best = a[i]
    return best, len(places)


@_on(ints(40, lo=0, hi=4))
@_on([3, 0, 1])
@_on([3, 9])  # raises KeyError
def constants_by_computed_keys(a):
    worth = {0: 1, 1: 5, 2: -10, 3: 50}
    of_some = {3: 0.5}
    total, others = 0, 0.0
    for i in range(len(a)):
        total += worth[a[i]] - worth.get(a[i] + 1, 0)
        if a[i] in of_some:
            others += of_some[a[i]]
    return total, others


@_on(ENDS)
@_on(UNSIGNED)
@_on(np.array([True, False, True]))
@_on(np.zeros(0, int))
@_on(ints(300, lo=-50, hi=4000))
def loops_over_sets(a):
    seen = set(a)
    order = []
    for x in seen:
        order.append(int(x))
    few = {x for x in seen if x in seen}
    total, last = 0, -1
    listed = list(few)
    for at, x in enumerate(listed):
        if x == 2:
            continue
        total, last = total + at, at
    return order, total, last, len(seen)


@_on(ints(200, lo=-9, hi=9), 5)
@_on(ints(7, lo=-9, hi=9), 12)
def living_cells(a, steps):
    """The game of life on a set of pairs, each generation of which is made of the one before."""
    cells = set()
    for k in range(1, len(a)):
        cells.add((int(a[k - 1]), int(a[k])))
    trace = 0
    for _ in range(steps):
        counts = Counter()
        for x, y in cells:
            trace = (31 * trace + 7 * x + y) % 1000003
            for dx in (-1, 0, 1):
                for dy in (-1, 0, 1):
                    if dx or dy:
                        counts[x + dx, y + dy] += 1
        cells = {c for c, k in counts.items() if k == 3 or (k == 2 and c in cells)}
    return len(cells), trace


@_on(ints(60, lo=0, hi=90))
def reached_level_by_level(a):
    n = len(a)
    front, seen, order = {0}, {0}, []
    while front:
        found = set()
        for u in front:
            order.append(u)
            for v in (int(a[u]) % n, (3 * u + 1) % n):
                if v not in seen:
                    seen.add(v)
                    found.add(v)
        front = found
    return order


@_on([3, 1, 4, 1, 5, 9, 2, 6])
def sets_change_names(a):
    p, best = set(a), set()
    q = {len(a), 2}
    for k in range(3):
        r = p
        p = q
        q = r
        p.add(100 + k)
        found = {x % (k + 2) for x in p}
        if len(found) > len(best):
            best = found
    t = 0
    for x in p:
        t = (3 * t + x) % 1009
    for x in best:
        t = (3 * t + x) % 1009
    return t, q, best


@_on(ints(40, lo=0, hi=30), ints(40, lo=10, hi=50))
@_on(ints(3, lo=0, hi=30), np.zeros(0, int))
def set_operations(a, b):
    p, q = set(a), set(b)
    both = p & q
    others = (p | q) - p.intersection(q)
    spans = p.copy()
    spans |= q
    spans.add(a[0])
    spans -= both
    q.update(a)
    q ^= others
    t = 0
    if p & q:
        t += 1
    if not p - q:
        t += 2
    for _ in range(2):
        p = p.difference(both) | spans
        both = both & p
    return sorted(both), sorted(others), spans, sorted(q), t, len(p | q) + len(p), a[0] in p & q


@_on(ints(60, lo=0, hi=90))
def made_of_themselves(a):
    squares = {x: x * x for x in a}
    squares = {x: v for x, v in squares.items() if v > 100}
    squares = {v: squares.get(x, 0) + 1 for x, v in squares.items() if x in squares}
    few = {x for x in a}
    few = {x for x in a if x + 1 in few}
    few.add(a[0])
    for _ in range(3):
        few = {x for x in few if x // 2 in few or x > 9}
    kept = {x: x + 1 for x in a}
    del kept[a[0]]
    kept = {x: x + len(kept) for x in kept if x % 2}
    return squares, sorted(few), kept


@_on(ints(6), ints(8, seed=1))
@_on(ints(0), ints(3))
def operations_on_sets_without_names(a, b):
    shared = set(a).intersection(set(b))
    mine = {x % 5 for x in a}
    count = 0
    for x in b:
        if x not in shared:
            count += 1
    return count, len(set(a) | set(b)), len(mine - set(b)), len(mine.union(b)), len(set(a) ^ mine)


@_on(ints(4, 6), ints(4, 6, seed=1))
def sets_of_rows(A, B):
    out = np.zeros(len(A))
    for i in range(len(A)):
        overlap = set(A[i]).intersection(set(B[i]))
        for k in range(B.shape[1]):
            if B[i, k] in overlap:
                out[i] += 1
    return out


@_on(ints(6, lo=0, hi=4), 5)
@_on(ints(0), 0)
def methods_with_names(a, n):
    """Permutations as fannkuch makes them, and an accumulator of each kind."""
    order = list(range(n))
    take = order.pop
    put = order.insert
    seen = {}
    counted = seen.get
    for x in a:
        seen[x] = counted(x, 0) + 1
    for k in range(n - 1):
        found = []
        add = found.append
        put(k + 1, take(0))
        for x in order:
            add(x * k)
    mean = a.sum
    return order, seen, mean() + len(a)


@_on(ints(40, lo=0, hi=9), "hello, World")
@_on(ints(0), "")
def sets_of_generators(a, text):
    kinds = set(x % 4 for x in a)
    kinds.discard(3)
    letters = set(c for c in text.lower() if c.isalpha())
    return len(set(x // 2 for x in a if x > 1)), sorted(kinds), len(letters)
