"""Loops that end early: searched in blocks, with work before the end or without, and such as are no searches."""

# ruff: noqa: SIM110

import numpy as np

from tests.programs.registry import Programs, complexes, floats, ints

PROGRAMS = Programs()

LONG = 5000
"""More than the first two blocks."""


def with_one(n, *places, dtype=np.float64, value=9):
    """Zeros, with another value in some places."""
    out = np.zeros(n, dtype)
    out[list(places)] = value
    return out


@PROGRAMS.on(with_one(LONG, 4999, dtype=np.float32))
@PROGRAMS.on(with_one(LONG, 1024, 1025, dtype=np.int64))
@PROGRAMS.on(with_one(LONG, 1023, 4000, dtype=np.int32))
@PROGRAMS.on(with_one(LONG, 0, 1))
@PROGRAMS.on(with_one(LONG))
@PROGRAMS.on(with_one(1, 0))
@PROGRAMS.on(with_one(2, 1))
@PROGRAMS.on(np.zeros(0))
def first_above(a):
    where = -1
    for i in range(len(a)):
        if a[i] > 2:
            where = i
            break
    return where


@PROGRAMS.on(with_one(LONG, 17, dtype=np.complex64, value=1j), 1j)
@PROGRAMS.on(with_one(3001, 3000, dtype=np.complex128), 9)
@PROGRAMS.on(complexes(9), 0)
def is_there(a, x):
    for i in range(len(a)):
        if a[i] == x:
            return True
    return False


@PROGRAMS.on(with_one(LONG, 100, 2048), 9.0)
@PROGRAMS.on(with_one(7, 2), 5.0)
@PROGRAMS.on(np.zeros(0), 5.0)
def last_of(a, x):
    for i in range(len(a) - 1, -1, -1):
        if a[i] == x:
            return i
    return -1


@PROGRAMS.on(with_one(LONG, 3 * 1024 + 1, 2))
@PROGRAMS.on(with_one(LONG, 4998))
@PROGRAMS.on(with_one(2, 1))
def every_third_from_one(a):
    at = -5
    for i in range(1, len(a), 3):
        if a[i] != 0:
            at = i
            break
    return at


@PROGRAMS.on(with_one(LONG, 3 * 1024 + 1, 2)[::-2])
@PROGRAMS.on(with_one(8, 1)[::3])
def every_third_down(a):
    at = -5
    for i in range(len(a) - 1, 0, -3):
        at = i
        if a[i] != 0:
            break
    return at


@PROGRAMS.on(with_one(3000, 2500), 9)
@PROGRAMS.on(np.zeros(5), 9)
def with_else(a, x):
    for i in range(len(a)):
        if a[i] == x:
            where = i * 2
            break
    else:
        where = -7
    return where


@PROGRAMS.on(with_one(3000, 2500), 9)
@PROGRAMS.on(np.zeros(5), 9)
@PROGRAMS.on(np.zeros(0), 9)
def variable_after_the_loop(a, x):
    i = -1
    for i in range(len(a)):
        if a[i] == x:
            break
    return i


@PROGRAMS.on(with_one(3000, 2500), np.ones(3000))
@PROGRAMS.on(with_one(5, 0), np.ones(5), joined=True)
@PROGRAMS.on(np.zeros(3), np.ones(3))
def value_of_the_one_before(a, b):
    x = -1.0
    for i in range(len(a)):
        if a[i] > 1:
            break
        x = b[i] + i
    return x


@PROGRAMS.on(with_one(3000, 2500), np.zeros(3000))
@PROGRAMS.on(with_one(5, 0), np.zeros(5))
@PROGRAMS.on(np.zeros(3), np.zeros(3))
@PROGRAMS.on(np.zeros(0), np.zeros(0))
def copies_until(a, b):
    #pragma parallel for
    for i in range(len(a)):
        if a[i] > 1:
            break
        b[i] = a[i] + i


@PROGRAMS.on(with_one(2100, 1500), np.zeros(2100), np.zeros(2100, np.int64))
def stores_before_and_after(a, b, c):
    for i in range(len(a)):
        c[i] = i
        if a[i] > 1:
            b[i] = -1
            break
        b[i] = a[i] + 1


@PROGRAMS.on(with_one(2100, 1500, value=-1) + 1, floats(2100))
@PROGRAMS.on(with_one(2100, 1500, value=-1) + 1, floats(2100, dtype=np.float32))
@PROGRAMS.on(with_one(3, 0, value=-1) + 1, ints(3), joined=True)
def total_until(a, x):
    s = 0.5
    biggest = x[0]
    count = 0
    for i in range(len(a)):
        if a[i] == 0:
            break
        s += x[i]
        biggest = max(biggest, x[i])
        if x[i] > 0:
            count += 1
    return s, biggest, count


@PROGRAMS.on(with_one(2100, 1500, value=-1) + 1, ints(2100))
def largest_and_its_place_until(a, x):
    best = -100
    where = -1
    for i in range(len(a)):
        if a[i] == 0:
            break
        if x[i] > best:
            best = x[i]
            where = i
    return best, where


@PROGRAMS.on(floats(60, 50), np.zeros(60, np.int64), 1.9)
@PROGRAMS.on(floats(7, 1, dtype=np.float32), np.zeros(7, np.int64), 1.9)
@PROGRAMS.on(floats(5, 300), np.zeros(5, np.int64), 1.99)
@PROGRAMS.on(floats(4, 0), np.zeros(4, np.int64), 1.9)
def in_rows(a, out, t):
    for i in range(a.shape[0]):
        out[i] = -1
        for j in range(a.shape[1]):
            x = a[i, j] * a[i, j]
            if x > t * t:
                out[i] = j
                break


@PROGRAMS.on(floats(60, 50), np.zeros(50, np.int64), 1.9)
def in_columns(a, out, t):
    for j in range(a.shape[1]):
        out[j] = -1
        for i in range(a.shape[0]):
            if a[i, j] > t:
                out[j] = i
                break


@PROGRAMS.on(floats(40, 300), 1.9995)
@PROGRAMS.on(floats(3, 3), 1.9995)
def in_a_square(a, t):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] > t:
                return i, j
    return -1, -1


@PROGRAMS.on(with_one(2100, 1500), with_one(2100, 1400), with_one(2100))
@PROGRAMS.on(with_one(2100, 1500), with_one(2100, 1600), with_one(2100))
@PROGRAMS.on(with_one(2100), with_one(2100), with_one(2100, 2099))
@PROGRAMS.on(with_one(10), with_one(10), with_one(10))
def three_ways_out(a, b, c):
    how = 0
    for i in range(len(a)):
        if a[i] > 1:
            how = i
            break
        y = b[i] * 2
        if y > 1:
            how = 10000 + i
            break
        if c[i] > 1:
            if c[i] > 2:
                return -1 - i
            how = -5
    return how


@PROGRAMS.on(with_one(2100, 1500), floats(2100), np.zeros(2100))
def skips_and_ends(a, b, out):
    for i in range(len(a)):
        if b[i] < 0:
            continue
        out[i] = b[i]
        if a[i] > 1:
            break


@PROGRAMS.on(with_one(2100, 1500), 1400)
@PROGRAMS.on(with_one(2100, 1300), 1400)
def raises_unless_ended(a, limit):
    s = 0.0
    for i in range(len(a)):
        if a[i] > 1:
            break
        if i >= limit:
            raise ValueError("too far")
        s += a[i]
    return s


@PROGRAMS.on(with_one(2100, 1500), 3000)
@PROGRAMS.on(with_one(2100), 3000)
def leaves_the_array_unless_ended(a, n):
    """Python raises where no element ends the loop, and otherwise does not."""
    for i in range(n):
        if a[i] > 1:
            return i
    return -1


@PROGRAMS.on(with_one(2100, 1500), ints(2100, lo=0, hi=2100))
@PROGRAMS.on(with_one(2100, 1500), np.append(ints(99, lo=0, hi=1500), [5000, 1500]))
@PROGRAMS.on(with_one(2100, 1500), np.append(ints(99, lo=0, hi=1500), [1500, 5000]))
def through_an_index(a, at):
    for i in range(len(at)):
        if a[at[i]] > 1:
            return i
    return -1


@PROGRAMS.on(np.append(np.ones(1500, np.int64), [0, 3]), 7)
@PROGRAMS.on(np.append(np.ones(1500, np.int64), [8, 0, 3]), 7)
@PROGRAMS.on(np.append(np.ones(300, np.int64), [0, 3]), 7)
def divides_unless_ended(a, n):
    for i in range(len(a)):
        if n // int(a[i]) == 0:
            return i
    return -1


@PROGRAMS.on(floats(2100), 100.0)
@PROGRAMS.on(floats(2100), 1e9)
def until_the_total(a, t):
    """The condition depends on what all iterations did: no search."""
    s = 0.0
    for i in range(len(a)):
        s += a[i] * a[i]
        if s > t:
            return i
    return -1


@PROGRAMS.on(floats(2100))
def its_own_marks_end_it(a):
    """The condition reads what an earlier iteration wrote."""
    for i in range(len(a) - 1):
        if a[i] > 100:
            return i
        if a[i] > 1.99:
            a[i + 1] = 1000.0
    return -1


@PROGRAMS.on(50)
@PROGRAMS.on(2000)
def first_square_above(n):
    for i in range(100000):
        if i * i > n:
            return i
    return -1


@PROGRAMS.on(floats(300, 20), 10.0, joined=True)
@PROGRAMS.on(floats(300, 20), 1000.0, joined=True)
def first_long_row(a, t):
    for i in range(a.shape[0]):
        s = 0.0
        for j in range(a.shape[1]):
            s += abs(a[i, j])
        if s > t * 2.2:
            return i, s
    return -1, 0.0


@PROGRAMS.on(floats(1500), floats(1500), 3.9)
def after_a_while_inside(a, b, t):
    for i in range(len(a)):
        x = abs(a[i]) + 1
        while x < abs(b[i]):
            x *= 1.5
        if x > t:
            return i
    return -1


@PROGRAMS.on(with_one(900, 800), with_one(900, 700))
def two_in_a_row(a, b):
    first = -1
    for i in range(len(a)):
        if a[i] > 1:
            first = i
            break
    second = -1
    for i in range(len(b)):
        if b[i] > 1:
            second = i
            break
    return first, second


@PROGRAMS.on(with_one(900, 800), 3)
def again_and_again(a, times):
    where = 0
    for k in range(times):
        for i in range(len(a)):
            if a[i] > k:
                where += i
                break
        a[where % 900] += 1
    return where


@PROGRAMS.on(floats(1100), np.zeros(1100))
def ends_by_the_index(a, b):
    #pragma parallel for
    for i in range(len(a)):
        if i == 1050:
            break
        b[i] = a[i]


@PROGRAMS.on(with_one(2000, 1999))
def pragma_and_return(a):
    #pragma parallel for
    for i in range(len(a)):
        if a[i] > 1:
            return i
    return -2


@PROGRAMS.on(with_one(2000, 1999), np.ones(2000))
def pragma_and_sum(a, b):
    s = 0.0
    #pragma parallel for reduction(+: s)
    for i in range(len(a)):
        if a[i] > 1:
            break
        s += b[i]
    return s


@PROGRAMS.on(with_one(2000, 1999))
def ends_at_once(a):
    x = 0.0
    for i in range(len(a)):
        x = a[i]
        break
    return x


@PROGRAMS.on(with_one(2100, 1500), floats(2100))
@PROGRAMS.on(with_one(5, 0), floats(5))
@PROGRAMS.on(np.zeros(3), floats(3))
def in_place_until(a, b):
    for i in range(len(a)):
        if a[i] > 8:
            break
        a[i] = a[i] * 2 + b[i] * b[i] + 10


@PROGRAMS.on(with_one(2100, 1500))
def writes_where_it_looks_next(a):
    for i in range(len(a) - 1):
        if a[i] > 8:
            return i
        a[i + 1] += a[i] + 0.25
    return -1


@PROGRAMS.on(with_one(40, 30))
def an_array_in_each_iteration(a):
    for i in range(len(a)):
        pair = np.zeros(2)
        pair[0] = a[i]
        pair[1] = i
        if a[i] > 1:
            return pair[0] + pair[1]
    return 0.0


# ---------------------------------------------------------------- while


@PROGRAMS.on(with_one(3000, 2999), 1.0, 3000)
@PROGRAMS.on(with_one(3000, 700), 1.0, 3000)
@PROGRAMS.on(with_one(3000), 1.0, 3000)
@PROGRAMS.on(with_one(3000), 1.0, 0)
@PROGRAMS.on(with_one(3000, 20), 1.0, 5000)
@PROGRAMS.on(with_one(3000), 1.0, 5000)
def while_small(a, t, n):
    i = 0
    while i < n and a[i] <= t:
        i += 1
    return i


@PROGRAMS.on(with_one(3000, 20), np.zeros(3000))
@PROGRAMS.on(with_one(3), np.zeros(3))
@PROGRAMS.on(with_one(0), np.zeros(0))
def while_down(a, b):
    k = len(a) - 1
    while k >= 0 and a[k] < 1:
        b[k] = a[k] + k
        k -= 1
    return k


@PROGRAMS.on(floats(40, 30))
@PROGRAMS.on(floats(1, 1))
@PROGRAMS.on(floats(0, 3), joined=True)
def whiles_in_whiles(a):
    i = 0
    s = 0.0
    while i < len(a):
        j = i % 3
        while j < a.shape[1]:
            a[i, j] *= 0.5
            s += a[i, j]
            j += 2
        i += 1
    return s, i


@PROGRAMS.on(floats(500), floats(500), np.zeros(1000))
@PROGRAMS.on(np.arange(6), np.arange(3), np.zeros(9, np.int64))
def while_merging(a, b, out):
    """Two counters, of which each iteration moves one: no counted loop, but two that follow it are."""
    i = 0
    j = 0
    while i < len(a) and j < len(b):
        if a[i] <= b[j]:
            out[i + j] = a[i]
            i += 1
        else:
            out[i + j] = b[j]
            j += 1
    while i < len(a):
        out[i + j] = a[i]
        i += 1
    while j < len(b):
        out[i + j] = b[j]
        j += 1


@PROGRAMS.on(91)
@PROGRAMS.on(97)
@PROGRAMS.on(2)
def while_dividing(n):
    d = 2
    while d < n:
        if n % d == 0:
            return d
        d += 1
    return n


@PROGRAMS.on(floats(9), 1.5)
@PROGRAMS.on(floats(9), -3.0)
@PROGRAMS.on(floats(9), 3.0)
@PROGRAMS.on(floats(0), 0.0)
@PROGRAMS.on(ints(9, dtype=np.int32), 2)
def first_of_a_generator(a, limit):
    i = 7
    found = next((i for i in range(len(a)) if a[i] > limit), i)
    place = next((k for k, x in enumerate(a) if x > limit), None)
    if place is None:
        return i, found, next((x for x in a if x < limit), None)
    return i + place, found, a[place]


@PROGRAMS.on(floats(4, 5), 0.5)
@PROGRAMS.on(floats(4, 5), 3.0)  # raises in the first row
def first_of_each_row(a, limit):
    out = np.zeros(a.shape[0], np.int64)
    for i in range(a.shape[0]):
        out[i] = next(j for j in range(a.shape[1]) if a[i, j] > limit) + 1
    return out
