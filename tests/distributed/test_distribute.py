"""Loops over arrays of Dask give what plain Python gives over NumPy arrays, whatever the chunks."""

from __future__ import annotations

import sys
from collections import namedtuple

import numpy as np
import pytest

import appyc
from appyc.errors import DependenceError, UnsupportedError
from tests.in_turn import in_turn

da = pytest.importorskip("dask.array")


@appyc.jit
def scale(a, b, x):
    # pragma parallel for
    for i in range(a.shape[0]):
        b[i] = a[i] * x


@appyc.jit
def jacobi_2d(steps, a, b):
    for _ in range(steps):
        # pragma parallel for collapse(2)
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                b[i, j] = 0.2 * (a[i, j] + a[i, j - 1] + a[i, 1 + j] + a[1 + i, j] + a[i - 1, j])
        # pragma parallel for collapse(2)
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                a[i, j] = 0.2 * (b[i, j] + b[i, j - 1] + b[i, 1 + j] + b[1 + i, j] + b[i - 1, j])


@appyc.jit
def heat_3d(a, b):
    # pragma parallel for collapse(3)
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            for k in range(1, a.shape[2] - 1):
                b[i, j, k] = a[i + 1, j, k] - 2.0 * a[i, j - 1, k] + a[i, j, k + 1]


@appyc.jit
def seidel_2d(steps, a):
    for _ in range(steps):
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                a[i, j] = (a[i - 1, j] + a[i, j - 1] + a[i, j] + a[i, j + 1] + a[i + 1, j]) / 5.0


@appyc.jit
def floyd_warshall(path):
    for k in range(path.shape[0]):
        for i in range(path.shape[0]):
            for j in range(path.shape[0]):
                path[i, j] = min(path[i, j], path[i, k] + path[k, j])


@appyc.jit
def gemm(c, a, b):
    # pragma parallel for collapse(2)
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


@appyc.jit
def lu(a):
    for i in range(a.shape[0]):
        for j in range(i):
            for k in range(j):
                a[i, j] -= a[i, k] * a[k, j]
            a[i, j] /= a[j, j]
        for j in range(i, a.shape[0]):
            for k in range(i):
                a[i, j] -= a[i, k] * a[k, j]


@appyc.jit
def row_sums(a, s):
    # pragma parallel for
    for i in range(a.shape[0]):
        s[i] = 0.0
        for j in range(a.shape[1]):
            s[i] += a[i, j]


@appyc.jit
def into_one(a, s):
    for i in range(a.shape[0]):
        s[0] += a[i]


@appyc.jit
def total(a):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i]
    return s


@appyc.jit
def carried(a):
    s = 0.0
    for i in range(a.shape[0]):
        s = s * 0.5 + a[i]
    return s


@appyc.jit
def ends_of(a):
    low = high = a.shape[0] * 1.0
    count = 0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            low = min(low, a[i, j])
            high = max(high, -a[i, j])
            if a[i, j] > 0.5:
                count += 1
    return low, high, count


@appyc.jit
def normalised(a, b):
    s = 1.0
    for i in range(a.shape[0]):
        s += a[i] * a[i]
    scale = 1.0 / s**0.5
    for i in range(a.shape[0]):
        b[i] = a[i] * scale
    s = s - 1.0
    t = s * 2.0
    return s, t


@appyc.jit
def conjugate_gradients(steps, a, x, r, p, q):
    rs = 0.0
    for i in range(r.shape[0]):
        rs += r[i] * r[i]
    for _ in range(steps):
        for i in range(p.shape[0]):
            q[i] = 0.0
            for j in range(p.shape[0]):
                q[i] += a[i, j] * p[j]
        pq = 0.0
        for i in range(p.shape[0]):
            pq += p[i] * q[i]
        alpha = rs / pq
        for i in range(p.shape[0]):
            x[i] += alpha * p[i]
            r[i] -= alpha * q[i]
        new = 0.0
        for i in range(r.shape[0]):
            new += r[i] * r[i]
        beta = new / rs
        for i in range(p.shape[0]):
            p[i] = r[i] + beta * p[i]
        rs = new
    return rs


@appyc.jit
def gathered(a, index, b):
    for i in range(a.shape[0]):
        b[i] = a[index[i]]


@appyc.jit
def scattered(a, index):
    for i in range(index.shape[0]):
        a[index[i]] = i


@appyc.jit
def histogram(counts, index):
    for i in range(index.shape[0]):
        counts[index[i]] += 1.0


@appyc.jit
def gradient(x, y, w, g):
    for i in range(x.shape[0]):
        p = -y[i]
        for j in range(w.shape[0]):
            p += x[i, j] * w[j]
        for j in range(w.shape[0]):
            g[j] += p * x[i, j]


@appyc.jit
def ends_of_columns(x, low, index, high):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            low[j] = min(low[j], x[i, j])
            high[index[i]] = max(high[index[i]], x[i, j])


@appyc.jit
def shifted_back(a, b):
    n = a.shape[0]
    for i in range(n):
        b[(i + 2) % n] = a[i]


@appyc.jit
def periodic(steps, a, b):
    for _ in range(steps):
        # pragma parallel for
        for i in range(a.shape[0]):
            b[i] = a[i - 1] + 2.0 * a[i] - a[i - 2]
        a[-1] = b[0] - b[-2]
        for i in range(a.shape[0]):
            a[i - 3] = b[-1 - i]


@appyc.jit
def sum_of_columns(a, b):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[i - 1, j] = a[i, j - 1] - a[-1, j]


@appyc.jit
def until_even(a, b):
    error, steps = 1.0, 0
    while error > 0.1 and steps < 9:
        error = 0.0
        for i in range(1, a.shape[0] - 1):
            b[i] = 0.5 * (a[i - 1] + a[i + 1])
        for i in range(1, a.shape[0] - 1):
            error = max(error, abs(b[i] - a[i]))
            a[i] = b[i]
        steps += 1
    return steps


@appyc.jit
def until_sum(steps, a):
    for step in range(steps):
        s = 0.0
        for i in range(a.shape[0]):
            s += a[i]
        if s > 20.0:
            break
        if a[0] > 0.9:
            for i in range(a.shape[0]):
                a[i] = a[i] - 0.25
            continue
        for i in range(a.shape[0]):
            a[i] = 1.5 * a[i] + step
    return s


@appyc.jit
def roots(a):
    for i in range(a.shape[0]):
        x = 1.0
        while abs(x * x - a[i]) > 1e-9:
            x = 0.5 * (x + a[i] / x)
        for _ in range(3):
            if x > 0.5:
                break
            x += 0.125
        a[i] = x


@appyc.jit
def not_parallel(a):
    # pragma parallel for
    for i in range(1, a.shape[0]):
        a[i] = a[i - 1] * a[i - 1] + 1.0


@appyc.jit
def sorted_copy(a):
    return np.sort(a)


@appyc.jit
def made(a, k):
    sums = np.zeros(a.shape[1])
    b = np.empty_like(a)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[i, j] = a[i, j] * 2.0
            sums[j] += a[i, j]
    return b, sums, np.ones(k)


@appyc.jit
def whole_statements(a, b):
    c = a * b + 1.0
    a[1:] = c[:-1] - b[1:]
    return c.sum(), np.sqrt(c)


@appyc.jit
def until_negative(a, b):
    for i in range(a.shape[0]):
        if a[i] < 0.0:
            break
        b[i] = a[i]


@appyc.jit
def changing_factor(a):
    x = 3.0
    y = x / 2.0
    x = 5.0
    for i in range(a.shape[0]):
        a[i] = a[i] * y + x


@appyc.jit
def by_an_element(a):
    pivot = a[5] * 2.0
    for i in range(a.shape[0]):
        a[i] = a[i] / pivot
    return pivot


@appyc.jit
def last_large(a):
    found = -1.0
    for i in range(a.shape[0]):
        if a[i] > 0.3:
            found = a[i]
    return found


@appyc.jit
def from_below(a):
    for i in range(a.shape[0] - 1):
        for j in range(1, a.shape[1]):
            a[i, j] = a[i + 1, j - 1] + 1.0


def values(*shape, seed=1):
    return np.random.default_rng(seed).random(shape)


def square(n, seed=1):
    return values(n, n, seed=seed) + n * np.eye(n)


CASES = {
    "elementwise": (scale, (values(11), np.zeros(11), 1.7), ((4, 4, 3), (5, 1, 5))),
    "empty": (scale, (values(0), np.zeros(0), 1.7), ((0,), (0,))),
    "one chunk": (scale, (values(7), np.zeros(7), 1.7), ((7,), (7,))),
    "jacobi-2d": (jacobi_2d, (3, values(11, 13), values(11, 13, seed=2)), (((5, 6), (4, 4, 5)), ((3, 8), (6, 7)))),
    "heat-3d": (heat_3d, (values(7, 8, 9), np.zeros((7, 8, 9))), ((4, 5, 3), ((3, 4), 4, 5))),
    "seidel-2d": (seidel_2d, (2, values(12, 11)), ((5, 4),)),
    "floyd-warshall": (floyd_warshall, (values(9, 9),), ((4, 5),)),
    "gemm": (gemm, (values(6, 7), values(6, 8, seed=3), values(8, 7, seed=4)), ((3, 4), (2, 5), (5, 3))),
    "lu": (lu, (square(9),), ((4, 5),)),
    "values from before the loop": (from_below, (values(9, 8),), ((4, 3),)),
    "into one": (into_one, (values(9), np.zeros(1)), ((4,), (1,))),
    "total": (total, (values(90),), (7,)),
    "total of nothing": (total, (values(0),), (1,)),
    "ends": (ends_of, (values(9, 8),), ((4, 3),)),
    "handed from block to block": (carried, (values(9),), (4,)),
    "numbers that change": (changing_factor, (values(9),), (4,)),
    "an element as a number": (by_an_element, (values(9),), (4,)),
    "the last one": (last_large, (values(9),), (4,)),
    "gathered": (gathered, (values(9), np.array([3, 8, 0, -1, -9, 4, 4, 7, 2]), values(9)), (4, 5, 4)),
    "scattered": (scattered, (values(9), np.array([3, 8, 0, -1, -9, 4, 4, 7, 2])), (4, 5)),
    "histogram": (histogram, (np.zeros(5), np.array([3, 4, 0, -1, 2, 4, 4, 1, 2])), (2, 5)),
    "gradient": (gradient, (values(9, 3), values(9), values(3), values(3)), ((4, 3), 4, 2, 2)),
    "ends of columns": (
        ends_of_columns,
        (values(9, 4), np.ones(4), np.array([2, 0, 1, 0, -1, 1, 1, 2, 0]), np.zeros(4)),
        ((4, 2), 2, 4, 4),
    ),
    "remainders": (shifted_back, (values(9), np.zeros(9)), (4, 4)),
    "until negative": (until_negative, (values(9) - 0.15, np.zeros(9)), (4, 4)),
    "periodic": (periodic, (2, values(9), np.zeros(9)), (4, 3)),
    "sum of columns": (sum_of_columns, (values(9, 8), np.zeros((9, 8))), ((4, 3), (4, 3))),
    "while": (until_even, (values(9), np.zeros(9)), (4, 4)),
    "break out of steps": (until_sum, (9, values(9)), (4,)),
    "loops inside of an iteration": (roots, (values(9),), (4,)),
    "normalised": (normalised, (values(9), np.zeros(9)), (4, 5)),
    "conjugate gradients": (
        conjugate_gradients,
        (3, square(8) + square(8).T, np.zeros(8), np.ones(8), np.ones(8), np.zeros(8)),
        ((3, 4), 4, 4, 3, 4),
    ),
    "row sums": (row_sums, (values(9, 8), np.zeros(9)), ((4, 3), (5,))),
}  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("name", CASES)
def test_chunked_arrays_become_what_arrays_become(name):
    function, arguments, chunks = CASES[name]
    plain = [np.copy(a) if isinstance(a, np.ndarray) else a for a in arguments]
    result = function.py_func(*plain)
    sizes = iter(chunks)
    chunked = [da.from_array(a, next(sizes)) if isinstance(a, np.ndarray) else a for a in arguments]
    before = [getattr(a, "chunks", None) for a in chunked]
    returned = function(*chunked)
    for one, other in zip(np.atleast_1d(result), np.atleast_1d(returned), strict=True):
        assert one is None if other is None else np.isclose(one, np.asarray(other), rtol=1e-13)
    for expected, found, size in zip(plain, chunked, before, strict=True):
        if isinstance(expected, np.ndarray):
            assert found.chunks == size
            np.testing.assert_allclose(found.compute(scheduler="sync"), expected, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize(
    ("function", "arguments", "error", "reason"),
    [
        (not_parallel, (values(9),), DependenceError, "a"),
        (sorted_copy, (values(9),), UnsupportedError, "left to the library"),
    ],
)
def test_what_cannot_be_distributed_is_refused_with_its_place(function, arguments, error, reason):
    with pytest.raises(error, match=reason) as caught:
        function(*(da.from_array(a, 4) for a in arguments))
    assert caught.value.loc.file == __file__


@appyc.jit
def rows_unread(a, b, k):
    for i in range(a.shape[0]):
        row = a[i + k]
        for j in range(row.shape[0]):
            b[i, j] = a[i, j]


@appyc.jit
def row_unread(a, b, k):
    row = a[k, :]
    for i in range(a.shape[0]):
        for j in range(row.shape[0]):
            b[i, j] = a[i, j]


@pytest.mark.parametrize(("function", "within", "outside"), [(rows_unread, 0, 1), (row_unread, -9, 9)])
def test_an_index_of_a_view_is_tested_before_the_tasks(function, within, outside):
    a, b = da.from_array(values(9, 8), 4), da.zeros((9, 8), chunks=4)
    expected = np.zeros((9, 8))
    function.py_func(values(9, 8), expected, within)
    function(a, b, within)
    np.testing.assert_allclose(b.compute(scheduler="sync"), expected, rtol=1e-14)
    with pytest.raises(IndexError):
        function(a, b, outside)


@appyc.jit
def a_quotient_unread(a, k):
    a[:] += 1.0
    x = len(a) // k  # noqa: F841


@appyc.jit
def an_element_unread(a, k):
    x = int(a[4]) // k
    x = 2 * x
    a[:] += 1.0


@pytest.mark.parametrize("function", [a_quotient_unread, an_element_unread])
def test_a_scalar_that_nothing_reads_raises_what_it_raises_in_python(function):
    a = da.from_array(values(9), 4)
    function(a, 1)
    np.testing.assert_allclose(a.compute(scheduler="sync"), values(9) + 1.0, rtol=1e-14)
    for given in (a, values(9)):
        with pytest.raises(ZeroDivisionError):
            function(given, 0)


def test_many_blocks_are_no_more_work_than_isl_may_do():
    expected = values(60, 60)
    a, b = da.from_array(expected, 5), da.zeros((60, 60), chunks=5)
    other = np.zeros((60, 60))
    jacobi_2d.py_func(1, expected, other)
    jacobi_2d(1, a, b)
    np.testing.assert_allclose(a.compute(scheduler="sync"), expected, rtol=1e-14)


def keys_in(task):
    if isinstance(task, list | tuple):
        yield from (key for part in task for key in keys_in(part))
    yield task


@appyc.jit
def where_positive(a, b):
    for i in range(a.shape[0]):
        if a[i] > 0.5:
            b[i] = a[i]


@pytest.mark.parametrize(
    ("function", "arguments", "is_read"), [(scale, (2.0,), False), (where_positive, (), True)]
)
def test_what_a_block_overwrites_is_not_read(function, arguments, is_read):
    a, b = da.from_array(values(11), 4), da.from_array(values(11, seed=2), 4)
    old = {(b.name, n) for n in range(3)}
    function(a, b, *arguments)
    tasks = [task for key, task in b.__dask_graph__().items() if "_line_" in key[0]]
    assert len(tasks) == 3
    assert any(key in old for task in tasks for key in keys_in(task)
               if isinstance(key, tuple) and len(key) == 2 and isinstance(key[0], str)) is is_read  # fmt: skip


def test_of_a_large_array_only_named_chunks_are_read():
    asked = []

    def chunk(block_info=None):
        asked.append(block_info[None]["chunk-location"])
        ((start, stop),) = block_info[None]["array-location"]
        return np.arange(start, stop, dtype=float)

    a = da.map_blocks(chunk, chunks=((1 << 22,) * 40,), dtype=float)  # 1.25 GiB
    index = np.array([7, -1, (1 << 22) * 9, (1 << 22) * 9 + 5, 3])
    b = da.zeros(5, chunks=2)
    gathered_from(a, da.from_array(index, 2), b)
    asked.clear()
    np.testing.assert_array_equal(b.compute(scheduler="sync"), index % a.size)
    assert set(asked) == {(0,), (9,), (39,)}
    with pytest.raises(UnsupportedError, match="which chunks of 'a' a block reads is not known"):
        gathered_twice(a, da.from_array(index, 2), b)


@appyc.jit
def gathered_from(a, index, b):
    for i in range(b.shape[0]):
        b[i] = a[index[i]]


@appyc.jit
def gathered_twice(a, index, b):
    for i in range(b.shape[0]):
        b[i] = a[index[i] * index[0]]


@appyc.jit
def by_a_tuple(a, factors, nothing=None):
    for i in range(a.shape[0]):
        a[i] = a[i] * factors[0] + (factors[1] if nothing is None else 0.0)


@appyc.jit
def by_one(a, factors):
    if factors[0] > 1.0:
        a[0] = factors[0]


def test_tuples_of_numbers():
    a = da.ones(9, chunks=4)
    by_a_tuple(a, (2.0, 0.5))
    by_one(a, (7.0,))
    assert a.compute(scheduler="sync").tolist() == [7.0] + [2.5] * 8


def test_what_blocks_combine_is_a_tree():
    plan = histogram.explain(da.zeros(8, chunks=8), da.zeros(640, chunks=10, dtype=int))
    blocks = [name for name in plan.step if "line" in name]
    assert len(blocks) == 64
    assert not any(need in blocks for name in blocks for need in plan.step[name])


@appyc.jit(strict=True)
def largest(a, start):
    best, at = start, -1
    for i in range(a.shape[0]):
        if a[i] > best:
            best = a[i]
            at = i
    return best, at


@appyc.jit(strict=True)
def smallest_of_rows(a, start):
    best, row, column, total, mixed = start, -1, -1, 0.0, 1.0
    for i in range(a.shape[0]):
        total += 1.0
        mixed = mixed * 0.5 + i
        for j in range(a.shape[1]):
            if best > a[i, j]:
                best, row, column = a[i, j], i, j
    return best, row, column, total, mixed


@appyc.jit(strict=True)
def last_largest(a, start):
    best, at = start, -1
    for i in range(a.shape[0]):
        if a[i] >= best:
            best = a[i]
            at = i
    return best, at


@appyc.jit(strict=True)
def numpys(a, start):
    return np.argmax(a), np.argmin(a), np.max(a)


SPECIAL = np.array([np.nan, -np.inf, -0.0, 0.0, 1.0, 1.0, np.inf])


@pytest.mark.sampled
@pytest.mark.parametrize("function", [largest, last_largest, numpys, smallest_of_rows])
@pytest.mark.parametrize(("start", "take"), in_turn([-np.inf, np.inf, np.nan, 0.0, 0.5], [2, 6, 7]))
def test_arg_reductions_have_the_element_that_python_has(function, start, take):
    rng = np.random.default_rng(take)
    for size in (1, 9, 70):
        shape = (size, 3) if function is smallest_of_rows else (size,)
        a = rng.choice(rng.permutation(SPECIAL)[:take], shape)
        expected = function.py_func(a, start)
        found = [np.asarray(one) for one in function(da.from_array(a, chunks=1), start)]
        for one, other in zip(expected, found, strict=True):
            assert np.asarray(one, other.dtype).tobytes() == other.tobytes(), (a, expected, found)


@appyc.jit(strict=True)
def largest_before(a, stop):
    best, at, count = -1, -1, 0
    for i in range(a.shape[0]):
        if a[i] == stop:
            break
        count += 1
        if a[i] > best:
            best = a[i]
            at = i
    return best, at, count


@pytest.mark.parametrize("stop", [3, 8, 100])
def test_an_arg_reduction_ends_where_its_loop_ends(stop):
    a = np.array([2, 1, 6, 8, 0, 3, 9])
    for chunks in (1, 3, 7):
        found = largest_before(da.from_array(a, chunks=chunks), stop)
        assert tuple(int(n) for n in found) == tuple(int(n) for n in largest_before.py_func(a, stop))


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.uint64, np.float32])
def test_arg_reductions_of_every_type(dtype):
    for a in (
        np.zeros(9, dtype),
        np.arange(9, dtype=dtype) % 4,
        np.full(9, np.finfo(dtype).min if dtype is np.float32 else np.iinfo(dtype).min, dtype),
    ):
        found = from_its_first(da.from_array(a, chunks=2))
        assert tuple(int(n) for n in found) == tuple(int(n) for n in from_its_first.py_func(a))


@appyc.jit(strict=True)
def from_its_first(a):
    best, at = a[0], 0
    for i in range(1, a.shape[0]):
        if a[i] > best:
            best, at = a[i], i
    return best, at


@appyc.jit(strict=True)
def sum_and_powers(a):
    powers = np.uint8(3)
    for i in range(a.shape[0]):
        powers *= np.uint8(a[i] % 4)
    return np.sum(a), powers


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", [np.int8, np.uint32, np.int64, np.uint64])
def test_totals_have_the_type_that_numpy_gives_them(dtype):
    a = np.full(9, np.iinfo(dtype).max, dtype) - np.arange(9, dtype=dtype)
    with np.errstate(over="ignore"):
        expected = sum_and_powers.py_func(a)
    for one, other in zip(sum_and_powers(da.from_array(a, chunks=2)), expected, strict=True):
        assert one.dtype == other.dtype
        assert np.asarray(one) == other


@appyc.jit(strict=True)
def products_of_numpys(a, b, k):
    span = a.max() - a.min()
    s = np.int64(2**62)
    for i in range(a.shape[0]):
        b[i] = s * s + span * k
        s = s * 3 + s
    return span * span, -span, k * k, s


def test_integers_of_numpys_wrap_in_blocks_and_between_them():
    a, b, k = np.array([2**62, -(2**62) - 5, 3, 4, 5]), np.zeros(5, np.int64), np.int64(2**40 + 1)
    with np.errstate(over="ignore"):
        expected = products_of_numpys.py_func(a, b, k)
        other = da.zeros(5, dtype=np.int64, chunks=2)
        found = products_of_numpys(da.from_array(a, chunks=2), other, k)
    assert [int(x) for x in found] == [int(x) for x in expected]
    np.testing.assert_array_equal(other.compute(), b)


@appyc.jit(strict=True)
def total_of_pythons(a):
    s = 0
    for i in range(a.shape[0]):
        s += int(a[i])
    return s


@appyc.jit(strict=True)
def squares_of_pythons(a, b):
    for i in range(a.shape[0]):
        k = int(a[i])
        b[i] = (k * k) % 7


@appyc.jit(strict=True)
def known_square(a, k):
    for _ in range(a.shape[0]):
        k += 1
    return k * k


@appyc.jit(strict=True)
def digits_of_pythons(a):
    s = 0
    for i in range(a.shape[0]):
        s = s * 1000003 + int(a[i])
    return s % 97


def test_integers_of_pythons_never_wrap():
    large = 2**63 - 1
    parts = da.from_array(np.array([large, large, 3, -large, -large]), chunks=2)
    assert int(total_of_pythons(parts)) == 3
    with pytest.raises(OverflowError):
        total_of_pythons(parts[:2]).compute()
    squares_of_pythons(parts, b := da.zeros(5, dtype=np.int64, chunks=2))
    with pytest.raises(OverflowError):
        b.compute()
    assert int(digits_of_pythons(parts)) == digits_of_pythons.py_func(parts.compute())
    assert known_square(parts, 2**40) == (2**40 + 5) ** 2


@appyc.jit(strict=True)
def without_axes(s, a):
    s[()] = 2
    for i in range(a.shape[0]):
        s[()] += a[i]
    for i in range(a.shape[0]):
        a[i] += s[()]
    return s[()] + 1


def test_arrays_without_axes_are_written():
    s, a = np.array(1.0), np.arange(7.0)
    parts = da.from_array(s, chunks=()), da.from_array(a, chunks=3)
    expected, found = without_axes.py_func(s, a), without_axes(*parts)
    assert found.compute() == expected
    assert parts[0].compute() == s
    np.testing.assert_array_equal(parts[1].compute(), a)


def test_blocks_of_an_arg_reduction_run_in_any_order():
    plan = largest.explain(da.zeros(640, chunks=10), 0.5)
    blocks = [name for name in plan.step if "line" in name]
    assert len(blocks) == 64
    assert not any(need in blocks for name in blocks for need in plan.step[name])
    best, at = largest(da.zeros(0, chunks=1), 0.5)
    assert (float(best), int(at)) == (0.5, -1)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("function", "arguments"),
    [(made, (values(9, 8), 3)), (whole_statements, (values(9), values(9, seed=2)))],
)
def test_arrays_that_a_function_makes(function, arguments):
    chunked = [da.from_array(v, 4) if isinstance(v, np.ndarray) else v for v in arguments]
    own = [np.copy(v) if isinstance(v, np.ndarray) else v for v in arguments]
    expected, found = function.py_func(*own), function(*chunked)
    for one, other in zip((*expected, own[0]), (*found, chunked[0]), strict=True):
        np.testing.assert_allclose(other.compute(scheduler="sync"), one, rtol=1e-13)
    assert found[-1].chunks == chunked[-1].chunks if isinstance(chunked[-1], da.Array) else True


@appyc.jit
def expressions(a, b):
    c = np.sqrt(a) * b
    d = c + a
    return d - 2.0 * c, d.sum()


def test_array_expressions_are_fused_and_cut_along_each_axis():
    a, b = values(50, 40), values(50, 40) + 1.0
    chunked = da.from_array(a, (20, 15)), da.from_array(b, (25, 40))
    found, total = expressions(*chunked)
    assert len({key for key in found.__dask_graph__() if "_line_" in str(key[0])}) == found.npartitions == 9
    expected, of_all = expressions.py_func(a, b)
    np.testing.assert_array_equal(found.compute(scheduler="sync"), expected)
    assert np.isclose(total.compute(scheduler="sync"), of_all, rtol=1e-13)


@appyc.jit
def sums(a, b, c):
    for i in range(c.shape[0]):
        c[i] = a[i] + b[i]


def test_one_array_twice_is_refused_where_one_of_the_two_is_written():
    a, c = da.ones(8, chunks=4), da.zeros(8, chunks=4)
    sums(a, a, c)
    assert c.compute(scheduler="sync").tolist() == [2.0] * 8
    with pytest.raises(UnsupportedError, match="one array is the arguments 'b' and 'a' of 'scale'"):
        scale(a, a, 2.0)


@appyc.jit
def moved(a, index):
    for i in range(index.shape[0]):
        b = a[0]
        a[index[i]] = b


def test_a_refusal_shows_both_accesses():
    a, large = da.zeros(8, chunks=4), da.zeros(1 << 25, chunks=1 << 22)
    index = da.zeros(8, chunks=4, dtype=int)
    for function, arguments, accesses in [
        (scale, (a, a, 2.0), ["b[i] = a[i] * x", "a[i]"]),
        (moved, (large, index), ["a[index[i]] = b", "a[0]"]),
        (gathered_twice, (large, index, a), ["a[index[i] * index[0]]", "index[i]", "index[0]"]),
        (not_parallel, (a,), ["# pragma parallel for", "a[i] = a[i - 1] * a[i - 1] + 1.0", "a[i - 1]"]),
    ]:
        with pytest.raises((UnsupportedError, DependenceError)) as caught:
            function(*arguments)
        error = caught.value
        found = [error.loc, *(note.loc for note in error.related)]
        assert [loc.source_line()[loc.col : loc.end_col] for loc in found] == accesses
        assert all(f"{loc.file}:{loc.line}" in str(error) for loc in found)


SCALE = 2.0


@appyc.jit
def by_a_global(a):
    for i in range(a.shape[0]):
        a[i] = a[i] * SCALE


def test_a_repeated_call_sees_what_has_changed(monkeypatch):
    a = da.ones(9, chunks=4)
    for factor, expected in ((2.0, 2.0), (2.0, 4.0), (3.0, 12.0)):
        monkeypatch.setattr(sys.modules[__name__], "SCALE", factor)
        by_a_global(a)
        assert a.compute(scheduler="sync").tolist() == [expected] * 9
    for n in (9, 0, 3):
        expected, found = np.zeros(n), da.zeros(n, chunks=4)
        shifted_back.py_func(values(n), expected)
        shifted_back(da.from_array(values(n), 4), found)
        np.testing.assert_array_equal(found.compute(scheduler="sync"), expected)


def test_a_target_of_its_own():
    on_dask = appyc.jit(total.py_func, target="dask")
    found = on_dask(values(9))
    assert isinstance(found, da.Array)
    assert np.isclose(found.compute(scheduler="sync"), values(9).sum(), rtol=1e-13)
    on_dask.compile(values(9))
    assert "for i" in on_dask.source("ir", values(9))
    other = da.zeros(9, chunks=4)
    scale(values(9), other, 2.0)
    np.testing.assert_array_equal(other.compute(scheduler="sync"), values(9) * 2.0)
    with pytest.raises(UnsupportedError, match="pass dask") as caught:
        scale(other, np.zeros(9), 2.0)
    assert caught.value.loc.source_line().strip() == "b[i] = a[i] * x"


def test_calls_that_differ_in_a_number_have_tasks_of_their_own():
    a, one = da.ones(8, chunks=4), da.zeros(8, chunks=4)
    other = one.copy()
    scale(a, one, 2.0)
    scale(a, other, 3.0)
    assert (one + other).compute(scheduler="sync").tolist() == [5.0] * 8


def test_worker_processes_compile_the_text(workers):
    expected, b = values(11, 13), values(11, 13, seed=2)
    a, chunked_b = da.from_array(expected, (5, 4)), da.from_array(b, (3, 6))
    jacobi_2d.py_func(2, expected, b)
    jacobi_2d(2, a, chunked_b)
    np.testing.assert_array_equal(a.compute(), expected)


def test_a_maximum_of_64_bit_integers_over_chunks():
    a = np.arange(20)[::-1] - 50
    got = appyc.jit(greatest, strict=True)(da.from_array(a, chunks=4))
    assert got.compute() == greatest(a) == -31


def greatest(a):
    best = a[0]
    for i in range(a.shape[0]):
        best = max(best, a[i])
    return best


@appyc.jit
def chosen_result(a, b, k):
    out = a
    for i in range(a.shape[0]):
        b[i] = a[i] + 1.0
    if a[0] > 0.0:
        out = b
    return out, k


@appyc.jit
def named_results(a, b, k):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i]
    best = None
    if k > 0:
        best = s / k
    return {"sum": s, "array": a, "best": best}


@pytest.mark.parametrize("k", [0, 2])
@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("function", [chosen_result, named_results])
def test_results_may_be_chosen_and_named(function, sign, k):
    a, b = np.linspace(1, 2, 7) * sign, np.zeros(7)
    found = da.compute(function(da.from_array(a.copy(), 3), da.from_array(b.copy(), 3), k))[0]
    expected = function.py_func(a, b, k)
    if isinstance(expected, dict):
        assert [*found] == [*expected]
        found, expected = tuple(found.values()), tuple(expected.values())
    for one, other in zip(found, expected, strict=True):
        assert (one is None) == (other is None)
        if other is not None:
            np.testing.assert_allclose(one, other, rtol=1e-14)


Doubled = namedtuple("Doubled", "values total")


def doubled(a):
    out, total = np.zeros_like(a), 0.0
    for i in range(a.shape[0]):
        out[i] = a[i] * 2
        total += a[i]
    return Doubled(out, total)


def test_a_named_tuple_of_chunked_results():
    a = np.arange(100.0)
    found = appyc.jit(doubled)(da.from_array(a, chunks=30))
    assert type(found) is Doubled
    assert np.array_equal(found.values.compute(), 2 * a)
    assert found.total.compute() == a.sum()
