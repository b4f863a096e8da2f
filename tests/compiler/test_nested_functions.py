"""Nested functions that share lists and numbers with the function around them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

import appyc
from tests.compiler.test_list_arguments import outcome

pytestmark = pytest.mark.filterwarnings("ignore::appyc.FallbackWarning")


def queens(n: Any) -> Any:
    columns, up, down = [False] * n, [False] * (2 * n), [False] * (2 * n)
    found = 0

    def place(row: Any) -> None:
        nonlocal found
        if row == n:
            found += 1
            return
        for c in range(n):
            if not (columns[c] or up[row + c] or down[row - c + n]):
                columns[c] = up[row + c] = down[row - c + n] = True
                place(row + 1)
                columns[c] = up[row + c] = down[row - c + n] = False

    place(0)
    return found


def of_the_caller(xs: Any) -> Any:
    swaps = 0

    def exchange(i: Any, j: Any) -> Any:
        nonlocal swaps
        xs[i], xs[j] = xs[j], xs[i]
        swaps += 1
        return xs[i]

    last = xs[0]
    for i in range(len(xs) // 2):
        last = exchange(i, len(xs) - 1 - i)
    return xs, swaps, last


def returned(n: Any) -> Any:
    squares = [i * i for i in range(n)]
    best = -1.5

    def put(i: Any) -> None:
        nonlocal best
        squares[i] += squares[i - 1]
        best = max(best, squares[i] * 0.5)

    for i in range(n):
        put(i)
    return squares, best


def beyond_64_bits(n: Any) -> Any:
    product = 1

    def times(k: Any) -> None:
        nonlocal product
        product = product * k

    for i in range(n):
        times(i + 1)
    return product


def of_another_type(n: Any) -> Any:
    total = 0

    def add(x: Any) -> None:
        nonlocal total
        total += x / 2

    for i in range(n):
        add(i)
    return total


def grown(n: Any) -> Any:
    found = [0]

    def more(x: Any) -> None:
        found.append(x)

    for i in range(n):
        more(i)
    return found


COMPILED: list[tuple[Callable[..., Any], Any]] = [
    (queens, 6), (of_the_caller, [3, 1, 2, 5]), (of_the_caller, [True, False]), (returned, 7), (beyond_64_bits, 20),
]  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize(("fn", "arg"), COMPILED)
def test_they_are_compiled(fn: Callable[..., Any], arg: Any) -> None:
    kept = list(arg) if isinstance(arg, list) else arg
    assert outcome(appyc.jit(fn, strict=True), [kept]) == outcome(
        fn, [list(arg) if isinstance(arg, list) else arg]
    )


@pytest.mark.parametrize(
    ("fn", "arg"), [(beyond_64_bits, 30), (of_another_type, 3), (of_another_type, 0), (grown, 4)]
)
def test_others_run_in_python(fn: Callable[..., Any], arg: Any) -> None:
    compiled = appyc.jit(fn, target="cpu")
    for _ in range(3):
        assert outcome(compiled, [arg]) == outcome(fn, [arg])


class _Pair(NamedTuple):
    first: int
    second: float


class _Settings:
    step = 2


@pytest.mark.parametrize("n", [0, 3])
def test_loops_in_python_that_share_a_variable_with_a_nested_function(n: int) -> None:
    def f(settings, pair, n):  # `nonlocal`, and the named tuple, are Python's
        i, k, own = 0, 1, settings

        def bump(by):
            nonlocal k
            k += by

        def counted(upto):
            yield from range(upto)

        for _ in range(2):
            bump(1)
            for t in counted(n):
                k += t
        return own.step, (i, (k, n)), pair

    given = _Settings(), _Pair(1, 2.0), n
    compiled = appyc.jit(f, cache=False)
    assert [compiled(*given) for _ in range(3)] == [f(*given)] * 3
