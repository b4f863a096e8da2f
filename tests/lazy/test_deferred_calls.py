"""Calls of jitted functions with arrays that have not been computed."""

from __future__ import annotations

import inspect

import numpy
import pytest

import appyc
import appyc.numpy as np
from appyc.lazy.running import STATE, flush
from tests.lazy.fuzz import compiling, reasons


@pytest.fixture(autouse=True)
def _nothing_recorded() -> None:
    flush()


@appyc.jit
def scaled(a, b, s):
    # pragma parallel for
    for i in range(a.shape[0]):
        b[i] = a[i] * s


@appyc.jit
def smoothed(a, b):
    # pragma parallel for
    for i in range(1, a.shape[0] - 1):
        b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3.0


@appyc.jit
def total(a, b):
    out = 0.0
    for i in range(a.shape[0]):
        out += a[i] * b[i]
    return out


@appyc.jit
def low_and_high(a):
    low = a[0]
    high = a[0]
    for i in range(a.shape[0]):
        low = min(low, a[i])
        high = max(high, a[i])
    return low, high


@appyc.jit
def twice(a):
    return a * 2


@appyc.jit(defer=True)
def shifted(a, x):
    for i in range(a.shape[0]):
        a[i] += x


def source(program) -> str:
    return inspect.getsource(program.text.function)


def pending() -> int:
    return len(STATE.recording.statements)


def test_a_call_runs_at_once_if_nothing_else_was_said() -> None:
    a = np.arange(6.0) + 1
    b = np.zeros(6)
    before = b + 1
    scaled(a, b, 2.0)
    assert pending() == 0 or before.tolist() == [1] * 6
    assert b.tolist() == [2, 4, 6, 8, 10, 12]
    assert before.tolist() == [1] * 6
    assert float(total(a, b)) == 2 * 91
    assert twice(a).tolist() == b.tolist()


@pytest.mark.parametrize("target", ["cpu", "interpret"])
def test_deferred_calls_are_recorded_between_the_operations(target: str) -> None:
    with compiling(target, 0), appyc.deferred():
        a = np.arange(8.0)
        b = np.zeros(8)
        c = np.zeros(8)
        scaled(a, b, 3.0)
        old = b * 1
        smoothed(b, c)
        b[:] = 0
        low, high = low_and_high(c)
        s = total(old, a)
        assert pending() >= 6
        assert float(s) == 3 * 140
        assert (float(low), float(high)) == (0, 18)
        assert c.tolist() == [0, 3, 6, 9, 12, 15, 18, 0]
        assert old.tolist() == [3.0 * k for k in range(8)]
        assert b.tolist() == [0] * 8
        assert not reasons()


def test_an_option_defers_the_calls_of_one_function() -> None:
    a = np.array(numpy.zeros(5))
    shifted(a, 1.5)
    shifted(a[1:], 1.0)
    assert pending() == 2
    assert a.tolist() == [1.5, 2.5, 2.5, 2.5, 2.5]
    plain = numpy.zeros(3)
    shifted(plain, 2.0)
    assert plain.tolist() == [2, 2, 2]


@appyc.jit(defer=True)
def parts_of(a, row, n):
    return a * 2 + row, a.sum(axis=0), a[0, 0], edge(a, n)


@appyc.jit
def edge(a, n):
    out = numpy.zeros((a.shape[0] - 1, n if n > 0 else 1))
    for i in range(a.shape[0] - 1):
        out[i, :] = a[i, 0]
    return out


@appyc.jit(defer=True)
def positive(a):
    return a[a > 0]


@appyc.jit(defer=True)
def counted(a):
    n = 0
    for _ in range(a.shape[0]):
        n += 1
    return numpy.ones(n) * a[0]


@pytest.mark.sampled
@pytest.mark.parametrize("target", ["cpu", "interpret"])
def test_calls_that_return_arrays_are_recorded(target: str) -> None:
    for rows, columns, n in ((3, 4, 2), (1, 5, 3), (7, 1, -2)):
        values = numpy.arange(float(rows * columns)).reshape(rows, columns) + 1
        wanted = parts_of.py_func(values, numpy.ones(columns), n)
        with compiling(target, 0):
            a = np.array(values)
            whole, total, first, side = parts_of(a + 0.0, np.ones(columns), n)
            later = twice(whole)  # which is not deferred, and runs what it needs
            side += first
            assert pending() >= 1
            assert [x.shape for x in (whole, total, first, side)] == [x.shape for x in wanted]
            assert isinstance(first, numpy.float64)
            assert later.tolist() == (wanted[0] * 2).tolist()
            assert (total.tolist(), float(first)) == (wanted[1].tolist(), wanted[2])
            assert side.tolist() == (wanted[3] + wanted[2]).tolist()
            assert not reasons()


def test_calls_whose_results_have_a_shape_that_only_they_know_run_at_once() -> None:
    a = np.array([1.0, -1.0, 2.0])
    b = a * 3
    assert positive(b).tolist() == [3, 6]
    assert pending() == 0
    assert counted(b).tolist() == [3, 3, 3]
    row = np.ones(3)
    for _ in range(2):
        with pytest.raises(ValueError, match="broadcast"):  # at its line, as in NumPy
            parts_of(np.ones((2, 4)), row, 1)
    x, *_ = parts_of(np.ones((2, 3)), row, 1)
    assert pending() > 0
    assert x.tolist() == [[3] * 3] * 2
    parts_of(np.ones((2, 3)), row, 1)  # whose results nobody keeps
    STATE.recording.prune()
    assert pending() == 0


def test_kernels_of_a_time_step_are_one_program() -> None:
    with compiling("cpu", 0), appyc.deferred():
        a, b = np.arange(64.0), np.zeros(64)
        for _ in range(40):
            smoothed(a, b)
            scaled(b, a, 1.0)
        wanted, there = numpy.arange(64.0), numpy.zeros(64)
        for _ in range(40):
            smoothed.py_func(wanted, there)
            scaled.py_func(there, wanted, 1.0)
        assert numpy.allclose(a.numpy(), wanted)
        assert len(STATE.programs) <= 3


def test_a_fault_of_a_call_is_raised() -> None:
    with appyc.deferred(), pytest.raises(appyc.CompileError):
        scaled(np.ones(3), np.ones(3), "text")


@appyc.jit(defer=True)
def doubled(part, factor):
    for i in range(part.shape[0]):
        part[i] *= factor


@pytest.mark.sampled
@pytest.mark.parametrize("target", ["cpu", "interpret"])
def test_calls_on_consecutive_slices_become_one_loop(target: str) -> None:
    with compiling(target, 0):
        flat, rows = np.arange(200.0), np.ones((20, 6))
        for k in range(20):
            doubled(flat[10 * k : 10 * k + 10], 2.0)
        for k in range(20):
            doubled(rows[k], 3.0)
        assert flat.tolist() == [2.0 * k for k in range(200)]
        assert rows.tolist() == [[3.0] * 6] * 20
        texts = [source(program) for program in STATE.programs.values()]
        assert all("for r in range" in text for text in texts)
        assert all(text.count("doubled") + text.count("f0(") <= 8 for text in texts)
        assert not reasons()


def test_calls_that_overlap_keep_their_order() -> None:
    with compiling("cpu", 0):
        a = np.ones(40)
        for k in range(12):
            doubled(a[2 * k : 2 * k + 4], 2.0)
        for k in range(9, 1, -1):
            doubled(a[k : k + 3], 0.5)
        for _ in range(5):
            doubled(a[1:], -1.0)
        wanted = numpy.ones(40)
        for k in range(12):
            wanted[2 * k : 2 * k + 4] *= 2.0
        for k in range(9, 1, -1):
            wanted[k : k + 3] *= 0.5
        wanted[1:] *= -1.0
        assert a.tolist() == wanted.tolist()


def test_many_calls_are_few_programs() -> None:
    STATE.programs.clear()
    a = np.ones(3000)
    for k in range(1000):
        doubled(a[3 * k : 3 * k + 3], 2.0)
    assert float(a.sum()) == 6000
    assert len(STATE.programs) == 1


def _count(a):
    n = 0
    for x in range(a.shape[0]):
        n += x
    return n


def _half(a):
    return _count(a) * 0.5


def _is_many(a):
    return _count(a) > 2


def _count_and_half(a):
    return _count(a), _half(a), a + 1.0


@pytest.mark.parametrize("fn", [_count, _half, _is_many])
@pytest.mark.parametrize("target", [..., 0, slice(1, None)], ids=str)
def test_a_number_of_pythons_that_a_deferred_call_returns_is_stored(fn, target):
    """By NumPy the text of the program failed: Python's numbers have no `astype`."""
    a, x = np.arange(4.0), numpy.arange(4.0)
    a[target], x[target] = appyc.jit(defer=True)(fn)(a), fn(x)
    np.flush()
    assert numpy.array_equal(numpy.asarray(a), x)


@pytest.mark.parametrize("fn", [_count, _half, _is_many])
@pytest.mark.parametrize("dtype", ["int8", "float32", "uint64"])
def test_a_number_of_pythons_has_the_type_of_what_it_meets(fn, dtype):
    """It counted as NumPy's, so that a sum of float32 and a count had elements of 64 bits."""
    a, x = np.ones(4, dtype), numpy.ones(4, dtype)
    found, wanted = a * appyc.jit(defer=True)(fn)(a), x * fn(x)
    assert type(appyc.jit(defer=True)(fn)(a)) is type(fn(x))
    assert found.dtype == wanted.dtype
    assert found.tolist() == wanted.tolist()


def test_numbers_of_pythons_in_a_tuple_and_a_complex_one():
    a, x = np.arange(4.0), numpy.arange(4.0)
    (n, half, b), (m, part, y) = appyc.jit(defer=True)(_count_and_half)(a), _count_and_half(x)
    a[0], x[0] = n, m
    a[1:], x[1:] = half, part
    b[...], y[...] = b * n, y * m
    z = np.zeros(2, complex)
    z[...] = appyc.jit(defer=True)(_imaginary)(z)
    assert numpy.array_equal(numpy.asarray(a), x)
    assert numpy.array_equal(numpy.asarray(b), y)
    assert (numpy.asarray(z) == 2j).all()


def _imaginary(z):
    return 1j * z.shape[0]


def test_compiled_code_takes_functions_of_this_namespace_for_numpys() -> None:
    from appyc.numpy import exp, linalg

    @appyc.jit(strict=True, target="cpu")
    def mixed(a, b):
        t = 0.0
        for i in range(a.shape[0]):
            t += np.sin(a[i]) + np.pi + exp(a[i]) + np.maximum(a[i], 0.5)
        c = np.zeros(4, dtype=np.float32) + np.sum(a) + np.where(a[:4] > 0, 1, 2) + np.clip(b[:4], 0, 1)
        return t, c, np.linalg.norm(b) + linalg.norm(a) + np.concatenate((a, b)).sum() + np.dot(a, b)

    a, b = numpy.linspace(-1, 1, 7), numpy.linspace(0, 2, 7)
    for found, expected in zip(mixed(a, b), mixed.py_func(a, b), strict=True):
        numpy.testing.assert_allclose(found, expected)
    for found, expected in zip(mixed(np.asarray(a), np.asarray(b)), mixed.py_func(a, b), strict=True):
        numpy.testing.assert_allclose(found, expected)
