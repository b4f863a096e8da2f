"""Loops through an index array: a look at its values decides at the call."""

from __future__ import annotations

import numpy as np
import pytest

import appyc

TARGETS = ("cpu", "interpret")


def scatter(a, idx, b):
    # pragma parallel for
    for i in range(idx.shape[0]):
        a[idx[i]] = b[i] * 2.0


def add_through_name(a, idx, b):
    # pragma parallel for
    for i in range(1, idx.shape[0] - 1):
        j = idx[i + 1]
        a[j] = a[j] * 2.0 + b[i]


def rows(a, idx, b):
    for i in range(idx.shape[0]):
        for j in range(a.shape[1]):
            a[idx[i], j] = a[idx[i], j] * 2.0 + b[i, j]


def both(fn, target, a, *args):
    expected, result = a.copy(), a.copy()
    fn(expected, *args)
    appyc.jit(target=target)(fn)(result, *args)
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8", "uint64"])
@pytest.mark.parametrize("fn", [scatter, add_through_name])
def test_distinct_indices_run_in_parallel(fn, dtype, target):
    both(fn, target, np.arange(9.0), np.array([3, 1, 0, 4, 8], dtype), np.arange(9.0))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("idx", [[3, -1, 0], [], [2], [-9, -8]])
def test_negative_few_and_no_indices(idx, target):
    both(scatter, target, np.arange(9.0), np.array(idx, np.int64), np.arange(9.0))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("idx", [[3, 1, 3], [8, 0, -1], [5] * 40])
def test_a_repeated_index_is_refused_under_a_pragma(idx, target):
    a = np.arange(9.0)
    with pytest.raises(appyc.DependenceError, match="values that it reads in 'idx' are distinct"):
        appyc.jit(target=target)(scatter)(a, np.array(idx), np.arange(40.0))
    np.testing.assert_array_equal(a, np.arange(9.0))


@pytest.mark.parametrize("target", TARGETS)
def test_an_index_out_of_range_raises_as_ever(target):
    with pytest.raises(IndexError, match="index 9 is out of bounds for axis 0 of 'a' with size 9"):
        appyc.jit(target=target)(scatter)(np.arange(9.0), np.array([0, 9, 1]), np.arange(9.0))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("idx", [[3, 1, 0, 4], [3, 1, 3, 4], [0, -5, 1, 2]])
def test_without_a_pragma_both_ways_are_right(idx, target):
    both(rows, target, np.arange(15.0).reshape(5, 3), np.array(idx), np.ones((4, 3)))


def test_the_report_names_the_condition():
    report = appyc.jit(rows).explain(np.zeros((5, 3)), np.zeros(4, np.int64), np.zeros((4, 3)))
    assert [r.mode for r in report.loops if r.depth == 0 or r.index == "i"] == ["parallel", "sequential"]
    assert "tested at each call" in str(report)


def test_large_sparse_indices_take_the_hash_table():
    a = np.zeros(5_000_000)
    idx = np.array([4_999_999, 0, 2_500_000, 17], np.int64)
    both(scatter, "cpu", a, idx, np.arange(4.0))
    with pytest.raises(appyc.DependenceError):
        appyc.jit(scatter)(a, np.array([17, 4_999_999, 17]), np.arange(4.0))


def test_a_strided_index_array_and_one_that_is_longer_than_the_loop():
    both(scatter, "cpu", np.arange(9.0), np.array([3, 3, 1, 3, 0, 3])[::2], np.arange(9.0))

    def part(a, idx, n):
        # pragma parallel for
        for i in range(n):
            a[idx[i]] = i

    both(part, "cpu", np.arange(9.0), np.array([3, 1, 2, 1]), 3)
    with pytest.raises(IndexError):
        appyc.jit(part)(np.arange(9.0), np.array([3, 1, 2]), 4)


def test_two_arrays_through_two_index_arrays():
    def f(a, ia, b, ib):
        # pragma parallel for
        for i in range(ia.shape[0]):
            a[ia[i]] = 1.0
            b[ib[i]] = 2.0

    jitted = appyc.jit(f)
    a, b = np.zeros(5), np.zeros(5)
    jitted(a, np.array([0, 1]), b, np.array([4, 3]))
    assert (a.tolist(), b.tolist()) == ([1, 1, 0, 0, 0], [0, 0, 0, 2, 2])
    with pytest.raises(appyc.DependenceError, match="'ia', 'ib'"):
        jitted(a, np.array([0, 1]), b, np.array([4, 4]))


@pytest.mark.parametrize(
    "body",
    [
        "a[idx[i]] = a[i]",  # read elsewhere too
        "a[idx[i]] = 1.0; a[idx[i + 1]] = 2.0",  # through two elements
        "idx[i] = i; a[idx[i]] = 1.0",  # the index array changes
    ],
)
def test_what_an_inspector_cannot_tell_is_refused(body):
    import linecache

    text = (
        f"def f(a, idx):\n    # pragma parallel for\n    for i in range(idx.shape[0] - 1):\n        {body}\n"
    )
    linecache.cache["<inspector>"] = (len(text), None, text.splitlines(True), "<inspector>")
    names = {}
    exec(compile(text, "<inspector>", "exec"), names)
    with pytest.raises(appyc.DependenceError):
        appyc.jit(names["f"])(np.zeros(9), np.arange(9))
