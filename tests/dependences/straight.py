"""Loops over vectors: dependences, induction, order of statements, scalars, conditions, strides."""

# ruff: noqa: SIM113

import numpy as np

from tests.dependences.corpus import Corpus

LOOPS = Corpus()

# ---------------------------------------------------------------- linear dependence


@LOOPS.add("linear dependence", "independent")
def triad(a, b, c, d):
    for i in range(len(a)):
        a[i] = b[i] * c[i] + d[i]


@LOOPS.add("linear dependence", "independent")
def odd_from_even(a, b):
    for i in range(1, len(a), 2):
        a[i] = a[i - 1] + b[i]


@LOOPS.add("linear dependence", "scan", "parallel scan")
def running_total(a, b):
    for i in range(1, len(a)):
        a[i] = a[i - 1] + b[i]


@LOOPS.add("linear dependence", "after change", "loads before stores")
def shift_down(a, b):
    for i in range(len(a) - 1):
        a[i] = a[i + 1] + b[i]


@LOOPS.add("linear dependence", "after change", "loads before stores")
def shift_up_backwards(a, b):
    for i in range(len(a) - 2, -1, -1):
        a[i + 1] = a[i] + b[i]


@LOOPS.add("linear dependence", "after change", "lanes up to the distance")
def sixteen_behind(a, b):
    for i in range(16, len(a)):
        a[i] = a[i - 16] + b[i]


@LOOPS.add("linear dependence", "independent")
def halves(a, b):
    half = len(a) // 2
    for i in range(half):
        a[i] = a[i + half] + b[i]


@LOOPS.add("linear dependence", "independent")
def back_to_front(a, b):
    n = len(a)
    for i in range(n):
        a[n - 1 - i] = b[i] * b[i]


@LOOPS.add("linear dependence", "after change", "splitting at the middle")
def mirror(a, b):
    n = len(a)
    for i in range(n):
        a[i] = a[n - 1 - i] * b[i]


@LOOPS.add("linear dependence", "independent")
def evens_from_odds(a, b):
    for i in range(len(a) // 2):
        a[2 * i] = a[2 * i + 1] + b[i]


@LOOPS.add("linear dependence", "carried")
def doubling(a, b):
    for i in range(1, len(a) // 2):
        a[2 * i] = a[i] + b[i]


@LOOPS.add("linear dependence", "independent")
def downwards(a, b):
    for i in range(len(a) - 1, -1, -1):
        a[i] = a[i] + b[i]


@LOOPS.add("linear dependence", "carried")
def chain(a, b):
    for i in range(1, len(a)):
        a[i] = a[i - 1] * a[i - 1] + b[i]


# ---------------------------------------------------------------- induction variables


@LOOPS.add("induction", "after change", "closed form")
def every_second(a, b):
    k = -1
    for i in range(len(a) // 2):
        k += 2
        a[k] = a[k - 1] + b[i]


@LOOPS.add("induction", "after change", "closed form")
def two_pointers(a, b, c):
    j = 0
    k = 1
    for i in range(len(a) // 2):
        a[i] = b[j] * c[k]
        j += 1
        k += 2


@LOOPS.add("induction", "after change", "closed form")
def counts_down(a, b):
    k = len(a)
    for i in range(len(a)):
        k -= 1
        a[i] = b[k] + b[i]


@LOOPS.add("induction", "after change", "closed form")
def coupled(a, b):
    j = 0
    for i in range(len(a) // 2):
        j += 1
        k = i + j
        a[k] = b[i] + b[k]


@LOOPS.add("induction", "after change", "closed form, quadratic")
def packed_triangle(a, aa):
    k = 0
    for i in range(aa.shape[0] // 2):
        for j in range(i + 1):
            a[k] = aa[i, j]
            k += 1


@LOOPS.add("induction", "after change", "closed form, nested")
def packed_square(flat, aa):
    k = 0
    for i in range(aa.shape[0]):
        for j in range(aa.shape[0]):
            flat[k] = aa[i, j] + flat[k]
            k += 1


@LOOPS.add("induction", "after change", "closed form")
def stepped_in_both(a, b, c, d):
    j = -1
    for i in range(len(a) // 2):
        if b[i] > 0.0:
            j += 1
            a[j] = b[i] + c[i]
        else:
            j += 1
            a[j] = d[i] + c[i]


@LOOPS.add("induction", "carried")
def product_grows(a, b):
    s = np.float32(1)
    for i in range(len(a)):
        s = s * np.float32(0.5) + b[i] * s * s
        a[i] = s


@LOOPS.add("wrap-around", "after change", "peeling")
def wraps_index(a, b):
    before = len(b) - 1
    for i in range(len(a)):
        a[i] = (b[i] + b[before]) * 0.5
        before = i


@LOOPS.add("wrap-around", "after change", "peeling")
def wraps_twice(a, b):
    one = len(b) - 1
    two = len(b) - 2
    for i in range(len(a)):
        a[i] = (b[i] + b[one] + b[two]) * 0.333
        two = one
        one = i


@LOOPS.add("wrap-around", "after change", "peeling")
def carries_a_value(a, b):
    x = b[len(b) - 1]
    for i in range(len(a)):
        a[i] = (b[i] + x) * 0.5
        x = b[i]


# ---------------------------------------------------------------- order of statements, distribution


@LOOPS.add("statement order", "after change", "reordering")
def reader_first(a, b, c, d, e):
    for i in range(1, len(a) - 1):
        a[i] = b[i - 1] + c[i] * d[i]
        b[i] = b[i + 1] - e[i] * d[i]


@LOOPS.add("statement order", "after change", "loads before stores")
def overwritten_ahead(a, b, c, d):
    for i in range(len(a) - 1):
        a[i] = a[i] * c[i]
        b[i] = b[i] + a[i + 1] * d[i]


@LOOPS.add("statement order", "after change", "distribution")
def writer_first(a, b, c):
    for i in range(1, len(a)):
        a[i] = c[i] * 2.0
        b[i] = a[i - 1] + c[i]


@LOOPS.add("statement order", "after change", "distribution")
def three_in_a_row(a, b, c, d):
    for i in range(2, len(a)):
        a[i] = d[i] * 0.5
        b[i] = a[i - 1] + d[i]
        c[i] = b[i - 2] * a[i]


@LOOPS.add("distribution", "after change", "distribution")
def beside_a_recurrence(a, b, c, d):
    for i in range(1, len(a)):
        a[i] = a[i] + c[i] * d[i]
        b[i] = b[i - 1] + a[i] + d[i]


@LOOPS.add("distribution", "after change", "distribution")
def around_a_recurrence(a, b, c, e):
    for i in range(1, len(a)):
        a[i] = a[i] + b[i] * c[i]
        e[i] = e[i - 1] * e[i - 1]
        a[i] = a[i] - b[i] * c[i]


@LOOPS.add("distribution", "after change", "distribution, scan")
def total_and_square(a, b, c):
    s = np.float32(0)
    for i in range(len(a)):
        c[i] = b[i] * b[i] + c[i]
        s = s + b[i]
        a[i] = s


@LOOPS.add("distribution", "after change", "distribution, expansion of a scalar")
def scalar_between(a, b, c, d):
    for i in range(1, len(a)):
        t = b[i] * c[i]
        a[i] = a[i - 1] * 0.5 + t
        d[i] = t + c[i]


# ---------------------------------------------------------------- node splitting


@LOOPS.add("node splitting", "after change", "loads before stores")
def reads_ahead(a, b, c, d):
    for i in range(len(a) - 1):
        a[i] = b[i] * c[i] * d[i]
        b[i] = a[i] * a[i + 1] * d[i]


@LOOPS.add("node splitting", "after change", "loads before stores")
def between_two_writes(a, b, c, d, e):
    for i in range(len(a) - 1):
        a[i] = b[i] + c[i] * d[i]
        b[i] = a[i] + d[i] * e[i]
        a[i] = b[i] + a[i + 1] * d[i]


@LOOPS.add("node splitting", "after change", "distribution, last iteration apart")
def writes_ahead(a, b, c, d):
    for i in range(len(a) - 1):
        a[i] = b[i] + c[i] * d[i]
        b[i] = c[i] + b[i]
        a[i + 1] = b[i] + a[i + 1] * d[i]


@LOOPS.add("node splitting", "after change", "loads before stores")
def three_point_ahead(a, b):
    for i in range(len(a) - 2):
        a[i] = a[i] * 0.25 + a[i + 1] * 0.5 + a[i + 2] * 0.25 + b[i]


# ---------------------------------------------------------------- expansion


@LOOPS.add("expansion", "independent")
def own_scalar(a, b, c):
    for i in range(len(a)):
        s = b[i] + c[i]
        a[i] = s * s


@LOOPS.add("expansion", "after change", "peeling")
def scalar_of_before(a, b, c):
    t = np.float32(0)
    for i in range(len(a)):
        s = b[i] * c[i]
        a[i] = s + t
        t = s


@LOOPS.add("expansion", "independent")
def scalar_in_branch(a, b, c, d):
    for i in range(len(a)):
        if a[i] > b[i]:
            s = a[i] - b[i] * d[i]
            c[i] = c[i] + s
            a[i] = s


@LOOPS.add("expansion", "after change", "expansion of the element")
def one_cell(a, b, last):
    for i in range(len(a)):
        last[0] = b[i] * 2.0
        a[i] = last[0] + b[i]


@LOOPS.add("expansion", "independent")
def swap(a, b):
    for i in range(len(a)):
        t = a[i]
        a[i] = b[i]
        b[i] = t


@LOOPS.add("expansion", "independent")
def last_one_wins(a, b):
    t = np.float32(0)
    for i in range(len(a)):
        t = b[i] * 2.0
        a[i] = t + 1.0
    return t


# ---------------------------------------------------------------- control flow


@LOOPS.add("control flow", "independent")
def where_positive(a, b, c):
    for i in range(len(a)):
        if b[i] > 0.0:
            a[i] = a[i] + b[i] * c[i]


@LOOPS.add("control flow", "independent")
def both_ways(a, b, c, d):
    for i in range(len(a)):
        a[i] = b[i] + c[i] * d[i]
        if a[i] > 0.0:
            b[i] = a[i] + b[i]
        else:
            a[i] = d[i] * c[i]


@LOOPS.add("control flow", "independent")
def nested_conditions(a, b, c, d):
    for i in range(len(a)):
        if a[i] > 0.0:
            if b[i] > 0.0:
                c[i] = a[i] * b[i]
            else:
                c[i] = d[i]
        elif b[i] > a[i]:
            c[i] = -d[i]


@LOOPS.add("control flow", "independent")
def skips(a, b, c):
    for i in range(len(a)):
        if b[i] < 0.0:
            continue
        a[i] = b[i] * c[i] + a[i]


@LOOPS.add("control flow", "independent")
def first_half_only(a, b):
    half = len(a) // 2
    for i in range(len(a)):
        if i < half:
            a[i] = a[i] + b[i]


@LOOPS.add("control flow", "independent")
def clipped(a, b):
    for i in range(len(a)):
        x = b[i]
        a[i] = 0.5 if x > 0.5 else (-0.5 if x < -0.5 else x)


@LOOPS.add("control flow", "independent")
def invariant_condition(a, b, c, k):
    for i in range(len(a)):
        if k > 0:
            a[i] = a[i] + b[i] * c[i]
        else:
            a[i] = a[i] - b[i]


# ---------------------------------------------------------------- crossing thresholds


@LOOPS.add("threshold", "after change", "splitting at the middle")
def meets_itself(a, b, c):
    n = len(a)
    for i in range(n):
        x = a[n - 1 - i] + b[i] * c[i]
        a[i] = x - 1.0
        b[i] = x


@LOOPS.add("threshold", "after change", "splitting at the threshold")
def one_writes_all_read(a, b):
    n = len(a)
    for i in range(n):
        a[i] = a[n // 2] + b[i]


@LOOPS.add("threshold", "independent")
def other_half(a, b):
    n = len(a)
    for i in range(n // 2):
        a[i] = a[n - 1 - i] * b[i]


# ---------------------------------------------------------------- symbolic offsets and strides


@LOOPS.add("symbolic", "condition", "a guard: k >= 0 with loads before stores; k == 0 or |k| >= n")
def shifted_by_k(a, b, k):
    for i in range(len(b) - 8):
        a[i] = a[i + k] + b[i]


@LOOPS.add("symbolic", "independent")
def half_apart(a, b, n):
    half = n // 2
    for i in range(half):
        a[i + half] = a[i] + b[i]


@LOOPS.add("symbolic", "condition", "a guard: k != 0", k=lambda n: 3)
def stride_k(a, b, k):
    for i in range(len(a) // 4):
        a[i * k] = b[i]


@LOOPS.add("symbolic", "condition", "a guard: k outside the loop's range", k=lambda n: n - 1)
def reads_one(a, b, k):
    for i in range(len(a) - 1):
        a[i] = a[k] * b[i]


@LOOPS.add("stride", "independent")
def every_third(a, b):
    for i in range(len(a) // 3):
        a[3 * i] = b[3 * i + 1] + b[i]


@LOOPS.add("stride", "independent")
def step_five(a, b):
    for i in range(0, len(a), 5):
        a[i] = b[i] * 2.0


@LOOPS.add("stride", "independent")
def interleaves(a, b, c):
    for i in range(len(a) // 2):
        a[2 * i] = b[i]
        a[2 * i + 1] = c[i]


@LOOPS.add("stride", "independent")
def complex_product(a, b, c):
    for i in range(len(a) // 2):
        a[2 * i] = b[2 * i] * c[2 * i] - b[2 * i + 1] * c[2 * i + 1]
        a[2 * i + 1] = b[2 * i] * c[2 * i + 1] + b[2 * i + 1] * c[2 * i]


# ---------------------------------------------------------------- rerolling


@LOOPS.add("rerolling", "independent")
def unrolled_five(a, b, alpha):
    for i in range(0, len(a) - 4, 5):
        a[i] = a[i] + alpha * b[i]
        a[i + 1] = a[i + 1] + alpha * b[i + 1]
        a[i + 2] = a[i + 2] + alpha * b[i + 2]
        a[i + 3] = a[i + 3] + alpha * b[i + 3]
        a[i + 4] = a[i + 4] + alpha * b[i + 4]


@LOOPS.add("rerolling", "reduction")
def unrolled_dot(a, b):
    s = np.float32(0)
    for i in range(0, len(a) - 3, 4):
        s = s + a[i] * b[i] + a[i + 1] * b[i + 1] + a[i + 2] * b[i + 2] + a[i + 3] * b[i + 3]
    return s
