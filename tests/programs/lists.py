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


@_on(60)
@_on(1)
def primes(n):
    """Items stored one after another at once, and a list from a comprehension; lists are returned."""
    is_prime = [True] * (n + 1)
    is_prime[0] = is_prime[1] = False
    p = 2
    while p * p <= n:
        if is_prime[p]:
            for q in range(p * p, n + 1, p):
                is_prime[q] = False
        p += 1
    found = [i for i, prime in enumerate(is_prime) if prime]
    return found, is_prime


@_on(ints(30))
@_on(floats(1))
def sorted_by_hand(x):
    """Items of an array keep NumPy's types in a list; two are exchanged."""
    a = list(x)
    pending = [(0, len(a) - 1)]
    while pending:
        lo, hi = pending.pop()
        if lo < hi:
            i = lo
            for j in range(lo, hi):
                if a[j] < a[hi]:
                    a[i], a[j] = a[j], a[i]
                    i += 1
            a[i], a[hi] = a[hi], a[i]
            pending.append((lo, i - 1))
            pending.append((i + 1, hi))
    return a


@_on(ints(8, 8))
@_on(ints(0, 8))  # raises IndexError
def breadth_first(graph):
    n = graph.shape[0]
    distance = [-1] * n
    distance[0] = 0
    queue = [0]
    order = []
    while queue:
        u = queue.pop(0)
        order.append((u, distance[u]))
        for v in range(n):
            if graph[u, v] > 5 and distance[v] < 0:
                distance[v] = distance[u] + 1
                queue.append(v)
    return order, distance, len(order)


@_on(floats(20), 3, joined=True)  # numbers of NumPy's and Python's meet in a list
@_on(floats(40), 17, joined=True)
@_on(floats(3), 30)  # raises IndexError
def longer_lists(x, k):
    a = [v * 2 for v in x if v > 0.3]
    b = a[:]
    b.reverse()
    a.extend(v for v in x[:k])
    a += [1.0, 2.0]
    taken = a.pop(k)
    return a, b, taken, -1.0 in a


@_on(floats(20), 3)
@_on(floats(3), 30)
def parts_of_lists(x, k):
    a = list(x)
    c = a[2:9:2]
    c.insert(0, -1.0 * x[0])
    c.insert(-1, x[1])
    c.insert(k, x[2])
    return c


@_on(5)
@_on(9)
def shorter_lists(n):
    d = list(range(n))
    d.pop(2)
    d.pop(-1)
    d = [d[j] + 1 for j in range(len(d))]
    e = d.copy()
    e.clear()
    return d, e, 3 in d, 77 in d


@_on(10, 4)
@_on(0, 4)
@_on(3, 0)
def rows_of_pascal(n, k):
    """A name that gets a copy of another list, of another length each time."""
    row = [1]
    for _ in range(n):
        new = [1]
        for i in range(len(row) - 1):
            new.append(row[i] + row[i + 1])
        new.append(1)
        if len(new) > k:
            return new
        row = new[:]
    return new


@_on(ints(12, lo=0))
@_on(floats(0))
def largest_rectangle(heights):
    """An item is read further up than the first one is appended; one list never gets any."""
    open_ones = []
    nothing = []
    if nothing:
        nothing.pop()
    best = heights.dtype.type(0)
    for i in range(heights.shape[0]):
        while open_ones and heights[open_ones[-1]] > heights[i]:
            height = heights[open_ones.pop()]
            width = i if not open_ones else i - open_ones[-1] - 1
            best = max(best, height * width)
        open_ones.append(i)
    return best, open_ones, np.array(nothing)


@_on(ints(5, 6))
def places_above(a):
    """A loop over the places of several axes comes in their order: lists may grow in it."""
    found = []
    for i, j in np.ndindex(5, 6):
        if a[i, j] > 2:
            found.append((i, j))
    return found


@_on(ints(9), 4)
@_on(ints(9), 1)
@_on(ints(0), 2)
def made_where_they_are_returned(x, n):
    if n < 2:
        return [n] * 3, list(x), x[1:], x.copy()
    return [k * n for k in range(n) if k != 1], [v for v in x if v > 0], x[1:], x.copy()


@PROGRAMS.on(floats(9))
@PROGRAMS.on(floats(0))
def two_lists_at_once(x):
    up, down, n = [], [x.size * 1.0], 0
    for v in x:
        if v > 0.5:
            up.append(v)
            n += 1
        else:
            down.append(v * n)
    return np.array(up).size, len(down), n


@_on(3)
def an_index_before_the_beginning(n):
    """-4 of three items counted twice from the end."""
    items = [1, 2]
    items.append(n)
    return items[-4]


@_on(3, 3)
@_on(3, -4)
@_on(3, -3)
def an_item_stored_outside(n, k):
    items = [1, 2]
    items.append(n)
    items[k] = 7
    return items[0]


@_on(3, 2)
@_on(3, 5)
def an_item_removed_outside(n, k):
    items = [1, 2]
    items.append(n)
    items.pop(k)
    return items.pop(-3)


@PROGRAMS.on((1, 5, 10), 30)
@PROGRAMS.on((2,), 0)
def ways_to_pay(coins, amount):
    ways = [1] + [0] * amount
    for c in coins:
        for i in range(c, amount + 1):
            ways[i] += ways[i - c]
    return ways[amount], ways


@PROGRAMS.on(3)
@PROGRAMS.on(0)
@PROGRAMS.on(-2)
def written_in_parts(n):
    pairs = [(0, 1.5)] + [(2, 2.5)] * n + [(n, 0.5), (1, 1.0)]
    pairs[0] = (7, 7.5)
    ends = [0.5] * n + [1.5, 2.5] + [3.5] * (n + 1)
    ends.append(9.0)
    return pairs, ends, [1, 2] + [0] * n


@PROGRAMS.on(60)
@PROGRAMS.on(1)
@PROGRAMS.on(0)
def a_sieve(n):
    is_prime = [True] * (n + 1)
    p = 2
    while p * p <= n:
        if is_prime[p]:
            for i in range(p * p, n + 1, p):
                is_prime[i] = False
        p += 1
    return sum(is_prime), any(is_prime), all(is_prime)


@PROGRAMS.on(floats(30))
@PROGRAMS.on(np.array([0.5, np.nan]))
@PROGRAMS.on(np.array([0.0]))
def truths_of_items(x):
    above = []
    for v in x:
        above.append(v > 0.5)
    return any(above), all(above), any(x), all(x > -1), sum(x > 0.5), sum(x > 0, 2)


@PROGRAMS.on(floats(30))
@PROGRAMS.on(np.array([-1.0]))
@PROGRAMS.on(np.zeros(0))
def lengths_of_comprehensions(x):
    return len([v for v in x if v > 0]), len([2 * i for i in range(len(x))]), len(x[x > 1])


@PROGRAMS.on(7, targets=("cpu",))
@PROGRAMS.on(1, targets=("cpu",))
def sorted_where_it_is_used(n):
    """The list is handed to Python's `sorted`."""
    xs = []
    for i in range(n):
        xs.append(i * 5 % 7)
    total = 0
    for i in range(n):
        total += xs[i] * i
    return sorted(xs)[0], total


@PROGRAMS.on(ints(4, dtype=np.uint8, lo=0))
@PROGRAMS.on(floats(4, dtype=np.float32))
def a_type_of_types(x):
    wide = np.result_type(x.dtype, np.int8)
    return x.astype(wide), np.zeros(2, np.result_type(np.float32, x))


@_on(floats(9), 0.5)
@_on(floats(9), 9.0)
@_on(floats(9), -1.0)
@_on(floats(0), 1.0)
def one_of_several_lists(x, limit):
    if limit < 0:
        return [], 0
    above = []
    below = [0.5]
    for v in x:
        if v > limit:
            above.append(float(v))
        else:
            below.append(float(v))
        if len(above) > 2:
            return above, 1
    if not above:
        return below, 2
    return [v * 2 for v in above], 3


@_on(6)
@_on(0)
def nothing_or_what_is_found(n):
    if n == 0:
        return []
    found = []
    for i in range(n):
        found.append(i * i % 7)
    return found


@_on(ints(60, lo=0))
def items_removed(a):
    xs = []
    for x in a:
        xs.append(x)
    del xs[0]
    del xs[-2]
    xs.remove(a[5])
    return sum(xs), len(xs), xs.index(a[20]), xs.count(a[3])


@_on(0)
@_on(7)
def missing_items(k):
    xs = [1, 2]
    xs.remove(2)
    if k > 5:
        xs.remove(k)
    return xs.index(k)


@_on(ints(30))
def sorted_downwards(a):
    xs = [5]
    for x in a:
        xs.append(int(x))
    xs.sort(reverse=True)
    s = 0
    for x in xs:
        s = s * 31 % 10007 + x
    return s


@_on(3)
@_on(4)
def lists_compared(n):
    xs = [0, 1, 2]
    ys = list(range(n))
    pairs = [(0, 1)]
    for k in range(n):
        pairs.append((k, k * k))
    pairs.remove((2, 4))
    zs = []
    zs.append(1)
    return xs == ys, xs != ys, pairs.index((1, 1)), zs == xs


@PROGRAMS.on(60)
@PROGRAMS.on(1)
def sieve_by_parts(n):
    is_prime = [True] * (n + 1)
    is_prime[:2] = [False] * 2
    i = 2
    while i * i <= n:
        if is_prime[i]:
            is_prime[i * i :: i] = [False] * len(is_prime[i * i :: i])
        i += 1
    return sum(is_prime)


@PROGRAMS.on(9, 2, 7, 1, 3)
@PROGRAMS.on(9, -7, 4, 2, 1)
@PROGRAMS.on(9, 7, -8, -3, 2)
@PROGRAMS.on(4, 3, 1, 1, 2)
@PROGRAMS.on(9, 2, 7, 0, 3)  # raises ValueError
@PROGRAMS.on(9, 2, 7, 2, 4)  # raises ValueError
def parts_replaced(n, start, stop, step, times):
    xs = [k for k in range(n)]  # noqa: C416  (a list of the function's own)
    xs[start:stop] = [-1] * times
    ys = [k for k in range(n)]  # noqa: C416  (as above)
    ys[start:stop:step] = [-2] * times
    ys[:] = [n] * len(xs[::step])
    return xs, ys, len(ys[start:])


@PROGRAMS.on(9, 2, 7, 1, 3)
@PROGRAMS.on(9, -7, 4, 1, 6)
@PROGRAMS.on(9, 7, -8, -3, 2)
@PROGRAMS.on(4, 3, 1, 1, 2)
@PROGRAMS.on(0, 0, 0, 1, 2)
@PROGRAMS.on(9, 2, 7, 0, 3)  # raises ValueError
@PROGRAMS.on(9, 2, 7, 2, 4)  # raises ValueError
def parts_exchanged(n, start, stop, step, count):
    xs = [k for k in range(n)]  # noqa: C416  (a list of the function's own)
    xs[start:stop] = reversed(xs[start:stop])
    ys = [0.5 * k for k in range(n)]
    ys[start:stop:step] = [0.25 * k for k in range(count)]
    pairs = [(k, 0.5) for k in xs]
    pairs[:1] = pairs[-2:]
    pairs[stop:] = [(7, 1.5)]
    xs[1:1] = xs[::-2]
    xs[stop:start] = []
    return xs, ys, pairs


@PROGRAMS.on(5)
@PROGRAMS.on(1)
def pancake_flips(n):
    order = list(range(n))
    count = [0] * n
    most, r = 0, n
    while True:
        while r > 1:
            count[r - 1] = r
            r -= 1
        now = order[:]
        flips, k = 0, order[0]
        while k > 0:
            now[: k + 1] = now[k::-1]
            flips += 1
            k = now[0]
        most = max(most, flips)
        while r < n:
            first = order[0]
            for i in range(r):
                order[i] = order[i + 1]
            order[r] = first
            count[r] -= 1
            if count[r] > 0:
                break
            r += 1
        if r >= n:
            return most


@_on(floats(6))
@_on(floats(2))
def extended_by_arrays(a):
    xs = [1.5]
    xs.extend(a[1:4])
    xs[:1] = a[:2]
    return np.array(xs), len(xs)


@_on(np.array([[1, 0, 1], [1, 1, 1], [0, 0, 1]]))
@_on(ints(6, 7) % 2)
@_on(np.zeros((0, 3), np.int64))
def components(image):
    """A nested function reads a list that grows."""
    labels = np.zeros_like(image)
    parent = [0]

    def root(x):
        while parent[x] != x:
            x = parent[x]
        return x

    def joined(x, y):
        a, b = root(x), root(y)
        parent[max(a, b)] = min(a, b)
        return min(a, b)

    for i in range(image.shape[0]):
        for j in range(image.shape[1]):
            if not image[i, j]:
                continue
            above = labels[i - 1, j] if i > 0 else 0
            left = labels[i, j - 1] if j > 0 else 0
            if above and left:
                labels[i, j] = joined(above, left)
            elif above or left:
                labels[i, j] = max(above, left)
            else:
                labels[i, j] = len(parent)
                parent.append(len(parent))
    for i in range(image.shape[0]):
        for j in range(image.shape[1]):
            labels[i, j] = root(labels[i, j])
    return labels, len(parent)


@_on(12)
@_on(0)
def pushed_by_a_nested_function(n):
    stack = [n]
    seen = []

    def push(k, twice=False):
        stack.append(k)
        if twice:
            stack.append(k - 1)

    def visit():
        top = stack.pop()
        seen.append(top)
        if top > 3:
            push(k=top - 3, twice=top % 2 == 0)

    while stack:
        visit()
    return np.array(seen), len(stack)


@PROGRAMS.on(6, 5)
@PROGRAMS.on(1, 3)
def rows_of_cells(n, steps):
    """A list is stored into a row of an array."""
    history = np.zeros((steps, n), dtype=np.int64)
    cells = [0] * n
    cells[n // 2] = 1
    for t in range(steps):
        history[t] = cells
        new = [0] * n
        for i in range(n):
            new[i] = cells[i - 1] ^ cells[(i + 1) % n]
        cells = new
    return history


@PROGRAMS.on(3)  # ValueError
def row_of_another_length(n):
    rows = np.zeros((2, n + 1))
    found = [1.0] * n
    rows[1] = found
    return rows


@PROGRAMS.on(4)
@PROGRAMS.on(3)  # ValueError: one item more
def unpacked(n):
    digits = [n, 2, 3]
    pairs = [(n, 0.5)]
    pairs.append((n + 1, 2.5))
    for _ in range(5):
        a, b, c = digits
        digits = [b, c, (a + b + c) % 7]
        digits.append(a)
        digits.pop()
    (i, x), (j, y) = pairs
    digits[2], digits[1], digits[0] = digits
    if n == 3:
        digits.append(n)
    a, b, c = digits
    return a * 100 + b * 10 + c, i + j, x - y, digits


@PROGRAMS.on(np.array([1.5, 2.5]))
@PROGRAMS.on(np.arange(3))  # ValueError
def unpacked_into_itself(a):
    a[1], a[0] = a
    return a.sum()


def _turn(a, b, c):
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


@_on([(x, x * x % 7.0) for x in (3.0, 1.0, 4.0, 0.5, 5.0, 9.0, 2.0, 6.0, 8.0)])
def tuples_of_another_list(points):
    """Lists that are empty where their items are given to a function: other lists tell that these are tuples."""
    ordered = sorted(points)
    lower = []
    for p in ordered:
        while len(lower) >= 2 and _turn(lower[-2], lower[-1], p) <= 0:
            lower.pop()
        lower.append(p)
    upper = []
    for i in range(len(ordered) - 1, -1, -1):
        q = ordered[i]
        while len(upper) >= 2 and _turn(upper[-2], upper[-1], q) <= 0:
            upper.pop()
        upper.append(q)
    return lower[:-1] + upper[:-1]


@_on(floats(20, 2))
@_on(floats(1, 2))
def tuples_with_names(a):
    turns = []
    for i in range(a.shape[0]):
        p = (a[i, 0], a[i, 1])
        while len(turns) >= 2 and _turn(turns[-2], turns[-1], p) <= 0:
            turns.pop()
        turns.append(p)
    return turns
