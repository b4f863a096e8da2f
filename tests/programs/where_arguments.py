"""`where=` of functions of numbers and of reductions, and `initial=`."""

import numpy as np

from tests.programs.registry import Programs, bools, complexes, floats, ints

PROGRAMS = Programs(strict=True)

_WITH_ZEROS = np.array([1.0, 0.0, -2.0, 0.0, np.nan, 4.0, np.inf])


@PROGRAMS.on(floats(7), _WITH_ZEROS)
@PROGRAMS.on(floats(7, dtype=np.float32)[::-1], _WITH_ZEROS.astype(np.float32))
@PROGRAMS.on(floats(0), floats(0))
@PROGRAMS.on(floats(1), np.zeros(1))
def quotients_where_there_are_any(a, b):
    return np.divide(a, b, out=np.zeros_like(a), where=b != 0), np.true_divide(a, b, np.ones(len(a)), where=b > 0)


@PROGRAMS.on(floats(5, 6))
@PROGRAMS.on(np.asfortranarray(floats(3, 4)))
@PROGRAMS.on(floats(4, 9)[:, ::-2])
def in_its_own_memory(a):
    np.sqrt(a, out=a, where=a > 0)
    np.negative(a, a, where=a < 0)
    np.log(a, where=a > 1, out=a)


@PROGRAMS.on(floats(5, 6), floats(6, seed=1), bools(5, 1))
@PROGRAMS.on(floats(5, 6), floats(1, seed=1), bools(1, 6))
@PROGRAMS.on(floats(5, 1), floats(6, seed=1), bools(6))
def stretched(a, b, m):
    out = np.full((5, 6), 7.0)
    np.add(a, b, out=out, where=m)
    np.multiply(out, 2, out=out, where=out > 0)
    np.add(out[0], 1.0, out=out[1:3], where=m)
    return out


@PROGRAMS.on(ints(8), ints(8, seed=1), bools(8))
@PROGRAMS.on(ints(8, dtype=np.int32), ints(8, dtype=np.int32, seed=1), bools(16)[::2])
def whole_numbers(a, b, m):
    out = a.copy()
    np.floor_divide(a, b, out=out, where=m & (b != 0))
    np.maximum(out, b, out=out, where=m)
    flags = np.zeros(len(a), dtype=np.bool_)
    np.greater(a, b, out=flags, where=m)
    return out, flags


@PROGRAMS.on(complexes(6), bools(6))
def complex_numbers(z, m):
    out = np.zeros_like(z)
    np.multiply(z, 1j, out=out, where=m)
    return out, np.sum(z, where=m), np.mean(z, where=m)


@PROGRAMS.on(floats(9))
@PROGRAMS.on(floats(9, dtype=np.float32))
def places_that_are_read_are_those_of_the_mask(a):
    m = a > 0.5
    roots = np.sqrt(a, where=m)
    return roots[m], np.where(m, roots, -1.0)


@PROGRAMS.on(floats(4, 5), bools(4, 5))
@PROGRAMS.on(floats(4, 5, dtype=np.float32), bools(5))
@PROGRAMS.on(ints(4, 5), bools(4, 1))
@PROGRAMS.on(ints(4, 5, dtype=np.uint8, lo=0), bools(4, 5))
@PROGRAMS.on(floats(0, 5), bools(0, 5))
def reductions(a, m):
    return (
        a.sum(where=m),
        np.sum(a, axis=0, where=m),
        np.prod(a, axis=1, where=m, keepdims=True),
        np.mean(a, where=m, axis=1),
        a.mean(where=a > 0),
        np.any(a > 1, axis=0, where=m),
        (a > 0).all(where=m),
    )


@PROGRAMS.on(floats(4, 5), bools(4, 5))
@PROGRAMS.on(floats(0, 5), bools(5))
@PROGRAMS.on(np.where(bools(4, 5, seed=3), np.nan, floats(4, 5)), bools(4, 5))
def extremes_with_a_start(a, m):
    return (
        np.max(a, initial=0.5),
        a.min(axis=0, initial=0.25),
        np.max(a, axis=1, where=m, initial=-np.inf),
        a.min(where=m, initial=100),
        np.sum(a, initial=2.5),
        np.prod(a, axis=0, initial=-1, where=m),
    )


@PROGRAMS.on(ints(6), 3)
def starts_of_whole_numbers(a, k):
    return np.max(a, initial=-(1 << 62)), a.sum(initial=7), np.min(a, initial=k), a.max(where=True, initial=2)


LEFT = Programs()


@LEFT.on(floats(6), bools(6))
def extreme_of_what_may_be_nothing(a, m):
    """NumPy asks for an initial value."""
    return np.max(a, where=m)


@LEFT.on(ints(6))
def whole_numbers_from_half_a_one(a):
    return np.sum(a, initial=0.5)


@LEFT.on(ints(6, dtype=np.uint8, lo=0))
def start_that_the_elements_do_not_hold(a):
    return np.max(a, initial=-1)


@LEFT.on(floats(6), bools(6))
def mask_of_a_spread(a, m):
    return np.std(a, where=m), a.var(where=m)


PROGRAMS.runs += LEFT.runs


@PROGRAMS.on(np.zeros((0, 3), np.bool_))
@PROGRAMS.on(np.array([[True, False], [True, True]]))
def extremes_of_bools(a):
    return np.min(a, axis=0), np.max(a)
