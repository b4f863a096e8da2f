"""Lists that are given to functions that do more with them than look at them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import appyc


def _stored_into(x):  # type: ignore[no-untyped-def]
    x[0] = 1
    return x[0]


def _grown(x):  # type: ignore[no-untyped-def]
    x.append(1)
    return len(x)


def _returned(x):  # type: ignore[no-untyped-def]
    return x


def _named_anew(x):  # type: ignore[no-untyped-def]
    y = x
    return y[0]


def _read_by_a_function(x):  # type: ignore[no-untyped-def]
    def first():  # type: ignore[no-untyped-def]
        return x[0]

    return first()


def _a_part(x):  # type: ignore[no-untyped-def]
    return x[1:]


def _an_index(x):  # type: ignore[no-untyped-def]
    return np.arange(3)[x]


@pytest.mark.parametrize(
    "fn", [_stored_into, _grown, _returned, _named_anew, _read_by_a_function, _a_part, _an_index]
)
def test_a_list_that_may_get_out_or_change_is_refused(fn: Any) -> None:
    with pytest.raises(appyc.TypeInferenceError, match="argument 'x' is a list"):
        appyc.jit(cache=False, target="cpu", strict=True)(fn)([2, 1])
    one, other = [2, 1], [2, 1]
    with pytest.warns(appyc.FallbackWarning, match="runs in Python"):
        found = appyc.jit(cache=False, target="cpu")(fn)(one)
    np.testing.assert_array_equal(found, fn(other))
    assert one == other


def test_a_long_list_is_refused() -> None:
    def total(x):  # type: ignore[no-untyped-def]
        s = 0.0
        for v in x:
            s += v
        return s

    jitted = appyc.jit(cache=False, target="cpu", strict=True)(total)
    assert jitted([0.5] * 64) == 32.0
    with pytest.raises(appyc.TypeInferenceError, match=r"pass np\.asarray\(x\)"):
        jitted([0.5] * 65)


def test_lists_inside_are_taken_where_no_item_gets_out() -> None:
    def item(x):  # type: ignore[no-untyped-def]
        return x[0]

    def items_item(x):  # type: ignore[no-untyped-def]
        return x[0][1]

    with pytest.raises(appyc.TypeInferenceError, match=r"argument 'x\[0\]' is a list"):
        appyc.jit(cache=False, target="cpu", strict=True)(item)([[2, 1]])
    assert appyc.jit(cache=False, target="cpu", strict=True)(items_item)([[2, 1]]) == 1
