"""Lists of numbers as arguments: as in Python, and without a version for each length."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import appyc
from appyc.compiler.requests import Request
from appyc.ir.arguments import ArgType, NoneArg
from appyc.runtime.dispatch import Entry

pytestmark = pytest.mark.filterwarnings("ignore::appyc.FallbackWarning")


class Listed(list):  # type: ignore[type-arg]
    pass


def outcome(fn: Callable[..., Any], args: Sequence[Any]) -> tuple[str, str]:
    """What a call gives or raises, and what its arguments are afterwards, with all types."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            out = repr(fn(*args))
    except Exception as error:  # noqa: BLE001  (whatever it is, it has to be Python's)
        out = type(error).__name__
    return out, repr(args)


def bubble_sort(xs: Any) -> Any:
    for i in range(len(xs)):
        for j in range(len(xs) - 1 - i):
            if xs[j] > xs[j + 1]:
                xs[j], xs[j + 1] = xs[j + 1], xs[j]
    return xs


def running_sums(xs: Any) -> Any:
    for i in range(1, len(xs)):
        xs[i] += xs[i - 1]
    return None


def looked_at(xs: Any) -> Any:
    if not xs:
        return None
    return sum(xs), min(xs), max(xs), any(xs), all(xs), 3 in xs, len(xs), xs[-1], sum(xs[1:3]), sum(xs, 1)


def half_way(xs: Any, ys: Any) -> Any:
    for i in range(len(xs)):
        ys[i] = 2 * xs[i]


def raised(xs: Any, limit: Any) -> Any:
    for i in range(len(xs)):
        if xs[i] > limit:
            raise ValueError("too large")
        xs[i] = limit


def beside_an_array(xs: Any, a: Any) -> Any:
    for i in range(len(xs)):
        a[i] = xs[i]
        xs[i] = xs[-1]
    return xs


def other_types(xs: Any) -> Any:
    xs[0] = xs[1] / 2
    return xs[0]


def grows(xs: Any) -> Any:
    for i in range(3):
        xs.append(xs[i])


def shrinks(xs: Any) -> Any:
    total = 0
    while xs:
        total += xs.pop()
    return total


def copies(xs: Any) -> Any:
    ys, zs, ws, vs = xs[:], xs.copy(), sorted(xs), list(xs)
    part = xs[1:]
    for i in range(len(xs)):
        ys[i] = ys[i] + xs[-1]
    vs.append(xs[0])
    xs[0] = xs[1]
    return ys, zs, ws, vs, part


def concatenated(xs: Any) -> Any:
    return xs + xs, xs * 2, xs == [3, 1, 2]


def parts(xs: Any) -> Any:
    total = 0
    for x in xs[::-1]:
        total = total * 2 + x
    xs[1:2] = []
    return total


def renamed(xs: Any, up: Any) -> Any:
    ys = xs
    ys[0] = ys[1]
    zs = ys if up else ys[1:]
    zs[0] = zs[-1]
    return ys


def rebound(xs: Any) -> Any:
    xs = [x + x for x in xs]
    xs[0] = xs[1]
    return xs


def chosen(xs: Any, ys: Any, first: Any) -> Any:
    if first:
        zs = xs
    else:
        zs = ys
    zs[0] = zs[1]
    return zs


def larger(xs: Any, i: Any) -> Any:
    return xs[i] if xs[i] > xs[i + 1] else xs[i + 1]


def helped(xs: Any) -> Any:
    total = 0
    for i in range(len(xs) - 1):
        total += larger(xs, i)
    return total


def quicksort(xs: Any, lo: Any, hi: Any) -> Any:
    if lo < hi:
        last = lo
        for i in range(lo + 1, hi):
            if xs[i] < xs[lo]:
                last += 1
                xs[last], xs[i] = xs[i], xs[last]
        xs[lo], xs[last] = xs[last], xs[lo]
        quicksort(xs, lo, last)
        quicksort(xs, last + 1, hi)


def arrays_of(xs: Any) -> Any:
    a = np.array(xs)
    a[0] = a[1]
    b = np.asarray(xs)
    b[0] = b[1]
    return a, b, np.sum(xs), np.sqrt(xs), a[xs[0] :], np.cumsum(xs)


def with_default(n: Any, xs: Any = [1, 2, 3]) -> Any:  # noqa: B006  (what it is about)
    for i in range(len(xs)):
        xs[i] += n
    return sum(xs)


def enumerated(xs: Any, ys: Any) -> Any:
    total = 0
    for i, x in enumerate(xs):
        total += i * x
    for x, y in zip(xs, ys):  # noqa: B905
        total += x * y
    for x in reversed(xs):
        total = total - x
    return total, [x for x in xs if x > 1], isinstance(xs, list), isinstance(xs, np.ndarray)


def indexed_wrongly(xs: Any, i: Any) -> Any:
    return xs[i]


def stored_wrongly(xs: Any, i: Any, value: Any) -> Any:
    xs[i] = value
    return xs


def attributes(xs: Any) -> Any:
    return xs.shape


def negated(xs: Any) -> Any:
    return abs(xs)


def unpacked(xs: Any) -> Any:
    a, b, c = xs
    return a + 2 * b + 3 * c


NUMBERS: list[list[Any]] = [
    [3, 1, 2],
    [3.0, 0.0, -0.0, 2.0], [True, False, True], [1j, 2.0 + 0j, 0j], [2**62, 2**62, 5], [2**64, 1, 2], [], [1],
    [1, True, 0], [np.float64(1.0), np.float64(2.0)], [np.int64(1)] * 3, ["a", "b"], [None, 1, 2],
    [2.0, float("inf"), 1.0], list(range(70)), [1.5] * 100,
]  # fmt: skip

PROGRAMS: list[tuple[Callable[..., Any], Callable[[list[Any]], tuple[Any, ...]]]] = [
    *((fn, lambda xs: (xs,)) for fn in (
        bubble_sort, running_sums, looked_at, other_types, grows, shrinks, copies, concatenated, parts, rebound, helped,
        arrays_of, attributes, negated, unpacked,
    )),
    (half_way, lambda xs: (xs, [0] * len(xs))), (half_way, lambda xs: (xs, [0.0] * 2)), (half_way, lambda xs: (xs, xs)),
    (raised, lambda xs: (xs, 2)), (raised, lambda xs: (xs, 2.0)),
    (beside_an_array, lambda xs: (xs, np.zeros(len(xs), np.complex128))),
    (beside_an_array, lambda xs: (xs, np.zeros(2))),
    (renamed, lambda xs: (xs, True)), (renamed, lambda xs: (xs, False)),
    (chosen, lambda xs: (xs, [5, 6], True)), (chosen, lambda xs: (xs, [5, 6], False)),
    (quicksort, lambda xs: (xs, 0, len(xs))), (enumerated, lambda xs: (xs, [2, 3, 4])),
    *((indexed_wrongly, lambda xs, i=i: (xs, i))
      for i in (0, -1, 5, -9, 1.0, True, np.int64(1), np.array([0, 1]), None)),
    *((stored_wrongly, lambda xs, v=v, i=i: (xs, i, v)) for v in (1, 2.5, True, 1j, 2**64, np.float64(1), None, "x")
      for i in (0, -1, 70)),
    (bubble_sort, lambda xs: (Listed(xs),)), (looked_at, lambda xs: (tuple(xs),)),
]  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("target", ["cpu", "interpret"])
@pytest.mark.parametrize("number", range(len(PROGRAMS)), ids=lambda n: f"{PROGRAMS[n][0].__name__}-{n}")
def test_as_in_python(number: int, target: str) -> None:
    fn, make = PROGRAMS[number]
    compiled = appyc.jit(fn, target=target)
    for values in NUMBERS:
        for _ in range(3):
            args = make(copy.deepcopy(values))
            expected, found = copy.deepcopy(args), args
            if len(args) > 1 and args[0] is args[1]:
                expected = (copy.deepcopy(values),) * 2
            assert outcome(compiled, found) == outcome(fn, expected), values


def transposed_in_place(m: Any) -> Any:
    for i in range(len(m)):
        for j in range(i):
            m[i][j], m[j][i] = m[j][i], m[i][j]
    return m


def shortest_paths(m: Any) -> Any:
    n = len(m)
    for k in range(n):
        for i in range(n):
            for j in range(len(m[i])):
                if m[i][k] + m[k][j] < m[i][j]:  # noqa: PLR1730  (as it is written)
                    m[i][j] = m[i][k] + m[k][j]


def of_rows(m: Any) -> Any:
    total, most = 0, m[0][0]
    for row in m:
        total += sum(row) + len(row)
        for x in row:
            most = max(most, x)
    first = m[0]
    first[0] = first[-1]
    a, b = m[-1]
    return total, most, m[-1][-1], 3 in m[1], len(m), len(m[0]), sum(m[0][1:]), [sum(row) for row in m], a, b


def swapped_rows(m: Any) -> Any:
    m[0], m[1] = m[1], m[0]
    m[0][0] = m[1][1]
    return m


def a_row(m: Any) -> Any:
    return m[0], m[1][:]


def copied_rows(m: Any) -> Any:
    rows, others = m[:], list(m)
    rows[0][0] = rows[1][1]
    return rows, others, m[0] == m[1]


def two_indices(m: Any) -> Any:
    return m[0, 0]


def of_two(m: Any, row: Any) -> Any:
    for i in range(len(row)):
        m[0][i] = row[i]
        row[i] = m[1][i]


def degrees(m: Any) -> Any:
    out = [0] * 10
    for row in m:
        for v in row:
            out[v] += 1
    for u, row in enumerate(m):
        out[u] += len(row) + (row[-1] if row else 3)
    return out, len(m), m[-1][0]


def of_items(m: Any) -> Any:
    total = 0.0
    for row in m:
        for a, b in row:
            total += a * b
    return total, m[0][0][1]


def of_row(m: Any, row: Any) -> Any:
    for i in range(len(row)):
        row[i] = m[0][0] + len(m[1])
    return m[0][-1]


def longer_row(m: Any) -> Any:
    m[0].append(m[1][0])
    return m[0]


def exchanged(m: Any) -> Any:
    m[0], m[1] = m[1], m[0]
    return m[0] is m[1], [len(row) for row in m]


def of_tables(a: Any, b: Any) -> Any:
    out = [[0] * len(b[0]) for _ in range(len(a))]
    for i in range(len(a)):
        for j in range(len(b[0])):
            for k in range(len(b)):
                out[i][j] += a[i][k] * b[k][j]
    return out[0][0], np.array(a) @ np.array(b)


ROWS: list[list[Any]] = [
    [[3, 1], [2, 5]],
    [[3.0, 1.5], [2.0, -0.0]], [[True, False], [False, True]], [[1j, 2j], [0j, 1j]], [[1, 2], [3.0, 4.0]],
    [[1, 2], [3]], [[], []], [[], [4, 1], [2]], [[2.0], [], [1.0, 0.5, 3.5]], [[1], [2, 3.5]], [[1, 2], [3], [2**64]],
    [[1, 2], [], 3], [[1], [], None], [[True], [True, False]], [[(1, 2)], [(3, 4), (5, 6)]], [[(1, 2.5), (3, 0.5)], []],
    [[(1, 2)], [(3, 4, 5)]], [[(1, 2)], [(3, 4.0), (1, 1)]], [[k] * (k % 4) for k in range(9)],
    [[2**63, 1], [1, 1]], [(1, 2), (3, 4)], [[[1], [2]], [[3], [4]]],
    [[k * n % 7 for k in range(9)] for n in range(9)],
]  # fmt: skip

OF_ROWS: list[tuple[Callable[..., Any], Callable[[list[Any]], tuple[Any, ...]]]] = [
    *((fn, lambda m: (m,)) for fn in (
        transposed_in_place, shortest_paths, of_rows, swapped_rows, a_row, copied_rows, two_indices, degrees, of_items,
        longer_row, exchanged,
    )),
    (of_row, lambda m: (m, [0, 0])), (of_row, lambda m: (m, m[0])), (of_row, lambda m: (m, m[1])),
    (of_two, lambda m: (m, [7, 8])), (of_two, lambda m: (m, m[0])), (of_two, lambda m: (m, m[1])),
    (of_tables, lambda m: (m, [[1, 2], [3, 4]])), (of_tables, lambda m: (m, m)),
    (shortest_paths, lambda m: ([m[0]] * 2,)), (of_rows, lambda m: ([m[0]] * 2,)),
]  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("number", range(len(OF_ROWS)), ids=lambda n: f"{OF_ROWS[n][0].__name__}-{n}")
def test_lists_of_lists_are_as_in_python(number: int) -> None:
    fn, make = OF_ROWS[number]
    compiled = appyc.jit(fn, target="cpu")
    for values in ROWS:
        for _ in range(3):
            found, expected = make(copy.deepcopy(values)), make(copy.deepcopy(values))
            rows = list(found[0])
            assert outcome(compiled, found) == outcome(fn, expected), values
            assert fn in (swapped_rows, exchanged) or all(a is b for a, b in zip(found[0], rows, strict=True))


def test_tables_are_compiled() -> None:
    for fn in (transposed_in_place, shortest_paths, of_rows):
        m = [[3, 1], [2, 5]]
        assert repr(appyc.jit(fn, strict=True)(m)) == repr(fn([[3, 1], [2, 5]]))


def test_one_version_does_for_rows_of_any_lengths(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = appyc.jit(degrees, strict=True)
    first = [[1], [2, 3], [4]]
    assert compiled(first) == degrees(first)
    monkeypatch.setattr(compiled, "_make", None)
    for m in ([[1, 2], [3, 4]], [[k] * (k % 3) for k in range(9)], [[], [1]]):
        assert compiled(m) == degrees(m)


def test_rows_are_only_read() -> None:
    for fn, message in (
        (shortest_paths, "operation on a list"),
        (longer_row, "operation on a list"),
        (a_row, "part of a list"),
    ):
        with pytest.raises(appyc.UnsupportedError, match=message):
            appyc.jit(fn, strict=True)([[1, 2], [3]])


def test_a_default_is_one_list_for_all_calls() -> None:
    compiled = appyc.jit(with_default)
    assert [compiled(1), compiled(1), compiled(n=2)] == [9, 12, 18]
    assert with_default.__defaults__ == ([5, 6, 7],)
    assert with_default.__defaults__ is not None
    with_default.__defaults__[0][:] = [1, 2, 3]


def test_items_that_do_not_change_stay_the_same_objects() -> None:
    @appyc.jit(strict=True)
    def doubled_first(xs: Any) -> Any:
        for i in range(len(xs) // 2):
            xs[i] = 2 * xs[i]
        return xs

    values = [1000.5 + i for i in range(100)]
    before = list(values)
    assert doubled_first(values) is values
    assert all(now is old for now, old in zip(values[50:], before[50:], strict=True))
    assert values[:50] == [2 * x for x in before[:50]]


def test_one_version_does_for_all_lengths(monkeypatch: pytest.MonkeyPatch) -> None:
    @appyc.jit(strict=True)
    def total(xs: Any) -> Any:
        out = 0
        for x in xs:
            out += x
        return out

    assert total([1, 2]) == 3
    monkeypatch.setattr(total, "_make", None)
    assert [total(list(range(n))) for n in (3, 60, 70, 5000)] == [n * (n - 1) // 2 for n in (3, 60, 70, 5000)]


def test_what_is_stored_before_an_exception_stays_in_the_list() -> None:
    values = [1, 1, 1, 9, 1]
    with pytest.raises(ValueError, match="too large"):
        appyc.jit(raised, strict=True)(values, 2)
    assert values == [2, 2, 2, 9, 1]


def test_what_python_says_of_an_index() -> None:
    for fn, args, message in (
        (indexed_wrongly, ([1, 2], 5), "list index"),
        (stored_wrongly, ([1, 2], -3, 4), "list assignment index"),
    ):
        with pytest.raises(IndexError, match=f"^{message} out of range"):
            appyc.jit(fn, strict=True)(*args)


def test_lists_under_strict() -> None:
    with pytest.raises(appyc.TypeInferenceError, match="argument 'xs' is a list"):
        appyc.jit(running_sums, strict=True)([1, 2.0])
    with pytest.raises(appyc.UnsupportedError, match="operation on a list"):
        appyc.jit(grows, strict=True)([1, 2, 3])


def test_sizes_race_against_python_one_by_one() -> None:
    def pairs(xs: Any) -> Any:
        found = 0
        for i in range(len(xs) if len(xs) < 1000 else 1):
            for j in range(i):
                found += xs[i] < xs[j]
        return found

    compiled: Any = appyc.jit(pairs)
    winners: dict[object, Any] = {}
    for _ in range(200):  # a call in Python that the machine delays starts its race again
        for size in (300, 30_000):
            compiled([1.0] * size)
        winners.update({kind[1]: function for kind, (function, *_) in compiled.handed.items()})
        if len(winners) == 2:
            break
    assert winners[9] is pairs, "Python looks at one item, where compiled code would get all"
    assert isinstance(winners[6], Entry)


def test_items_that_a_call_copies_are_counted() -> None:
    named = {"rows": [[1, 2], [3]], "xs": [1.0], "text": b"abc", "n": 4, "a": np.ones(3)}
    types: dict[str, ArgType] = dict.fromkeys(named, NoneArg())
    assert Request(types, {}, "cpu").copied_items(named) == 8
    assert Request(types, {"text": b"abc"}, "cpu").copied_items(named) == 5


def test_lists_inside_are_taken_where_no_item_gets_out() -> None:
    def item(x: Any) -> Any:
        return x[0]

    def items_item(x: Any) -> Any:
        return x[0][1]

    with pytest.raises(appyc.TypeInferenceError, match=r"argument 'x\[0\]' is a list"):
        appyc.jit(cache=False, target="cpu", strict=True)(item)([[2, "a"]])
    assert appyc.jit(cache=False, target="cpu", strict=True)(items_item)([[2.0, 1]]) == 1


def test_explain_counts_the_items() -> None:
    assert "bubble_sort" in str(appyc.jit(bubble_sort).explain([1.0, 2.0]))


def test_a_list_that_is_only_read_may_be_there_twice() -> None:
    def sums(xs: Any, ys: Any, out: Any) -> Any:
        for i in range(len(xs)):
            out[i] = xs[i] + ys[i]
        return out

    compiled: Any = appyc.jit(sums, strict=True)
    xs = [1, 2, 3]
    for _ in range(3):
        assert compiled(xs, xs, [0] * 3) == [2 * x for x in xs]
        assert compiled(xs, xs, xs) is xs
    assert xs == [8, 16, 24]


def test_arrays_of_a_list_that_share_memory_with_one_that_is_stored_into() -> None:
    def added(xs: Any, out: Any, k: Any) -> Any:
        for i in range(out.shape[0]):
            out[i] += xs[k][i] + i
        return out

    compiled: Any = appyc.jit(added, target="cpu", cache=False)
    for _ in range(3):
        for given in (0, 1, slice(None), slice(None, None, -1)):
            xs, ys = ([np.arange(5.0), np.ones(6)] for _ in range(2))
            out, other = (
                a[1][1:] if given == 1 else np.zeros(5) if given == 0 else a[0][given] for a in (xs, ys)
            )
            assert compiled(xs, out, 1).tolist() == added(ys, other, 1).tolist()
            assert compiled(xs, out, 0).tolist() == added(ys, other, 0).tolist()
            assert repr(xs) == repr(ys)


def test_arrays_that_are_picked_and_stored_into_or_returned_are_pythons() -> None:
    def first(xs: Any, k: Any) -> Any:
        return xs[k]

    def stored(xs: Any, k: Any) -> Any:
        xs[k][0] = 7.0
        return xs[0][0]

    for length, kind in ((2, list), (70, list), (2, tuple)):
        xs = kind(np.zeros(3) for _ in range(length))
        assert appyc.jit(first, cache=False)(xs, 1) is xs[1]
        assert appyc.jit(stored, cache=False)(xs, 0) == xs[0][0] == 7.0


def shorter(xs: Any) -> Any:
    xs[1:3] = [7]
    return xs


def test_a_part_that_gets_another_length_is_pythons() -> None:
    compiled = appyc.jit(shorter, target="cpu")
    for _ in range(3):
        assert outcome(compiled, ([1, 2, 3, 4],)) == outcome(shorter, ([1, 2, 3, 4],))


def in_order_of_ends(spans: Any) -> Any:
    spans.sort(key=lambda span: span[1])
    return spans[0][0]


def test_tuples_of_an_argument_are_not_moved() -> None:
    spans = [(k, (7 * k) % 10) for k in range(10)]
    compiled = appyc.jit(in_order_of_ends, target="cpu")
    assert outcome(compiled, (spans,)) == outcome(in_order_of_ends, (spans,))
    with pytest.raises(appyc.UnsupportedError, match="only read"):
        appyc.jit(in_order_of_ends, strict=True, cache=False)(list(spans))


def changed_and_read(d: Any, v: Any) -> Any:
    d[0][1][0] = v
    d[1][0][1] += d[0][1][0]
    return d[-1][-1], len(d)


def swept(d: Any, v: Any) -> Any:
    total = 0
    for plane in d:
        for row in plane:
            for x in row:
                total += x
    return total


_ROW = [1, 2]
_CUBES: tuple[Any, ...] = (
    [[[1, 2], [3, 4]], [[5, 6], [7, 8]]], [[[1.5, 2], [3, 4]], [[5, 6], [7, 8]]], [[[1, 2], [3]], [[5, 6], [7, 8]]],
    [[_ROW, [3, 4]], [[5, 6], _ROW]], [[_ROW, _ROW], [_ROW, _ROW]], [], [[]], [[[]]], [[[], []], [[], []]],
    [[[1]], [[2], [3]]], [1, [2]], [[1], 2], [[[1]], [2]], [[[True, False]] * 2], [[[[1, 2]], [[3, 4]]]],
    [[[(1, 2)], [(3, 4)]], [[(5, 6)], [(7, 8)]]],
)  # fmt: skip


@pytest.mark.parametrize("fn", [changed_and_read, swept])
@pytest.mark.parametrize("value", [9, 1.5])
@pytest.mark.parametrize("cube", _CUBES, ids=str)
def test_lists_of_lists_of_lists(fn: Callable[..., Any], cube: Any, value: Any) -> None:
    compiled = appyc.jit(fn, cache=False)
    for _ in range(2):
        mine, given = copy.deepcopy((cube, value)), copy.deepcopy((cube, value))
        assert outcome(compiled, given) == outcome(fn, mine)


def test_a_list_that_is_in_itself_and_one_of_very_many_numbers() -> None:
    """Short lists of several types are tuples, unless their items have too many."""

    def size(x: Any) -> int:
        return len(x) + len(x[0])

    nested: list[Any] = []
    nested.append(nested)
    many = [[[0] * 40 for _ in range(40)] for _ in range(40)]
    many[1][2].append(1.5)  # type: ignore[arg-type]
    assert appyc.jit(size)(nested) == 2
    assert appyc.jit(size)(many) == 80
