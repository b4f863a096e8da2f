"""Running totals, linear recurrences and packing: loops that hand scalars on from iteration to iteration."""

import functools

import numpy as np

from tests.programs.registry import C_ONLY, Programs, bools, complexes, floats, ints

PROGRAMS = Programs()

LENGTHS = (0, 1, 2, 3, 13, 37)


on = functools.partial(PROGRAMS.on, joined=True)
"""A call; what a loop that does not run leaves is Python's number, else it is NumPy's."""


def on_lengths(*makers, targets=("cpu", "threads", "interpret")):
    """A call for each of a few lengths; the makers get the length."""

    def add(fn):
        for n in LENGTHS:
            few = targets if n in (1, 37) else C_ONLY
            on(*(make(n) for make in makers), targets=few)(fn)
        return fn

    return add


@on_lengths(floats, np.zeros)
@on(floats(300), np.zeros(300))
@on(floats(29, dtype=np.float32), np.zeros(29, np.float32))
@on(ints(29, dtype=np.int32), np.zeros(29, np.int32))
@on(ints(29), np.zeros(29, np.int64))
@on(floats(58)[::2], np.zeros(29))
@on(floats(29), np.zeros(58)[::-2])
def running_total(x, s):
    t = x.dtype.type(0)
    for i in range(len(x)):
        t += x[i]
        s[i] = t
    return t


@on_lengths(complexes, lambda n: np.zeros(n, np.complex128))
def running_complex_total(x, s):
    t = 0j
    for i in range(len(x)):
        t += x[i]
        s[i] = t
    return t


@on_lengths(floats, np.zeros)
def running_total_before_it_is_added_to(x, s):
    t = 1.5
    for i in range(len(x)):
        s[i] = t
        t = t + x[i]
        t = t - 0.25
    return t


@on_lengths(lambda n: floats(n + 1), lambda n: floats(n + 1, seed=1))
@on(floats(29, dtype=np.float32), floats(29, dtype=np.float32, seed=1))
@on(ints(29, dtype=np.int16), ints(29, dtype=np.int16, seed=1))
def total_of_the_element_before(x, s):
    for i in range(1, len(x)):
        s[i] = s[i - 1] + x[i]


@on_lengths(lambda n: floats(n + 1))
@on(ints(29))
def total_in_place(s):
    for i in range(1, len(s)):
        s[i] += s[i - 1]


@on_lengths(lambda n: floats(n + 1), lambda n: floats(n + 1, seed=1))
def total_backwards(x, s):
    for i in range(len(x) - 2, -1, -1):
        s[i] = s[i + 1] + x[i]


@on_lengths(lambda n: floats(2 * n + 2), lambda n: floats(2 * n + 2, seed=1))
def total_of_every_second(x, s):
    for i in range(2, len(x), 2):
        s[i] = s[i - 2] + x[i]
    for i in range(len(x) - 3, 0, -2):
        x[i] = x[i + 2] * 0.5 + s[i]


@on_lengths(lambda n: floats(n + 1), lambda n: np.zeros(n + 1), lambda n: np.zeros(n + 1))
@on(ints(29), np.zeros(29, np.int64), np.zeros(29, np.int64))
@on(np.array([1.0, np.nan, 3.0, -np.inf, 2.0, np.inf] * 3), np.zeros(18), np.zeros(18))
def running_extremes(x, low, high):
    a = x[0]
    b = x[0]
    for i in range(len(x)):
        a = min(a, x[i])
        if x[i] > b:
            b = x[i]
        low[i] = a
        high[i] = b
    return b


@on_lengths(bools, lambda n: np.zeros(n, bool), lambda n: np.zeros(n, bool))
def all_and_any_up_to_here(x, everyone, someone):
    a = True
    b = False
    for i in range(len(x)):
        a = a and x[i]
        b = b or x[i]
        everyone[i] = a
        someone[i] = b


@on_lengths(lambda n: ints(n, lo=0, hi=255), lambda n: np.zeros(n, np.int64))
def running_parity(x, s):
    t = 5
    for i in range(len(x)):
        t ^= x[i]
        s[i] = t
    return t


@on_lengths(lambda n: 1 + 0.1 * floats(n), np.zeros)
@on(ints(29, lo=-2, hi=3), np.zeros(29, np.int64))
def running_product(x, s):
    t = x.dtype.type(1)
    for i in range(len(x)):
        t *= x[i]
        s[i] = t
    return t


# ---------------------------------------------------------------- linear recurrences


@on_lengths(floats, lambda n: floats(n, seed=1), np.zeros)
@on(floats(29) / 2.01, floats(29, seed=1), np.zeros(29))
@on(ints(29), ints(29, seed=1), np.zeros(29, np.int64))
@on(ints(29, dtype=np.int8), ints(29, dtype=np.int8, seed=1), np.zeros(29, np.int8))
def linear(a, b, s):
    y = a.dtype.type(3)
    for i in range(len(a)):
        y = a[i] * y + b[i]
        s[i] = y
    return y


@on_lengths(floats, np.zeros, lambda n: 0.25)
@on(floats(29), np.zeros(29), 3.5)
@on(floats(29), np.zeros(29), -1.0)
@on(np.array([1.0, np.inf, 3.0, 2.0] * 6), np.zeros(24), 0.5)
@on(np.array([1.0, 2.0, 3.0, np.nan] * 6), np.zeros(24), 0.5)
@on(floats(29, dtype=np.float32), np.zeros(29, np.float32), np.float32(0.25))
def smoothed(x, s, alpha):
    y = x.dtype.type(0)
    for i in range(len(x)):
        y = y + alpha * (x[i] - y)
        s[i] = y
    return y


@on_lengths(lambda n: floats(n + 1), lambda n: floats(n + 1, seed=1), lambda n: floats(n + 1, seed=2) / 2)
def linear_in_an_array(s, x, a):
    for i in range(1, len(s)):
        s[i] = x[i] - s[i - 1] * a[i]


@on(np.full(40, 2.0), np.full(40, -1.0), np.zeros(40))
def stays_where_it_is(a, b, s):
    y = 1.0  # the fixed point of y -> 2 y - 1: put together in another order, all digits would be lost
    for i in range(len(a)):
        y = a[i] * y + b[i]
        s[i] = y
    return y


@on_lengths(lambda n: ints(n, lo=-3, hi=4), lambda n: np.zeros(n, np.int64))
def length_of_the_row(x, s):
    k = 0
    for i in range(len(x)):
        if x[i] < 0:
            k = 0
        else:
            k += 1
        s[i] = k
    return k


@on_lengths(lambda n: ints(n, lo=-3, hi=4), floats, np.zeros)
def restarts_where_negative(x, a, s):
    t = 0.0
    for i in range(len(x)):
        if x[i] < 0:
            t = 0.0
        t += a[i]
        s[i] = t
    return t


@on_lengths(lambda n: n)
def stays_as_it_is(n):
    s = np.float32(0.5)
    t = 2.0
    for _ in range(n):
        s = s  # noqa: PLW0127  (a random program did this)
        t = t  # noqa: PLW0127
    return s, t


@on_lengths(floats, np.zeros, np.zeros)
def odd_ways_to_write_steps(x, s, q):
    t = 1.0
    y = 1.0
    for i in range(len(x)):
        t = x[i] - (3.0 - t)
        t = t  # noqa: PLW0127
        y = -(y * x[i]) / 2.5
        s[i] = t
        q[i] = y
    return t, y


@on_lengths(floats, np.zeros)
def steps_when_it_is_small(x, s):
    t = 0.0
    for i in range(len(x)):
        if t < 2.0:
            t += x[i]
        s[i] = t
    return t


@on_lengths(floats, np.zeros, np.zeros)
def one_scan_feeds_another(x, s, t):
    a = 0.0
    b = 0.0
    for i in range(len(x)):
        a += x[i]
        b += a
        s[i] = a
        t[i] = b
    return b


@on_lengths(floats, np.zeros)
def writes_before_it_reads(x, s):
    t = 0.0
    for i in range(len(x)):
        x[i] = x[i] * 2.0
        t += x[i]
        s[i] = t
    return t


@on(floats(7, 11), np.zeros((7, 11)))
@on(floats(11, 7), np.zeros((11, 7)))
def totals_of_rows(x, s):
    for i in range(x.shape[0]):
        t = 0.0
        for j in range(x.shape[1]):
            t += x[i, j]
            s[i, j] = t


@on(floats(7, 11), np.zeros((7, 11)))
def totals_row_after_row(x, s):
    t = 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            t += x[i, j]
            s[i, j] = t
    return t


@on(floats(13, 11), floats(11, seed=1), np.zeros(13))
def totals_of_products(x, v, s):
    t = 0.0
    for i in range(x.shape[0]):
        e = 0.0
        for j in range(x.shape[1]):
            e += x[i, j] * v[j]
        t += e
        s[i] = t
    return t


@on(floats(12, 17))
def sums_of_the_upper_left(a):
    for i in range(1, a.shape[0]):
        for j in range(1, a.shape[1]):
            a[i, j] = a[i - 1, j] + a[i, j - 1] * 0.5


# ---------------------------------------------------------------- packing


@on_lengths(floats, np.zeros)
@on(floats(29, dtype=np.float32), np.zeros(29, np.float32))
@on(floats(40), np.zeros(9))
def packed(x, out):
    k = 0
    for i in range(len(x)):
        if x[i] > 0.5:
            out[k] = x[i]
            k += 1
    return k


@on_lengths(floats, lambda n: np.zeros(n + 1), lambda n: 1)
@on(floats(29), np.zeros(29), -5)
def packed_after_the_step(x, out, k):
    for i in range(len(x)):
        if x[i] > 0.0:
            k += 1
            out[k - 1] = x[i]
    return k


@on_lengths(floats, lambda n: np.zeros(n + 1))
def packed_twice_in_one_place(x, out):
    k = 0
    for i in range(len(x)):
        out[k] = x[i] * 10
        if x[i] > 0.0:
            out[k] = x[i]
            k += 1
    return k


@on_lengths(floats, lambda n: np.zeros(2 * n), lambda n: np.zeros(2 * n, np.int64))
def packed_pairs(x, out, where):
    k = 0
    for i in range(len(x)):
        if x[i] > 0.0:
            out[k] = x[i]
            out[k + 1] = -x[i]
            where[k] = i
            where[k + 1] = -i
            k += 2
        elif x[i] > -1.0:
            out[k] = 7.0
            k += 1
    return k


@on_lengths(floats, np.zeros, np.zeros)
def split(x, b, c):
    j = 0
    k = 0
    for i in range(len(x)):
        if x[i] > 0.0:
            b[j] = x[i]
            j += 1
        else:
            c[k] = x[i]
            k += 1
    return j, k


@on_lengths(floats, lambda n: floats(n, seed=1), np.zeros)
def unpacked(x, values, out):
    k = 0
    for i in range(len(x)):
        if x[i] > 0.0:
            out[i] = values[k]
            k += 1
        else:
            out[i] = -1.0
    return k


@on_lengths(floats, lambda n: np.zeros((n, 2)))
def packed_rows(x, out):
    k = 0
    for i in range(len(x)):
        if x[i] > 0.0:
            out[k, 0] = x[i]
            out[k, 1] = x[i] * x[i]
            k += 1
    return k


@on_lengths(floats, np.zeros)
def reads_what_was_packed(x, out):
    k = 0
    for i in range(len(x)):
        if x[i] > 0.0:
            out[k] = x[i]
            k += 1
            if k > 1:
                out[k - 1] += out[k - 2]
    return k


@on_lengths(floats, np.zeros)
def largest_of_the_running_total(x, s):
    t = 0.0
    best = -10.0
    for i in range(len(x)):
        t += x[i]
        s[i] = t
        best = max(best, t)
    return best, t


@on_lengths(floats, np.zeros)
def asked_for(x, s):
    t = 0.0
    # pragma parallel for
    for i in range(len(x)):
        t += x[i]
        s[i] = t
    return t


@on_lengths(floats, np.zeros)
def asked_for_where_long(x, s):
    k = 0
    # pragma parallel for if(len(x) > 5)
    for i in range(len(x)):
        if x[i] > 0.0:
            s[k] = x[i]
            k += 1
    return k


@PROGRAMS.on(complexes(40), complexes(40, seed=3))
@PROGRAMS.on(complexes(0), complexes(0))
def linear_recurrence_of_complex_numbers(a, b):
    for i in range(1, len(a)):
        a[i] = a[i - 1] * 0.5 + b[i]
