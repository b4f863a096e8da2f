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


@pytest.mark.sampled
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
@pytest.mark.parametrize(
    ("idx", "said"),
    [
        ([3, 1, 3], r"idx\[0\] and idx\[2\] are both 3, so iteration i=0 writes a\[3\], iteration i=2 "),
        ([8, 0, -1], r"idx\[0\] and idx\[2\] are both 8"),
        ([5] * 40, r"idx\[0\] and idx\[1\] are both 5"),
    ],
)
def test_a_repeated_index_is_refused_under_a_pragma(idx, said, target):
    a = np.arange(9.0)
    with pytest.raises(appyc.DependenceError, match=said):
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
    with pytest.raises(appyc.DependenceError, match=r"ib\[0\] and ib\[1\] are both 4"):
        jitted(a, np.array([0, 1]), b, np.array([4, 4]))


@pytest.mark.parametrize(
    "body",
    [
        "a[idx[i]] = a[2 * i]",  # not the variable plus something
        "a[idx[idx[i]]] = 1.0",  # through two arrays
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


# ---------------------------------------------------------------- what is read and what is written


def through_two(a, idx, jdx):
    # pragma parallel for
    for i in range(idx.shape[0]):
        a[idx[i]] = a[jdx[i]] + a[idx[i]] + 1.0


def in_place(a, idx):
    # pragma parallel for
    for i in range(idx.shape[0]):
        a[i] = a[idx[i]] * 2.0


def two_ends(a, idx, jdx):
    # pragma parallel for
    for i in range(idx.shape[0]):
        a[idx[i]] = i
        a[jdx[i]] = -i


def backwards(a, idx, k):
    # pragma parallel for
    for i in range(idx.shape[0] - 1, -1, -2):
        a[idx[i]] = a[i + k] + 1.0


@pytest.mark.parametrize("target", TARGETS)
def test_a_negative_step_and_a_distance_from_outside(target):
    a, idx = np.arange(20.0), np.array([0, 3, 9, 1, 5])
    both(backwards, target, a, idx, 12)
    with pytest.raises(
        appyc.DependenceError, match=r"idx\[2\] is 9, so iteration i=2 writes a\[9\], iteration i=4 "
    ):
        appyc.jit(target=target)(backwards)(a, idx, 5)


def own_places(fn, values):
    """Whether no iteration writes what another one touches, by trying all pairs."""
    touched = {
        through_two: lambda i, idx, jdx: ([idx[i]], [jdx[i], idx[i]]),
        in_place: lambda i, idx: ([i], [idx[i]]),
        two_ends: lambda i, idx, jdx: ([idx[i], jdx[i]], []),
    }[fn]
    sets = [tuple({p % 9 for p in group} for group in touched(i, *values)) for i in range(len(values[0]))]
    return all(
        i == j or not (writes & (other | reads))
        for i, (writes, _) in enumerate(sets)
        for j, (other, reads) in enumerate(sets)
    )


@pytest.mark.sampled
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("fn", [through_two, in_place, two_ends])
@pytest.mark.parametrize("dtype", ["int64", "int16"])
def test_it_refuses_just_the_iterations_that_meet(fn, dtype, target):
    rng = np.random.default_rng(7)
    jitted = appyc.jit(target=target)(fn)
    seen = set()
    for size in (0, 1, 2, 3, 5) * 4:
        count = 1 if fn is in_place else 2
        values = [rng.integers(-9, 9, size).astype(dtype) for _ in range(count)]
        if fn is in_place and rng.integers(2):
            values = [np.where(rng.integers(2, size=size), np.arange(size), 8).astype(dtype)]
        expected, result = np.arange(9.0), np.arange(9.0)
        free = own_places(fn, values)
        seen.add(free)
        if free:
            fn(expected, *values)
            jitted(result, *values)
        else:
            with pytest.raises(appyc.DependenceError, match=r"iteration i=\d+ writes a\[\d\]"):
                jitted(result, *values)
        np.testing.assert_array_equal(result, expected)
    assert seen == {True, False}


def test_a_read_that_another_iteration_writes_is_shown():
    a, idx, jdx = np.zeros(9), np.array([1, 2, 3]), np.array([5, 6, 1])
    with pytest.raises(appyc.DependenceError) as caught:
        appyc.jit(through_two)(a, idx, jdx)
    assert "idx[0] and jdx[2] are both 1" in caught.value.summary
    assert "iteration i=0 writes a[1], iteration i=2 reads a[1]" in caught.value.summary
    assert len(caught.value.related) == 2


def test_a_range_that_begins_below_zero_reads_the_index_array_from_its_end():
    def f(a, idx, lo):
        # pragma parallel for
        for i in range(lo, idx.shape[0]):
            a[idx[i]] = i

    for lo in (0, -1, -3):
        both(f, "cpu", np.zeros(9), np.array([3, 1, 0]), lo)


@pytest.mark.parametrize("target", TARGETS)
def test_large_arrays_are_looked_at_in_threads(target):
    if target == "interpret":
        n, sizes = 3000, (3000,)
    else:
        n, sizes = 300_007, (300_007, 65_536)
    threads = appyc.get_num_threads()
    appyc.set_num_threads(3)
    try:
        for size in sizes:
            idx = np.random.default_rng(1).permutation(n)[:size]
            both(scatter, target, np.zeros(n), idx, np.arange(float(size)))
            idx[5] = idx[size - 3]
            with pytest.raises(appyc.DependenceError, match=rf"idx\[5\] and idx\[{size - 3}\] are both"):
                appyc.jit(target=target)(scatter)(np.zeros(n), idx, np.arange(float(size)))
    finally:
        appyc.set_num_threads(threads)


@pytest.mark.parametrize("repeated", [False, True])
def test_a_large_loop_without_a_pragma_is_right_either_way(repeated):
    def f(a, idx, b):
        for i in range(idx.shape[0]):
            a[idx[i]] = a[idx[i]] * 0.5 + b[i]

    idx = np.random.default_rng(2).permutation(100_003)
    if repeated:
        idx[90_000] = idx[17]
    both(f, "cpu", np.ones(100_003), idx, np.arange(100_003.0))
    modes = [r.mode for r in appyc.jit(f).explain(np.ones(3), idx, np.ones(3)).loops]
    assert modes == ["parallel", "sequential"]


# ---------------------------------------------------------------- segments


def segments(y, ptr, w):
    # pragma parallel for
    for r in range(ptr.shape[0] - 1):
        first, last = ptr[r], ptr[r + 1]
        for k in range(first, last):
            y[k] = y[k] * w[r] + 1.0


@pytest.mark.sampled
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8"])
@pytest.mark.parametrize("ptr", [[0, 3, 3, 7, 9], [2, 5], [4], [], [0, 0, 0]])
def test_segments_of_ascending_pointers_run_in_parallel(ptr, dtype, target):
    both(segments, target, np.arange(9.0), np.array(ptr, dtype), np.arange(1.0, 6.0))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("ptr", "said"),
    [
        ([0, 4, 2, 7], r"ptr\[1\] = 4 and ptr\[2\] = 2 descend"),
        ([-2, 0, 3, 9], r"ptr\[0\] = -2 counts from the end"),
    ],
)
def test_segments_that_overlap_are_refused(ptr, said, target):
    y = np.arange(9.0)
    with pytest.raises(appyc.DependenceError, match=said):
        appyc.jit(target=target)(segments)(y, np.array(ptr), np.ones(9))
    np.testing.assert_array_equal(y, np.arange(9.0))


@pytest.mark.parametrize("ptr", [[0, 3, 3, 9], [0, 4, 2, 9], [-2, 0, 3, 9]])
def test_segments_without_a_pragma_are_right_either_way(ptr):
    def f(y, ptr, w):
        for r in range(ptr.shape[0] - 1):
            for k in range(ptr[r], ptr[r + 1]):
                y[k] = y[k] * w[r] + 1.0

    both(f, "cpu", np.arange(9.0), np.array(ptr), np.arange(1.0, 4.0))
