"""Elements of arrays that iterations combine into, or that each iteration uses for itself."""

import numpy as np

from tests.programs.registry import C_ONLY, Programs, complexes, floats, ints

PROGRAMS = Programs()


@PROGRAMS.on(floats(9), floats(1))
@PROGRAMS.on(floats(0), floats(1))
@PROGRAMS.on(floats(0), floats(0))
@PROGRAMS.on(floats(1), floats(0))
@PROGRAMS.on(ints(9), ints(1))
@PROGRAMS.on(ints(9, dtype=np.int8, lo=-128, hi=128), ints(3, dtype=np.int8))
@PROGRAMS.on(floats(9, dtype=np.float32), floats(2, dtype=np.float32))
@PROGRAMS.on(complexes(9), complexes(1))
@PROGRAMS.on(floats(50_021), floats(1), targets=C_ONLY)
def into_first(x, t):
    for i in range(len(x)):
        t[0] += x[i]


@PROGRAMS.on(floats(9), floats(9), floats(1))
@PROGRAMS.on(floats(0), floats(0), floats(0))
@PROGRAMS.on(floats(1), floats(1), floats(1))
@PROGRAMS.on(ints(9, dtype=np.int32), ints(9, dtype=np.int32), ints(1, dtype=np.int32))
@PROGRAMS.on(complexes(9), complexes(9), complexes(1))
def by_way_of_a_cell(x, y, t):
    #pragma parallel for
    for i in range(len(x)):
        t[0] = x[i]
        y[i] = t[0] + x[i]


@PROGRAMS.on(floats(5, 7), floats(1), 0)
@PROGRAMS.on(floats(5, 7), floats(3), 2)
@PROGRAMS.on(floats(5, 7), floats(3), -1)
@PROGRAMS.on(floats(5, 7), floats(3), 3)
@PROGRAMS.on(floats(5, 0), floats(3), 3)
@PROGRAMS.on(floats(0, 5), floats(0), 3)
def square_into_one(x, t, k):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            t[k] += x[i, j]


@PROGRAMS.on(floats(7, 5), floats(5, 3), floats(7, 3))
@PROGRAMS.on(floats(7, 0), floats(0, 3), floats(7, 3))
@PROGRAMS.on(floats(14, 10)[::2, ::-2], floats(5, 3), floats(3, 7).T)
@PROGRAMS.on(ints(7, 5), ints(5, 3), ints(7, 3))
@PROGRAMS.on(complexes(7, 5), complexes(5, 3), complexes(7, 3))
def product_into(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


@PROGRAMS.on(floats(7), floats(9), np.array([0, 3, 3, 9]))
@PROGRAMS.on(floats(7), floats(9), np.array([0, 3, 3, 19]))
def rows_of_unequal_length(y, x, start):
    for i in range(3):
        for k in range(start[i], start[i + 1]):
            y[i] += x[k]


@PROGRAMS.on(floats(8), floats(3), 1)
@PROGRAMS.on(floats(8), floats(3), 3)
@PROGRAMS.on(floats(8), floats(3), -3)
@PROGRAMS.on(floats(0), floats(3), 3)
def where_the_index_may_be_wrong(x, t, k):
    for i in range(len(x)):
        t[k] += x[i]
        x[i] = 0


@PROGRAMS.on(floats(9), floats(9), 3)
@PROGRAMS.on(floats(9), floats(9), 11)
def what_is_written_before_a_fault_shows(x, t, n):
    for i in range(n):
        t[0] = x[i]
        t[1] += t[0]


@PROGRAMS.on(floats(9), np.array([1.0, np.nan]))
@PROGRAMS.on(np.array([1.0, np.nan, 3.0]), floats(2))
@PROGRAMS.on(-np.zeros(4), -np.zeros(2))
def extremes_of_elements(x, t):
    for i in range(len(x) - 1, -1, -1):
        t[0] = max(t[0], x[i])
        t[1] = np.minimum(t[1], x[i])


KEYS = ints(50, lo=0, hi=7)


@PROGRAMS.on(np.zeros(7, np.int64), KEYS)
@PROGRAMS.on(np.zeros(7, np.int32), KEYS)
@PROGRAMS.on(np.zeros(7, np.int8), KEYS)
@PROGRAMS.on(np.zeros(7), KEYS)
@PROGRAMS.on(np.zeros(7, np.float32), KEYS)
@PROGRAMS.on(np.zeros(7, np.complex128), KEYS)
@PROGRAMS.on(np.zeros(14, np.int64)[::-2], KEYS)
@PROGRAMS.on(np.zeros(7), KEYS[:0])
@PROGRAMS.on(np.zeros(7), KEYS[:1])
@PROGRAMS.on(np.zeros(0), KEYS[:0])
@PROGRAMS.on(np.zeros(7), np.array([1, 2, 8]))
@PROGRAMS.on(np.zeros(7), np.array([1, -2, -7]))
@PROGRAMS.on(np.zeros(7), ints(100_003, lo=0, hi=7), targets=C_ONLY)
def histogram(h, key):
    for i in range(len(key)):
        h[key[i]] += 1


@PROGRAMS.on(np.zeros(7, np.int64), KEYS.reshape(5, 10), ints(50).reshape(5, 10))
@PROGRAMS.on(np.zeros(7), KEYS.reshape(5, 10), floats(50).reshape(5, 10))
@PROGRAMS.on(np.zeros(7), KEYS.reshape(5, 10)[:0], floats(50).reshape(5, 10))
@PROGRAMS.on(np.zeros(7), np.full((40, 10), 7), floats(400).reshape(40, 10))
def weighted_histogram_of_an_image(h, image, w):
    for i in range(image.shape[0]):
        for j in range(image.shape[1]):
            h[image[i, j]] += w[i, j]


@PROGRAMS.on(np.zeros(7), KEYS, floats(50))
@PROGRAMS.on(np.zeros(7, np.int64), KEYS, ints(50))
@PROGRAMS.on(np.zeros(7), np.array([1, 2, 8]), floats(3))
def histogram_of_views(h, key, w):
    keys, weights = key[1:], w[1:]
    for i in range(keys.shape[0]):
        h[keys[i]] += weights[i]


@PROGRAMS.on(np.zeros(7, np.int64), KEYS.reshape(5, 10))
def histogram_of_an_image_under_a_pragma(h, image):
    #pragma parallel for
    for i in range(image.shape[0]):
        for j in range(image.shape[1]):
            h[image[i, j]] += 1


@PROGRAMS.on(np.zeros(7), KEYS, floats(50))
@PROGRAMS.on(np.zeros(7, np.complex64), KEYS, complexes(50, dtype=np.complex64))
def weighted_histogram_under_a_pragma(h, key, w):
    #pragma parallel for reduction(+: h)
    for i in range(len(key)):
        h[key[i]] += w[i]


@PROGRAMS.on(floats(7), floats(7), ints(7), KEYS, floats(50), ints(50))
@PROGRAMS.on(np.full(7, np.nan), floats(7), ints(7), KEYS, np.full(50, np.nan), ints(50))
@PROGRAMS.on(
    floats(7, dtype=np.float32), floats(7, dtype=np.float32), ints(7, dtype=np.uint8), KEYS,
    floats(50, dtype=np.float32), ints(50, dtype=np.uint8),
)  # fmt: skip
def extremes_of_groups(low, high, bits, key, x, y):
    for i in range(len(key)):
        low[key[i]] = min(low[key[i]], x[i])
        high[key[i]] = np.maximum(high[key[i]], x[i])
        bits[key[i]] ^= y[i]


@PROGRAMS.on(ints(7), ints(7), ints(7), KEYS, ints(50))
@PROGRAMS.on(*(ints(7, dtype=np.int32, seed=s) for s in range(3)), KEYS, ints(50, dtype=np.int32))
@PROGRAMS.on(*(ints(7, dtype=np.uint16, seed=s) for s in range(3)), KEYS, ints(50, dtype=np.uint16))
def other_operators_of_groups(a, b, c, key, x):
    #pragma parallel for
    for i in range(len(key) - 1, -1, -1):
        a[key[i]] &= x[i]
        b[key[i]] |= x[i]
        c[key[i]] *= x[i]


@PROGRAMS.on(floats(3, 5), ints(50, lo=0, hi=3), floats(50, 5))
@PROGRAMS.on(floats(5, 3).T, ints(50, lo=0, hi=3), floats(50, 5))
@PROGRAMS.on(floats(6, 10)[::2, ::-2], ints(50, lo=0, hi=3), floats(50, 5))
@PROGRAMS.on(floats(3, 0), ints(50, lo=0, hi=3), floats(50, 0))
@PROGRAMS.on(floats(3, 1), ints(1, lo=0, hi=3), floats(1, 1))
@PROGRAMS.on(ints(3, 5), ints(50, lo=0, hi=3), ints(50, 5))
@PROGRAMS.on(complexes(3, 5), ints(50, lo=0, hi=3), complexes(50, 5))
def sums_of_groups(out, label, x):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[label[i], j] += x[i, j]


@PROGRAMS.on(floats(5), floats(50, 5))
@PROGRAMS.on(floats(5), floats(0, 5))
@PROGRAMS.on(floats(0), floats(5, 0))
@PROGRAMS.on(floats(10, dtype=np.float32)[::-2], floats(50, 5, dtype=np.float32))
@PROGRAMS.on(complexes(5), complexes(50, 5))
@PROGRAMS.on(ints(5), ints(50, 5))
@PROGRAMS.on(floats(201), floats(300, 201), targets=C_ONLY)
@PROGRAMS.on(floats(60_000), floats(2, 60_000), targets=C_ONLY)
def column_sums(out, a):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[j] += a[i, j]


@PROGRAMS.on(floats(5), floats(50, 5))
@PROGRAMS.on(floats(5), floats(50, 0))
def column_sums_of_a_collapsed_nest(out, a):
    #pragma parallel for collapse(2)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[j] += a[i, j]


@PROGRAMS.on(floats(9), floats(2), floats(40))
def sums_of_two_arrays_and_a_scalar(out, two, x):
    s = 0.0
    #pragma parallel for schedule(dynamic, 3)
    for i in range(len(x)):
        out[i % 9] += x[i]
        two[i // 20] += x[i] * x[i]
        s += x[i]
    return s


@PROGRAMS.on(floats(20), floats(10))
def not_only_combined(h, x):
    for i in range(len(x)):
        h[i % 3] += x[i]
        x[i] = h[10 + i]


@PROGRAMS.on(floats(6), floats(4, 30), ints(4, lo=0, hi=6))
def sums_within_sums(out, x, key):
    for i in range(4):
        for j in range(30):
            out[key[i]] += x[i, j]


@PROGRAMS.on(np.zeros(7), KEYS, floats(50))
@PROGRAMS.on(np.zeros(7, np.int64), KEYS, ints(50))
@PROGRAMS.on(np.zeros(7, np.complex128), KEYS, complexes(50))
@PROGRAMS.on(np.zeros(7), KEYS[:0], floats(0), joined=True)
@PROGRAMS.on(np.zeros(7), np.array([1, 2, 8]), floats(3))
def atomic_histogram(h, key, w):
    total = 0.0
    #pragma parallel for
    for i in range(len(key)):
        total += abs(w[i])
        #pragma atomic
        h[key[i]] += w[i]
    return total


def _rows(columns, dtype=np.float64):
    return np.arange(1.0, 1 + 7 * columns).reshape(7, columns).astype(dtype)


@PROGRAMS.on(_rows(1))
@PROGRAMS.on(_rows(2))
@PROGRAMS.on(_rows(0))
@PROGRAMS.on(_rows(3))
@PROGRAMS.on(_rows(1, np.uint8))
@PROGRAMS.on(_rows(1)[:, ::-1])
def rows_of_few(a):
    sums = np.sum(a, axis=1)
    squares = np.mean(a * a, axis=-1)
    steps = a[:, 1:] - a[:, :-1]
    return sums, squares, steps, np.any(a > 3, axis=1), a / np.sqrt(np.sum(a * a, axis=1, keepdims=True))


@PROGRAMS.on(_rows(1))
@PROGRAMS.on(_rows(2))
@PROGRAMS.on(_rows(4))
def largest_of_rows(a):
    out = np.empty(a.shape[0])
    last = 0.0
    for i in range(a.shape[0]):
        m = a[i, 0]
        for j in range(1, a.shape[1]):
            m = max(m, a[i, j])
        s = 0.0
        for j in range(a.shape[1]):
            t = a[i, j] / m
            s += t * t
        out[i] = s
        last = s + m
    return out, last, np.max(a, axis=1), np.argmax(a, axis=1)


@PROGRAMS.on(_rows(1).reshape(7, 1, 1))
@PROGRAMS.on(_rows(6).reshape(7, 6, 1))
@PROGRAMS.on(_rows(6).reshape(7, 1, 6))
def sums_of_axes(a):
    total = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            for k in range(a.shape[2]):
                total += a[i, j, k] * (i + 1)
    return total, a.sum(axis=1), a.sum(axis=2), a.sum(axis=(1, 2)), np.cumsum(a, axis=2)
