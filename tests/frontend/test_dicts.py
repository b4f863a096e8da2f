"""Dicts: what another name would see is left to Python, and what has changed since is seen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import appyc
from tests.e2e.harness import run_everywhere

TABLE: dict[str, Any] = {"n": 4, "scale": 2.0}
X = np.arange(6.0)


def _of_two_names(x):  # type: ignore[no-untyped-def]
    state = {"n": 0}
    same = state
    for _ in x:
        state["n"] += 1
    return same["n"]


def _of_the_caller(x, p):  # type: ignore[no-untyped-def]
    for v in x:
        p["n"] += v
    return p["n"]


def _array_changed_in_place(x):  # type: ignore[no-untyped-def]
    state = {"v": np.zeros(6)}
    v = state["v"]
    for _ in range(3):
        state["v"] += x
    return v


def _views_kept(x):  # type: ignore[no-untyped-def]
    state = {"n": 0, "m": 2}
    values = state.values()
    for _ in x:
        state["n"] += 1
    return sum(values)


def _handed_to_a_function(x):  # type: ignore[no-untyped-def]
    state = {"n": 0}
    same = _itself(state)
    for _ in x:
        state["n"] += 1
    return same["n"]


def _itself(p):  # type: ignore[no-untyped-def]
    return p


def _without_the_key(x, p):  # type: ignore[no-untyped-def]
    s = 0.0
    for v in x:
        s += v * p["more"]
    return s


def _text_returned(x):  # type: ignore[no-untyped-def]
    s = 0.0
    for v in x:
        s += v
    return {"sum": s, "kind": "fast"}


@pytest.mark.parametrize(
    ("fn", "args"),
    [
        (_of_two_names, (X,)),
        (_of_the_caller, (X, {"n": 2.0})),
        (_array_changed_in_place, (X,)),
        (_views_kept, (X,)),
        (_handed_to_a_function, (X,)),
        (_without_the_key, (X, {"n": 2.0})),
        (_text_returned, (X,)),
    ],
)
def test_what_is_refused_runs_in_python(fn: Any, args: tuple[Any, ...]) -> None:
    with pytest.raises(appyc.UnsupportedError):
        appyc.jit(strict=True, cache=False, target="cpu")(fn)(*args)
    run_everywhere(fn, *args, targets=("cpu",))


def test_a_dict_of_the_module_that_has_changed_is_seen() -> None:
    @appyc.jit(strict=True, cache=False, target="cpu")
    def total(x):  # type: ignore[no-untyped-def]
        s = 0.0
        for i in range(TABLE["n"]):
            s += x[i] * TABLE["scale"]
        return s

    before = dict(TABLE)
    try:
        assert [total(X), total(X)] == [12.0, 12.0]
        TABLE["n"] = 2
        assert total(X) == 2.0
        TABLE["scale"] = 10.5
        assert total(X) == 10.5
        TABLE.clear()
        with pytest.raises(appyc.UnsupportedError, match="has no key 'n'"):
            total(X)
    finally:
        TABLE.update(before)
    assert total(X) == 12.0


def test_a_dict_that_is_given_is_read_at_each_call() -> None:
    @appyc.jit(strict=True, cache=False, target="cpu")
    def scaled(x, p):  # type: ignore[no-untyped-def]
        return x * p["k"]

    p: dict[str, Any] = {"k": 2.0}
    assert np.array_equal(scaled(X, p), X * 2)
    p["k"] = 3.0
    assert np.array_equal(scaled(X, p), X * 3)
    p["k"] = 1j
    assert np.array_equal(scaled(X, p), X * 1j)
    assert np.array_equal(scaled(X, {"k": X}), X * X)
