"""Statements of which two parts raise, with different exceptions: Python's is that of the part evaluated first."""

import numpy as np

from tests.programs.registry import Programs, ints

PROGRAMS = Programs(strict=True)

_A, _B = ints(5), np.arange(15).reshape(3, 5)
_ZERO_BY_INDEX = [(_A, _B, 9, 0), (_A, _B, 0, 0), (_A, _B, 9, 3), (_A, _B, 1, 3)]


def on_each(function):
    for arguments in _ZERO_BY_INDEX:
        function = PROGRAMS.on(*arguments)(function)
    return function


@on_each
def an_element_by_a_quotient(a, b, k, z):
    return a[k] // (7 // z)


@on_each
def a_quotient_by_an_element(a, b, k, z):
    return (7 // z) % a[k]


@on_each
def a_dividend_by_zero(a, b, k, z):
    return a[k] % z


@on_each
def the_smaller_one(a, b, k, z):
    return min(a[k], 7 // z) - max(7 % z, a[k])


@on_each
def a_comparison(a, b, k, z):
    if a[k] < 7 // z:
        return 1
    return 2 if 7 % z == a[k] else 3


@on_each
def a_sum(a, b, k, z):
    s = 0
    for i in range(5):
        s += 7 // z + a[i] * a[k]
    return s


@on_each
def a_function(a, b, k, z):
    return np.arctan2(a[k], 7 // z) + np.hypot(7 % z, a[k])


@on_each
def an_update(a, b, k, z):
    a[0] = 1
    a[k] += 7 // z


@on_each
def a_store(a, b, k, z):
    a[0] = 1
    a[k] = 7 // z


@on_each
def an_index_behind_a_fault(a, b, k, z):
    a[0] = 1
    b[k, 7 // z] = 1


@on_each
def elements_by_two_indices(a, b, k, z):
    return b[k, 7 // z] + b[7 // z, k]


@on_each
def an_update_by_two_indices(a, b, k, z):
    b[k, 7 % z] -= a[k] // z
