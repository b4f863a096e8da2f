"""Functions that call themselves: with numbers, arrays and views of them, as helpers and inside functions."""

import numpy as np

import appyc
from tests.programs.registry import Programs, floats, ints

PROGRAMS = Programs(strict=True)

LEFT = np.array([1, 3, -1, 5, -1, -1, -1])
RIGHT = np.array([2, 4, 6, -1, -1, -1, -1])
TABLE = np.arange(10)


@PROGRAMS.on(15)
@PROGRAMS.on(0)
def fib(n):
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)


@PROGRAMS.on(10)
def in_one_expression(n):
    return n if n < 2 else in_one_expression(n - 1) + in_one_expression(n - 2)


@PROGRAMS.on(1071, 462)
def gcd(a, b):
    return a if b == 0 else gcd(b, a % b)


@PROGRAMS.on(2, 5)
def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


@PROGRAMS.on(5, 0, 1, 2, np.zeros((31, 2), np.int64), 0)
@PROGRAMS.on(5, 0, 1, 2, np.zeros((30, 2), np.int64), 0)  # IndexError
def hanoi(n, a, b, c, moves, k):
    if n == 0:
        return k
    k = hanoi(n - 1, a, c, b, moves, k)
    moves[k, 0] = a
    moves[k, 1] = c
    return hanoi(n - 1, b, a, c, moves, k + 1)


@PROGRAMS.on(6)
def queens(n, row=0, columns=0, falling=0, rising=0):
    if row == n:
        return 1
    count = 0
    free = ((1 << n) - 1) & ~(columns | falling | rising)
    while free:
        bit = free & -free
        free ^= bit
        count += queens(n, row + 1, columns | bit, (falling | bit) << 1, rising=(rising | bit) >> 1)
    return count


@PROGRAMS.on(6)
def queens_on_a_board(n):
    board = np.zeros(n, np.int64)

    def solve(row):
        if row == n:
            return 1
        count = 0
        for c in range(n):
            ok = True
            for r in range(row):
                if board[r] == c or abs(board[r] - c) == row - r:
                    ok = False
                    break
            if ok:
                board[row] = c
                count += solve(row + 1)
        return count

    return solve(0)


@PROGRAMS.on(floats(60), 0, 59)
@PROGRAMS.on(ints(60, dtype=np.int32), 0, 59)
@PROGRAMS.on(floats(120)[::-2], 0, 59)
def quicksort(a, lo, hi):
    if lo >= hi:
        return
    pivot = a[(lo + hi) // 2]
    i = lo
    j = hi
    while i <= j:
        while a[i] < pivot:
            i += 1
        while a[j] > pivot:
            j -= 1
        if i <= j:
            a[i], a[j] = a[j], a[i]
            i += 1
            j -= 1
    quicksort(a, lo, j)
    quicksort(a, i, hi)


@PROGRAMS.on(floats(60))
@PROGRAMS.on(floats(120)[::-2])
def quicksort_of_views(a):
    if len(a) > 1:
        k = 0
        for i in range(1, len(a)):
            if a[i] < a[0]:
                k += 1
                a[k], a[i] = a[i], a[k]
        a[0], a[k] = a[k], a[0]
        quicksort_of_views(a[:k])
        quicksort_of_views(a[k + 1 :])
    return a


@PROGRAMS.on(floats(4, 9))
@PROGRAMS.on(floats(9, 4).T)
def rows_sorted(a):
    for row in a:
        quicksort(row, 0, a.shape[1] - 1)


@PROGRAMS.on(ints(9, 8, lo=0, hi=2), 4, 4, 0, 5)
@PROGRAMS.on(np.zeros((9, 8), np.uint8), 4, 4, 0, 5)
def flood(grid, i, j, old, new):
    if i < 0 or j < 0 or i >= grid.shape[0] or j >= grid.shape[1]:
        return 0
    if grid[i, j] != old:
        return 0
    grid[i, j] = new
    count = 1
    for di, dj in ((0, 1), (1, 0), (0, -1), (-1, 0)):
        count += flood(grid, i + di, j + dj, old, new)
    return count


@PROGRAMS.on(LEFT, RIGHT, floats(7), 0)
def tree_total(left, right, value, i):
    if i < 0:
        return 0.0
    rest = tree_total(left, right, value, left[i]) + tree_total(left, right, value, right[i])
    return value[i] + rest


@PROGRAMS.on(LEFT, RIGHT, 0)
def tree_depth(left, right, i):
    if i < 0:
        return 0
    return 1 + max(tree_depth(left, right, left[i]), tree_depth(left, right, right[i]))


class Tree:
    def __init__(self, left, right):
        self.left, self.right = left, right

    def size(self, i):
        return 0 if i < 0 else 1 + self.size(self.left[i]) + self.size(self.right[i])


TREE = Tree(LEFT, RIGHT)


@PROGRAMS.on(3)
def method(k):
    return TREE.size(0) + k


@PROGRAMS.on(0.0, 3.0, 1e-9)
def simpson(a, b, eps):
    def f(x):
        return np.sin(x) * np.exp(-x)

    def refined(a, b, fa, fm, fb, whole, eps, depth):
        m = (a + b) / 2
        fl, fr = f((a + m) / 2), f((m + b) / 2)
        left = (m - a) / 6 * (fa + 4 * fl + fm)
        right = (b - m) / 6 * (fm + 4 * fr + fb)
        delta = left + right - whole
        if depth <= 0 or abs(delta) <= 15 * eps:
            return left + right + delta / 15
        return refined(a, m, fa, fl, fm, left, eps / 2, depth - 1) + refined(
            m, b, fm, fr, fb, right, eps / 2, depth - 1
        )

    fa, fm, fb = f(a), f((a + b) / 2), f(b)
    return refined(a, b, fa, fm, fb, (b - a) / 6 * (fa + 4 * fm + fb), eps, 30)


@PROGRAMS.on(np.arange(4), 0, np.zeros((24, 4), np.int64), 0)
def permutations(a, k, out, count):
    if k == len(a):
        out[count] = a
        return count + 1
    for i in range(k, len(a)):
        a[k], a[i] = a[i], a[k]
        count = permutations(a, k + 1, out, count)
        a[k], a[i] = a[i], a[k]
    return count


@PROGRAMS.on(7)
def even(n):
    return n == 0 or odd(n - 1)


def odd(n):
    return False if n == 0 else even(n - 1)


@PROGRAMS.on(np.array([3, 34, 4, 12, 5, 2]), 0, 9)
@PROGRAMS.on(np.array([3, 34, 4, 12, 5, 2]), 0, 1)
def is_sum_of_some(numbers, k, wanted):
    if wanted == 0:
        return True
    if k == len(numbers) or wanted < 0:
        return False
    if is_sum_of_some(numbers, k + 1, wanted - int(numbers[k])):
        return True
    return is_sum_of_some(numbers, k + 1, wanted)


@PROGRAMS.on(7)
def even_and_odd_inside(n):
    def is_even(k):
        return True if k == 0 else is_odd(k - step)

    def is_odd(k):
        return False if k == 0 else is_even(k - step)

    step = 1
    return is_even(n), is_odd(n)


@PROGRAMS.on(6)
def array_of_its_own(n):
    w = np.zeros(n + 1)
    w[n] = n
    if n > 0:
        w[0] = array_of_its_own(n - 1)
    return w.sum()


@PROGRAMS.on(50)
def pair(n):
    if n == 0:
        return 0, 1
    a, b = pair(n // 2)
    c = a * (2 * b - a)
    d = a * a + b * b
    return (d, c + d) if n % 2 else (c, d)


@PROGRAMS.on(40, np.full(50, -1))
def with_memory(n, known):
    if n < 2:
        return n
    if known[n] < 0:
        known[n] = with_memory(n - 1, known) + with_memory(n - 2, known)
    return known[n]


@PROGRAMS.on(5)
@PROGRAMS.on(0)
def none_at_the_end(n):
    if n == 0:
        return None
    rest = none_at_the_end(n - 1)
    return n if rest is None else rest + n


@PROGRAMS.on(0)
def global_array(i):
    return 0 if i >= len(TABLE) else TABLE[i] + global_array(i + 1)


@PROGRAMS.on(5)
def defaults(n, total=1, *, step=1):
    return total if n <= 0 else defaults(n - step, total=total * 2, step=step)


@PROGRAMS.on(2, 5)
def types_that_change(x, n):
    return x * 1.0 if n == 0 else types_that_change(x * 1.5, n - 1)


@PROGRAMS.on(np.float32(3), 4)
def single(x, n):
    return x if n == 0 else single(x * np.float32(0.5), n - 1)


@PROGRAMS.on(0.5 + 0.1j, 4)
def complex_numbers(z, n):
    return z if n == 0 else complex_numbers(z * z + 1j, n - 1)


@PROGRAMS.on(5)
def of_a_lambda(n):
    f = lambda k: 1 if k <= 0 else k * f(k - 1)  # noqa: E731
    return f(n)


@PROGRAMS.on(6)
def in_a_condition(n):
    total = 0
    while n > 0 and in_a_condition(n - 2) >= 0:
        total += n
        n -= 1
    return total


@PROGRAMS.on(floats(8, 8))
def quarters(a):
    if a.shape[0] <= 1:
        return a[0, 0]
    h = a.shape[0] // 2
    return quarters(a[:h, :h]) + quarters(a[h:, h:])


@PROGRAMS.on(np.arange(9))
@PROGRAMS.on(np.arange(9)[::-2])
def reversed_in_place(a):
    if len(a) > 1:
        a[0], a[-1] = a[-1], a[0]
        reversed_in_place(a[1:-1])


@PROGRAMS.on(floats(16))
def halves(a):
    return a.sum() if len(a) < 3 else halves(a[::2]) - halves(a[1::2] * 2.0)


@PROGRAMS.on(100, np.zeros(100, np.int64))
def in_parallel(n, out):
    for i in appyc.prange(n):
        out[i] = gcd(i, n) + ackermann(1, i)


@PROGRAMS.on(100)
def sum_in_parallel(n):
    s = 0
    for i in appyc.prange(n):
        s += gcd(i, 7)
    return s


@PROGRAMS.on(100)
def sum_under_a_pragma(n):
    s = 0
    #pragma parallel for reduction(+: s)
    for i in range(n):
        s += fib(i % 9) * gcd(i, 12)
    return s


@PROGRAMS.on(100)
def unmarked_sum(n):
    s = 0
    for i in range(n):
        s += gcd(i, 7)
    return s


@PROGRAMS.on(6)  # ZeroDivisionError
def sum_of_what_raises(n):
    s = 0
    for i in appyc.prange(n):
        s += divides_by_zero(i)
    return s


@PROGRAMS.on(np.arange(4.0), 2)
@PROGRAMS.on(np.arange(4.0), 9)  # IndexError
@PROGRAMS.on(np.arange(4.0), -9)  # RecursionError
def faults(a, i):
    return a[i] if i >= 0 else faults(a, i - 1)


@PROGRAMS.on(5)
def divides_by_zero(n):
    return 1 // n + divides_by_zero(n - 1)


@PROGRAMS.on(5)
def raises(n):
    if n == 0:
        raise ValueError("the end")
    return raises(n - 1)


@PROGRAMS.on(5)
def never_ends(n):
    return never_ends(n + 1)


def halved(f, x, n):
    if n == 0:
        return f(x)
    return halved(f, x, n - 1) + halved(f, x / 2, n - 1)


@PROGRAMS.on(1.0)
def given_a_function_of_a_name_that_changes(x):
    step = 1
    f = lambda v: v + step  # noqa: E731
    first = halved(f, x, 3)
    step = 2.5
    return first + halved(f, x, 3)


@PROGRAMS.on(1.0)
def given_a_function_of_an_array_that_changes(x):
    steps = np.array([1.0, 2.0])

    def f(v):
        return v + steps[0]

    first = halved(f, x, 3)
    steps = np.array([3.0, 2.0])
    first += halved(f, x, 3)
    steps[0] = 9.0
    return first + halved(f, x, 3)


@PROGRAMS.on(1.0)
def given_several_functions(x):
    f = lambda v: v * v  # noqa: E731
    y = f(x)
    first = halved(f, y, 2)
    f = lambda v: v + y  # noqa: E731
    return first + halved(f, y, 2)


@PROGRAMS.on(1.0)
def calls_a_function_of_a_name_that_changes(x):
    step = 1.0
    f = lambda v: v + step  # noqa: E731

    def down(n):
        return f(x) if n == 0 else down(n - 1) + 1

    first = down(2)
    step = 2.0
    return first + down(2)


def cleared(a, n):
    if n > 0:
        a[n - 1] -= a[0]
        cleared(a, n - 1)


@PROGRAMS.on(floats(6, 5))
@PROGRAMS.on(floats(0, 5))
def rows_of_calls_in_parallel(a):
    #pragma parallel for
    for i in range(a.shape[0]):
        own = a[i] * 2
        cleared(own, a.shape[1])
        cleared(a[i], 3)
        a[i, 4] += own[1]


@PROGRAMS.on(floats(20), 4)
@PROGRAMS.on(floats(3), 4)  # raises IndexError in the last block
def blocks_of_calls_in_parallel(a, w):
    #pragma parallel for
    for i in range((len(a) + 7) // 8):
        cleared(a[i * 8 : i * 8 + 8], w)


@PROGRAMS.on(floats(9), floats(9, seed=1))
def loops_around_calls(a, b):
    total = 0.0
    for i in range(len(a)):
        b[i] = a[i] * 2
    cleared(b, len(b))
    for i in range(len(a)):
        a[i] += b[i]
        total += b[i] * a[i]
    for i in range(1, 5):
        kept = a[i]
        cleared(a[::2], i)
        a[i] = kept + a[i - 1]
    a[2] -= countdown(b[1:], 3)
    return total


def countdown(a, n):
    if n == 0:
        return a[0]
    a[1] += n
    return countdown(a, n - 1) + a[1]


@PROGRAMS.on(floats(9), 3)
def elements_loaded_before_calls(a, n):
    for i in range(n):
        a[1] -= countdown(a, 2)
    return countdown(a[::-1], n) + countdown(a[::-1], n)


@PROGRAMS.on(floats(9))
def filled_by_a_call_before_a_part(a):
    made = np.zeros(len(a))
    countdown(made, 2)
    for i in range(2, len(a) - 1):
        made[i] = a[i] * 2
    out = np.zeros(len(a))
    for i in range(len(a)):
        out[i] = made[i] + a[i]
    return out
