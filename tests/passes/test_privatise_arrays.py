"""Scratch arrays become each iteration's own, and the last values of them are kept."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from appyc.errors import DependenceError
from appyc.ir.nodes import Alloc, Function, Stmt
from appyc.ir.printer import print_function
from appyc.ir.verify import verify
from appyc.ir.visit import loops_of, walk
from appyc.passes.checks.check_parallel import check_parallel
from appyc.passes.parallelise.privatise_arrays import privatise_arrays
from appyc.passes.parallelise.recognise_reductions import recognise_reductions
from appyc.passes.pass_context import PassContext
from tests.ir_makers import (
    Program,
    add,
    alloc,
    assign,
    binary,
    break_,
    compare,
    extent,
    for_,
    if_,
    load,
    mul,
    parallel,
    pragma,
    store,
    sub,
    update,
)
from tests.printed import run_printed

p = Program()
n, m, k = p.integer("n"), p.integer("m"), p.integer("k")
t, u = p.array("t", 1), p.array("u", 1)
x, y = p.array("x", 2), p.array("y", 2)
i, j, l = p.index("i"), p.index("j"), p.index("l")
s = p.local("s")
local = p.local_array("local", 1)

SIZES = ((0, 0), (0, 3), (1, 0), (1, 1), (2, 3), (5, 4), (3, 6))


def at(array, *index):
    return load(array, *index, checked=False)


def put(array, index, value) -> Stmt:
    return store(array, index, value, checked=False)


def more(array, index, value) -> Stmt:
    return replace(update(array, index, "+", value), checked=False)


def fill(value=None, lo=0, hi=m, step=1, clauses=None) -> Stmt:
    value = at(x, i, j) if value is None else value
    return for_(j, lo, hi, [put(t, [j], value)], step, clauses)


def use(index=l, lo=0, hi=m) -> Stmt:
    return for_(l, lo, hi, [put(y, [i, l], mul(at(t, index), 2.0))])


def privatised(*body: Stmt, results=()) -> Function:
    """The function after the pass, which does what it did."""
    before = recognise_reductions(p.function(*body, results=results), PassContext())
    after = privatise_arrays(before, PassContext())
    assert verify(after) == []
    for size in SIZES:
        for shift in (0, 2):
            assert outcome(before, *size, shift) == outcome(after, *size, shift), size
    return after


def outcome(fn: Function, rows: int, columns: int, shift: int) -> list[object]:
    rng = np.random.default_rng(rows)
    arrays = [rng.integers(1, 9, 12).astype(float) for _ in range(2)]
    arrays += [rng.integers(1, 9, (rows + 1, columns + 3)).astype(float) for _ in range(2)]
    result = run_printed(fn, rows, columns, shift, *arrays)
    return [result, *(array.tolist() for array in arrays)]


def own(fn: Function) -> list[str]:
    """The arrays that iterations have, with their shapes."""
    return [f"{a.array.name}({len(a.shape)})" for a in walk(fn.body) if isinstance(a, Alloc)]


def outer_is_free(fn: Function) -> bool:
    ctx = PassContext()
    check_parallel(fn, ctx)
    return ctx.verdicts[i].may_run_in_any_order


def test_a_row():
    fn = privatised(for_(i, 0, n, [fill(), use()]))
    assert own(fn) == ["t_own(1)"]
    assert outer_is_free(fn)


def test_the_rows_are_as_long_as_what_is_touched():
    text = print_function(privatised(for_(i, 0, n, [fill(), use()])))
    assert "t_own_size = max(min(m, t.shape[0]), 0)" in text


def test_what_the_last_iteration_leaves_is_kept():
    text = print_function(privatised(for_(i, 0, n, [fill(), use()])))
    assert "if n == (i + 1):" in text


@pytest.mark.parametrize("step", [1, -1, 2, -2])
def test_steps(step):
    lo, hi = (0, n) if step > 0 else (sub(n, 1), -1)
    assert outer_is_free(privatised(for_(i, lo, hi, [fill(), use()], step)))


def test_an_inner_loop_that_runs_down():
    body = [fill(lo=sub(m, 1), hi=-1, step=-1), use(sub(sub(m, 1), l))]
    assert outer_is_free(privatised(for_(i, 0, n, body)))


def test_a_triangle_keeps_the_values_of_several_iterations():
    fn = privatised(for_(i, 0, n, [fill(lo=i, hi=m), use(lo=i, hi=m)]))
    assert outer_is_free(fn)


def test_an_element_becomes_a_scalar():
    fn = privatised(for_(i, 0, n, [put(t, [3], at(u, i)), put(u, [i], mul(at(t, 3), at(t, 3)))]))
    assert own(fn) == []
    assert outer_is_free(fn)


def test_an_update_of_what_was_set():
    body = [fill(0.0), for_(l, 0, m, [more(t, [l], at(x, i, l))]), put(y, [i, 0], at(t, 0))]
    fn = privatised(if_(compare(">", m, 0), [for_(i, 0, n, body)]))
    assert outer_is_free(fn)


def test_two_arrays():
    also = for_(l, 0, m, [put(u, [l], mul(at(t, l), 2.0)), put(y, [i, l], at(u, l))])
    fn = privatised(for_(i, 0, n, [fill(), also]))
    assert own(fn) == ["t_own(1)", "u_own(1)"] or own(fn) == ["t_own(1)"]
    assert outer_is_free(fn)


def test_an_array_of_the_functions_own_is_not_written_back():
    body = [
        for_(j, 0, m, [put(local, [j], at(x, i, j))]),
        for_(l, 0, m, [put(y, [i, l], at(local, l))]),
    ]
    fn = privatised(alloc(local, m), for_(i, 0, n, body))
    assert outer_is_free(fn)
    assert "local[" not in print_function(fn)


def test_an_array_of_the_functions_own_that_is_read_later_is():
    body = [
        for_(j, 0, m, [put(local, [j], at(x, i, j))]),
        for_(l, 0, m, [put(y, [i, l], at(local, l))]),
    ]
    after = if_(compare(">", m, 0), [put(u, [0], at(local, 0))])
    fn = privatised(alloc(local, m), for_(i, 0, n, body), after)
    assert outer_is_free(fn)
    assert "local[j] = local_own[j]" in print_function(fn)


# ---------------------------------------------------------------- refusals


def unchanged(*body: Stmt, results=()) -> bool:
    before = recognise_reductions(p.function(*body, results=results), PassContext())
    return privatise_arrays(before, PassContext()) is before


def test_a_read_before_the_write():
    assert unchanged(for_(i, 0, n, [use(), fill()]))


def test_a_read_of_what_another_iteration_wrote():
    assert unchanged(for_(i, 0, n, [fill(hi=i), use()]))
    assert unchanged(for_(i, 0, n, [fill(), use(add(l, 1))]))


def test_a_write_under_a_condition_that_is_not_known():
    condition = compare(">", at(x, i, j), 3.0)
    assert unchanged(for_(i, 0, n, [for_(j, 0, m, [if_(condition, [put(t, [j], 1.0)])]), use()]))


def test_within_one_inner_loop_the_order_counts():
    first = [put(t, [j], at(x, i, j)), put(y, [i, j], at(t, sub(sub(m, 1), j)))]
    assert unchanged(for_(i, 0, n, [for_(j, 0, m, first)]))


def test_an_update_of_what_was_not_set():
    body = [for_(j, 0, m, [more(t, [j], at(x, i, j)), put(y, [i, j], at(t, j))])]
    assert unchanged(for_(i, 0, n, body))


def test_a_body_that_may_raise():
    body = [fill(), for_(l, 0, m, [store(y, [i, l], at(t, l))])]
    assert unchanged(for_(i, 0, n, body))


def test_a_loop_that_ends_early():
    assert unchanged(for_(i, 0, n, [fill(), use(), if_(compare(">", at(u, i), 3.0), [break_()])]))


def test_a_scalar_that_is_carried():
    body = [fill(), use(), assign(s, add(mul(s, 0.5), at(t, 0)))]
    assert unchanged(assign(s, 0.0), for_(i, 0, n, body), results=[s])


def test_a_loop_that_is_free_already():
    assert unchanged(for_(i, 0, n, [for_(j, 0, m, [put(y, [i, j], at(x, i, j))])]))


def test_an_inner_loop_with_a_pragma_is_the_users_choice():
    assert unchanged(for_(i, 0, n, [fill(clauses=pragma()), use()]))


def test_an_empty_body():
    assert unchanged(for_(i, 0, n, []))


def test_a_loop_without_loops_keeps_its_lanes():
    body = [put(t, [0], at(u, i)), put(t, [1], at(t, 0)), put(u, [i], binary("+", at(t, 0), at(t, 1)))]
    assert unchanged(for_(i, 0, extent(u), body))


# ---------------------------------------------------------------- the clause


def test_the_clause_is_kept_to():
    fn = privatised(parallel(i, 0, n, [fill(), use()], private=[t]))
    loop = loops_of(fn.body)[0]
    assert loop.clauses is not None
    assert loop.clauses.private == ()
    assert outer_is_free(fn)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ([use(), fill()], "reads what an earlier one wrote"),
        ([fill(hi=i), use()], "may read an element that it has not written"),
        ([fill(), for_(l, 0, m, [store(y, [i, l], at(t, l))])], "may raise an exception"),
    ],
)
def test_the_clause_is_refused(body, reason):
    with pytest.raises(DependenceError, match=reason):
        privatised(parallel(i, 0, n, body, private=[t]))
