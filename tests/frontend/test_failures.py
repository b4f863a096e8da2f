"""Exceptions that loops raise have the numbers of the iteration in their message."""

from __future__ import annotations

import runpy
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import appyc
from appyc import pipeline
from appyc.ir.printer import print_function, print_stmt
from tests.lowering import after, lowered


class Negative(Exception):
    def __init__(self, place: int, value: float) -> None:
        super().__init__(place, value)
        self.place = place


def formatted(a: Any, b: Any) -> None:
    for i in range(len(a)):
        if a[i] < 0:
            raise ValueError(f"{{{i}}} {a[i]:9.3f} {a[i]!r} {i:{5}d} {a[i] < 0} {i / 2:>5}")
        b[i] = 2 * a[i]


def percent(a: Any, b: Any) -> None:
    for i in range(len(a)):
        if a[i] < 0:
            raise ValueError("element %04d%% is %9.2e, {%s} of %r" % (i, a[i], a[i], len(a)))  # noqa: UP031
        b[i] = 2 * a[i]


def by_method(a: Any, b: Any) -> None:
    for i in range(len(a)):
        if a[i] < 0:
            raise KeyError(f"{i}, {a[i]:>8.1f}, {{{b[0]}}}")
        b[i] = 2 * a[i]


def asserted(a: Any, b: Any, name: str = "a") -> None:
    for i in range(len(a)):
        assert a[i] >= 0, f"{name}[{i}] is {a[i]} {a.shape}" + ", of " + repr(len(b))
        b[i] = 2 * a[i]


def own_class(a: Any, b: Any) -> None:
    for i in range(len(a)):
        if a[i] < 0:
            raise Negative(i, a[i])
        b[i] = 2 * a[i]


def of_library(a: Any, b: Any) -> None:
    for i in range(len(a)):
        if a[i] < 0:
            raise np.linalg.LinAlgError("pivot " + str(i))
        b[i] = 2 * a[i]


def number_alone(a: Any, b: Any) -> None:
    for i in range(len(a)):
        if a[i] < 0:
            raise IndexError(i)
        b[i] = 2 * a[i]


def without_text(a: Any, b: Any) -> None:
    for i in range(len(a)):
        if a[i] < 0:
            raise ValueError
        b[i] = 2 * a[i]


def checked(x: Any, i: int) -> Any:
    if x < 0:
        raise ValueError(f"{x} at {i}")
    return 2 * x


def helper(a: Any, b: Any) -> None:
    for i in range(len(a)):
        b[i] = checked(a[i], i)


def searched(a: Any, b: Any) -> None:
    i = 0
    while True:
        if a[i] < 0:
            raise RuntimeError(f"{i=}, {a[i]=}")
        b[i] = 2 * a[i]
        i += 1


PROGRAMS = (formatted, percent, by_method, own_class, of_library, number_alone, without_text, helper,
            searched)  # fmt: skip


def outcome(
    function: Callable[..., Any], dtype: type[np.generic], bad: int, length: int = 3000
) -> tuple[object, ...]:
    a, b = (np.arange(length) % 50).astype(dtype), np.zeros(length, dtype)
    a[[bad, bad + 7, -1]] = -3, -4, -5
    with pytest.raises(Exception) as caught:  # noqa: PT011  (which one is compared)
        function(a, b)
    error = caught.value
    return type(error), error.args, str(error), [type(x) for x in error.args], b[:bad].tolist(), b


@pytest.mark.sampled
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
@pytest.mark.parametrize("target", ["cpu", "interpret"])
def test_messages_are_those_of_the_first_iteration_that_fails(
    program: Callable[..., Any], target: str
) -> None:
    compiled = appyc.jit(program, target=target, strict=True)
    length, last = (3000, 2111) if target == "cpu" else (300, 211)
    for dtype in (np.float64, np.float32, np.int16, np.int64):
        for bad in (0, 5, last):
            *wanted, all_of_b = outcome(program, dtype, bad, length)
            *found, found_b = outcome(compiled, dtype, bad, length)
            assert found == wanted
            if target == "cpu":
                np.testing.assert_array_equal(found_b, all_of_b)
    assert "runs in Python" not in str(compiled.explain())


@pytest.mark.parametrize("target", ["cpu", "interpret"])
def test_an_assertion_has_its_text(target: str) -> None:
    """Python's own has more in a test: what pytest adds."""
    compiled = appyc.jit(asserted, target=target, strict=True)
    assert outcome(compiled, np.float32, 2111)[1] == ("a[2111] is -3.0 (3000,), of 3000",)
    assert "runs in Python" not in str(compiled.explain())


def test_the_largest_unsigned_integer_and_no_number_are_themselves() -> None:
    def fails(u: Any, x: Any) -> None:
        for i in range(len(u)):
            if u[i] > 5:
                raise ValueError(f"{u[i]} {x[i]} {x[i]!r}")

    u, x = np.array([2**64 - 1], np.uint64), np.array([np.nan], np.float32)
    with pytest.raises(ValueError, match=r"18446744073709551615 nan np.float32\(nan\)"):
        appyc.jit(fails, strict=True)(u, x)


def test_printed_ir_raises_the_same() -> None:
    text = print_function(lowered(formatted, np.ones(3), np.ones(3)))
    names: dict[str, Any] = {}
    exec(compile(text, "printed", "exec"), names)
    assert outcome(names["formatted"], np.float64, 9)[1] == outcome(formatted, np.float64, 9)[1]


def complex_number(z: Any) -> None:
    for i in range(len(z)):
        if z[i].real < 0:
            raise ValueError(f"{z[i]} is not to the right")


def cut_float(x: Any) -> None:
    for i in range(len(x)):
        if x[i] < 0:
            raise ValueError("%d is negative" % x[i])  # noqa: UP031


def whole_array(x: Any) -> None:
    for i in range(len(x)):
        if x[i] < 0:
            raise ValueError(f"{x} at {i}")


def seven(x: Any) -> None:
    for i in range(len(x)):
        if x[i] < 0:
            raise ValueError(f"{i}{i}{i}{i}{i}{i}{i}")


@pytest.mark.parametrize(
    ("program", "dtype"),
    [(complex_number, complex), (cut_float, float), (whole_array, float), (seven, float)],
)
def test_other_texts_are_made_in_python(program: Callable[..., Any], dtype: type) -> None:
    x = np.array([1.5, -2.5], dtype)
    compiled = appyc.jit(program)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", appyc.FallbackWarning)
        with pytest.raises(ValueError) as found:  # noqa: PT011  (compared below)
            compiled(x)
    with pytest.raises(ValueError) as wanted:  # noqa: PT011
        program(x)
    assert found.value.args == wanted.value.args
    assert "other things than six numbers" in str(compiled.explain())


def test_what_is_read_behind_a_test_is_defined_whatever_passes_remove() -> None:
    def f(n):  # type: ignore[no-untyped-def]
        m = 1
        for i in range(n):
            if m != 1:
                k = i
            elif k <= n <= k:
                pass

    fn = lowered(f, 3)
    assert print_stmt(fn.body[0]).startswith("k = ")
    after(fn, *pipeline.SIMPLIFY, *pipeline.ANALYSE)
    with pytest.raises(UnboundLocalError):
        appyc.jit(f, strict=True, cache=False)(3)


@pytest.mark.parametrize("made", ["np.zeros(n)", "np.ones(n).copy()", "np.array([1.0, 2.0])"])
def test_an_array_that_the_function_makes_has_its_name_in_messages(made: str, tmp_path: Path) -> None:
    path = tmp_path / "made.py"
    path.write_text(f"import numpy as np\n\ndef f(n):\n    row = {made}\n    row[n] = 1.0\n    return row\n")
    fn = appyc.jit(runpy.run_path(str(path))["f"])
    with pytest.raises(IndexError, match="of 'row' with size 2"):
        fn(2)
