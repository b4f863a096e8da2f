"""What the program raises in a nest over chunks comes out, as it is in Python."""

from __future__ import annotations

import numpy as np
import pytest

import appyc

da = pytest.importorskip("dask.array")


class OddError(Exception):
    """An error of the program's own."""


@appyc.jit(strict=True)
def copied(a, b):
    for i in range(a.shape[0]):
        if a[i] < 0:
            raise ValueError(f"element {i} is negative")
        b[i] = a[i]


@appyc.jit(strict=True)
def own_error(a, b):
    # pragma parallel for
    for i in range(a.shape[0]):
        if a[i] % 2 == 1:
            raise OddError("odd")
        b[i] = a[i]


@appyc.jit(strict=True)
def looked_at_first(a, b):
    for i in range(a.shape[0]):
        if a[i] > 7:
            raise OverflowError("too large")
    for i in range(a.shape[0]):
        b[i] = a[i]


@appyc.jit(strict=True)
def before_the_loop(a, b):
    if a.shape[0] > 3:
        raise IndexError("too long")
    for i in range(a.shape[0]):
        b[i] = a[i]


@appyc.jit(strict=True)
def not_always_set(a, b):
    for i in range(a.shape[0] - 9):
        x = a[i]
    for i in range(a.shape[0]):
        b[i] = x


@appyc.jit(strict=True)
def at_one_place(a, b):
    s = 0
    for i in range(a.shape[0]):
        if i == 4:
            raise KeyError(i)
        s += 1
        b[i] = a[i]
    return s


@appyc.jit(strict=True)
def with_an_element(a, b):
    k = a.shape[0] - 1
    if k > 0 and a[k] > 0:
        raise ValueError(f"{a[k]} is the last of {k + 1}")
    for i in range(a.shape[0]):
        b[i] = a[i]


def outcome(function, a, b, *more):
    """What a call comes to: the error, or what the arrays are."""
    try:
        function(a, b, *more)
        return [np.asarray(x).tolist() for x in (a, b)]
    except (OddError, ArithmeticError, LookupError, ValueError, NameError) as error:
        return type(error), str(error)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "function",
    [copied, own_error, looked_at_first, before_the_loop, not_always_set, at_one_place, with_an_element],
)
@pytest.mark.parametrize(
    "a", [[], [2], [4, 2, 6, 0, 2, 4], [4, 2, 6, 0, 9, 4], [4, 2, 6, 0, 2, 4, 6, 2, 4, -2, 4]]
)
def test_errors_are_those_of_python(function, a):
    a = np.array(a, dtype=np.int64)
    expected = outcome(function.py_func, a.copy(), np.zeros_like(a))
    chunks = [da.from_array(x, 4) for x in (a, np.zeros_like(a))]
    assert outcome(function, *chunks) == expected


@appyc.jit(strict=True)
def made_integers(a, b):
    for i in range(a.shape[0]):
        b[i] = int(a[i]) % 10


@pytest.mark.parametrize("value", [2.5, np.nan, -np.inf])
def test_floats_that_are_no_integers_raise_what_they_raise_in_python(value):
    a = np.linspace(-5.0, 5.0, 10)
    a[6] = value
    expected = outcome(made_integers.py_func, a, np.zeros(10))
    assert outcome(made_integers, *(da.from_array(x, 4) for x in (a, np.zeros(10)))) == expected


def test_what_no_block_writes_is_raised_at_the_call():
    a, b = da.from_array(np.array([1, 9, 2]), 2), da.zeros(3, chunks=2, dtype=int)
    with pytest.raises(OverflowError, match="too large"):
        looked_at_first(a, b)
    assert looked_at_first.explain(a, b).is_complete


@appyc.jit(strict=True)
def shifted(a, k):
    for i in range(a.shape[0]):
        a[i] = a[i] + k


def test_a_nest_that_surely_raises_is_no_nest_that_does_nothing():
    a = da.zeros(9, chunks=4, dtype=np.int8)
    with pytest.raises(OverflowError, match="Python integer 300 out of bounds for int8"):
        shifted(a, 300)


@appyc.jit(strict=True)
def wrapped_total(a):
    s = 0
    for i in range(a.shape[0]):
        s += a[i]
    return s


def test_a_sum_of_64_bit_integers_wraps():
    a = np.full(12, np.iinfo(np.int64).max - 5)
    with np.errstate(over="ignore"):
        assert wrapped_total(da.from_array(a, 4)).compute() == wrapped_total.py_func(a)


@appyc.jit(strict=True)
def stored_at(a, b, k):
    b[k // a.shape[0]] += 5.0


@appyc.jit(strict=True)
def halved(a, b, k):
    for i in range(k):
        b[i % a.shape[0]] = a[i % a.shape[0]]


@pytest.mark.parametrize("function", [stored_at, halved])
def test_the_index_of_an_empty_array_may_raise(function):
    expected = outcome(function.py_func, np.zeros(0), np.zeros(0), 3)
    assert expected[0] is ZeroDivisionError
    assert outcome(function, da.zeros(0), da.zeros(0), 3) == expected
