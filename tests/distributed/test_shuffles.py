"""Stores through index arrays, over chunks, give what plain Python gives, with no task that has all of the target."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import appyc
import appyc.distributed.distribute
from appyc import prange
from appyc.errors import DependenceError, UnsupportedError
from tests.random_programs.chunked import in_chunks

da = pytest.importorskip("dask.array")


@pytest.fixture(autouse=True)
def _no_whole_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    """No block takes the whole of an array because of what it is indexed by."""
    for module in ("appyc.analysis.accesses.access_boxes", "appyc.distributed.combining"):
        monkeypatch.setattr(f"{module}.WHOLE", 0)


@appyc.jit
def stored(out, p, a):
    for i in prange(a.shape[0]):
        out[p[i]] = a[i]


@appyc.jit
def added(out, p, a):
    for i in range(a.shape[0]):
        out[p[i]] += 0.1 * a[i]


@appyc.jit
def greatest(out, p, a):
    for i in range(a.shape[0]):
        if a[i] < 0.9:
            out[p[i]] = max(out[p[i]], a[i])


@appyc.jit
def under_conditions(out, p, a):
    for i in range(a.shape[0]):
        k = p[i]
        if a[i] > 0.7:
            k = p[i] // 2 if a[i] > 0.8 else 0
            out[k] = 2
        elif a[i] > 0.3:
            out[k] = a[i]


@appyc.jit
def beside_others(out, p, a):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i]
        a[i] = a[i] * 2.0
        if s > 1.0:
            out[p[i]] = s
    return s


@appyc.jit
def until(out, p, a):
    for i in range(a.shape[0]):
        if a[i] > 0.9:
            break
        out[p[i]] += a[i]


@appyc.jit
def packed(out, p, a):
    count = 0
    for i in range(a.shape[0]):
        if a[i] > 0.5:
            out[count % out.shape[0]] = a[i] + p[i]
            count += 1
    return count


@appyc.jit
def in_steps(out, p, a):
    for t in range(3):
        for i in range(a.shape[0]):
            out[p[i]] = a[i] + t
        for i in range(min(a.shape[0], out.shape[0])):
            a[i] = a[i] + out[i]


@appyc.jit
def several_of_an_iteration(out, p, a):
    for i in range(a.shape[0]):
        for k in range(p[i] % 7 - 2):
            out[p[i] - k if p[i] > k else 0] += a[i] * k


@appyc.jit
def of_whole_arrays(out, p, a):
    out[p] = a
    out[p[:-1]] *= 2.0


@appyc.jit
def into_two_arrays(out, p, a):
    new = np.zeros(out.shape[0])
    for i in range(a.shape[0]):
        new[p[i]] += a[i]
        out[p[i] // 2] = a[i]
    for i in range(out.shape[0]):
        out[i] += new[i]


@appyc.jit
def outside_of_loops(out, p, a):
    if a.shape[0] > 2:
        out[p[0]] = 5.0
        if a[1] > 0.2:
            out[p[2]] += a[0]


def _given(dtype: Any, n: int, length: int, seed: int) -> tuple[np.ndarray, ...]:
    values = np.random.default_rng(seed)
    low = 0 if np.dtype(dtype).kind == "u" else -length
    return (
        values.random(length).round(3),
        values.integers(low, length, n).astype(dtype),
        values.random(n).round(3),
    )


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint8])
@pytest.mark.parametrize("function", [stored, added, greatest, under_conditions, beside_others, until, packed, in_steps,
                                      several_of_an_iteration, of_whole_arrays, into_two_arrays,
                                      outside_of_loops], ids=lambda f: f.__name__)  # fmt: skip
def test_the_last_iteration_counts(function: Any, dtype: Any):
    rng = random.Random(str(function) + str(dtype))
    for seed, (n, length) in enumerate([(30, 12), (17, 40), (1, 1), (0, 3), (40, 41)]):
        expected = _given(dtype, n, length, seed)
        chunked = [in_chunks(array, rng) for array in expected]
        of_python = function.py_func(*expected)
        result = function(*chunked)
        if of_python is not None:
            assert np.isclose(np.asarray(result), of_python, rtol=1e-14)
        for array, found in zip(expected, chunked, strict=True):
            np.testing.assert_allclose(
                found.compute(scheduler="sync"), array, rtol=1e-14 if function is beside_others else 0
            )


@appyc.jit
def of_rows(out, p, a):
    for i in prange(a.shape[0]):
        for j in range(a.shape[1]):
            out[p[i], j] = a[i, j]


@appyc.jit
def of_both_axes(out, p, a):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] > 0.2:
                out[p[i], p[j]] -= a[i, j]


@appyc.jit
def of_columns(out, p, a):
    for j in range(a.shape[1]):
        for i in range(a.shape[0]):
            out[p[i], j] = a[i, j] + out.shape[0]


@pytest.mark.parametrize("function", [of_rows, of_both_axes, of_columns], ids=lambda f: f.__name__)
def test_of_two_axes(function: Any):
    rng, values = random.Random(3), np.random.default_rng(4)
    for rows, columns, length in [(20, 7, 9), (1, 1, 1), (5, 0, 4), (3, 12, 12)]:
        n = max(rows, columns)
        expected = (
            values.random((length, length)),
            values.integers(-length, length, n),
            values.random((rows, columns)),
        )
        if function is not of_both_axes:
            expected = expected[0][:, :columns] * 1.0, *expected[1:]
        chunked = [in_chunks(array, rng) for array in expected]
        function.py_func(*expected)
        function(*chunked)
        np.testing.assert_array_equal(chunked[0].compute(scheduler="sync"), expected[0])


TYPES = [("f4", "f8"), ("f8", "f4"), ("c16", "f8"), ("i4", "i4")]
OF_SUMS = TYPES[1:3]  # of others the sum has another type than the element


@pytest.mark.parametrize(
    ("function", "types"), [*((stored, types) for types in TYPES), *((added, types) for types in OF_SUMS)]
)
def test_values_are_converted_as_in_python(function: Callable[..., Any], types: tuple[str, str]):
    rng, (_, p, a) = random.Random(1), _given(np.int64, 50, 20, 1)
    expected = np.arange(20).astype(types[0]), p, (a * 100).astype(types[1])
    chunked = [in_chunks(array, rng) for array in expected]
    function.py_func(*expected)
    function(*chunked)
    np.testing.assert_array_equal(chunked[0].compute(scheduler="sync"), expected[0])
    assert chunked[0].dtype == expected[0].dtype


@pytest.mark.parametrize("function", [stored, added, of_rows], ids=lambda f: f.__name__)
@pytest.mark.parametrize("outside", [6, -7])
def test_an_index_outside_raises_with_the_line(function: Any, outside: int):
    shape = (6, 2) if function is of_rows else (6,)
    out, p = da.zeros(shape, chunks=4), da.from_array(np.array([0, 5, -6, outside]), chunks=2)
    function(out, p, da.ones((4, *shape[1:]), chunks=3))
    with pytest.raises(IndexError) as caught:
        out.compute(scheduler="sync")
    line = function.py_func.__code__.co_firstlineno + (4 if function is of_rows else 3)
    assert f"{__file__}:{line}:" in str(caught.value)
    assert f"index {outside} is out of bounds for axis 0 of 'out' with size 6" in str(caught.value)


@appyc.jit
def mixed(out, p, a):
    for i in range(a.shape[0]):
        out[p[i]] = 0.0
        out[p[i] + 1] += a[i]


@appyc.jit
def read_elsewhere(out, p, a):
    for i in range(a.shape[0]):
        out[p[i]] = a[i] + out[0]


@appyc.jit
def halved(out, p, a):
    for i in range(a.shape[0]):
        out[p[i]] = out[p[i]] * 0.5 + a[i]


@appyc.jit
def read_in_another_order(out, p, a):
    # pragma parallel for
    for i in range(1, a.shape[0]):
        out[p[i]] = a[i]
        a[i] = a[i - 1]


def test_what_is_refused():
    for function, error, text, accesses in [
        (mixed, UnsupportedError, "which elements of 'out' a block touches is not known before it runs",
         ["out[p[i]] = 0.0", "out[p[i] + 1] += a[i]"]),
        (read_elsewhere, UnsupportedError, "which elements of 'out'", ["out[p[i]] = a[i] + out[0]", "out[0]"]),
        (halved, UnsupportedError, "which elements of 'out'", ["out[p[i]] = out[p[i]] * 0.5 + a[i]", "out[p[i]]"]),
        (read_in_another_order, DependenceError, "loop over 'i' carries a dependence",
         ["# pragma parallel for", "a[i] = a[i - 1]", "a[i - 1]"]),
    ]:  # fmt: skip
        out, p, a = da.zeros(9, chunks=4), da.zeros(8, chunks=3, dtype=int), da.ones(8, chunks=4)
        with pytest.raises(error, match=text) as caught:
            function(out, p, a)
        found = [caught.value.loc, *(note.loc for note in caught.value.related)]
        assert [loc.source_line()[loc.col : loc.end_col] for loc in found] == accesses


def test_no_task_has_all_of_the_target():
    out, p, a = da.zeros(1000, chunks=100), da.zeros(50, chunks=10, dtype=int), da.ones(50, chunks=10)
    stored(out, p, a)
    sizes: list[int] = []

    def seen(key: Any, result: Any, *_: Any) -> None:
        sizes.extend(part.size for part in _arrays(result))

    import dask

    with dask.callbacks.Callback(posttask=seen):
        out[:1].compute(scheduler="sync")
    assert max(sizes) == 100


@pytest.mark.parametrize("function", [stored, of_rows, under_conditions])
@pytest.mark.parametrize("size", [60, 400])
def test_the_bytes_of_lists_are_counted(function: Any, size: int):
    """One of the chunks of an array that is cut like the others need not be sent its list."""
    wide, count = function is of_rows, 400
    out = da.zeros((size, 5) if wide else size, chunks=(size // 4, 5) if wide else size // 4)
    p = da.from_array(np.random.default_rng(2).permutation(count) % size, chunks=100)
    a = da.ones((count, 5), chunks=(100, 5)) if wide else da.ones(count, chunks=100)
    (layer,) = function.explain(out, p, a).layers
    assert any("counted as one in each iteration" in note for note in layer.notes)
    function(out, p, a)
    sizes: list[int] = []

    def seen(key: Any, result: Any, *_: Any) -> None:
        if "_line_" in str(key):
            sizes.extend(array.nbytes for array in _arrays(list(result[0])))

    import dask

    with dask.callbacks.Callback(posttask=seen), dask.config.set({"optimization.fuse.active": False}):
        out.compute(scheduler="sync")
    listed = sum(sizes) if size != count else sum(sizes) * 3 / 4
    if wide:
        listed += p.nbytes  # blocks are where `a` is, which has more axes
    if function is under_conditions:
        assert listed <= layer.least < layer.moved  # several statements: which it was is sent too
    else:
        assert listed == layer.least == layer.moved


def test_the_number_of_stores_may_depend_on_data():
    out, p, a = da.zeros(8, chunks=4), da.zeros(8, chunks=4, dtype=int), da.ones(8, chunks=4)
    (layer,) = several_of_an_iteration.explain(out, p, a).layers
    assert "depends on data: not counted" in str(several_of_an_iteration.explain(out, p, a))
    assert layer.moved == layer.least


def _arrays(result: Any) -> list[np.ndarray]:
    if isinstance(result, list | tuple):
        return [array for part in result for array in _arrays(part)]
    return [result] if isinstance(result, np.ndarray) else []


def test_worker_processes_store(workers: Any):
    expected = _given(np.int64, 60, 25, 5)
    chunked = [da.from_array(array, chunks=7) for array in expected]
    for function in (stored, added, of_both_axes):
        if function is of_both_axes:
            expected = np.zeros((25, 25)), expected[1], np.random.default_rng(0).random((60, 3))
            chunked = [da.from_array(array, chunks=7) for array in expected]
        function.py_func(*expected)
        function(*chunked)
        np.testing.assert_array_equal(chunked[0].compute(), expected[0])
