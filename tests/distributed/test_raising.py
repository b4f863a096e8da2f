"""What the program raises in a nest over chunks comes out, as it is in Python."""

from __future__ import annotations

import warnings

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
def gathered(a, b):
    for i in range(a.shape[0]):
        if a[i] == 5:
            b[i] = 0
        elif a[a[i]] > 1:
            b[i] = a[a[i] - 1]


@appyc.jit(strict=True)
def of_numbers(a, b):
    for i in range(a.shape[0]):
        if a[i] == 3:
            raise KeyError(a[i], i, i / 3, a[i] > 2)
        if a[i] < 0:
            raise ValueError(f"{a[i]!r}: {a[i] * 0.3:.2f} of {np.float32(a[i])!r}, {i:3d}, {a[i] != 1}")
        b[i] = a[i]


def place(function, *arrays):
    """The message of an error, and the place and the text that its note shows."""

    def call():
        function(*arrays)
        np.asarray(arrays[-1])

    with pytest.raises((ValueError, LookupError, OddError)) as caught:
        call()
    note = caught.value.__notes__[0].splitlines()
    return str(caught.value), note[0].rpartition(":")[0], note[2]


@pytest.mark.parametrize(("function", "a"), [(copied, [4, 1, 6, -2]), (own_error, [4, 8, 6, 3]),
                                             (of_numbers, [3, 0]), (of_numbers, [0, 1, 2, -7]),
                                             (gathered, [1, 0, 5, 7]), (gathered, [0, 0, 9, 0])])  # fmt: skip
def test_errors_have_the_line_that_they_have_on_one_machine(function, a):
    a = np.array(a, dtype=np.int64)
    assert place(function, *(da.from_array(x, 2) for x in (a, a * 0))) == place(function, a, a * 0)


def test_blocks_with_numbers_in_messages_are_compiled():
    a, b = da.zeros(4, chunks=2), da.zeros(4, chunks=2)
    of_numbers(a, b)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert b.compute(scheduler="sync").tolist() == [0.0] * 4


def test_errors_of_worker_processes_have_the_line(workers):
    a = np.array([4, 1, 6, -2])
    assert place(copied, *(da.from_array(x, 2) for x in (a, a * 0))) == place(copied, a, a * 0)


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


@appyc.jit
def scaled_by_what_may_raise(a, b):
    n = len(a)
    b[b[-1] % n] *= ((b[(n + n) % n] | b[b[0] % n]) - n) % 1
    _ = a[(n % 7) % n]
    b[(np.uint64(int(n % 97)) // 1) % n] += min(2 * b[(n ^ 2) % n], (-1) // 3)
    return a[n % n]


def test_arrays_keep_their_tasks_while_those_that_may_raise_run():
    a, b = np.arange(6.0), np.array([5, -1, 0, -2, 1, -1], np.int32)
    chunked = da.from_array(a, 2), da.from_array(b, ((1, 1, 1, 3),))
    found = scaled_by_what_may_raise(*chunked)
    assert found.compute() == scaled_by_what_may_raise.py_func(a, b)
    np.testing.assert_array_equal(chunked[1].compute(), b)
