"""Ranges are cut where one iteration conflicts with all others, or where halves do with each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import appyc
from appyc.analysis.dependences.verdicts import Verdict
from appyc.ir.nodes import Stmt
from appyc.ir.printer import print_function
from appyc.ir.verify import verify
from appyc.ir.visit import loops_of
from appyc.passes.checks.check_parallel import check_parallel
from appyc.passes.parallelise.index_set_splitting import index_set_splitting
from appyc.passes.parallelise.recognise_reductions import recognise_reductions
from appyc.passes.pass_context import PassContext
from tests.counting import calls_of
from tests.e2e.harness import run_everywhere
from tests.ir_makers import (
    Program,
    add,
    assign,
    binary,
    break_,
    compare,
    expr,
    extent,
    for_,
    if_,
    load,
    mul,
    parallel,
    pragma,
    store,
    sub,
)
from tests.lowering import around
from tests.printed import run_printed

p = Program()
n, k = p.integer("n"), p.integer("k")
a, b = p.array("a", 1), p.array("b", 1)
m = p.array("m", 2)
i, j, t = p.index("i"), p.index("j"), p.index("t")
x = p.local("x")

SIZES = (0, 1, 2, 3, 6, 7)


def at(array, *index):
    return load(array, *index, checked=False)


def put(array, index, value) -> Stmt:
    return store(array, index, value, checked=False)


def split(*body: Stmt):
    """The function after the pass, which does what it did for any parameters."""
    before = recognise_reductions(p.function(*body), PassContext())
    after = index_set_splitting(before, PassContext())
    assert verify(after) == []
    for size in SIZES:
        for place in (-2, 0, 1, size // 2, size - 1, size, size + 3):
            if place >= size or place < -size:
                continue
            assert outcome(before, size, place) == outcome(after, size, place), (size, place)
    return after


def outcome(fn, size, place):
    rng = np.random.default_rng(size)
    arrays = [rng.integers(1, 9, size).astype(float) for _ in range(2)]
    arrays.append(rng.integers(1, 9, (size, size)).astype(float))
    run_printed(fn, size, place, *arrays)
    return [array.tolist() for array in arrays]


def free(fn) -> list[bool]:
    """For each loop whether it may run in any order."""
    ctx = PassContext()
    check_parallel(fn, ctx)
    return [ctx.verdicts[loop.var].verdict is Verdict.INDEPENDENT for loop in loops_of(fn.body)]


def last(offset=0):
    return sub(extent(a), 1 + offset)


def test_halves():
    fn = split(for_(i, 0, extent(a), [put(a, [i], mul(at(a, sub(last(), i)), 0.5))]))
    assert free(fn) == [True, True]


def test_halves_of_a_part():
    fn = split(for_(i, 1, last(), [put(a, [i], add(at(a, sub(last(), i)), at(b, i)))]))
    assert free(fn) == [True, True]


def test_one_that_all_read():
    middle = binary("//", extent(a), 2)
    fn = split(for_(i, 0, extent(a), [put(a, [i], add(at(a, middle), at(b, i)))]))
    assert free(fn) == [True, True, True]


def test_one_that_a_parameter_names():
    body = if_(compare(">=", k, 0), [for_(i, 0, extent(a), [put(a, [i], add(at(a, k), at(b, i)))])])
    assert free(split(body)) in ([True, True, True], [False])


def test_paths():
    side = extent(m)
    step = put(m, [i, j], binary("min", at(m, i, j), add(at(m, i, t), at(m, t, j))))
    fn = split(for_(t, 0, side, [for_(i, 0, side, [for_(j, 0, extent(m, 1), [step])])]))
    found = free(fn)
    assert len(found) == 13
    assert found == [False] + 12 * [True]


def test_under_a_pragma():
    fn = split(parallel(i, 0, extent(a), [put(a, [i], at(a, sub(last(), i)))]))
    assert free(fn) == [True, True]
    assert all(loop.clauses is not None for loop in loops_of(fn.body))


@pytest.mark.parametrize(
    "loop",
    [
        for_(i, 0, extent(a), [put(a, [i], at(b, i))]),
        for_(i, 1, extent(a), [put(a, [i], at(a, sub(i, 1)))]),
        for_(i, 0, last(), [put(a, [i], at(a, add(i, 1)))]),
        for_(i, 0, extent(a), [put(a, [sub(last(), i)], at(a, i)), if_(compare(">", i, 3), [break_()])]),
        for_(i, 0, extent(a), [put(a, [i], at(a, sub(last(), i)))], 2),
        for_(i, 0, extent(a), [put(a, [0], at(b, i))]),
        for_(i, 0, extent(a), [assign(x, add(mul(x, 0.5), at(a, sub(last(), i)))), put(a, [i], expr(x))]),
        parallel(i, 0, extent(a), [put(a, [i], at(a, sub(last(), i)))], independent=True),
        for_(i, 0, extent(a), [put(a, [i], at(a, sub(last(), i)))], clauses=pragma("sequential")),
        for_(t, 0, 3, [for_(i, 0, extent(a), [put(a, [i], mul(at(a, i), at(b, i)))])]),
    ],
    ids=[
        "free",
        "chain",
        "next",
        "break",
        "step",
        "one element",
        "scalar",
        "sworn",
        "sequential",
        "three steps",
    ],
)
def test_stays(loop):
    fn = p.function(assign(x, 0.0), loop)
    assert index_set_splitting(fn, PassContext()) == fn


def test_says_so():
    ctx = PassContext()
    index_set_splitting(p.function(for_(i, 0, extent(a), [put(a, [i], at(a, sub(last(), i)))])), ctx)
    assert [r.text for r in ctx.remarks] == ["loop over 'i': its range is cut where iterations conflict"]


def test_deep_nests_take_no_longer_than_their_length():
    """Twenty loops in one another: looking at each from every loop around it would take minutes."""
    inner: Stmt = put(a, [i], 0.0)
    for number in range(20):
        inner = for_(p.index(f"i{number}") if number else i, 0, n, [inner])
    assert calls_of(lambda: index_set_splitting(p.function(inner), PassContext())) < 250_000


def test_indices_from_a_counter_are_not_negative():
    """Rows that are packed to the left and filled up: `w` counts, so that no store is to an element from the end."""

    def packed(rows):
        for row in range(rows.shape[0]):
            w = 0
            for c in range(4):
                v = rows[row, c]
                if v == 0:
                    continue
                rows[row, w] = v
                w += 1
            for c in range(w, 4):
                rows[row, c] = 0

    rows = np.array([[0, 2, 0, 4], [1, 0, 0, 0], [0, 0, 0, 0], [1, 2, 3, 4]])
    before, after = around(index_set_splitting, packed, rows)
    assert len(loops_of(after.body)) == len(loops_of(before.body)) == 3
    run_everywhere(packed, rows)


def _all_pairs(d: Any) -> None:
    for k in range(d.shape[0]):
        # pragma parallel for collapse(2)
        for i in range(d.shape[0]):
            for j in range(d.shape[0]):
                d[i, j] = min(d[i, j], d[i, k] + d[k, j])


def _two_statements(a: Any, b: Any) -> None:
    # pragma parallel for collapse(2)
    for i in range(a.shape[0]):
        for j in range(1, a.shape[0]):
            a[i, j] = b[i, j] * 2
            b[i, j] = b[i, j - 1] + a[i, j]


@pytest.mark.parametrize(("fn", "count"), [(_all_pairs, 1), (_two_statements, 2)])
def test_a_nest_that_is_collapsed_stays_whole_until_it_is_judged(fn: Any, count: int) -> None:
    with pytest.raises(appyc.DependenceError, match="carries a dependence"):
        appyc.jit(fn, cache=False, target="cpu")(*[np.ones((4, 4)) for _ in range(count)])


def all_pairs_behind_edges(n, seed):
    d = np.full((n, n), 10**9)
    x = seed
    for i in range(n):
        d[i, i] = 0
        for _ in range(5):
            x = (x * 1103515245 + 12345) % 2147483648
            j = x % n
            w = 1 + (x // 65536) % 100
            d[i, j] = min(d[i, j], w)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                d[i, j] = min(d[i, j], d[i, k] + d[k, j])
    return d


def test_parts_of_ranges_within_others_are_not_clamped():
    """The points are iterations of a loop around. Edges that are entered before take no work from the analysis."""
    run_everywhere(all_pairs_behind_edges, 9, 7)
    _, after = around(index_set_splitting, all_pairs_behind_edges, 9, 7)
    text = print_function(after)
    assert "cut = k\n" in text
    assert "end = k + 1\n" in text
    said = str(appyc.jit(all_pairs_behind_edges, target="cpu").explain(9, 7))
    assert sum("j  " in line for line in said.splitlines() if "independent" in line) == 9, said
