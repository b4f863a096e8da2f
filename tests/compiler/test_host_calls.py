"""Calls of a library between compiled parts."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import appyc
from appyc.errors import Loc
from appyc.frontend.library.host_calls import taken_apart
from appyc.frontend.source import capture, read_source
from tests.e2e.harness import run_everywhere

_A = np.array([[4.0, 1.0, 0.5], [1.0, 5.0, 0.2], [0.5, 0.2, 6.0]])
_X = np.array([1.0, -2.0, 3.0])


def solve(A, b):  # type: ignore[no-untyped-def]
    shifted = (A @ b) * 2 + b
    y = np.linalg.solve(A, shifted)
    z = y * 3 + b
    z[0] = 1.0
    return z


def inside_an_expression(A, b):  # type: ignore[no-untyped-def]
    z = np.linalg.inv(A * 2) @ b + A[0]
    return z, z.sum()


def in_a_return(A, b):  # type: ignore[no-untyped-def]
    return np.linalg.inv(A) @ b + np.linalg.solve(A, b) * 2


def in_a_time_loop(A, x):  # type: ignore[no-untyped-def]
    for _ in range(3):
        y = np.linalg.eigh(A)[1] @ x
        x = y / np.sqrt((y * y).sum()) + x * 0.5
    return x


def _solved(A, b):  # type: ignore[no-untyped-def]
    right = A @ b + 1
    return np.linalg.solve(A, right) * 2


def in_a_function_that_is_called(A, b):  # type: ignore[no-untyped-def]
    c = b * 2
    d = _solved(A, c)
    return d + c


def in_a_condition(A, b):  # type: ignore[no-untyped-def]
    c = b * 2
    if np.linalg.cond(A) > 1.0:
        c = c - 1
    return c


def several_results(A, b):  # type: ignore[no-untyped-def]
    q, r = np.linalg.qr(A)
    return q @ (r @ b), (q * q).sum()


def sorted_and_transformed(A, b):  # type: ignore[no-untyped-def]
    s = np.sort(b * 2)
    f = np.fft.fft(s)
    p = (f * np.conj(f)).real
    return p / p.sum(), s[::-1] + 0


def a_method_without_loops(A, b):  # type: ignore[no-untyped-def]
    c = b * 2
    order = c.argsort()
    return order + 1, c


def random_numbers(A, b):  # type: ignore[no-untyped-def]
    np.random.seed(3)
    r = np.random.rand(b.shape[0])
    return b + r * 0.5


def computed_before_and_after_on_one_line(A, b):  # type: ignore[no-untyped-def]
    return np.abs(np.fft.fft(b * 2.0 + A[0])) ** 2


def two_calls_on_one_line(A, b):  # type: ignore[no-untyped-def]
    c = b * 2; d = np.sort(c + 1) * 3; e = np.sort(d - 7 * b) + d; return d, e  # fmt: skip # noqa: E702


def behind_an_early_return(A, b):  # type: ignore[no-untyped-def]
    if len(b) < 2:
        return
    b[:] = b[np.argsort(A[0], kind="stable")] * 2


def functions_that_the_library_wrote_in_python(A, b):  # type: ignore[no-untyped-def]
    """Their text cannot be compiled, which is no fault of the program."""
    lu, order = scipy.linalg.lu_factor(A * 2)
    c = np.ones(np.broadcast_shapes(lu.shape, (1,))) @ (b * 2)
    return order + 1, lu * 2, c


PROGRAMS: list[Callable[..., Any]] = [
    solve,
    inside_an_expression,
    in_a_return,
    in_a_time_loop,
    in_a_function_that_is_called,
    in_a_condition,
    several_results,
    sorted_and_transformed,
    a_method_without_loops,
    random_numbers,
    computed_before_and_after_on_one_line,
    two_calls_on_one_line,
    behind_an_early_return,
    functions_that_the_library_wrote_in_python,
]


@pytest.mark.sampled
@pytest.mark.parametrize("fn", PROGRAMS, ids=[f.__name__ for f in PROGRAMS])
@pytest.mark.parametrize("target", ["cpu", "interpret"])
def test_a_library_call_is_no_fault_under_strict(fn: Any, target: str) -> None:
    run_everywhere(fn, _A, _X, targets=(target,), strict=True)


@pytest.mark.sampled
@pytest.mark.parametrize("fn", PROGRAMS, ids=[f.__name__ for f in PROGRAMS])
def test_what_is_beside_it_is_compiled_and_the_report_names_the_call(fn: Any) -> None:
    jitted = appyc.jit(cache=False, target="cpu")(fn)
    jitted(_A.copy(), _X.copy())
    report = jitted.explain()
    assert any(loop.mode == "parallel" for loop in report.loops), str(report)
    assert any("np." in why or "scipy." in why or "method" in why for _, why in report.python_parts), str(
        report
    )


def _each_once(a):  # type: ignore[no-untyped-def]
    ordered = a * 1
    ordered.sort()
    return np.sort(ordered)[np.argsort(ordered)]


def test_sorts_of_functions_that_are_inlined_are_compiled() -> None:
    def f(a, b):  # type: ignore[no-untyped-def]
        return _each_once(a)[0] + _each_once(b)[-1]

    jitted = appyc.jit(cache=False, target="cpu", strict=True)(f)
    for n in (9, 5000):
        a = np.arange(n, 0.0, -1.0)
        assert jitted(a, a + 1) == f(a, a + 1)
    assert not jitted.explain().python_parts


def test_statements_on_one_side_are_one_region_whose_loops_are_joined() -> None:
    def f(A, b):  # type: ignore[no-untyped-def]
        c = b * 2
        d = c + b
        e = d * c
        return np.linalg.solve(A, e)

    jitted = appyc.jit(cache=False, target="cpu", strict=True)(f)
    jitted(_A, _X)
    text = jitted.source("ir")
    assert text.count("def ") == 1
    assert text.count("for ") - text.count("parallel for") == 1, text


def test_under_strict_other_statements_must_compile() -> None:
    def f(A, b):  # type: ignore[no-untyped-def]
        y = np.linalg.solve(A, b)
        names = {b"y"}
        return y if b"y" in names else b

    with pytest.raises(appyc.UnsupportedError, match="set"):
        appyc.jit(cache=False, target="cpu", strict=True)(f)(_A, _X)


def test_in_an_annotated_loop_it_is_an_error() -> None:
    def f(A, out):  # type: ignore[no-untyped-def]
        # pragma parallel for
        for i in range(out.shape[0]):
            out[i] = np.linalg.eigh(A)[0][0]

    with pytest.raises(appyc.UnsupportedError, match=r"np\.linalg\.eigh"):
        appyc.jit(cache=False, target="cpu")(f)(_A, _X.copy())


def test_an_exception_of_the_library_is_the_callers() -> None:
    with pytest.raises(np.linalg.LinAlgError):
        appyc.jit(cache=False, target="cpu", strict=True)(solve)(np.zeros((3, 3)), _X)


def test_types_that_only_the_run_shows_may_change_between_calls() -> None:
    def f(a, axis):  # type: ignore[no-untyped-def]
        m = np.median(a * 1, axis)
        return m * 2 + a

    jitted = appyc.jit(cache=False, target="cpu")(f)
    for axis in (None, 0):
        np.testing.assert_allclose(jitted(_A, axis), np.median(_A, axis) * 2 + _A)


def _parts(text: str) -> list[str] | None:
    """The statement `text`, taken apart at its first call of np.sort."""
    namespace: dict[str, Any] = {"np": np}
    stmt = ast.parse(text).body[0]
    source = read_source(capture(_parts))
    call = next(n for n in ast.walk(stmt) if isinstance(n, ast.Call) and "sort" in ast.unparse(n.func))
    at = source.loc(call)
    assert isinstance(at, Loc)
    found = taken_apart(source, stmt, at, is_librarys=True)
    del namespace
    return None if found is None else [ast.unparse(s) for s in found[0]]


def test_a_call_in_an_expression_gets_a_name() -> None:
    assert _parts("z = a + np.sort(b * 2)[0]") == [
        "argument_0_in_line_1 = b * 2",
        "called_in_line_1 = np.sort(argument_0_in_line_1)",
        "z = a + called_in_line_1[0]",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "z = np.sort(a)",  # nothing to take apart
        "z = a and np.sort(b)",  # may not be evaluated
        "z = f() + np.sort(b)",  # f comes first, and may change b
        "z = a < b < np.sort(b)",
        "z = [np.sort(r) for r in b]",
        "x[np.sort(b)[0]] = f(y)",  # the target is evaluated last
        "z = np.sort(b, out=c) + c",
    ],
)
def test_what_is_not_taken_apart(text: str) -> None:
    assert _parts(text) is None


def test_a_numpy_scalar_has_the_methods_of_an_array() -> None:
    def f(a):  # type: ignore[no-untyped-def]
        return a * a[0].sum(axis=0)

    run_everywhere(f, _X, targets=("cpu",), strict=True)


def test_containers_are_made_in_the_region_that_fills_them() -> None:
    def f(A, b, n):  # type: ignore[no-untyped-def]
        y = np.linalg.solve(A, b)
        counts = {}
        front = deque([0])
        while front:
            k = front.popleft()
            counts[k % 3] = counts.get(k % 3, 0) + k
            if k < n:
                front.append(k + 1)
        return counts, y.shape

    run_everywhere(f, _A, _X, 9, targets=("cpu",))
    jitted = appyc.jit(cache=False, target="cpu")(f)
    jitted(_A, _X, 9)
    assert [line for line, _ in jitted.explain().python_parts] == [f.__code__.co_firstlineno + 1]


def test_a_list_is_made_in_the_region_that_fills_it() -> None:
    """Its loop ran in Python, one compiled call for each iteration: `found = []` stood outside of the region."""

    def f(A, b):  # type: ignore[no-untyped-def]
        y = np.linalg.solve(A, b)
        total = 0.0
        found = []
        for v in y:
            total += v
            found.append(total)
        return found

    run_everywhere(f, _A, _X, targets=("cpu",))
    jitted = appyc.jit(cache=False, target="cpu")(f)
    jitted(_A, _X)
    assert [line for line, _ in jitted.explain().python_parts] == [f.__code__.co_firstlineno + 1]


def test_a_strict_error_names_the_call_and_not_what_it_keeps_in_python() -> None:
    def partitions(a: Any) -> Any:
        found = []
        for i in range(len(a)):
            found.append(np.partition(a[i], 3))
        return found

    with pytest.raises(appyc.UnsupportedError, match=r"np\.partition cannot be compiled") as caught:
        appyc.jit(partitions, strict=True, cache=False)(np.ones((3, 40)))
    assert "cannot be compiled: found.append" in str(caught.value)
