"""Views and arrays that are returned: of arguments, of new arrays, in tuples."""

import numpy as np

from tests.programs.registry import Programs, floats, ints

PROGRAMS = Programs(strict=True)

_GRID = floats(6, 7)


@PROGRAMS.on(floats(9), 3)
@PROGRAMS.on(floats(9)[::-2], -2)
@PROGRAMS.on(floats(0), 3)
@PROGRAMS.on(floats(1), 1)
def slices(a, k):
    return a[1:-1], a[k:], a[::-1], a[:k:2], a[5:2:-1]


@PROGRAMS.on(_GRID, 2)
@PROGRAMS.on(np.asfortranarray(_GRID), -1)
@PROGRAMS.on(ints(6, 7, dtype=np.int16)[::2, ::-1], 1)
@PROGRAMS.on(_GRID, 8)
def planes(a, k):
    return a[k], a.T, a[:, 1], a[None, ::2, 1:], a[1:, k - 1][::-1], a.T[1:3]


@PROGRAMS.on(floats(3, 4), 2)
def of_a_new_array(a, k):
    b = a * 2.0
    return b[1:], b[:, ::-1], b.T


@PROGRAMS.on(floats(3, 4), 2)
def of_a_new_array_in_another_shape(a, k):
    b = a * 2.0
    b[0, 0] = k
    return b.reshape(4, 3), (a + 1).ravel()


@PROGRAMS.on(floats(6), 1)
@PROGRAMS.on(floats(6), 0)
def one_of_two_views_of_an_array(a, k):
    if k > 0:
        return a[k:]
    return a[k + 2 :]


@PROGRAMS.on(floats(5), 2.5, 3)
def numbers_beside_arrays(a, x, n):
    return a, x * n, a[0] + 1, (n // 2, a[1:]), None, a.sum(), a.shape


def _inner(a):
    return a[1:-1, 1:-1]


@PROGRAMS.on(_GRID)
def view_from_a_call(a):
    inner = _inner(a)
    inner[0] = 1.0
    return inner, inner[0].sum()


@PROGRAMS.on(floats(4))
def an_array_twice(a):
    b = a + 1
    return b, b, a, a
