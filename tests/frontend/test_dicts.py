"""Dicts: what another name would see is left to Python, and what has changed since is seen."""

from __future__ import annotations

from collections import defaultdict, deque
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


@pytest.mark.parametrize(
    ("fn", "args"),
    [
        (_of_two_names, (X,)),
        (_of_the_caller, (X, {"n": 2.0})),
        (_array_changed_in_place, (X,)),
        (_views_kept, (X,)),
        (_handed_to_a_function, (X,)),
        (_without_the_key, (X, {"n": 2.0})),
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


# ---------------------------------------------------------------- containers with keys that are computed


def _deleted(n):  # type: ignore[no-untyped-def]
    d = {}
    for i in range(n):
        d[i] = i * i
    for k in d:
        if k == n - 1:
            del d[k]
    return d


def _added_while_run_over(n):  # type: ignore[no-untyped-def]
    d = {}
    for i in range(n):
        d[i] = i
    for k in d:
        d[k + 10] = 1
    return d


def _set_run_over(n):  # type: ignore[no-untyped-def]
    s = set()
    for i in range(n):
        s.add(i * 37 % 11)
    t = 0
    for x in s:
        t = t * 31 + x
    return t


def _read_by_a_nested_function(n):  # type: ignore[no-untyped-def]
    d = {}

    def f(k):  # type: ignore[no-untyped-def]
        return d.get(k, 0)

    for i in range(n):
        d[i] = f(i - 1) + i
    return d


def _of_texts(n):  # type: ignore[no-untyped-def]
    d = {}
    for i in range(n):
        d[str(i)] = i
    return d


def _of_floats(n):  # type: ignore[no-untyped-def]
    d = {}
    for i in range(n):
        d[i * 0.5] = i
    return d


def _of_several_types(n):  # type: ignore[no-untyped-def]
    d = {}
    for i in range(n):
        d[i] = i
        d[i + 0.5] = i
    return d


def _of_several_values(n):  # type: ignore[no-untyped-def]
    d = {}
    for i in range(n):
        d[i] = i
    d[0] = 0.5
    return d


def _missing_key_read(n):  # type: ignore[no-untyped-def]
    d = defaultdict(int)
    for i in range(n):
        d[i] += 1
        d[-i] = d[i + 1]
    return d


def _with_a_length_of_its_own(n):  # type: ignore[no-untyped-def]
    len = 3
    d = {}
    for i in range(n):
        d[i] = len
    return d


def _queue_from_the_left(n):  # type: ignore[no-untyped-def]
    q = deque()
    for i in range(n):
        q.appendleft(i)
    return q


def _queue_changed_while_run_over(n):  # type: ignore[no-untyped-def]
    q = deque([1])
    for _ in q:
        q.append(n)
    return q


@pytest.mark.sampled
@pytest.mark.parametrize(
    "fn",
    [
        _deleted, _added_while_run_over, _set_run_over, _read_by_a_nested_function, _of_texts, _of_floats,
        _of_several_types, _of_several_values, _missing_key_read, _with_a_length_of_its_own, _queue_from_the_left,
        _queue_changed_while_run_over,
    ],
)  # fmt: skip
def test_containers_left_to_python(fn: Any) -> None:
    outcomes = []
    for f in (fn, appyc.jit(fn)):
        try:
            outcomes.append(f(4))
        except RuntimeError as error:
            outcomes.append(str(error))
    assert outcomes[0] == outcomes[1]
    assert type(outcomes[0]) is type(outcomes[1])
    if isinstance(outcomes[0], dict):
        assert [*outcomes[0]] == [*outcomes[1]]
