"""Results of recursive functions that may be arguments: which array a caller gets, and what it may store into."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import appyc


def pick(x, d):
    if d == 0:
        return x
    if d < 0:
        return x + 1
    return pick(x, d - 1)


def merge_sorted(a):
    if len(a) < 2:
        return a
    left, right = merge_sorted(a[: len(a) // 2]), merge_sorted(a[len(a) // 2 :])
    out = np.empty(len(a))
    i = 0
    for k in range(len(a)):
        if i < len(left) and (k - i >= len(right) or left[i] <= right[k - i]):
            out[k] = left[i]
            i += 1
        else:
            out[k] = right[k - i]
    return out


def one_of_two(x, y, d):
    """In each call of itself the arguments are exchanged."""
    if d == 0:
        return x
    if d == 1:
        return y
    if d == 2:
        return x + y
    return one_of_two(y, x, d - 3)


def of_views(x, d):
    return pick(x[1:], d).sum() + pick(x[::-1], d)[0]


def argument_and_result(x, d):
    return x, pick(x, d)


def of_a_new_array(x, d):
    z = x * 2
    return pick(z, d)


def exchanged(x, d):
    y = x + 1
    if d == 0:
        return x, y
    a, b = exchanged(y, d - 1)
    return b, a


def result_is_changed(x, d):
    y = pick(x, d)
    y[0] = 5
    return x.sum(), y.sum()


def argument_is_changed(x, d):
    y = pick(x, d)
    x[0] = 7
    return y


def changed_in_a_loop(x, d):
    s = 0.0
    for k in range(3):
        y = pick(x, d)
        s += y[k]
        x[k + 1] += 1
    return s


def view_is_returned(x, d):
    return pick(x[1:], d)


def new_array_and_result(x, d):
    z = x * 2
    return z, pick(z, d)


COMPILED = (pick, of_views, argument_and_result, of_a_new_array)
LEFT = (result_is_changed, argument_is_changed, changed_in_a_loop, view_is_returned, new_array_and_result)


def identities(result: Any, args: tuple[Any, ...]) -> list[tuple[bool, bool]]:
    """Of each array that is returned, whether it is the argument, and whether it shares memory with another one."""
    found = [v for v in (result if isinstance(result, tuple) else (result,)) if isinstance(v, np.ndarray)]
    others = [*found, *(a for a in args if isinstance(a, np.ndarray))]
    return [(v is args[0], any(np.shares_memory(v, o) for o in others if o is not v)) for v in found]


@pytest.mark.parametrize("d", [-1, 0, 2])
@pytest.mark.parametrize("fn", [*COMPILED, *LEFT, exchanged])
@pytest.mark.filterwarnings("ignore::appyc.FallbackWarning")
def test_the_result_is_the_argument_where_python_returns_it(fn: Callable[..., Any], d: int) -> None:
    d = max(d, 0) if fn is exchanged else d
    one, two = (np.arange(5.0), d), copy.deepcopy((np.arange(5.0), d))
    expected, found = fn(*one), appyc.jit(strict=fn in COMPILED)(fn)(*two)
    assert repr((expected, one)) == repr((found, two))
    assert identities(expected, one) == identities(found, two)


@pytest.mark.parametrize("fn", LEFT)
def test_what_copies_would_show_is_refused(fn: Callable[..., Any]) -> None:
    with pytest.raises(appyc.UnsupportedError, match="bound to another array"):
        appyc.jit(strict=True)(fn)(np.arange(5.0), 1)


@pytest.mark.parametrize("d", range(7))
def test_one_of_two_arguments_is_returned(d: int) -> None:
    x, y = np.arange(3.0), np.arange(3.0) + 1
    expected, found = one_of_two(x, y, d), appyc.jit(strict=True)(one_of_two)(x, y, d)
    assert np.array_equal(expected, found)
    assert ((expected is x), (expected is y)) == ((found is x), (found is y))


@pytest.mark.parametrize("n", [0, 1, 2, 13])
def test_a_part_of_one_element_is_returned_as_it_is(n: int) -> None:
    a = np.cos(np.arange(n) * 5.0)
    found = appyc.jit(strict=True)(merge_sorted)(a)
    assert (found is a) == (n < 2)
    assert np.array_equal(found, np.sort(a))
