"""Names that are bound to another array: when a copy would tell, the statement stays in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import appyc
from tests.e2e.harness import run_everywhere


def stores_into_the_callers_array(a, n):  # type: ignore[no-untyped-def]
    x = a
    for _ in range(n):
        x[0] = x[0] + 1.0
        x = x * 2
    return x


def stores_into_what_another_name_has(a, n):  # type: ignore[no-untyped-def]
    x = a * 1.0
    y = x
    for _ in range(n):
        y[0] = y[0] + 1.0
        x = x + y
    return x, y


def stores_through_a_view(a, n):  # type: ignore[no-untyped-def]
    x = a * 1.0
    tail = x[1:]
    for k in range(n):
        tail[0] = k
        if x[1] > 1.0:
            x = x * 0.5
    return x


def stores_behind_the_loop(a, n):  # type: ignore[no-untyped-def]
    x = a
    for _ in range(n):
        x = x * 2
    x[0] = 7.0
    return x


def stores_behind_a_branch(a, n):  # type: ignore[no-untyped-def]
    x = a
    if n > 1:
        x = a * 2
    x[0] = 7.0
    return x


def _doubled(x, n):  # type: ignore[no-untyped-def]
    for _ in range(n):
        x = x * 2
    return x


def stores_into_what_a_call_returned(a, n):  # type: ignore[no-untyped-def]
    mine = a + 1
    y = _doubled(mine, n)
    y[0] = 7.0
    return mine + 0, y + 0


def binds_another_rank(a, n):  # type: ignore[no-untyped-def]
    x = a
    for _ in range(n):
        x = x[None] * 2
    return x


_A = np.arange(5.0)

TELLING: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (stores_into_the_callers_array, (_A,)),
    (stores_into_what_another_name_has, (_A,)),
    (stores_through_a_view, (_A,)),
    (stores_behind_the_loop, (_A,)),
    (stores_behind_a_branch, (_A,)),
    (stores_into_what_a_call_returned, (_A,)),
    (binds_another_rank, (_A,)),
]


@pytest.mark.parametrize(("fn", "args"), TELLING, ids=[fn.__name__ for fn, _ in TELLING])
@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_what_a_copy_would_change_runs_in_python(fn: Any, args: Any, n: int) -> None:
    run_everywhere(fn, *args, n, targets=("cpu",))


@pytest.mark.parametrize(("fn", "args"), TELLING, ids=[fn.__name__ for fn, _ in TELLING])
def test_it_is_refused_where_nothing_may_stay_in_python(fn: Any, args: Any) -> None:
    with pytest.raises(appyc.UnsupportedError):
        appyc.jit(strict=True, cache=False, target="cpu")(fn)(*args, 3)


def test_the_refusal_stands_at_the_binding_and_names_the_store() -> None:
    with pytest.raises(appyc.UnsupportedError, match=r"'x' is bound to another array here") as caught:
        appyc.jit(strict=True, cache=False, target="cpu")(stores_behind_the_loop)(_A, 3)
    first = stores_behind_the_loop.__code__.co_firstlineno
    assert (caught.value.loc.line, caught.value.related[0].loc.line) == (first + 3, first + 4)


def test_the_copy_into_the_name_is_joined_with_the_loop_that_computes_it() -> None:
    def powers(A, x, n):  # type: ignore[no-untyped-def]
        for _ in range(n):
            x = (A @ x) * 0.5
        return x

    f = appyc.jit(strict=True, cache=False, target="cpu")(powers)
    f(np.eye(4), np.ones(4), 3)
    text = f.source("ir")
    assert text.count("empty(") == 2, text  # the home and the product: neither is copied once more


def test_lengths_that_stay_are_tested_once_at_the_call() -> None:
    f = appyc.jit(strict=True, cache=False, target="cpu")(_doubled)
    f(np.ones(4), 3)
    assert "if " not in f.source("ir")


def test_two_results_that_may_be_one_array_are_refused() -> None:
    def both(a, n):  # type: ignore[no-untyped-def]
        x = y = a * 1
        if n > 2:
            x = x + 1
        return x, y

    for n in (1, 3):
        run_everywhere(both, _A, n, targets=("cpu",))
    with pytest.raises(appyc.UnsupportedError, match="another name's array"):
        appyc.jit(strict=True, cache=False, target="cpu")(both)(_A, 3)
