"""What is told of recorded operations: what ran, and a picture of what has not."""

from __future__ import annotations

import inspect
from typing import Any

import numpy
import pytest

import appyc
import appyc.numpy as np
from appyc.errors import InternalError
from appyc.lazy import running
from tests.lazy.fuzz import compiling, reasons


def test_the_last_flush_is_explained() -> None:
    with compiling("cpu", 0):
        a = np.array([1.0] * 50)
        b = (a * 2.0 + 1.0).sum()  # the recorded line
        assert float(b) == 150
        text = appyc.explain()
    assert "np.multiply(p0, s0)" in text
    first = test_the_last_flush_is_explained.__code__.co_firstlineno
    assert f"test_reporting.py:{first + 3}" in text
    assert "reduction" in text


def test_what_numpy_ran_is_told_with_the_reason() -> None:
    with compiling("cpu", 1 << 40):
        assert (np.ones(3) + 1).tolist() == [2, 2, 2]
        assert "too little" in appyc.explain()
    with compiling("cpu", 0):
        z = np.ones((3, 3)) @ np.ones((3, 3))
        assert z.tolist() == [[3.0] * 3] * 3
        assert "by NumPy: a @ b" in appyc.explain()


def test_a_picture_of_what_is_pending() -> None:
    a = np.ones((4, 5))
    b = np.exp(a) * 2.0
    c = b.sum(axis=0)
    drawing = np.graph(c)
    assert "exp" in drawing.mermaid
    assert drawing.svg.startswith("<svg")
    assert c.shape == (5,)  # still pending, and not changed
    assert float(c[0]) == pytest.approx(8 * 2.718281828459045)
    with pytest.raises(ValueError, match="nothing is pending"):
        np.graph(a)


def test_a_program_that_cannot_be_compiled_is_run_by_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_compiler(*args: object) -> object:
        raise appyc.ToolchainError("there is no C compiler")

    monkeypatch.setattr(running, "JitFunction", lambda *args: no_compiler)
    with compiling("cpu", 0):
        assert (np.ones(3) * 2.0).tolist() == [2, 2, 2]
        assert "there is no C compiler" in appyc.explain()


@pytest.mark.sampled
@pytest.mark.filterwarnings("ignore::appyc.InternalWarning")
@pytest.mark.parametrize("error", ["named", "unnamed"])
def test_a_statement_that_is_refused_runs_alone_and_those_around_it_are_compiled(
    error: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = "np.maximum" if error == "named" else "np.tanh"
    if error == "unnamed":  # a fault of the compiler's, of which it is not known where it is
        real = running.JitFunction

        def faulty(function: Any, options: Any) -> Any:
            if refused not in inspect.getsource(function):
                return real(function, options)

            def call(*args: object) -> object:
                raise InternalError("a_pass", "a fault")

            return call

        monkeypatch.setattr(running, "JitFunction", faulty)
    with compiling("cpu", 0):
        values = numpy.arange(12.0).reshape(3, 4)
        for factor in (3.0, 4.0):  # the second time, what was found out is known
            a, x = np.array(values), values.copy()
            z = a * (1 + 2j)
            b, y = a * factor, x * factor
            b[1:] += a[:-1]
            y[1:] += x[:-1]
            w = np.maximum(z, 3j) if error == "named" else np.tanh(b)
            wanted = numpy.maximum(x * (1 + 2j), 3j) if error == "named" else numpy.tanh(y)
            c = (np.abs(w) + b).sum(axis=0)
            b *= 2
            np.flush()
            text = appyc.explain()
            assert numpy.allclose(numpy.asarray(c), (abs(wanted) + y).sum(axis=0))
            assert numpy.allclose(numpy.asarray(b), y * 2)
            assert numpy.allclose(numpy.asarray(w), wanted)
            assert text.count("by NumPy, since it was not compiled") == 1
            assert text.count("compiled for cpu") >= 2
            place = text[: text.index("by NumPy, since")].rsplit("def recorded", 1)[1]
            assert refused in place
            assert place.count(" = ") == 1
    assert len(reasons()) <= 1


def test_the_report_names_what_numpy_ran() -> None:
    a = np.arange(4.0) + 1
    np.sort(a)
    assert "by NumPy: sort, which is not recorded" in appyc.explain()


def test_a_picture_names_the_lines_of_the_program() -> None:
    a = np.ones(50)
    b = np.exp(a) * 2.0 + np.sin(a)  # the recorded line
    c = b - 1.0
    first = test_a_picture_names_the_lines_of_the_program.__code__.co_firstlineno
    found = np.graph(c)
    locations = [operation.location for operation in found.flow.operations]
    assert locations == [f"test_reporting.py:{first + k}" for k in (1, 2, 2, 2, 2, 3)]
    for text in (found.mermaid, found.svg):
        assert f"test_reporting.py:{first + 2}" in text
        assert "line 2" not in text


@appyc.jit
def filled(x, s):
    for i in range(x.shape[0]):
        x[i] = s


@appyc.jit
def filled_with(a, *, s):
    for i in range(a.shape[0]):
        a[i] = s


def test_a_picture_names_the_lines_of_functions_that_are_called() -> None:
    a = np.ones(50)
    with appyc.deferred():
        filled(a, 2.0)
        found = np.graph(a)
    line = filled.py_func.__code__.co_firstlineno + 2
    assert f"test_reporting.py:{line}" in [operation.location for operation in found.flow.operations]


@pytest.mark.parametrize(
    ("given", "name"),
    [
        (3, "int"),
        (None, "NoneType"),
        ([1], "list"),
        (numpy.ones(3), "numpy.ndarray"),
        (numpy.float64(1), "numpy.float64"),
    ],
)
def test_a_picture_of_what_is_not_recorded_is_refused(given: Any, name: str) -> None:
    with pytest.raises(
        TypeError, match=rf"arrays and numbers of appyc.numpy that are recorded, not a {name}:"
    ):
        np.graph(np.ones(3), given)


OFFSET = numpy.ones(3)


@appyc.jit
def plus_offset(x):
    return x + OFFSET


@appyc.jit
def chosen(x):
    return x[x > 0.0]


def test_calls_that_ran_at_once_are_told_with_the_reason() -> None:
    def told(call: Any) -> str:
        running.flush()
        running.STATE.last = []
        call()
        return appyc.explain()

    a = np.ones(3) * 1.0
    assert told(lambda: filled(a, 2.0)) == "at once: filled, as calls do outside of appyc.deferred()"
    with appyc.deferred():
        assert (
            told(lambda: filled_with(a, s=2.0)) == "at once: filled_with, since it has arguments by keyword"
        )
        assert told(lambda: filled(numpy.ones(3), a.sum())).endswith(
            "at once: filled, since an argument is neither a recorded array nor a number"
        )
        assert told(lambda: plus_offset(a)).endswith(
            "since it takes arrays from outside its arguments, or returns views or numbers of Python's own"
        )
        assert told(lambda: chosen(a)).endswith(
            "at once: chosen, since only values tell the shapes of what it returns, or it raises"
        )
