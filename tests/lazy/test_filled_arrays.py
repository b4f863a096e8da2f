"""Created arrays are recorded: a temporary that only compiled code sees is never made."""

from __future__ import annotations

import inspect

import numpy
import pytest

import appyc
import appyc.numpy as np
from appyc.lazy.equal_lengths import Length, related
from appyc.lazy.running import STATE, flush
from tests.lazy.fuzz import reasons
from tests.lazy.test_random_programs import compiling


@pytest.fixture(autouse=True)
def _nothing_recorded() -> None:
    flush()


@appyc.jit(defer=True)
def scaled(a, s, out):
    for i in range(a.shape[0]):
        out[i] = a[i] * s


@appyc.jit(defer=True)
def added(a, b, out):
    for i in range(a.shape[0]):
        out[i] = a[i] + b[i]


@appyc.jit(defer=True)
def differences(a, out):
    for i in range(out.shape[0]):
        out[i] = a[i + 1] - a[i]


def call(kernel, *args, shape):
    out = np.empty(shape)
    kernel(*args, out)
    return out


@pytest.mark.parametrize("name", ["zeros", "ones", "empty"])
@pytest.mark.parametrize("dtype", [None, "float32", "int32", "complex128", bool, "int8", "U3", object])
@pytest.mark.parametrize("shape", [0, 5, (), (3, 4), [2, 1], (2, 0), (numpy.int64(3),)])
def test_arrays_are_created_as_numpy_does(name: str, dtype, shape) -> None:
    mine, wanted = getattr(np, name)(shape, dtype), getattr(numpy, name)(shape, dtype)
    assert (mine.shape, mine.dtype) == (wanted.shape, wanted.dtype)
    if name != "empty":
        assert mine.tolist() == wanted.tolist()


@pytest.mark.parametrize(
    ("value", "dtype"), [(3, float), (2.5, "float32"), (True, int), (1, complex), (7, None)]
)
def test_full_arrays_are_created_as_numpy_does(value, dtype) -> None:
    mine, wanted = np.full((3, 2), value, dtype), numpy.full((3, 2), value, dtype)
    assert mine.dtype == wanted.dtype
    assert mine.tolist() == wanted.tolist()


@pytest.mark.parametrize(
    "wrong",
    [
        lambda np: np.zeros(-1),
        lambda np: np.ones((2, -3)),
        lambda np: np.zeros(2.5),
        lambda np: np.full(3, 300, "uint8"),
        lambda np: np.empty((1 << 40, 1 << 40)),
        lambda np: np.zeros(3, order="X"),
        lambda np: np.zeros(3, "no type"),
    ],
)
def test_what_numpy_refuses_is_refused_at_once(wrong) -> None:
    with pytest.raises(Exception) as theirs:  # noqa: PT011  (whatever NumPy raises)
        wrong(numpy)
    with pytest.raises(theirs.type):
        wrong(np)


def test_a_created_array_that_is_dropped_is_never_made() -> None:
    a = np.zeros((1000, 1000))
    assert len(STATE.recording.statements) == 1
    del a
    STATE.recording.prune()
    assert STATE.recording.statements == []


@pytest.mark.parametrize("target", ["cpu", "interpret"])
def test_temporaries_between_kernels_are_not_stored(target: str) -> None:
    with compiling(target, 0):
        a, b = np.array(numpy.arange(300.0)), np.array(numpy.ones(300))
        total = call(added, call(scaled, a, 2.0, shape=300), b, shape=300).sum()
        assert float(total) == 2 * 300 * 299 / 2 + 300
        (program,) = STATE.programs.values()
        text = inspect.getsource(program.text.function)
        assert "assert p" in text
        assert not program.reason
        if target == "cpu":
            assert "2 loops" in appyc.explain() or "3 loops" in appyc.explain()
            assert appyc.explain().count("never stored") == 2


def test_lengths_that_differ_are_another_program() -> None:
    with compiling("cpu", 0):
        for n, m in ((50, 50), (70, 70), (50, 60), (60, 90)):
            a, b = numpy.arange(float(n)), numpy.arange(float(m))
            out = call(added, np.array(a), np.array(b), shape=n)
            assert out.tolist() == (a + b[:n]).tolist()
        assert len(STATE.programs) == 2
        assert not reasons()


@pytest.mark.parametrize("n", [2, 3, 15, 16, 17, 18, 40])
def test_lengths_near_to_others(n: int) -> None:
    with compiling("cpu", 0):
        a = numpy.arange(float(n)) ** 2
        steps = call(differences, np.array(a), shape=n - 1)
        again = call(scaled, steps, 0.5, shape=n - 1)
        assert again.tolist() == (numpy.diff(a) / 2).tolist()
        assert not reasons()


def test_which_lengths_are_one() -> None:
    found = related([(0, (100, 3)), (2, (100,)), (5, (40,))], [100, 99, 40, 3, 70, 71])
    assert found.equal == ((Length(2, 0), Length(0, 0)),)
    assert found.created == (
        Length(0, 0),
        Length(0, 0, -1),
        Length(5, 0),
        Length(0, -1),
        Length(1, -1),
        Length(1, -1, 1),
    )
    assert found.arguments == (3, 70)
    assert related([], []) == ((), (), ())
    assert related([(0, ()), (1, (0,)), (2, (0,))], [0, 1]).arguments == (0, 1)
