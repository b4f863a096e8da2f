"""Functions that call themselves and change the lengths of lists around them."""

import functools
import heapq

import numpy as np

from tests.programs.registry import Programs, ints

PROGRAMS = Programs(strict=True)

STARTS = np.array([0, 2, 3, 5, 6, 8, 9, 10, 11])
TARGETS = np.array([1, 3, 2, 0, 4, 5, 3, 6, 5, 7, 7])


@PROGRAMS.on(5)
@PROGRAMS.on(0)
def permutations(n):
    path = []
    used = [False] * n

    def extended():
        if len(path) == n:
            return path[0] if n > 0 else 1
        total = 0
        for k in range(n):
            if not used[k]:
                used[k] = True
                path.append(k)
                total = total * 3 % 1001 + extended()
                path.pop()
                used[k] = False
        return total

    return extended(), len(path)


@PROGRAMS.on(6, 3)
def combinations(n, k):
    chosen = []
    found = []

    def choose(first):
        if len(chosen) == k:
            found.extend(chosen)
            return
        for i in range(first, n):
            chosen.append(i)
            choose(i + 1)
            chosen.pop()

    choose(0)
    return found


@PROGRAMS.on(6)
@PROGRAMS.on(3)
def queens(n):
    columns = []

    def place():
        row = len(columns)
        if row == n:
            return 1
        count = 0
        for c in range(n):
            free = True
            for r in range(row):
                if columns[r] == c or abs(columns[r] - c) == row - r:
                    free = False
                    break
            if free:
                columns.append(c)
                count += place()
                columns.pop()
        return count

    return place()


@PROGRAMS.on(STARTS, TARGETS)
def post_order(starts, targets):
    n = len(starts) - 1
    seen = np.zeros(n, np.bool_)
    order = []

    def visit(u):
        seen[u] = True
        for k in range(starts[u], starts[u + 1]):
            if not seen[targets[k]]:
                visit(int(targets[k]))
        order.append(u)

    for u in range(n):
        if not seen[u]:
            visit(u)
    order.reverse()
    return order


@PROGRAMS.on(STARTS, TARGETS)
def strong_components(starts, targets):
    n = len(starts) - 1
    index = np.full(n, -1)
    low = np.zeros(n, np.int64)
    component = np.full(n, -1)
    stack, sizes, visited = [], [], []

    def connect(u):
        index[u] = low[u] = len(visited)
        visited.append(u)
        stack.append(u)
        for k in range(starts[u], starts[u + 1]):
            v = int(targets[k])
            if index[v] < 0:
                connect(v)
                low[u] = min(low[u], low[v])
            elif component[v] < 0:
                low[u] = min(low[u], index[v])
        if low[u] == index[u]:
            size = 0
            while True:
                w = stack.pop()
                component[w] = len(sizes)
                size += 1
                if w == u:
                    break
            sizes.append(size)

    for u in range(n):
        if index[u] < 0:
            connect(u)
    return component, sizes, len(stack)


@PROGRAMS.on(5)
@PROGRAMS.on(0)
def hanoi(n):
    moves = []

    def move(k, a, b, c):
        if k == 0:
            return
        move(k - 1, a, c, b)
        moves.append((a, c))
        move(k - 1, b, a, c)

    move(n, 0, 1, 2)
    return moves


@PROGRAMS.on(np.array([[0, 1, 0, 0], [0, 1, 0, 1], [0, 0, 0, 1]]), 0, 0)
def flood_with_a_trail(grid, i, j):
    trail = []

    def flood(i, j):
        if i < 0 or j < 0 or i >= grid.shape[0] or j >= grid.shape[1] or grid[i, j] != 0:
            return 0
        grid[i, j] = 2
        trail.append((i, j))
        return 1 + flood(i + 1, j) + flood(i, j + 1) + flood(i - 1, j) + flood(i, j - 1)

    return flood(i, j), trail


@PROGRAMS.on(np.array([3, 34, 4, 12, 5, 2]), 9)
@PROGRAMS.on(np.array([3, 34, 4, 12, 5, 2]), 1)
def subset_sums(numbers, wanted):
    chosen = []

    def search(k, rest):
        if rest == 0:
            return True
        if k == len(numbers) or rest < 0:
            return False
        chosen.append(k)
        if search(k + 1, rest - numbers[k]):
            return True
        chosen.pop()
        return search(k + 1, rest)

    return search(0, wanted), chosen


@PROGRAMS.on(7)
def halves_of_floats(n):
    marks = []

    def split(lo, hi, depth):
        if depth == 0:
            return 0.0
        mid = (lo + hi) / 2
        left = split(lo, mid, depth - 1)
        marks.append(mid)
        return left + mid + split(mid, hi, depth - 1)

    return split(0.0, 1.0, n), marks


@PROGRAMS.on(6)
def that_shrinks(n):
    rest = list(range(n))
    taken = []

    def take():
        if rest:
            first = rest.pop(0)
            take()
            taken.append(first)

    take()
    return taken, rest


@PROGRAMS.on(11)
def that_grows_far(n):
    leaves = []

    def fill(k):
        if k == 0:
            leaves.append(len(leaves))
            return 1
        return fill(k - 1) + fill(k - 1)

    return fill(n), leaves[-1], sum(leaves)


@PROGRAMS.on(5, 2)
@PROGRAMS.on(5, 3)  # IndexError
def pops_too_much(n, times):
    stack = [0]

    def deeper(k):
        stack.append(k)
        if k == 0:
            for _ in range(times * 3 + 1):
                stack.pop()
            return len(stack)
        return deeper(k - 1)

    return deeper(n)


@PROGRAMS.on(5)
def cleared_and_extended(n):
    items = [1, 2, 3]

    def again(k):
        if k == 0:
            return len(items)
        items.extend([k, k + 1])
        if len(items) > 5:
            items.clear()
        items.insert(0, -k)
        return again(k - 1) * 10 + len(items)

    return again(n), items


@PROGRAMS.on(6)
def length_before_the_call(n):
    """Operands are evaluated before later ones change the list."""
    items = []

    def put(k):
        if k == 0:
            return 0
        items.append(k)
        return len(items) * 100 + items[-1] + put(k - 1) + len(items) * items[-1]

    return put(n), len(items) + put(2) + len(items)


@PROGRAMS.on(4)
def two_that_call_each_other(n):
    evens = []
    odds = []

    def even(k):
        if k > 0:
            evens.append(k)
            odd(k - 1)
            odd(k - 2)

    def odd(k):
        if k > 0:
            odds.append(k)
            even(k - 1)

    even(n)
    return evens, odds


def visit(u, order, depth):
    if depth == 0:
        return len(order)
    order.append(u)
    total = visit(2 * u, order, depth - 1) + visit(2 * u + 1, order, depth - 1)
    return total + len(order)


@PROGRAMS.on(4)
def global_function(n):
    order = []
    total = visit(1, order, n)
    other = [7]
    return total, order, visit(2, other, 2), other


def visit_floats(x, order, depth):
    if depth > 0:
        visit_floats(x / 2, order, depth - 1)
        order.append(x)
        visit_floats(x / 4, order, depth - 1)


@PROGRAMS.on(4)
def global_function_and_floats(n):
    order = []
    visit_floats(1.0, order, n)
    return order


def leaves_of(n):
    """It is inlined, and makes the list."""
    out = []

    def walk(k):
        if k <= 0:
            out.append(0.5)
        else:
            walk(k - 1)
            walk(k - 2)

    walk(n)
    return len(out), out[0]


@PROGRAMS.on(6)
def list_of_an_inlined_function(n):
    a, b = leaves_of(n)
    c, d = leaves_of(n + 1)
    return a + c, b + d


@PROGRAMS.on(4)
def many_lists(n):
    total = 0
    for k in range(n):
        path = []

        def down(d):
            path.append(d)
            if d > 0:
                down(d - 1)
                down(d - 1)

        down(k)
        total = total * 7 + len(path) + path[-1]
    return total


@PROGRAMS.on(4)
def helper_that_is_inlined(n):
    path = []

    def add(x):
        path.append(x * 0.5)

    def down(k):
        add(k)
        if k > 0:
            down(k - 1)

    down(n)
    return path


@PROGRAMS.on(3)
def prefixes(n):
    path = []
    found = []

    def extended(k):
        if k == 0:
            found.extend(path)
            found.append(sum(path))
            for x in path:
                found.append(x)
            return
        for d in range(2):
            path.append(d + k)
            extended(k - 1)
            path.pop()

    extended(n)
    return found


@PROGRAMS.on(5)
def of_other_types(n):
    bits, singles, rows = [], [], []

    def down(x, k):
        if k > 0:
            bits.append(k % 2 == 0)
            singles.append(x)
            rows.append((k, k * 0.5, k > 1))
            down(x * np.float32(0.5), k - 1)
            rows.pop(0)
            rows.append((-k, 0.25, False))

    down(np.float32(3), n)
    last = rows.pop()
    return bits, singles, rows, last


@PROGRAMS.on(5)
def with_their_names_swapped(n):
    a = [1]
    b = [2]

    def put(x, y, k):
        if k > 0:
            x.append(k + len(y))
            put(y, x, k - 1)

    put(a, b, n)
    return a, b


@PROGRAMS.on(5)
def operands_before_calls(n):
    items = [1, 2, 3]
    out = np.zeros(40, np.int64)

    def put(k):
        if k > 0:
            items.append(k)
            return put(k - 1) + len(items)
        return items.pop()

    total = sum(items) + put(n) + sum(items)
    product = max(items) * put(n) - items[-1]
    out[len(items)] = put(2)
    items[put(1) % 3] = len(items)
    items[-1] += put(1)
    return total, product, (items[0], put(1), items[-1]), items, out


@PROGRAMS.on(9)
def a_while_loop_over_what_it_leaves(n):
    items = list(range(n))
    out = []

    def take(k):
        if k > 0 and items:
            out.append(items.pop())
            take(k - 1)

    while items:
        take(2)
        out.append(-1)
    return out


@PROGRAMS.on(4)
def that_is_made_again(n):
    items = [1]

    def put(k):
        items.append(k)
        if k > 0:
            put(k - 1)

    put(n)
    count = len(items)
    items = [7]
    put(n)
    return items, count


@PROGRAMS.on(6)
def heap(n):
    queue = []

    def push(k):
        if k == 0:
            return heapq.heappop(queue)
        heapq.heappush(queue, (k * 7) % 5)
        least = push(k - 1)
        return least * 3 + queue[0] if len(queue) > 1 else least

    return push(n), queue


def partitioned(items):
    """The lists that it makes are its own, and those of the calls inside it."""
    if len(items) < 2:
        return 0
    less = []
    more = []
    pivot = items[0]
    for x in items[1:]:
        if x < pivot:
            less.append(x)
        else:
            more.append(x)
    depth = 1 + max(partitioned(less), partitioned(more))
    items.clear()
    items.extend(less)
    items.append(pivot)
    items.extend(more)
    return depth


@PROGRAMS.on(np.array([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4]))
def quicksort_of_lists(a):
    items = []
    for x in a:
        items.append(int(x))
    return partitioned(items), items


@PROGRAMS.on(3)
def too_large_an_item(n):
    """Python has it, without a limit: the call is run there."""
    powers = [3]

    def put(k):
        if k > 0:
            powers.append(powers[-1] ** 3)
            put(k - 1)

    put(n)
    return powers


@PROGRAMS.on(ints(9, lo=0, hi=3), ints(4, lo=0, hi=3))
@PROGRAMS.on(ints(0), ints(2))
def remembered(a, b):
    known = {}

    def count(i, j):
        if j == len(b):
            return 1
        if i == len(a):
            return 0
        if (i, j) in known:
            return known[(i, j)]
        n = count(i + 1, j)
        if a[i] == b[j]:
            n += count(i + 1, j + 1)
        known[i, j] = n
        return known[i, j]

    return count(0, 0), len(known)


@PROGRAMS.on([2, 5, 9, 11], 200)
@PROGRAMS.on([3], 1)
def cached_results(coins, n):
    @functools.cache
    def fewest(k):
        if k == 0:
            return 0
        best = 1000
        for c in coins:
            if c <= k:
                best = min(best, fewest(k - c) + 1)
        return best

    return fewest(n)


@PROGRAMS.on(5)
@PROGRAMS.on(1)
def sets_that_lose_items(n):
    columns, rising = set(), set()
    falling = set()

    def place(row):
        if row == n:
            return 1
        total = 0
        for c in range(n):
            if c in columns or row + c in rising or row - c in falling:
                continue
            columns.add(c)
            rising.add(row + c)
            falling.add(row - c)
            total += place(row + 1)
            columns.remove(c)
            rising.discard(row + c)
            falling.remove(row - c)
        return total

    return place(0), len(columns)


@PROGRAMS.on([[1], [2, 0], [], [2]])
def a_set_of_the_visited(near):
    seen = set()

    def visit(u):
        seen.add(u)
        size = 1
        for v in near[u]:
            if v not in seen:
                size += visit(v)
        return size

    sizes = []
    for u in range(len(near)):
        if u not in seen:
            sizes.append(visit(u))
    return sizes, len(seen)


@PROGRAMS.on(4)
@PROGRAMS.on(0)
def paths_that_calls_make(n):
    best = 0
    ends = [0]

    def extend(path, used):
        nonlocal best
        if len(path) == n:
            best = max(best, sum(k * p for k, p in enumerate(path)))
            return
        for k in range(n):
            if not used >> k & 1:
                extend(path + [k], used | 1 << k)

    def pay(rest, first, coins):
        if rest == 0:
            ends.append(len(coins))
            return
        for c in range(first, n + 1):
            if c <= rest:
                pay(rest - max(c, 1), c, coins + [c])

    extend([], 0)
    pay(n, 1, [])
    return best, ends
