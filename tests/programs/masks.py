"""Masks as indices: stores and loads under them, what they choose in reductions; nothing is left to Python."""

import numpy as np

from tests.programs.registry import C_ONLY, Programs, bools, complexes, floats, ints

PROGRAMS = Programs(strict=True)

_NAN = np.array([1.0, np.nan, -2.0, np.nan, 3.0, -0.0])
_GRID = floats(6, 7)


# ---------------------------------------------------------------- stores


@PROGRAMS.on(floats(11))
@PROGRAMS.on(floats(2, dtype=np.float32))
@PROGRAMS.on(floats(1))
@PROGRAMS.on(floats(0))
@PROGRAMS.on(_NAN)
@PROGRAMS.on(ints(13, dtype=np.int32))
@PROGRAMS.on(floats(22)[::-2])
@PROGRAMS.on(floats(5, 7))
@PROGRAMS.on(np.asfortranarray(floats(5, 7)))
@PROGRAMS.on(floats(40_000), targets=C_ONLY)
def clamped_below(a):
    a[a < 0] = 0


@PROGRAMS.on(floats(11), bools(11), 2.5)
@PROGRAMS.on(floats(11), bools(10), 2.5)
@PROGRAMS.on(floats(11), bools(12), 2.5)
@PROGRAMS.on(ints(11, dtype=np.uint8), bools(11), 7)
@PROGRAMS.on(complexes(11), bools(11), 1j)
@PROGRAMS.on(floats(0), bools(0), 2.5)
@PROGRAMS.on(floats(3), bools(0), 2.5)
@PROGRAMS.on(floats(3), np.zeros(3, bool), 2.5)
def number_where(a, m, x):
    a[m] = x
    a[~m] += 1


@PROGRAMS.on(floats(11), bools(11), floats(11, seed=1))
@PROGRAMS.on(floats(11), bools(11), floats(int(bools(11).sum()), seed=1))
@PROGRAMS.on(floats(11), bools(11), floats(1, seed=1))
@PROGRAMS.on(floats(1), np.ones(1, bool), floats(1, seed=1))
@PROGRAMS.on(floats(4), np.zeros(4, bool), floats(0))
@PROGRAMS.on(floats(4), np.zeros(4, bool), floats(2))
@PROGRAMS.on(floats(0), bools(0), floats(0))
@PROGRAMS.on(floats(3, 5), bools(3, 5), ints(int(bools(3, 5).sum())))
def values_where(a, m, values):
    a[m] = values


@PROGRAMS.on(floats(9), floats(9, seed=1), bools(9))
@PROGRAMS.on(floats(9, dtype=np.float32), floats(9, dtype=np.float32, seed=1), bools(9))
def same_mask_on_both_sides(a, b, m):
    a[m] = b[m] * 2 - a[m]
    b[m] *= a[m] + 1


@PROGRAMS.on(floats(9))
@PROGRAMS.on(floats(1))
def read_before_stored(a):
    a[a > 0] = a[::-1][a > 0]
    a[a[::-1] > 0] = 3.0


@PROGRAMS.on(_GRID, bools(6), bools(7))
@PROGRAMS.on(np.asfortranarray(_GRID), bools(6), bools(7))
@PROGRAMS.on(_GRID, np.zeros(6, bool), np.ones(7, bool))
@PROGRAMS.on(_GRID, bools(7), bools(7))
def rows_and_columns(a, rows, columns):
    a[rows] = 1.0
    a[:, columns] += 2.0
    a[rows, 2] = 5.0
    a[-1, columns] *= 2.0
    a[1:3, columns] = 7.0


@PROGRAMS.on(_GRID, bools(6), floats(7))
@PROGRAMS.on(_GRID, np.zeros(6, bool), floats(7))
@PROGRAMS.on(_GRID, np.ones(6, bool), floats(6, 7))
@PROGRAMS.on(_GRID, np.ones(6, bool), floats(5, 7))
def rows_from_an_array(a, rows, values):
    a[rows] = values


@PROGRAMS.on(_GRID, bools(7), floats(6, int(bools(7).sum())))
@PROGRAMS.on(_GRID, bools(7), floats(6, 1))
def columns_from_an_array(a, columns, values):
    a[:, columns] = values


@PROGRAMS.on(floats(3, 4, 5), bools(4, 5), bools(3, 4))
def mask_over_two_of_three_axes(a, last, first):
    a[:, last] = 0.5
    a[first] *= 2.0
    a[first, 1] = 9.0


@PROGRAMS.on(floats(20), bools(10))
def view_under_a_mask(a, m):
    half = a[::2]
    half[m] = -1.0


# ---------------------------------------------------------------- loads


@PROGRAMS.on(floats(11), bools(11))
@PROGRAMS.on(floats(11, dtype=np.float32)[::-1], bools(22)[::2])
@PROGRAMS.on(complexes(11), bools(11))
@PROGRAMS.on(floats(2), np.zeros(2, bool))
@PROGRAMS.on(floats(1), np.ones(1, bool))
@PROGRAMS.on(floats(0), bools(0))
@PROGRAMS.on(floats(5), bools(6))
@PROGRAMS.on(floats(5), bools(0))
@PROGRAMS.on(floats(5, 6), bools(5, 0))
@PROGRAMS.on(floats(5, 6), bools(5, 6))
@PROGRAMS.on(floats(5, 6).T, bools(5, 6).T)
@PROGRAMS.on(floats(5, 6), bools(6, 5))
@PROGRAMS.on(floats(30_000), bools(30_000), targets=C_ONLY)
def chosen(a, m):
    return a[m]


@PROGRAMS.on(floats(11))
@PROGRAMS.on(_NAN)
@PROGRAMS.on(ints(11))
def chosen_by_expression(a):
    positive = a[a > 0]
    return positive, a[(a > -1) & (a * a < 1)] * 2, len(positive), a[np.isnan(a)].size


@PROGRAMS.on(_GRID, bools(6), bools(7))
@PROGRAMS.on(np.asfortranarray(_GRID), bools(6), bools(7))
@PROGRAMS.on(_GRID, np.zeros(6, bool), bools(7))
@PROGRAMS.on(_GRID, bools(0), bools(7))
def chosen_rows(a, rows, columns):
    return a[rows], a[:, columns] + 0, a[rows, 1], a[rows, ::-2] * 1, a[2, columns], a[rows][:, columns] + 1


@PROGRAMS.on(floats(3, 4, 5), bools(3), bools(4), bools(4, 5))
def chosen_of_three(a, first, middle, last):
    return a[:, middle] + 0, a[:, middle, 2], a[1, :, :][last], a[0][last], a[:, last] * 2, a[first, :, 1] * 1


@PROGRAMS.on(_GRID, np.array([1, 0, 1, 0, 0, 1], bool), np.array([0, 3, -1]))
@PROGRAMS.on(_GRID, np.array([1, 0, 1, 0, 0, 1], bool), np.array([0, 3]))
@PROGRAMS.on(_GRID, np.array([1, 0, 1, 0, 0, 1], bool), np.array([2]))
def mask_beside_an_index_array(a, rows, columns):
    return a[rows, columns] * 1


@PROGRAMS.on(floats(9), bools(9), floats(9, seed=4), bools(9, seed=4))
@PROGRAMS.on(floats(9), np.ones(9, bool), floats(9, seed=4), np.ones(9, bool))
def operators_on_what_is_chosen(a, m, b, k):
    return a[m] + b[m], -a[m], np.sqrt(np.abs(a[m])), a[m] > 0, a[m] * 2 + b[m] / 3, a[m] + b[k][: a[m].size]


@PROGRAMS.on(floats(9), bools(9))
def changed_behind(a, m):
    first = a[m]
    a[m] = 0.0
    m[:] = ~m
    return first, a[m]


# ---------------------------------------------------------------- reductions


@PROGRAMS.on(floats(11), bools(11))
@PROGRAMS.on(floats(11, dtype=np.float32), bools(11))
@PROGRAMS.on(ints(11, dtype=np.int8), bools(11))
@PROGRAMS.on(_NAN, np.array([1, 0, 1, 0, 1, 1], bool))
@PROGRAMS.on(_NAN, np.array([1, 1, 1, 0, 1, 1], bool))
@PROGRAMS.on(floats(1), np.ones(1, bool))
@PROGRAMS.on(floats(3, 4), bools(3, 4))
@PROGRAMS.on(floats(30_000), bools(30_000), targets=C_ONLY)
def reductions_of_what_is_chosen(a, m):
    return a[m].sum(), np.mean(a[m]), a[m].max(), np.min(a[m]), a[m].prod(), a[m].any(), np.all(a[m]), a[m].std()


@PROGRAMS.on(floats(11), bools(11), targets=C_ONLY)
def texts_of_what_is_chosen(a, m):
    return np.diff(a[m]), np.append(a[m], a[~m])


@PROGRAMS.on(floats(11), bools(11), floats(11, seed=1))
@PROGRAMS.on(ints(11, dtype=np.int8), bools(11), ints(11, dtype=np.uint8, seed=1))
@PROGRAMS.on(complexes(11), bools(11), floats(11, dtype=np.float32))
@PROGRAMS.on(floats(22)[::-2], bools(11), floats(11, seed=1))
@PROGRAMS.on(floats(4), np.zeros(4, bool), floats(4, seed=1))
@PROGRAMS.on(floats(0), bools(0), floats(0))
@PROGRAMS.on(_GRID, _GRID > 0, floats(6, 7, seed=1))
def chosen_with_names(a, m, b):
    """Nothing is packed here: only reductions read what has a name."""
    v = a[m]
    w = b[m]
    mean = v.mean()
    return mean, abs(v - mean).sum(), (v * w).sum(), w.any()


@PROGRAMS.on(floats(4), np.zeros(4, bool))
@PROGRAMS.on(floats(0), bools(0))
@PROGRAMS.on(ints(4), np.zeros(4, bool))
def sums_of_nothing(a, m):
    return a[m].sum(), a[m].mean(), a[m].prod(), a[m].any(), a[m].all(), m.sum()


@PROGRAMS.on(floats(4), np.zeros(4, bool))
@PROGRAMS.on(floats(4), np.ones(4, bool))
def largest_of_nothing(a, m):
    return a[m].max()


@PROGRAMS.on(_GRID, bools(6), bools(7))
def reductions_along_axes(a, rows, columns):
    return a[rows].sum(axis=0), a[rows].sum(axis=1), a[:, columns].mean(axis=1), a[rows].sum(), a[rows].max(axis=0)


@PROGRAMS.on(floats(11), bools(11), bools(11, seed=1))
def masks_alone(a, m, k):
    both = m & k
    return (
        both.sum(), np.count_nonzero(m | k), (~m ^ k).any(), np.logical_and(a > 0, m), np.logical_or(m, a),
        np.logical_xor(a, k), np.logical_not(m), m.mean(),
    )  # fmt: skip


@PROGRAMS.on(floats(11), floats(11, seed=1))
def sum_of_products_where(a, b):
    return (a[a > b] * b[a > b]).sum(), (a[a > a.mean()] ** 2).sum()


@PROGRAMS.on(complexes(4, 5), complexes(4, 5, seed=2), 3)
@PROGRAMS.on(complexes(2, 1, dtype=np.complex64), complexes(2, 1, dtype=np.complex64, seed=2), 2)
@PROGRAMS.on(complexes(0, 5), complexes(0, 5), 2)
def arrays_under_one_mask(z, c, rounds):
    """A test of the lengths between two operands took what the mask chooses out of its array."""
    last = np.zeros(z.shape, dtype=np.int64)
    for k in range(rounds):
        inside = abs(z) < 2.0
        last[inside] = k
        z[inside] = z[inside] ** 2 + c[inside]
    return last


def _doubled(a, m):
    a *= 2.0
    return a[m]


@PROGRAMS.on(floats(9), floats(9, seed=1), bools(9))
def operand_that_changes_the_other(a, b, m):
    return a[m] + _doubled(a, m), b[m] * _doubled(a, ~m)[: m.sum()].sum()


# ---------------------------------------------------------------- several arrays by one mask


@PROGRAMS.on(floats(60), floats(60) + 0.5, ints(60))
@PROGRAMS.on(floats(1), floats(1), ints(1))
@PROGRAMS.on(floats(0), floats(0), ints(0))
@PROGRAMS.on(floats(3), floats(4), ints(3))
@PROGRAMS.on(floats(90_000), floats(90_000), ints(90_000), targets=C_ONLY)
def particles_that_stay(x, v, ident):
    steps = 0
    while len(x) > 2 and steps < 12:
        x = x + 0.5 * v
        inside = (x > -1.5) & (x < 1.5)
        lost = ident[~inside]
        x, v, ident = x[inside], v[inside], ident[inside]
        steps += 1 + len(lost)
    return x, v, ident, steps


@PROGRAMS.on(floats(50), floats(50))
@PROGRAMS.on(floats(50), floats(49))
def selected_twice(a, b):
    m = a > 0.0
    c = a[m] * b[m]
    d = a[m] + 1.0
    a[m] = -1.0
    return c, d, a[m]


@PROGRAMS.on(floats(7, 9), floats(7))
@PROGRAMS.on(floats(3, 0), floats(3))
@PROGRAMS.on(floats(0, 4), floats(0))
@PROGRAMS.on(ints(7, 9, dtype=np.int32, lo=-4, hi=5), ints(7, dtype=np.int32))
@PROGRAMS.on(floats(3, 5), floats(1))
@PROGRAMS.on(floats(3, 5), floats(4)[::-1])
@PROGRAMS.on(np.full((3, 5), -1.0), floats(1))
def sums_of_selected_columns(x, total):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if x[i, j] > 0:
                total[i] += x[i, j]
            elif x[i, j] == -2:
                total[i] -= 3


@PROGRAMS.on(floats(7, 9), floats(7))
@PROGRAMS.on(floats(4, 1), floats(5))
def only_one_row_is_summed(x, total):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if i == 2:
                total[0] += x[i, j]


@PROGRAMS.on(floats(4), floats(40), floats(40), 2)
@PROGRAMS.on(floats(4), floats(40), floats(40), 0)
@PROGRAMS.on(floats(1), floats(5), floats(5), 1)
@PROGRAMS.on(floats(4), floats(40, dtype=np.float32), floats(40, dtype=np.float32), 3)
def recursion_with_start_values(weights, shocks, variance, lags):
    for t in range(variance.shape[0]):
        variance[t] = weights[0]
        for j in range(lags):
            if t - 1 - j < 0:
                variance[t] += weights[j] * 0.5
            else:
                variance[t] += weights[j] * shocks[t - 1 - j]
        for j in range(lags):
            if t - 1 - j < 0:
                variance[t] += weights[j] * 0.25
            else:
                variance[t] += weights[j] * variance[t - 1 - j]
