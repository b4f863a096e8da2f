"""Loops over squares, through index arrays, over linearised squares, and over views that overlap."""

from math import isqrt

import numpy as np

from tests.dependences.corpus import Corpus, numbers

LOOPS = Corpus()


def lengths(n: int) -> np.ndarray:
    """A square of positive numbers."""
    return np.abs(numbers((isqrt(n), isqrt(n)), np.random.default_rng(1)))


# ---------------------------------------------------------------- interchange


@LOOPS.add("interchange", "independent")
def down_the_columns(aa, bb):
    for i in range(aa.shape[0]):
        for j in range(1, aa.shape[0]):
            aa[j, i] = aa[j - 1, i] + bb[j, i]


@LOOPS.add("interchange", "independent")
def row_after_row(aa, bb):
    for i in range(1, aa.shape[0]):
        for j in range(aa.shape[1]):
            aa[i, j] = aa[i - 1, j] + bb[i, j]


@LOOPS.add("interchange", "independent")
def triangle_of_chains(aa, bb):
    for j in range(1, aa.shape[0]):
        for i in range(1, j + 1):
            aa[j, i] = aa[j, i - 1] * aa[j, i - 1] * 0.25 + bb[j, i]


@LOOPS.add("interchange", "after change", "skewing")
def wavefront(aa):
    for i in range(1, aa.shape[0]):
        for j in range(1, aa.shape[1]):
            aa[i, j] = (aa[i - 1, j] + aa[i, j - 1]) * 0.5


@LOOPS.add("interchange", "independent")
def transposed(aa, bb):
    for i in range(aa.shape[0]):
        for j in range(aa.shape[1]):
            bb[j, i] = aa[i, j]


@LOOPS.add("interchange", "independent")
def transposed_in_place(aa):
    for i in range(aa.shape[0]):
        for j in range(i):
            t = aa[i, j]
            aa[i, j] = aa[j, i]
            aa[j, i] = t


@LOOPS.add("interchange", "independent")
def diagonal(aa, a):
    for i in range(aa.shape[0]):
        aa[i, i] = aa[i, i] + a[i]


@LOOPS.add("interchange", "independent")
def upper_triangle(aa, bb):
    for i in range(aa.shape[0]):
        for j in range(i, aa.shape[1]):
            aa[i, j] = aa[i, j] * bb[j, i]


@LOOPS.add("interchange", "independent")
def anti_diagonals(aa, bb):
    n = aa.shape[0]
    for d in range(1, n):
        for i in range(d):
            aa[i, d - 1 - i] = bb[i, d - 1 - i] * 2.0


# ---------------------------------------------------------------- nests that combine


@LOOPS.add("nest", "reduction")
def row_sums(a, aa):
    for i in range(aa.shape[0]):
        s = np.float32(0)
        for j in range(aa.shape[1]):
            s += aa[i, j]
        a[i] = s


@LOOPS.add("nest", "reduction")
def column_sums(a, aa):
    for i in range(aa.shape[0]):
        for j in range(aa.shape[1]):
            a[j] += aa[i, j]


@LOOPS.add("nest", "reduction")
def matrix_vector(a, b, aa):
    for i in range(aa.shape[0]):
        for j in range(aa.shape[1]):
            a[i] += aa[i, j] * b[j]


@LOOPS.add("nest", "reduction")
def all_of_square(aa):
    s = np.float32(0)
    for i in range(aa.shape[0]):
        for j in range(aa.shape[1]):
            s += aa[i, j]
    return s


@LOOPS.add("nest", "independent")
def temporary_row(aa, bb, a):
    for i in range(aa.shape[0]):
        t = np.empty(aa.shape[1], np.float32)
        for j in range(aa.shape[1]):
            t[j] = aa[i, j] * 2.0
        for j in range(aa.shape[1]):
            bb[i, j] = t[aa.shape[1] - 1 - j] + a[j]


@LOOPS.add("nest", "independent")
def shared_row(aa, bb, a):
    m = aa.shape[1]
    for i in range(aa.shape[0]):
        for j in range(m):
            a[j] = aa[i, j] * 2.0
        for j in range(m):
            bb[i, j] = a[j] + a[j] * a[j]


@LOOPS.add("nest", "after change", "splitting around row and column k", aa=lengths)
def shortest_paths(aa):
    n = aa.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                aa[i, j] = min(aa[i, j], aa[i, k] + aa[k, j])


@LOOPS.add("nest", "independent")
def five_points(aa, bb):
    n = aa.shape[0]
    for i in range(1, n - 1):
        for j in range(1, n - 1):
            bb[i, j] = 0.2 * (aa[i, j] + aa[i - 1, j] + aa[i + 1, j] + aa[i, j - 1] + aa[i, j + 1])


# ---------------------------------------------------------------- linearised subscripts


@LOOPS.add("linearised", "independent")
def flat_square(flat, aa, m):
    for i in range(m):
        for j in range(m):
            flat[i * m + j] = aa[i, j] + flat[i * m + j]


@LOOPS.add("linearised", "independent")
def flat_rows(flat, m):
    for i in range(1, m):
        for j in range(m):
            flat[i * m + j] = flat[(i - 1) * m + j] * 0.5 + flat[i * m + j]


@LOOPS.add("linearised", "independent")
def flat_by_division(flat, aa, m):
    for i in range(m * m):
        flat[i] = aa[i // m, i % m]


@LOOPS.add("linearised", "independent")
def pairs_by_division(a, b):
    for i in range(len(a)):
        a[i] = b[i // 2] + b[i // 2 * 2]


@LOOPS.add("linearised", "carried")
def every_pair_twice(a, b):
    for i in range(len(a)):
        a[i // 2] = a[i // 2] * 0.5 + b[i]


@LOOPS.add("linearised", "carried")
def around_the_ring(a, b):
    for i in range(len(a)):
        a[(i + 1) % len(a)] = a[i] + b[i]


# ---------------------------------------------------------------- through an index array


@LOOPS.add("indirect", "independent")
def gathered(a, b, perm):
    for i in range(len(a)):
        a[i] = b[perm[i]] * 2.0


@LOOPS.add("indirect", "reduction")
def gathered_sum(b, some):
    s = np.float32(0)
    for i in range(len(some)):
        s += b[some[i]]
    return s


@LOOPS.add("indirect", "data", "a look at the index array")
def scattered(a, b, perm):
    for i in range(len(a)):
        a[perm[i]] = b[i] * 2.0


@LOOPS.add("indirect", "data", "a look at the index array")
def scattered_twice(a, b, some):
    for i in range(len(b)):
        a[some[i]] = b[i]


@LOOPS.add("indirect", "reduction", "a copy for each thread, or atomics")
def histogram(hist, key, a):
    for i in range(len(key)):
        hist[key[i]] += a[i]


@LOOPS.add("indirect", "data", "a look at the index array")
def through_permutation(a, b, perm):
    for i in range(len(a)):
        a[perm[i]] = a[perm[i]] * 0.5 + b[i]


@LOOPS.add("indirect", "data", "a look at the index array")
def follows_pointers(a, b, some):
    for i in range(len(a)):
        a[i] = a[some[i]] + b[i]


@LOOPS.add("indirect", "independent")
def two_gathers(a, b, c, perm, some):
    for i in range(len(a)):
        a[i] = b[perm[i]] + c[some[i]] * b[i]


@LOOPS.add("indirect", "data", "a look at the index array", ptr=lambda n: np.arange(0, n + 1, 3))
def in_segments(a, b, ptr):
    for r in range(len(ptr) - 1):
        for k in range(ptr[r], ptr[r + 1]):
            a[k] = a[k] * b[r]


@LOOPS.add("indirect", "reduction", ptr=lambda n: np.arange(0, n + 1, 3))
def sparse_rows(a, b, c, some, ptr):
    for r in range(len(ptr) - 1):
        s = np.float32(0)
        for k in range(ptr[r], ptr[r + 1]):
            s += b[k] * c[some[k]]
        a[r] = s


# ---------------------------------------------------------------- overlapping memory

_BASE = (np.arange((1 << 20) + 64) % 4096).astype(np.float32) / 4096


@LOOPS.add(
    "overlapping", "scan", "parallel scan, linear", a=lambda n: _BASE[1 : n + 1], b=lambda n: _BASE[:n]
)
def one_behind(a, b):
    for i in range(len(a)):
        a[i] = b[i] * 0.5 + 1.0


@LOOPS.add("overlapping", "carried", a=lambda n: _BASE[1 : n + 1], b=lambda n: _BASE[:n])
def squares_one_behind(a, b):
    for i in range(len(a)):
        a[i] = b[i] * b[i] + 0.5


@LOOPS.add("overlapping", "after change", a=lambda n: _BASE[:n], b=lambda n: _BASE[1 : n + 1])
def one_ahead(a, b):
    for i in range(len(a)):
        a[i] = b[i] * 0.5 + 1.0


@LOOPS.add("overlapping", "after change", a=lambda n: _BASE[16 : n + 16], b=lambda n: _BASE[:n])
def sixteen_places_behind(a, b):
    for i in range(len(a)):
        a[i] = b[i] * 0.5 + 1.0


@LOOPS.add("overlapping", "independent", a=lambda n: _BASE[:n], b=lambda n: _BASE[:n])
def the_same_array(a, b):
    for i in range(len(a)):
        a[i] = b[i] * 0.5 + 1.0
