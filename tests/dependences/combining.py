"""Loops that combine: reductions, scans, recurrences, searches, packing."""

# ruff: noqa: SIM110, PLR1730

import numpy as np

from tests.dependences.corpus import Corpus

LOOPS = Corpus()

# ---------------------------------------------------------------- reductions


@LOOPS.add("reduction", "reduction")
def total(a):
    s = np.float32(0)
    for i in range(len(a)):
        s += a[i]
    return s


@LOOPS.add("reduction", "reduction")
def dot(a, b):
    s = np.float32(0)
    for i in range(len(a)):
        s += a[i] * b[i]
    return s


@LOOPS.add("reduction", "reduction")
def product(a):
    s = np.float32(1)
    for i in range(len(a)):
        s *= a[i] * 0.001 + 1.0
    return s


@LOOPS.add("reduction", "reduction")
def largest(a):
    x = a[0]
    for i in range(len(a)):
        if a[i] > x:
            x = a[i]
    return x


@LOOPS.add("reduction", "reduction")
def smallest_by_min(a):
    x = a[0]
    for i in range(1, len(a)):
        x = min(x, a[i])
    return x


@LOOPS.add("reduction", "reduction")
def total_of_positive(a):
    s = np.float32(0)
    for i in range(len(a)):
        if a[i] > 0.0:
            s += a[i]
    return s


@LOOPS.add("reduction", "reduction")
def how_many(a):
    count = 0
    for i in range(len(a)):
        if a[i] > 0.25:
            count += 1
    return count


@LOOPS.add("reduction", "reduction")
def two_at_once(a, b):
    s = np.float32(0)
    t = np.float32(0)
    for i in range(len(a)):
        s += a[i] * b[i]
        t += a[i] * a[i]
    return s, t


@LOOPS.add("reduction", "reduction")
def every_fourth(a):
    s = np.float32(0)
    for i in range(0, len(a), 4):
        s += a[i]
    return s


@LOOPS.add("reduction", "reduction")
def largest_magnitude(a):
    x = np.float32(0)
    for i in range(len(a)):
        if abs(a[i]) > x:
            x = abs(a[i])
    return x


@LOOPS.add("reduction", "reduction")
def any_above(a):
    found = False
    for i in range(len(a)):
        found = found or a[i] > 2.0
    return found


@LOOPS.add("reduction", "reduction")
def checksum(perm):
    x = 0
    for i in range(len(perm)):
        x ^= perm[i] * 2654435761
    return x


@LOOPS.add("reduction", "reduction")
def into_one_element(a, last):
    for i in range(len(a)):
        last[0] += a[i]


@LOOPS.add("reduction", "reduction")
def largest_of_square(aa):
    x = aa[0, 0]
    for i in range(aa.shape[0]):
        for j in range(aa.shape[1]):
            if aa[i, j] > x:
                x = aa[i, j]
    return x


@LOOPS.add("arg reduction", "reduction")
def where_largest(a):
    best = a[0]
    where = 0
    for i in range(1, len(a)):
        if a[i] > best:
            best = a[i]
            where = i
    return best, where


@LOOPS.add("arg reduction", "reduction")
def where_smallest_last(a):
    best = a[0]
    where = 0
    for i in range(len(a)):
        if a[i] <= best:
            best = a[i]
            where = i
    return where


@LOOPS.add("arg reduction", "reduction")
def where_largest_magnitude(a):
    best = abs(a[0])
    where = 0
    for i in range(len(a)):
        if abs(a[i]) > best:
            best = abs(a[i])
            where = i
    return best, where


@LOOPS.add("arg reduction", "reduction")
def where_in_square(aa):
    best = aa[0, 0]
    row = 0
    column = 0
    for i in range(aa.shape[0]):
        for j in range(aa.shape[1]):
            if aa[i, j] > best:
                best = aa[i, j]
                row = i
                column = j
    return best, row, column


@LOOPS.add("last value", "reduction")
def last_positive(a):
    x = np.float32(-1)
    for i in range(len(a)):
        if a[i] > 0.0:
            x = a[i]
    return x


@LOOPS.add("last value", "reduction")
def where_last_negative(a):
    where = -1
    for i in range(len(a)):
        if a[i] < 0.0:
            where = i
    return where


# ---------------------------------------------------------------- scans and recurrences


@LOOPS.add("scan", "scan", "parallel scan")
def running_scalar(a, b):
    s = np.float32(0)
    for i in range(len(a)):
        s += a[i]
        b[i] = s


@LOOPS.add("scan", "scan", "parallel scan")
def running_largest(a, b):
    x = a[0]
    for i in range(len(a)):
        x = max(x, a[i])
        b[i] = x


@LOOPS.add("scan", "scan", "parallel scan, linear")
def first_order(a, b, c):
    for i in range(1, len(a)):
        a[i] = a[i - 1] * b[i] + c[i]


@LOOPS.add("scan", "scan", "parallel scan, linear")
def smoothed(a, b, alpha):
    s = a[0]
    for i in range(len(a)):
        s = alpha * a[i] + (1 - alpha) * s
        b[i] = s


@LOOPS.add("recurrence", "carried")
def second_order(a, b):
    for i in range(2, len(a)):
        a[i] = a[i - 1] * 0.5 - a[i - 2] * 0.25 + b[i]


@LOOPS.add("recurrence", "carried")
def logistic(a):
    x = np.float32(0.3)
    for i in range(len(a)):
        x = np.float32(3.1) * x * (np.float32(1) - x)
        a[i] = x


@LOOPS.add("recurrence", "scan", "parallel scan, linear")
def running_mean(a):
    mean = np.float32(0)
    for i in range(len(a)):
        mean = mean + (a[i] - mean) / np.float32(i + 1)
    return mean


@LOOPS.add("recurrence", "carried")
def smoothing_in_place(a):
    for i in range(1, len(a) - 1):
        a[i] = (a[i - 1] + a[i] + a[i + 1]) * 0.333


# ---------------------------------------------------------------- searches


@LOOPS.add("search", "search", "blocks of iterations")
def first_above(a):
    found = -1
    for i in range(len(a)):
        if a[i] > 2.0:
            found = i
            break
    return found


@LOOPS.add("search", "search", "blocks of iterations")
def is_there(a, alpha):
    for i in range(len(a)):
        if a[i] == alpha:
            return True
    return False


@LOOPS.add("search", "carried")
def until_total(a, alpha):
    s = np.float32(0)
    stop = len(a)
    for i in range(len(a)):
        s += a[i] * a[i]
        if s > alpha * 1000:
            stop = i
            break
    return stop


# ---------------------------------------------------------------- packing


@LOOPS.add("packing", "packing", "a scan of the conditions")
def pack_positive(a, b):
    j = 0
    for i in range(len(b)):
        if b[i] > 0.0:
            a[j] = b[i]
            j += 1
    return j


@LOOPS.add("packing", "packing", "a scan of the conditions")
def unpack_positive(a, b, c):
    j = 0
    for i in range(len(b)):
        if b[i] > 0.0:
            a[i] = c[j]
            j += 1


@LOOPS.add("packing", "packing", "a scan of the conditions")
def indices_of_negative(a, out):
    j = 0
    for i in range(len(a)):
        if a[i] < 0.0:
            out[j] = i
            j += 1
    return j


@LOOPS.add("packing", "packing", "a scan of the conditions")
def split_in_two(a, b, c):
    j = 0
    k = 0
    for i in range(len(a)):
        if a[i] > 0.0:
            b[j] = a[i]
            j += 1
        else:
            c[k] = a[i]
            k += 1
    return j


# ---------------------------------------------------------------- while loops


@LOOPS.add("while", "after change")
def counted_while(a, b):
    i = 0
    while i < len(a):
        a[i] = b[i] * 2
        i += 1


@LOOPS.add("while", "search")
def while_not_above(a, alpha):
    i = 0
    while i < len(a) and a[i] <= alpha:
        i += 1
    return i


@LOOPS.add("while", "search")
def copied_until_negative(a, b):
    for i in range(len(a)):
        if a[i] < -0.9:
            break
        b[i] = a[i] * 2


@LOOPS.add("while", "reduction")
def total_down(a):
    s = np.float32(0)
    i = len(a) - 1
    while i >= 0:
        s += a[i]
        i -= 1
    return s
