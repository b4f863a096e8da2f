"""Scalars that iterations combine into, private scalars, last values."""

import numpy as np

from tests.programs.registry import C_ONLY, Programs, bools, floats, ints

PROGRAMS = Programs()


@PROGRAMS.on(floats(9))
@PROGRAMS.on(floats(0), joined=True)
@PROGRAMS.on(floats(1))
@PROGRAMS.on(ints(9))
@PROGRAMS.on(ints(9, dtype=np.int8, lo=-128, hi=128))
@PROGRAMS.on(ints(9, dtype=np.uint16, lo=0, hi=65536))
@PROGRAMS.on(floats(9, dtype=np.float32))
@PROGRAMS.on(floats(50_000), targets=C_ONLY)
def total(a):
    s = 0
    #pragma parallel for
    for i in range(len(a)):
        s += a[i]
    return s


@PROGRAMS.on(floats(9), 10.0)
@PROGRAMS.on(floats(9), -3)
@PROGRAMS.on(ints(9), 7)
@PROGRAMS.on(floats(9, dtype=np.float32), np.float32(0.5))
def product_from(a, start):
    s = start
    #pragma parallel for reduction(*:s)
    for i in range(len(a)):
        s *= a[i]
    return s


@PROGRAMS.on(floats(9))
@PROGRAMS.on(ints(9, dtype=np.int32))
@PROGRAMS.on(np.array([1.0, np.nan, -3.0, 5.0]))
def extremes(a):
    lo = a[0]
    hi = a[0]
    #pragma parallel for
    for i in range(1, len(a)):
        lo = min(lo, a[i])
        hi = max(hi, a[i])
    return lo, hi


@PROGRAMS.on(ints(9))
@PROGRAMS.on(ints(9, dtype=np.uint8, lo=0, hi=256))
@PROGRAMS.on(ints(1, dtype=np.int16))
def extremes_of_negated_comparisons(a):
    lo = hi = a[0]
    #pragma parallel for
    for i in range(1, len(a)):
        if a[i] <= hi:
            pass
        else:
            hi = a[i]
        if not lo <= a[i]:
            lo = a[i]
    return lo, hi


@PROGRAMS.on(floats(9), 0.0)
@PROGRAMS.on(np.array([1.0, np.nan, -3.0, 5.0]), 100.0)
@PROGRAMS.on(np.array([1.0, 2.0]), np.nan)
@PROGRAMS.on(floats(40_000), -1.0, targets=C_ONLY)
def numpy_extremes(a, start):
    lo = start
    hi = start
    #pragma parallel for
    for i in range(len(a)):
        lo = np.minimum(lo, a[i])
        hi = np.maximum(hi, a[i])
    return lo, hi


@PROGRAMS.on(ints(9, lo=0, hi=256))
@PROGRAMS.on(ints(9, lo=0, hi=256, dtype=np.uint8))
def bit_reductions(a):
    x = 255
    y = 0
    z = 3
    #pragma parallel for
    for i in range(len(a)):
        x &= a[i]
        y |= a[i]
        z ^= a[i]
    return x, y, z


@PROGRAMS.on(bools(9))
@PROGRAMS.on(np.ones(5, bool))
@PROGRAMS.on(np.zeros(5, bool))
def logical_reductions(a):
    every = True
    some = False
    #pragma parallel for
    for i in range(len(a)):
        every = every and a[i]
        some = some or a[i]
    return bool(every), bool(some)


@PROGRAMS.on(floats(12))
@PROGRAMS.on(floats(30_000), targets=C_ONLY)
def conditional(a):
    positive = 0
    s = 0.0
    big = -np.inf
    #pragma parallel for
    for i in range(len(a)):
        if a[i] > 0:
            positive += 1
            s += a[i]
        if a[i] > big:
            big = a[i]
    return positive, s, big


@PROGRAMS.on(floats(12))
def several_terms(a):
    s = 1.5
    #pragma parallel for
    for i in range(len(a)):
        s = s + a[i] * 2 - i
    return s


@PROGRAMS.on(floats(12))
def subtracting(a):
    s = 100.0
    #pragma parallel for
    for i in range(12):
        s -= a[i]
    return s


@PROGRAMS.on(floats(12))
def ternary_reduction(a):
    s = 0.0
    n = 0
    #pragma parallel for
    for i in range(12):
        s = s + a[i] if a[i] < 1 else s
        n += 1 if a[i] < 1 else 0
    return s, n


@PROGRAMS.on(floats(4, 5))
def nested_total(a):
    s = 0.0
    #pragma parallel for
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            s += a[i, j]
    return s


@PROGRAMS.on(floats(4, 5))
def collapsed_total(a):
    s = 0.0
    #pragma parallel for collapse(2) reduction(+:s)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            s += a[i, j]
    return s


@PROGRAMS.on(floats(4, 5), np.zeros(4))
def norm_of_rows(a, out):
    biggest = 0.0
    #pragma parallel for
    for i in range(4):
        s = 0.0
        for j in range(5):
            s += a[i, j] ** 2
        out[i] = np.sqrt(s)
        biggest = max(biggest, out[i])
    return biggest


@PROGRAMS.on(floats(8), floats(8, seed=3))
def dot_and_norms(x, y):
    xx = yy = xy = 0.0
    #pragma parallel for
    for i in range(8):
        xx += x[i] * x[i]
        yy += y[i] * y[i]
        xy += x[i] * y[i]
    return xy / np.sqrt(xx * yy)


@PROGRAMS.on(floats(8), np.zeros(8))
@PROGRAMS.on(floats(0), np.zeros(0), joined=True)
def last_value(a, b):
    t = -1.0
    #pragma parallel for
    for i in range(a.shape[0]):
        t = a[i] * 2
        b[i] = t
    return t


@PROGRAMS.on(floats(8), np.zeros(8))
def last_of_several(a, b):
    x = y = 0.0
    #pragma parallel for
    for i in range(7, -1, -1):
        x = a[i]
        y = x + i
        b[i] = y
    return x, y


@PROGRAMS.on(floats(8))
def argmax(a):
    best = 0
    for i in range(1, 8):
        if a[i] > a[best]:
            best = i
    return best


@PROGRAMS.on(ints(9), joined=True)
@PROGRAMS.on(ints(9, dtype=np.int8), joined=True)
@PROGRAMS.on(ints(0), joined=True)
@PROGRAMS.on(floats(9, dtype=np.float32), joined=True)
def least_in_a_wider_type(a):
    """The branch keeps the element in its own type first."""
    least, place = np.inf, -1
    #pragma parallel for
    for i in range(len(a)):
        if a[i] < least:
            least = a[i]
            place = i
    return least, place


@PROGRAMS.on(floats(8), 100.0)
@PROGRAMS.on(floats(8), 0.0)
def first_above(a, limit):
    found = -1
    for i in range(8):
        if a[i] > limit:
            found = i
            break
    return found


@PROGRAMS.on(floats(6), np.zeros(6))
def private_in_branches(a, b):
    #pragma parallel for
    for i in range(6):
        if a[i] > 0:
            t = a[i]
        else:
            t = -1.0
        b[i] = t


@PROGRAMS.on(floats(8))
def float_into_int_start(a):
    s = 0
    for i in range(8):
        if a[i] > 0:
            s += a[i]
    return s


@PROGRAMS.on(floats(8), ints(8))
def mixed_types_per_iteration(a, b):
    s = 1
    for i in range(8):
        s = s + b[i]
        if i == 5:
            s = s + a[i]
    return s


@PROGRAMS.on(ints(12))
def mean_and_variance(a):
    s = 0.0
    n = len(a)
    #pragma parallel for
    for i in range(n):
        s += a[i]
    mean = s / n
    v = 0.0
    #pragma parallel for
    for i in range(n):
        v += (a[i] - mean) ** 2
    return mean, v / n


@PROGRAMS.on(floats(10))
def running_maximum(a):
    m = a[0]
    for i in range(1, 10):
        m = m if m > a[i] else a[i]
        a[i] = m
    return m


@PROGRAMS.on(floats(7, dtype=np.float32))
def float32_accumulates_in_python_float(a):
    s = 0.0
    #pragma parallel for
    for i in range(7):
        s += a[i]
    return s


@PROGRAMS.on(3, 4)
@PROGRAMS.on(0, 4)
def count_without_arrays(n, m):
    c = 0
    #pragma parallel for
    for i in range(n):
        for j in range(m):
            c += i * j
    return c
