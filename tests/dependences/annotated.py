"""Loops with pragmas, right ones and wrong ones: what programs that race get wrong.

A pragma is right where the loop can have what it asks for, in whatever way: as it stands, or with what
`needs` names. A wrong one is refused, by the compiler or at the call.
"""

# ruff: noqa: SIM113

import numpy as np

from tests.dependences.corpus import Corpus

LOOPS = Corpus()


@LOOPS.add("pragma", "independent", pragma="right")
def says_parallel(a, b, c):
    # pragma parallel for
    for i in range(len(a)):
        a[i] = b[i] + c[i]


@LOOPS.add("pragma", "after change", "renaming", pragma="right")
def reads_the_next(a):
    # pragma parallel for
    for i in range(len(a) - 1):
        a[i] = a[i + 1] + 1.0


@LOOPS.add("pragma", "scan", "parallel scan", pragma="right")
def reads_the_previous(a, b):
    # pragma parallel for
    for i in range(1, len(a)):
        a[i] = a[i - 1] + b[i]


@LOOPS.add("pragma", "carried", pragma="wrong")
def five_behind(a, b):
    # pragma parallel for
    for i in range(5, len(a)):
        a[i] = a[i - 5] * a[i - 5] + b[i]


@LOOPS.add("pragma", "independent", pragma="right")
def own_temporary(a, b):
    # pragma parallel for
    for i in range(len(a)):
        t = a[i] * 2.0
        b[i] = t * t


@LOOPS.add("pragma", "independent", pragma="right")
def last_value_after(a, b):
    x = np.float32(0)
    # pragma parallel for
    for i in range(len(a)):
        x = a[i] + b[i]
        b[i] = x
    return x


@LOOPS.add("pragma", "carried", pragma="wrong")
def value_of_before(a, b):
    x = np.float32(0)
    # pragma parallel for
    for i in range(len(a)):
        b[i] = x * x + a[i]
        x = x * 0.5 + a[i] * b[i]


@LOOPS.add("pragma", "after change", "expansion of the element", pragma="right")
def shared_cell(a, last):
    # pragma parallel for
    for i in range(len(a)):
        last[0] = a[i] * 2.0
        a[i] = last[0] + 1.0


@LOOPS.add("pragma", "after change", "expansion of the array", pragma="right")
def shared_scratch(aa, bb, a):
    # pragma parallel for
    for i in range(aa.shape[0]):
        for j in range(aa.shape[1]):
            a[j] = aa[i, j] * 2.0
        for j in range(aa.shape[1]):
            bb[i, j] = a[j] + 1.0


@LOOPS.add("pragma", "reduction", pragma="right")
def sum_without_clause(a):
    s = np.float32(0)
    # pragma parallel for
    for i in range(len(a)):
        s += a[i]
    return s


@LOOPS.add("pragma", "reduction", pragma="right")
def sum_with_clause(a):
    s = np.float32(0)
    # pragma parallel for reduction(+: s)
    for i in range(len(a)):
        s = s + a[i]
    return s


@LOOPS.add("pragma", "reduction", pragma="wrong")
def sum_with_wrong_clause(a):
    s = np.float32(0)
    # pragma parallel for reduction(max: s)
    for i in range(len(a)):
        s += a[i]
    return s


@LOOPS.add("pragma", "scan", "parallel scan", pragma="right")
def reads_the_sum(a, b):
    s = np.float32(0)
    # pragma parallel for reduction(+: s)
    for i in range(len(a)):
        s += a[i]
        b[i] = s


@LOOPS.add("pragma", "packing", "a scan of the conditions", pragma="right")
def counter_in_condition(a, b):
    j = 0
    # pragma parallel for
    for i in range(len(b)):
        if b[i] > 0.0:
            a[j] = b[i]
            j += 1
    return j


@LOOPS.add("pragma", "after change", "closed form", pragma="right")
def counter_in_step(a, b):
    j = 0
    # pragma parallel for
    for i in range(len(a)):
        b[j] = a[i] * b[j]
        j += 1


@LOOPS.add("pragma", "data", "a look at the index array", pragma="right")
def scatter_permutation(a, b, perm):
    # pragma parallel for
    for i in range(len(a)):
        a[perm[i]] = b[i]


@LOOPS.add("pragma", "data", "a look at the index array", pragma="wrong")
def scatter_duplicates(a, b, some):
    # pragma parallel for
    for i in range(len(b)):
        a[some[i]] = b[i] + a[some[i]] * 0.5


@LOOPS.add("pragma", "independent", pragma="right")
def sworn(a, b, perm):
    # pragma parallel for independent
    for i in range(len(a)):
        a[perm[i]] = b[i]


@LOOPS.add("pragma", "reduction", pragma="right")
def counted_atomically(hist, key):
    # pragma parallel for
    for i in range(len(key)):
        # pragma atomic
        hist[key[i]] += 1.0


@LOOPS.add("pragma", "reduction", "a copy for each thread", pragma="right")
def counted_without_atomic(hist, key):
    # pragma parallel for
    for i in range(len(key)):
        hist[key[i]] += 1.0


@LOOPS.add("pragma", "independent", pragma="right")
def both_loops(aa, bb):
    # pragma parallel for collapse(2)
    for i in range(aa.shape[0]):
        for j in range(aa.shape[1]):
            aa[i, j] = bb[i, j] * 2.0


@LOOPS.add("pragma", "carried", pragma="wrong")
def both_loops_of_a_chain(aa, bb):
    # pragma parallel for collapse(2)
    for i in range(1, aa.shape[0]):
        for j in range(aa.shape[1]):
            aa[i, j] = aa[i - 1, j] + bb[i, j]


@LOOPS.add("pragma", "independent", pragma="right")
def inner_of_a_chain(aa, bb):
    for i in range(1, aa.shape[0]):
        # pragma parallel for
        for j in range(aa.shape[1]):
            aa[i, j] = aa[i - 1, j] + bb[i, j]


@LOOPS.add("pragma", "carried", pragma="wrong")
def outer_of_a_chain(aa, bb):
    # pragma parallel for
    for i in range(1, aa.shape[0]):
        for j in range(aa.shape[1]):
            aa[i, j] = aa[i - 1, j] + bb[i, j]


@LOOPS.add("pragma", "carried", pragma="wrong")
def relaxed_in_place(aa):
    n = aa.shape[0]
    # pragma parallel for
    for i in range(1, n - 1):
        for j in range(1, n - 1):
            aa[i, j] = 0.25 * (aa[i - 1, j] + aa[i + 1, j] + aa[i, j - 1] + aa[i, j + 1])


@LOOPS.add("pragma", "after change", "splitting around row k", pragma="right")
def paths_through_k(aa):
    n = aa.shape[0]
    for k in range(n):
        # pragma parallel for
        for i in range(n):
            for j in range(n):
                aa[i, j] = min(aa[i, j], abs(aa[i, k]) + abs(aa[k, j]))


@LOOPS.add("pragma", "after change", "lanes up to the distance", pragma="right")
def lanes_of_a_chain(a, b):
    # pragma simd
    for i in range(2, len(a)):
        a[i] = a[i - 2] + b[i]


@LOOPS.add("pragma", "search", "blocks of iterations", pragma="right")
def leaves_early(a, b):
    # pragma parallel for
    for i in range(len(a)):
        if a[i] > 2.0:
            break
        b[i] = a[i]


@LOOPS.add("pragma", "reduction", pragma="right")
def largest_and_place(a):
    best = a[0]
    where = 0
    # pragma parallel for
    for i in range(len(a)):
        if a[i] > best:
            best = a[i]
            where = i
    return best, where


@LOOPS.add("pragma", "after change", "splitting at the middle", pragma="right")
def ends_swapped(a):
    n = len(a)
    # pragma parallel for
    for i in range(n):
        a[i] = a[n - 1 - i] + 1.0


@LOOPS.add("pragma", "after change", "only the last write of each element", pragma="right")
def output_twice(a, b):
    # pragma parallel for
    for i in range(len(a)):
        a[i // 2] = b[i]


@LOOPS.add("pragma", "condition", "a guard: k == 0 or |k| >= n", pragma="right", k=lambda n: 0)
def shift_of_none(a, b, k):
    # pragma parallel for
    for i in range(len(b)):
        a[i] = a[i + k] + b[i]


# ---------------------------------------------------------------- wrong in other ways


@LOOPS.add("pragma", "carried", pragma="wrong")
def flow_through_two(a, b, c):
    # pragma parallel for
    for i in range(1, len(a)):
        b[i] = a[i - 1] * a[i - 1] - c[i]
        a[i] = b[i] * 0.5


@LOOPS.add("pragma", "carried", pragma="wrong")
def flow_backwards(a, b):
    # pragma parallel for
    for i in range(len(a) - 2, -1, -1):
        a[i] = a[i + 1] * a[i + 1] * 0.5 + b[i]


@LOOPS.add("pragma", "carried", pragma="wrong")
def flow_around_rows(aa, bb):
    # pragma parallel for
    for i in range(1, aa.shape[0]):
        for j in range(1, aa.shape[1] - 1):
            aa[i, j] = aa[i - 1, j - 1] * aa[i - 1, j + 1] + bb[i, j]


@LOOPS.add("pragma", "carried", pragma="wrong")
def chases_its_tail(a, b):
    # pragma parallel for
    for i in range(1, len(a)):
        a[i] = abs(a[i // 2]) ** 0.5 + b[i]


@LOOPS.add("pragma", "data", "a look at the index array", pragma="wrong")
def anti_through_index(a, b, some):
    # pragma parallel for
    for i in range(len(a)):
        b[i] = a[some[i]] * 2.0
        a[i] = b[i] + 1.0


@LOOPS.add("pragma", "data", "a look at the index array", pragma="wrong")
def output_through_index(a, b, some):
    # pragma parallel for
    for i in range(len(b)):
        a[some[i]] = b[i]


@LOOPS.add("pragma", "carried", pragma="wrong")
def output_under_condition(a, b):
    # pragma parallel for
    for i in range(len(a)):
        if b[i] > 0.0:
            a[i // 2] = b[i]


@LOOPS.add("pragma", "carried", pragma="wrong")
def scalar_that_grows(a, b):
    x = np.float32(0.3)
    # pragma parallel for
    for i in range(len(a)):
        x = np.float32(3.7) * x * (np.float32(1) - x)
        b[i] = x + a[i]


@LOOPS.add("pragma", "carried", pragma="wrong")
def scalar_of_two_operators(a, b):
    s = np.float32(0)
    # pragma parallel for
    for i in range(len(a)):
        s = max(s, a[i]) * b[i]
    return s


@LOOPS.add("pragma", "carried", pragma="wrong")
def ends_at_a_total(a, b):
    s = np.float32(0)
    # pragma parallel for
    for i in range(len(a)):
        s = s + abs(a[i])
        if s > 3.0:
            break
        b[i] = s
    return s


@LOOPS.add("pragma", "carried", pragma="wrong")
def ends_by_what_it_wrote(a, b):
    # pragma parallel for
    for i in range(1, len(a)):
        a[i] = a[i] + b[i]
        if a[i - 1] > 1.2:
            break


@LOOPS.add("pragma", "condition", "a guard: k == 0 or |k| >= n", pragma="wrong")
def shift_of_one(a, b, k):
    # pragma parallel for
    for i in range(len(a) - k):
        a[i + k] = a[i] * a[i] + b[i]


@LOOPS.add("pragma", "condition", "a guard: k is not 0", pragma="wrong", k=lambda n: 0)
def stride_of_none(a, b, k):
    # pragma parallel for
    for i in range(len(b) // 2):
        a[i * k] = a[i * k] * b[i] + b[i]


@LOOPS.add("pragma", "reduction", pragma="wrong")
def private_sum(a):
    s = np.float32(0)
    # pragma parallel for private(s)
    for i in range(len(a)):
        s += a[i]
    return s


@LOOPS.add("pragma", "data", "a look at the index array", pragma="wrong")
def adds_and_halves(hist, key, a):
    # pragma parallel for
    for i in range(len(key)):
        hist[key[i]] += a[i]
        hist[key[i]] *= 0.5


@LOOPS.add("pragma", "carried", pragma="wrong")
def lanes_of_a_recurrence(a, b):
    # pragma simd
    for i in range(1, len(a)):
        a[i] = a[i - 1] * a[i - 1] * 0.5 + b[i]
