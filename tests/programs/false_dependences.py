"""Loops whose iterations share memory and no values: copies, scratch arrays, overwritten writes."""

import numpy as np

from tests.programs.registry import Programs, complexes, floats, ints

PROGRAMS = Programs()


# ---------------------------------------------------------------- reads of what is overwritten later


@PROGRAMS.on(floats(11))
@PROGRAMS.on(floats(2))
@PROGRAMS.on(floats(1))
@PROGRAMS.on(floats(0))
@PROGRAMS.on(floats(23)[::2])
@PROGRAMS.on(floats(23)[::-1])
@PROGRAMS.on(floats(13, dtype=np.float32))
@PROGRAMS.on(ints(13))
@PROGRAMS.on(ints(13, dtype=np.int32))
@PROGRAMS.on(complexes(7))
def doubles_the_next(a):
    #pragma parallel for
    for i in range(a.shape[0] - 1):
        a[i] = a[i + 1] * 2


@PROGRAMS.on(floats(12), 3)
@PROGRAMS.on(floats(12), 12)
@PROGRAMS.on(floats(12), 11)
@PROGRAMS.on(floats(12), 0)
def downwards_by_two(a, k):
    #pragma parallel for
    for i in range(a.shape[0] - 1, k, -2):
        a[i] = a[i - 1] + a[i] - (a[i - 2] if i > 1 else 0.0)


@PROGRAMS.on(floats(6, 5))
@PROGRAMS.on(floats(1, 5))
@PROGRAMS.on(floats(6, 1))
@PROGRAMS.on(np.asfortranarray(floats(6, 5)))
def each_row_from_the_next(a):
    #pragma parallel for
    for i in range(a.shape[0] - 1):
        for j in range(a.shape[1]):
            a[i, j] = a[i, j] + 0.5 * a[i + 1, a.shape[1] - 1 - j]


@PROGRAMS.on(floats(7, 6), 4)
@PROGRAMS.on(floats(7, 6), 0)
def old_rows_in_a_time_loop(a, steps):
    for _t in range(steps):
        #pragma parallel for
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1]):
                a[i, j] = 0.3 * a[i + 1, j] + 0.2 * a[i, j - 1]


@PROGRAMS.on(floats(9), 4)
@PROGRAMS.on(floats(3), 4)
def only_where_asked(a, k):
    # What the copy would hold does not exist where k is small.
    #pragma parallel for
    for i in range(k):
        if k < 4:
            a[i] = a[i + 6] + a[i + 5]


@PROGRAMS.on(floats(9), floats(9), floats(9))
def reads_under_a_condition(a, b, c):
    #pragma parallel for
    for i in range(a.shape[0] - 2):
        if b[i] > 0.0:
            c[i] = a[i + 1]
        a[i] = b[i] + a[i + 2]


# ---------------------------------------------------------------- writes that are overwritten


@PROGRAMS.on(floats(8), floats(8))
@PROGRAMS.on(floats(8), floats(7))
@PROGRAMS.on(floats(8), floats(1))
@PROGRAMS.on(floats(8), floats(0))
@PROGRAMS.on(ints(8, dtype=np.int8), ints(8, dtype=np.int8))
def pairs_into_one(a, x):
    #pragma parallel for
    for i in range(x.shape[0]):
        a[i // 2] = x[i]


@PROGRAMS.on(floats(3), floats(8))
@PROGRAMS.on(floats(3), floats(0))
def all_into_one(a, x):
    #pragma parallel for
    for i in range(x.shape[0] - 1, -1, -1):
        a[1] = x[i]


@PROGRAMS.on(floats(9), floats(9), floats(9), floats(9))
@PROGRAMS.on(floats(2), floats(2), floats(2), floats(2))
@PROGRAMS.on(floats(1), floats(1), floats(1), floats(1))
def ahead_and_again(a, b, c, d):
    for i in range(len(a) - 1):
        a[i] = b[i] + c[i] * d[i]
        b[i] = c[i] + b[i]
        a[i + 1] = b[i] + a[i + 1] * d[i]


@PROGRAMS.on(floats(5), floats(6, 5))
@PROGRAMS.on(floats(5), floats(0, 5))
def a_triangle_onto_a_row(row, a):
    #pragma parallel for
    for i in range(a.shape[0]):
        for j in range(min(i, a.shape[1])):
            row[j] = a[i, j] * 2.0


# ---------------------------------------------------------------- scratch


@PROGRAMS.on(floats(5, 6), np.zeros((5, 6)), np.zeros(6))
@PROGRAMS.on(floats(5, 6), np.zeros((5, 6)), np.zeros(9))
@PROGRAMS.on(floats(5, 6), np.zeros((5, 6)), np.zeros(12)[::2])
@PROGRAMS.on(floats(0, 6), np.zeros((0, 6)), np.ones(6))
@PROGRAMS.on(floats(5, 0), np.zeros((5, 0)), np.ones(6))
@PROGRAMS.on(floats(1, 1), np.zeros((1, 1)), np.ones(1))
@PROGRAMS.on(floats(5, 6, dtype=np.float32), np.zeros((5, 6)), np.zeros(6, np.float32))
@PROGRAMS.on(ints(5, 6), np.zeros((5, 6)), np.zeros(6, np.int32))
def scratch_row(x, y, t):
    #pragma parallel for
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            t[j] = x[i, j] * 2
        for j in range(x.shape[1]):
            y[i, j] = t[x.shape[1] - 1 - j] + t[j]


@PROGRAMS.on(complexes(4, 5), np.zeros((4, 5), complex), np.zeros(5, complex))
def scratch_of_complex_numbers(x, y, t):
    #pragma parallel for private(t)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            t[j] = x[i, j] * 2j
        for j in range(x.shape[1]):
            y[i, j] = t[x.shape[1] - 1 - j] + t[j]


@PROGRAMS.on(floats(6, 6), np.zeros((6, 6)), np.ones(8))
@PROGRAMS.on(floats(1, 1), np.zeros((1, 1)), np.ones(8))
def triangular_scratch(x, y, t):
    n = x.shape[0]
    for i in range(n - 1, -1, -1):
        for j in range(i, n):
            t[j + 1] = x[i, j] - 1.0
        for j in range(n - 1, i - 1, -1):
            y[i, j] = t[j + 1] * t[i + 1]


@PROGRAMS.on(floats(5, 4), np.zeros((5, 4)), np.zeros((4, 4)))
def scratch_square(x, y, t):
    for i in range(x.shape[0]):
        for j in range(4):
            for k in range(4):
                t[j, k] = x[i, j] * x[i, k]
        for j in range(4):
            s = 0.0
            for k in range(4):
                s += t[k, j]
            y[i, j] = s


@PROGRAMS.on(floats(5, 4), np.zeros(5), np.zeros(4))
@PROGRAMS.on(floats(5, 0), np.zeros(5), np.ones(4))
def scratch_that_is_added_to(x, y, t):
    for i in range(x.shape[0]):
        for j in range(4):
            t[j] = 1.0
        for k in range(x.shape[1]):
            for j in range(4):
                t[j] += x[i, k] * j
        y[i] = t[0] - t[3]


@PROGRAMS.on(floats(8), np.zeros(2))
@PROGRAMS.on(floats(1), np.zeros(2))
@PROGRAMS.on(floats(0), np.ones(2))
def two_cells(a, t):
    #pragma parallel for
    for i in range(a.shape[0]):
        t[0] = a[i] * 2.0
        t[1] = a[i] * t[0]
        a[i] = t[0] - t[1]


@PROGRAMS.on(floats(9, 8), floats(9), np.zeros(20))
def a_block_that_moves(x, y, t):
    #pragma parallel for
    for i in range(9):
        for j in range(i, i + 8):
            t[j] = x[i, j - i]
        s = 0.0
        for j in range(i, i + 8):
            s += t[j] * t[2 * i + 7 - j]
        y[i] = s


@PROGRAMS.on(floats(4, 5), np.zeros((4, 5)), np.zeros(5), 3)
def scratch_in_a_time_loop(x, y, t, steps):
    for _s in range(steps):
        #pragma parallel for
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                t[j] = x[i, j] + y[i, j]
            for j in range(x.shape[1]):
                y[i, j] = 0.5 * t[x.shape[1] - 1 - j]


@PROGRAMS.on(floats(6, 5), np.zeros((6, 5)), np.ones(5))
def written_under_a_condition(x, y, t):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if j % 2 == 0:
                t[j] = x[i, j]
        for j in range(x.shape[1]):
            y[i, j] = t[j]


@PROGRAMS.on(floats(6, 5), np.zeros((6, 5)), np.ones(5))
def written_under_the_same_condition(x, y, t):
    #pragma parallel for
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if i % 3 != 1:
                t[j] = x[i, j]
        for j in range(x.shape[1]):
            if i % 3 == 0:
                y[i, j] = t[j] + 1.0


def _shared() -> tuple[np.ndarray, ...]:
    base = floats(30)
    return base[:25].reshape(5, 5), base[5:].reshape(5, 5), np.zeros(5)


@PROGRAMS.on(*_shared())
def scratch_beside_arrays_that_overlap(x, y, t):
    #pragma parallel for
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            t[j] = x[i, j] * 2.0
        for j in range(x.shape[1]):
            y[i, j] = t[x.shape[1] - 1 - j]


@PROGRAMS.on(floats(9, 6), np.zeros(6))
@PROGRAMS.on(floats(0, 6), np.zeros(6), joined=True)
def scratch_and_a_sum(x, t):
    total = 0.0
    last = 0.0
    #pragma parallel for
    for i in range(x.shape[0]):
        for j in range(6):
            t[j] = x[i, j] * x[i, j]
        last = t[0] - t[5]
        for j in range(6):
            total += t[j] * t[5 - j]
    return total, last


@PROGRAMS.on(floats(5, 4, 3), np.zeros((5, 4)), np.zeros(3))
def scratch_in_two_loops(x, y, t):
    for i in range(x.shape[0]):
        for k in range(x.shape[1]):
            for j in range(x.shape[2]):
                t[j] = x[i, k, j] * 2.0
            s = 0.0
            for j in range(x.shape[2]):
                s += t[j] * t[x.shape[2] - 1 - j]
            y[i, k] = s


# ---------------------------------------------------------------- lanes with limits


@PROGRAMS.on(floats(37), floats(37))
@PROGRAMS.on(ints(38), ints(38))
@PROGRAMS.on(floats(2), floats(2))
@PROGRAMS.on(floats(0), floats(0))
@PROGRAMS.on(floats(80, dtype=np.float32)[::-2], floats(40, dtype=np.float32))
def lanes_two_apart(a, b):
    #pragma simd
    for i in range(2, len(a)):
        a[i] = a[i - 2] + b[i]


@PROGRAMS.on(floats(37), floats(37))
@PROGRAMS.on(floats(1), floats(1))
def lanes_that_keep_step(a, b):
    #pragma simd
    for i in range(len(a) - 1):
        a[i] = a[i + 1] * 2.0
        b[i] = a[i] + b[i + 1]


@PROGRAMS.on(6, 5, 40)
@PROGRAMS.on(6, 0, 0)
@PROGRAMS.on(2, 3, 0)
def escape_times(h, w, most):
    out = np.zeros((h, w), np.int64)
    #pragma parallel for collapse(2)
    for y in range(h):
        for x in range(w):
            z, c = 0j, complex(x - 3, y - 2) / 3
            for k in range(most):
                if abs(z) > 2.0:
                    break
                z = z * z + c
            out[y, x] = k
    return out


@PROGRAMS.on(ints(9))
def first_multiples(a):
    out = np.zeros(len(a), np.int64)
    #pragma parallel for
    for i in range(len(a)):
        for k in range(9, 1, -1):
            if a[i] % k == 0:
                break
        out[i] = k
    return out


@PROGRAMS.on(floats(9), 4)
@PROGRAMS.on(floats(9), 0)
def scratch_made_on_both_branches(v, m):
    #pragma parallel for
    for t in range(v.shape[0]):
        if t % 2 == 0:
            x = np.zeros(m)
        else:
            x = np.ones(m + 1)
        x[:2] += v[t]
        v[t] = x.sum()


@PROGRAMS.on(floats(9), ints(5, lo=-4, hi=5), np.full((3, 9, 3), 0.2))
def rows_of_each_worker(v, shifts, best):
    n = len(v)
    #pragma parallel for
    for t in range(best.shape[0]):
        for d in range(len(shifts)):
            g = shifts[d]
            diagonal = range(0, n - g) if g >= 0 else range(-g, n)
            for i in diagonal:
                row = best[t, np.uint64(i)]
                p = v[np.uint64(i)] * v[np.uint64(i + g)]
                if p > row[0]:
                    at = np.searchsorted(row, p)
                    if 0 < at <= len(row):
                        row[: at - 1] = row[1:at]
                        row[at - 1] = p


def _quotient(a, b):
    if b > 0:
        return True, a / b
    return False, 0.0


@PROGRAMS.on(floats(7, 9))
@PROGRAMS.on(floats(7, 1))
def found_on_one_path(a):
    out = np.zeros(len(a))
    #pragma parallel for
    for i in range(len(a)):
        before = a[i, 0] > 0.5
        for j in range(a.shape[1]):
            now = a[i, j] > 0.5
            if now:
                if not before:
                    found, x = _quotient(a[i, j], a[i, 0])
                    if found:
                        out[i] += x
                out[i] += 1
            elif before:
                found, x = _quotient(a[i, 0], a[i, j])
                if found:
                    out[i] -= x
            before = now
    return out


def _sift(heap, others, at):
    while at * 2 + 1 < len(heap):
        child = at * 2 + 1
        if child + 1 < len(heap) and heap[child] < heap[child + 1]:
            child += 1
        if heap[child] <= heap[at]:
            break
        heap[at], heap[child] = heap[child], heap[at]
        others[at], others[child] = others[child], others[at]
        at = child


@PROGRAMS.on(-np.sort(-floats(5, 9)), ints(5, 9))
@PROGRAMS.on(-np.sort(-floats(3, 1)), ints(3, 1))
def heaps_in_rows(heaps, others):
    #pragma parallel for
    for i in range(len(heaps)):
        for j in range(heaps.shape[1] - 1, 0, -1):
            heaps[i, 0], heaps[i, j] = heaps[i, j], heaps[i, 0]
            others[i, 0], others[i, j] = others[i, j], others[i, 0]
            _sift(heaps[i, :j], others[i, :j], 0)
    return heaps, others


@PROGRAMS.on(floats(11, 3), 4)
@PROGRAMS.on(floats(12, 2), 3)
@PROGRAMS.on(floats(5, 3), 9)
@PROGRAMS.on(floats(0, 3), 2)
def chunks_of_rows(a, size):
    out = np.zeros(a.shape)
    #pragma parallel for
    for chunk in range(len(a) // size + 1):
        first = chunk * size
        behind = min(first + size, len(a))
        for j in range(0, a.shape[1], size):
            for i in range(first, behind):
                for k in range(j, min(j + size, a.shape[1])):
                    out[i, k] = a[i, k] * 2
    return out


@PROGRAMS.on(floats(7, 9))
@PROGRAMS.on(floats(2, 9))
def medians_of_windows(image):
    window = np.empty(9)
    out = np.zeros(image.shape)
    #pragma parallel for
    for i in range(1, image.shape[0] - 1):
        for j in range(1, image.shape[1] - 1):
            k = 0
            for di in range(-1, 2):
                for dj in range(-1, 2):
                    window[k] = image[i + di, j + dj]
                    k += 1
            for a in range(1, 9):
                v, b = window[a], a - 1
                while b >= 0 and window[b] > v:
                    window[b + 1] = window[b]
                    b -= 1
                window[b + 1] = v
            out[i, j] = window[4]
    return out
