"""Lists that a function makes: what is refused, and then runs in Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import appyc
from tests.counting import calls_of
from tests.e2e.harness import run_everywhere


def _of_two_types(n):  # type: ignore[no-untyped-def]
    out = [0]
    for k in range(n):
        out.append(k * 0.5j)
    return np.array(out)


def _with_two_names(n):  # type: ignore[no-untyped-def]
    out = []
    same = out
    for k in range(n):
        same.append(k)
    return np.array(out), len(same)


def _while_it_grows(n):  # type: ignore[no-untyped-def]
    out = [1]
    for k in out:
        if k < n:
            out.append(k + 1)
    return np.array(out)


def _copied_with_two_names(n):  # type: ignore[no-untyped-def]
    first = [0] * n
    out = first[:]
    same = out
    same.append(1)
    return np.array(out)


def _added_to_an_array(n):  # type: ignore[no-untyped-def]
    out = [0.5] * n
    out += np.ones(n)
    return out


def _added_to_a_part_of_an_array(n):  # type: ignore[no-untyped-def]
    ones = np.ones(n + 1)
    out = [0.5] * n
    out += ones[1:]
    return out


@pytest.mark.parametrize(
    "fn",
    [
        _of_two_types,
        _with_two_names,
        _while_it_grows,
        _copied_with_two_names,
        _added_to_an_array,
        _added_to_a_part_of_an_array,
    ],
)
def test_what_an_array_would_not_do_is_refused_and_runs_in_python(fn: Any) -> None:
    with pytest.raises(appyc.UnsupportedError):
        appyc.jit(strict=True, cache=False, target="cpu")(fn)(3)
    for n in (0, 3):
        run_everywhere(fn, n, targets=("cpu",))


def _three_lists(x: Any, n: int) -> Any:
    pairs, positive, none = [], [], []
    for i in range(n):
        pairs.append((i, x[i], x[i] > 2))
        positive.append(x[i] > 1)
    if n < 0:
        none.append(n)
    return pairs, positive, none, n


def test_lists_are_made_without_python() -> None:
    compiled = appyc.jit(strict=True)(_three_lists)
    for dtype in (np.float64, np.float32, np.int16, np.uint64):
        x = np.arange(6).astype(dtype)
        for n in (0, 3, 6):
            assert repr(compiled(x, n)) == repr(_three_lists(x, n))
    assert calls_of(lambda: [compiled(x, 6) for _ in range(100)]) < 300


def _histogram(numbers: Any) -> Any:
    counts: dict[int, int] = {}
    for number in numbers:
        counts[number] = counts.get(number, 0) + 1
    return counts


def test_a_call_takes_as_many_steps_for_a_long_list_as_for_a_short_one() -> None:
    """The first calls, before the dispatcher has a kernel: what is a generator or a recorded array is told by type."""
    compiled = appyc.jit(_histogram, cache=False)
    compiled([1, 2])
    short = calls_of(lambda: compiled([1, 2]))
    compiled([1, 2])  # Python's turn
    assert calls_of(lambda: compiled([1, 2] * 5000)) < short + 1000


def _items(n: int, at: int) -> int:
    found = [i * i for i in range(n)]
    return found[at]


def _stored(n: int, at: int) -> int:
    found = [0] * n
    found[at] = 3
    return len(found)


def _popped(n: int, at: int) -> int:
    found = [i * i for i in range(n)]
    return found.pop(at)


@pytest.mark.parametrize("fn", [_items, _stored, _popped])
def test_an_index_out_of_range_has_the_text_of_a_list(fn: Any) -> None:
    compiled = appyc.jit(strict=True)(fn)
    for n, at in ((3, 3), (3, -4), (0, 0), (0, -1)):
        with pytest.raises(IndexError) as wanted:
            fn(n, at)
        with pytest.raises(IndexError) as found:
            compiled(n, at)
        assert found.value.args == wanted.value.args


def distances(a, b):
    previous = list(range(len(b) + 1))
    for i in range(len(a)):
        current = [i + 1]
        for j in range(len(b)):
            current.append(min(previous[j + 1] + 1, current[j] + 1, previous[j] + int(a[i] != b[j])))
        previous = current
    return previous[-1]


def first_and_last(a, b):
    found = []
    for i in range(len(a)):
        found.append((a[i] * 2, i))
    return found[:2], found[-1:], len(found)


@pytest.mark.sampled
@pytest.mark.parametrize("fn", [distances, first_and_last])
@pytest.mark.parametrize("sizes", [(0, 0), (1, 3), (6, 5)])
def test_a_list_gets_another_name_or_is_returned_in_part(fn, sizes):
    given = [np.arange(size) % 3 for size in sizes]
    run_everywhere(fn, *given)
    appyc.jit(fn, strict=True, cache=False)(*given)


@pytest.mark.filterwarnings("ignore::appyc.FallbackWarning")
def test_a_list_with_two_names_is_one_list():
    def f(n):
        a = [0] * n
        b = a
        b[0] = 5
        return a[0]

    assert appyc.jit(f, cache=False)(3) == 5


def replaces_tuples(points):
    total = 0
    for i in range(len(points)):
        total += points[i][0]
        points[i] = (total, i)
    points.append((total, 0))
    return total


def returns_them(points):
    total = 0
    for a, b in points:
        total += a * 2 - b
    return points, total


_POINTS = [(k * k % 7, k) for k in range(20)]


@pytest.mark.filterwarnings("ignore::appyc.FallbackWarning")
@pytest.mark.parametrize("last", [(1, 2), (1, 2, 3), (1, 2.5), (1, 2**70), [1, 2]])
@pytest.mark.parametrize("fn", [replaces_tuples, returns_them])
def test_lists_of_tuples_that_change_or_have_other_items_run_in_python(fn, last):
    compiled = appyc.jit(fn, cache=False)
    for points in (_POINTS, [*_POINTS, last]):
        given, expected = list(points), list(points)
        try:
            want = fn(expected)
        except ValueError as error:
            with pytest.raises(ValueError, match=str(error)[:20]):
                compiled(given)
        else:
            got = compiled(given)
            assert got == want
            assert fn is not returns_them or got[0] is given
        assert given == expected


@pytest.mark.filterwarnings("ignore::appyc.FallbackWarning")
def test_a_method_that_has_a_name_stays_that_of_its_list():
    def f(n):
        kept = [0]
        add = kept.append
        first = kept
        kept = [1]
        for i in range(n):
            add(i)
        return first, kept

    assert appyc.jit(cache=False, target="cpu")(f)(3) == f(3)
