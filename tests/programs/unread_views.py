"""Views of which no element is read: an index that is out of bounds raises where the view is made."""

import numpy as np

from tests.programs.registry import Programs, floats, ints

PROGRAMS = Programs(strict=True)

_A, _O = floats(3, 4), floats(5)
_EMPTY = floats(3, 0)
_WITHIN = np.array([2, 0, -3, 1, 1])
_OUTSIDE = np.array([2, 0, 3, 1, -4])


@PROGRAMS.on(_A, 2, _O)
@PROGRAMS.on(_A, -3, _O)
@PROGRAMS.on(_A, 3, _O)
@PROGRAMS.on(_A, -4, _O)
@PROGRAMS.on(_EMPTY, 2, _O)
@PROGRAMS.on(_EMPTY, 3, _O)
def a_row_that_is_dead(a, n, o):
    o[1] = 1.0
    row = a[n, :]
    o[0] = 1.0


@PROGRAMS.on(_A, 2, _O)
@PROGRAMS.on(_A, 3, _O)
@PROGRAMS.on(_EMPTY, -4, _O)
def a_row_by_one_index(a, n, o):
    o[1] = 1.0
    row = a[n]
    o[0] = row.shape[0]


@PROGRAMS.on(_A, 2, _O)
@PROGRAMS.on(_A, 3, _O)
@PROGRAMS.on(_A, -4, _O)
def an_empty_part_of_a_row(a, n, o):
    o[1] = a[n, 1:1].sum()
    o[0] = 1.0


@PROGRAMS.on(_A, 2, _O)
@PROGRAMS.on(_A, 3, _O)
@PROGRAMS.on(_A[:, ::2], -4, _O)
def stores_into_no_element(a, n, o):
    o[1] = 1.0
    a[n, 1:1] = o[0]
    o[0] = 1.0
    a[n][2:2] += o[0]


@PROGRAMS.on(_A, 3, _O)
@PROGRAMS.on(_A, 4, _O)
@PROGRAMS.on(_A, -5, _O)
def a_column_that_is_dead(a, n, o):
    o[1] = 1.0
    column = a[:, n]
    other = a[..., None, n]
    o[0] = 1.0


def _one(row):
    return 1.0


@PROGRAMS.on(_A, 2, _O)
@PROGRAMS.on(_A, 3, _O)
def what_a_helper_does_not_read(a, n, o):
    o[1] = 1.0
    o[0] = _one(a[n])


@PROGRAMS.on(_A, 2, _O)
@PROGRAMS.on(_A, 3, _O)
def expressions_alone(a, n, o):
    o[1] = 1.0
    a[n]
    o[2] = 1.0
    a[0][n + 1]
    o[0] = 1.0


@PROGRAMS.on(_A, 2, _O)
@PROGRAMS.on(_A, 3, _O)
def of_a_new_array(a, n, o):
    b = a + 1.0
    row = b[n]
    b[n, 2:2] = 4.0
    o[0] = 1.0


@PROGRAMS.on(_A, 2, _O)
@PROGRAMS.on(_A, 3, _O)
def views_of_views(a, n, o):
    o[1] = 1.0
    v = a.T[n]
    w = a[1:][n - 1]
    o[0] = 1.0


@PROGRAMS.on(_A, 3, _O, 0.0)
@PROGRAMS.on(_A, 3, _O, 9.0)
def on_one_way_only(a, n, o, x):
    row = a[n] if x > 5.0 else a[0]
    o[0] = row[1]


@PROGRAMS.on(_A, 0, _O)
@PROGRAMS.on(_A, 1, _O)
@PROGRAMS.on(_A, -5, _O)
def the_iterations_before_have_stored(a, n, o):
    for i in range(o.shape[0]):
        o[i] = i + 2.0
        row = a[i // 2 + n]


@PROGRAMS.on(_A, _WITHIN, _O)
@PROGRAMS.on(_EMPTY, _WITHIN, _O)
@PROGRAMS.on(_EMPTY, _OUTSIDE, _O)
@PROGRAMS.on(_A, _OUTSIDE, _O)
def rows_through_an_index_array(a, ix, o):
    for i in range(ix.shape[0]):
        row = a[ix[i], :]
        s = 0.0
        for j in range(row.shape[0]):
            s += row[j]
        o[i] = s


@PROGRAMS.on(_A, _WITHIN, _O)
@PROGRAMS.on(_EMPTY, _OUTSIDE, _O)
def rows_in_parallel(a, ix, o):
    # pragma parallel for
    for i in range(ix.shape[0]):
        row = a[ix[i]]
        o[i] = 2.0 * row.shape[0]


@PROGRAMS.on(_A, np.array([0, 2, 3, 3]), floats(3))
@PROGRAMS.on(_A, np.array([0, 2, 4, 4]), floats(3))
@PROGRAMS.on(_A, np.array([-4, -2, 1, 1]), floats(3))
def rows_between_bounds_that_are_read(a, ptr, o):
    for r in range(ptr.shape[0] - 1):
        s = 0.0
        for k in range(ptr[r], ptr[r + 1]):
            row = a[k]
            s += row[0] * row[1]
        o[r] = s


@PROGRAMS.on(_A, ints(5, lo=0, hi=3), _O)
@PROGRAMS.on(_A, ints(5, lo=0, hi=4), _O)
def the_row_before(a, ix, o):
    for i in range(a.shape[0]):
        before = a[i - 1]
        if i > 0:
            o[i] = before[ix[i]]


@PROGRAMS.on(_A, _WITHIN, _O)
@PROGRAMS.on(_A, _OUTSIDE, _O)
@PROGRAMS.on(_EMPTY, _WITHIN, _O)
@PROGRAMS.on(_EMPTY, _OUTSIDE, _O)
def index_arrays_beside_an_empty_axis(a, ix, o):
    o[1] = 1.0
    rows = a[ix]
    o[0] = rows.shape[0]
    a[ix, 1:1] = 2.0
    o[2] = 1.0


@PROGRAMS.on(_A, 3, _O)
@PROGRAMS.on(_A, 4, _O)
@PROGRAMS.on(_EMPTY, 4, _O)
def rows_of_a_comprehension(a, n, o):
    o[1] = 1.0
    doubled = np.array([a[k] * 2.0 for k in range(n)])
    o[0] = doubled.shape[0]


@PROGRAMS.on(_A, 1, floats(4))
@PROGRAMS.on(_A, 5, floats(4))
def a_factor_before_a_row(a, n, o):
    """The test of the row's index leaves the loops as they are: they can be interchanged."""
    for i in range(n, 3):
        o[:] = (o[0] + n) * a[i] + 2.0 * a[i - 1]
