"""When an expression is evaluated, and which memory it stands for: arguments of calls, tuples, views in
another shape. Each of these programs tells a value from a recipe for it."""

import numpy as np

from tests.programs.registry import Programs, complexes, floats, ints

PROGRAMS = Programs()


def _first_after_a_store(x, y):
    y[0] = 100.0
    return x[0] * 2.0


@PROGRAMS.on(floats(5), floats(5, seed=1))
@PROGRAMS.on(floats(1, dtype=np.float32), floats(1, dtype=np.float32))
def argument_is_evaluated_before_the_call(a, b):
    """The sum was computed where the callee used it."""
    return _first_after_a_store(a + b, a)


def _sums_of_items(pair, y):
    y[0] = 100.0
    return pair[0].sum() + pair[1][0]


@PROGRAMS.on(floats(5), floats(5, seed=1))
def tuple_that_is_an_argument(a, b):
    return _sums_of_items((a * b, a[::-1], 3), a)


def _twice(x):
    return x.sum() + x[0] * x[-1]


@PROGRAMS.on(floats(7))
@PROGRAMS.on(ints(7, dtype=np.int32))
def arguments_of_nested_calls(a):
    return _twice(a + _twice(a * 2))


@PROGRAMS.on(floats(5), floats(5, seed=1))
def tuple_with_a_name(a, b):
    """The same of the items of a tuple."""
    pair = (a + b, a[1:], 1)
    a[:2] = 50.0
    return pair[0][0] + pair[1][0] + pair[2]


@PROGRAMS.on(floats(5), floats(5, seed=1))
def tuple_that_grows(a, b):
    pair = (a - b,)
    pair += (a + b,)
    a[0] = 50.0
    return pair[0][0] + pair[1][0]


@PROGRAMS.on(floats(3))
def loop_over_numbers_that_the_loop_changes(a):
    """Items were read when their turn came."""
    s = 1.0
    for v in (s, s + 1.0, a[0]):
        s += v
        a[0] = 7.0
    return s


@PROGRAMS.on(floats(3), floats(3, seed=1))
def loop_over_arrays_that_the_loop_changes(a, b):
    s = 0.0
    for v in (a + b, a, b[::-1]):
        a[1] = 7.0
        b[2] += 1.0
        s += v[1] + v[0]
    return s


# ---------------------------------------------------------------- a view in another shape


@PROGRAMS.on(floats(12), floats(12, seed=1))
def rows_in_a_row_are_a_view(a, b):
    """The store went to a copy."""
    r = a.reshape(3, 4)[1:].ravel()
    r[0] = 5.0
    b[: len(r)] += r


@PROGRAMS.on(floats(12))
def columns_in_a_row_are_a_copy(a):
    m = a.reshape(3, 4)
    r = m.T.reshape(-1)
    s = m[:, ::2].ravel()
    r[0] = 5.0
    s[1] = 6.0
    return r, s, m.sum()


@PROGRAMS.on(floats(12))
def store_beside_what_may_be_a_view(a):
    """The array was read before the store."""
    r = np.ravel(a.reshape(3, 4)[1:])
    a[4] = 5.0
    return r.sum()


@PROGRAMS.on(floats(12))
def store_in_a_loop_before_what_may_be_a_view(a):
    m = a.reshape(4, 3)
    total = 0.0
    for k in range(3):
        a[k] += 1.0
        t = m[1:].reshape(-1)
        total += t.sum() * k
        a[5] += 1.0
    return total + t[2]


@PROGRAMS.on(floats(12))
def stores_into_what_may_be_a_view(a):
    m = a.reshape(3, 4)
    m[1:].ravel()[2] = 5.0
    m.T.reshape(-1)[2:4] = 9.0
    np.add(a[:4], 1.0, out=m[2:].reshape(4))
    return m.sum()


@PROGRAMS.on(floats(12))
def axes_of_what_may_be_a_view(a):
    t = a.reshape(3, 4)[:2].reshape(2, 2, 2).transpose(2, 0, 1)[1:]
    t[0, 1] = 4.0
    return t.copy()


@PROGRAMS.on(floats(12))
@PROGRAMS.on(floats(24)[::2])
def returns_what_may_be_a_view(a):
    return a[2:8].reshape(2, 3), a[::3].reshape(2, 2), (a + 1)[1:5].reshape(-1, 2)


COMPILED = Programs(strict=True)


@COMPILED.on(floats(4, 6))
@COMPILED.on(np.asfortranarray(floats(4, 6)))
@COMPILED.on(complexes(3, 4)[:, ::-1])
@COMPILED.on(ints(0, 2))
def read_at_once(m):
    """What is only read is no matter of memory."""
    flat = m.T.reshape(-1) * 2 + m.ravel()
    return flat, m[::-1].reshape(-1).sum(), np.reshape(m.T, (m.size,)) - flat


@COMPILED.on(floats(12), floats(12, seed=1))
def kept_where_nothing_is_stored(a, out):
    t = a.reshape(3, 4).T.reshape(2, 6)
    for k in range(2):
        out[k :: 2] = t[k]
    return t[1, 2]


@COMPILED.on(floats(12), 2)
@COMPILED.on(floats(12), 0)
def permuted_again_and_again(a, rounds):
    """The array that is overwritten each time is read through no name then."""
    for k in range(rounds):
        swapped = a.reshape(3, 4).T.reshape(-1) * 0.5
        a[:] = swapped + k
    return a[1:3]


PROGRAMS.runs += COMPILED.runs


# ---------------------------------------------------------------- sizes that have no value


def _powers(base, exponent, x, out):
    blocks = np.reshape(x, (base**exponent, -1))
    for k in range(base**exponent):
        out[k] += blocks[k, 0]


@PROGRAMS.on(2, 2, floats(12), floats(4, seed=1))
@PROGRAMS.on(3, 2, floats(9), floats(4, seed=1))
@PROGRAMS.on(-2, 2, floats(12), floats(4, seed=1))
def lengths_that_are_powers(base, exponent, x, out):
    """The C text of the test at the call had a name that is none there."""
    _powers(base, exponent, x, out)


@PROGRAMS.on(12, 4, floats(12))
@PROGRAMS.on(12, 0, floats(12))
@PROGRAMS.on(12, -5, floats(12))
def lengths_that_are_quotients(n, parts, x):
    total = x[-1]
    for k in range(n // parts):
        total += x[k]
        x[n // parts - k] = total
    return total
