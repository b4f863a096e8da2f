"""Functions that are called with ever other lengths, strings, classes or captured values have few versions."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import appyc
from appyc.compiler import specialisations
from appyc.compiler.fallback import LARGE_CALL
from appyc.compiler.version_budget import AT_ONCE, IN_ALL, VersionBudget

FACTOR = 0


def total(items):
    found = 0
    for item in items:
        found += item
    return found


def total_of_rows(rows):
    found = 0
    for row in rows:
        for item in row:
            found += item
    return found


def total_of_all(*items):
    found = 0
    for item in items:
        found += item
    return found


def counted(a, mode):
    found = 0
    for i in range(len(a)):
        if mode == "mmm":
            found += i
    return found


def scaled(a):
    found = 0.0
    for i in range(len(a)):
        found += a[i] * FACTOR
    return found


def mapped(function, a):
    found = 0.0
    for i in range(len(a)):
        found += function(a[i])
    return found


def moved(body, a):
    found = 0.0
    for i in range(len(a)):
        found += a[i] * body.k
    return found


def largest(a):
    return a.max()


def grown(a):
    found = []
    for i in range(len(a)):
        found.append(i)
        print(end="")
        for j in range(len(a)):
            a[j] = sum(found)
    return a.sum()


def of_functions() -> Iterator[tuple[Any, ...]]:
    for n in range(24):

        def function(x: float, n: int = n) -> float:
            return x * n

        yield function, np.ones(4)


def of_classes() -> Iterator[tuple[Any, ...]]:
    for n in range(24):
        body = type(f"Body{n}", (), {})()
        body.k = n
        yield body, np.ones(4)


def of_globals() -> Iterator[tuple[Any, ...]]:
    global FACTOR  # noqa: PLW0603  (as a program does that changes a number of its module)
    for n in range(24):
        FACTOR = n
        yield (np.ones(4),)


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What versions are compiled for, in order."""
    made: list[object] = []
    make = specialisations.make_version

    def noted(job: Any) -> Any:
        made.append(job.wanted.key)
        return make(job)

    monkeypatch.setattr(specialisations, "make_version", noted)
    return made


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("function", "calls", "most"),
    [
        (total, lambda: ((tuple(range(n)),) for n in range(1, 25)), AT_ONCE),
        (total, lambda: (([0.5 if k % 2 else k for k in range(n)],) for n in range(2, 25)), AT_ONCE),
        (total_of_rows, lambda: (([[1] * n, [1]],) for n in range(2, 26)), 1),
        (total_of_all, lambda: (range(n) for n in range(1, 25)), AT_ONCE),
        (counted, lambda: ((np.ones(4), "m" * n) for n in range(24)), AT_ONCE),
        (scaled, of_globals, AT_ONCE),
        (mapped, of_functions, AT_ONCE),
        (moved, of_classes, AT_ONCE),
        (largest, lambda: ((np.ones((2,) * n),) for n in range(1, 25)), IN_ALL),
        (grown, lambda: [(np.ones(24),)], 2 + AT_ONCE),
    ],
    ids=[
        "tuple",
        "mixed",
        "rows",
        "varargs",
        "string",
        "global",
        "function",
        "class",
        "rank",
        "region",
    ],
)
def test_a_value_that_is_built_in_and_changes_at_each_call_is_compiled_a_few_times(
    function: Callable[..., Any], calls: Callable[[], Iterator[Any]], most: int, compiled: list[object]
) -> None:
    kernel = appyc.jit(target="cpu", cache=False)(function)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for args in calls():
            assert kernel(*args) == function(*args)
    assert min(2, most) <= len(compiled) <= most
    if function is not total_of_rows:  # of which Python may win the race for a row
        assert len({str(w.message) for w in told}) == (0 if function is grown else 1)


def test_under_strict_each_call_is_compiled(compiled: list[object]) -> None:
    kernel = appyc.jit(target="cpu", strict=True)(total)
    for n in range(1, 9):
        assert kernel(tuple(range(n))) == n * (n - 1) // 2
    assert len(compiled) == 8


def repeated(items, times):
    found = 0
    for _ in range(times):
        for item in items:
            found += item
    return found


def test_a_call_that_takes_python_long_is_compiled(compiled: list[object]) -> None:
    kernel = appyc.jit(target="cpu")(repeated)
    for n in range(1, 9):
        assert kernel((2,) * n, 1_000_000) == 2_000_000 * n
    assert len(compiled) == 8


@pytest.mark.filterwarnings("ignore::appyc.FallbackWarning")
def test_one_more_version_is_compiled_when_python_has_taken_as_long(compiled: list[object]) -> None:
    kernel = appyc.jit(target="cpu", cache=False)(repeated)
    for n in range(1, AT_ONCE + 1):
        kernel((2,) * n, 10)
    calls = 0
    while len(compiled) == AT_ONCE:
        assert kernel((2,) * 9, 10_000) == 180_000
        calls += 1
    assert calls > 1
    for n in range(10, 15):
        kernel((2,) * n, 10)
    assert len(compiled) == AT_ONCE + 1


def test_a_budget_counts_versions_and_what_python_has_taken() -> None:
    budget = VersionBudget()
    for _ in range(AT_ONCE):
        assert budget.covers("a")
        budget.compiled("a", 100)
    assert not budget.covers("a")
    assert budget.covers("b")
    assert not budget.spent("a", 99)
    assert budget.spent("a", 1)
    budget.compiled("a", 100)
    assert not budget.covers("a")
    for kin in range(IN_ALL - AT_ONCE - 1):
        assert budget.covers(kin)
        budget.compiled(kin, 100)
    assert not budget.covers("b")


def test_calls_of_compiled_code_are_long_by_the_typical_one() -> None:
    budget = VersionBudget()
    assert not budget.runs_are_long
    for nanoseconds in (1000, 9 * LARGE_CALL, 1000):
        budget.ran(nanoseconds)
    assert not budget.runs_are_long
    for _ in range(3):
        budget.ran(9 * LARGE_CALL)
    assert budget.runs_are_long
