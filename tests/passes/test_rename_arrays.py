"""Reads of what later iterations overwrite see a copy; writes that are overwritten are left out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from appyc.ir.nodes import Alloc, Function, Stmt
from appyc.ir.printer import print_function
from appyc.ir.verify import verify
from appyc.ir.visit import loops_of, walk
from appyc.passes.checks.check_parallel import check_parallel
from appyc.passes.parallelise.recognise_reductions import recognise_reductions
from appyc.passes.parallelise.rename_arrays import rename_arrays
from appyc.passes.pass_context import PassContext
from tests.ir_makers import (
    Program,
    add,
    binary,
    compare,
    extent,
    for_,
    if_,
    load,
    mul,
    parallel,
    store,
    sub,
    update,
)
from tests.printed import run_printed

p = Program()
n, k = p.integer("n"), p.integer("k")
a, b, c = (p.array(name, 1) for name in "abc")
x = p.array("x", 2)
i, j, q = p.index("i"), p.index("j"), p.index("q")

SIZES = (0, 1, 2, 3, 8)
ROOM = 20


def at(array, *index):
    return load(array, *index, checked=False)


def put(array, index, value) -> Stmt:
    return store(array, index, value, checked=False)


def more(array, index, value) -> Stmt:
    return replace(update(array, index, "+", value), checked=False)


def renamed(*body: Stmt) -> tuple[Function, PassContext]:
    """The function after the pass, which does what it did."""
    before = recognise_reductions(p.function(*body), PassContext())
    ctx = PassContext()
    after = rename_arrays(before, ctx)
    assert verify(after) == []
    for size in SIZES:
        for shift in (0, 2):
            assert outcome(before, size, shift) == outcome(after, size, shift), size
    return after, ctx


def outcome(fn: Function, size: int, shift: int) -> list[object]:
    rng = np.random.default_rng(size)
    arrays = [rng.integers(1, 9, ROOM).astype(float) for _ in range(3)]
    arrays.append(rng.integers(1, 9, (ROOM, ROOM)).astype(float))
    run_printed(fn, size, shift, *arrays)
    return [array.tolist() for array in arrays]


def unchanged(*body: Stmt) -> bool:
    before = recognise_reductions(p.function(*body), PassContext())
    return rename_arrays(before, PassContext()) is before


def copies(fn: Function) -> list[str]:
    return [node.array.name for node in walk(fn.body) if isinstance(node, Alloc)]


def is_free(fn: Function) -> bool:
    ctx = PassContext()
    check_parallel(fn, ctx)
    return ctx.verdicts[i].may_run_in_any_order


# ---------------------------------------------------------------- copies


@pytest.mark.parametrize(("lo", "hi", "step", "ahead"), [
    (0, n, 1, 1), (0, n, 1, 3), (0, n, 2, 2), (n, 0, -1, -1), (n, 2, -3, -3), (2, n, 1, 2),
])  # fmt: skip
def test_reads_ahead(lo, hi, step, ahead):
    fn, _ = renamed(parallel(i, lo, hi, [put(a, [i], mul(at(a, add(i, ahead)), 2.0))], step))
    assert copies(fn) == ["a_old"]
    assert is_free(fn)


def test_only_what_is_read_is_copied():
    fn, _ = renamed(parallel(i, 0, n, [put(a, [i], at(a, add(i, 3)))]))
    text = print_function(fn)
    assert "a_old_size = max(min(n, a.shape[0] - 3), 0)" in text
    assert "a_old[at] = a[at + 3]" in text
    assert "a[i] = a_old[i]" in text


def test_the_copy_is_made_in_parallel_and_warned_of():
    fn, ctx = renamed(parallel(i, 0, n, [put(a, [i], at(a, add(i, 1)))]))
    assert [loop.clauses is not None for loop in loops_of(fn.body)] == [True, True]
    assert [remark.kind for remark in ctx.remarks] == ["warning"]
    assert "'a' is copied" in ctx.remarks[0].text
    assert "8 bytes for each element" in ctx.remarks[0].text


def test_two_reads_share_a_copy():
    value = binary("+", at(a, add(i, 1)), at(a, add(i, 4)))
    fn, _ = renamed(parallel(i, 0, n, [put(a, [i], value)]))
    assert copies(fn) == ["a_old"]


def test_two_arrays():
    body = [put(a, [i], at(b, add(i, 1))), put(b, [i], at(a, add(i, 1)))]
    fn, _ = renamed(parallel(i, 0, n, body))
    assert copies(fn) == ["a_old", "b_old"]
    assert is_free(fn)


def test_a_read_that_sees_its_own_iteration_stays():
    body = [put(a, [i], at(a, add(i, 1))), put(b, [i], at(a, i))]
    fn, _ = renamed(parallel(i, 0, n, body))
    assert is_free(fn)
    assert "b[i] = a[i]" in print_function(fn)


def test_a_read_that_is_in_the_way_for_some_arguments_only():
    fn, _ = renamed(parallel(i, 0, n, [put(a, [i], add(at(a, i), at(a, mul(i, 2))))]))
    assert copies(fn) == ["a_old"]
    assert is_free(fn)


def test_rows():
    body = [for_(j, 0, k, [put(x, [i, j], add(at(x, i, j), at(x, add(i, 1), sub(sub(k, 1), j))))])]
    fn, _ = renamed(parallel(i, 0, n, body))
    assert is_free(fn)
    assert len(loops_of(fn.body)) == 4


def test_a_copy_that_would_be_read_from_nowhere():
    # No iteration reads, and the part would lie outside of the array.
    body = [if_(compare(">", k, 5), [put(a, [i], at(a, add(i, 100)))])]
    fn, _ = renamed(parallel(i, 0, n, body))
    assert is_free(fn)


def test_a_read_under_a_condition():
    body = [if_(compare(">", at(b, i), 3.0), [put(c, [i], at(a, add(i, 1)))]), put(a, [i], 1.0)]
    fn, _ = renamed(parallel(i, 0, n, body))
    assert is_free(fn)


def test_a_plain_loop_that_does_more_than_a_copy():
    value = add(mul(at(x, i, sub(j, 1)), at(b, q)), at(x, add(i, 1), j))
    body = [for_(j, 1, k, [for_(q, 0, k, [put(x, [i, j], value)])])]
    fn, _ = renamed(for_(i, 0, n, body))
    assert copies(fn) == ["x_old"]
    assert is_free(fn)


def test_a_plain_loop_that_does_no_more_is_left():
    value = add(at(x, i, sub(j, 1)), at(x, add(i, 1), j))
    assert unchanged(for_(i, 0, n, [for_(j, 1, k, [put(x, [i, j], value)])]))
    assert unchanged(for_(i, 0, n, [put(a, [i], at(a, add(i, 1)))]))


# ---------------------------------------------------------------- writes


def test_of_two_writes_the_later():
    fn, _ = renamed(parallel(i, 0, n, [put(a, [binary("//", i, 2)], at(b, i))]))
    assert copies(fn) == []
    assert is_free(fn)


def test_one_element():
    fn, _ = renamed(for_(i, 0, n, [put(a, [4], at(b, i))]))
    assert is_free(fn)
    assert "for i in range(last, n):" in print_function(fn)


def test_one_element_downwards():
    fn, _ = renamed(for_(i, n, 0, [put(a, [4], at(b, i))], -2))
    assert is_free(fn)


def test_what_is_written_ahead():
    body = [put(a, [i], at(b, i)), put(a, [add(i, 1)], mul(at(a, add(i, 1)), at(c, i)))]
    fn, _ = renamed(for_(i, 0, n, body))
    assert is_free(fn)
    assert copies(fn) == []
    assert [len(loop.body) for loop in loops_of(fn.body)] == [1, 2]  # the last iteration apart


def test_an_update_that_is_overwritten():
    body = [put(a, [i], at(b, i)), more(a, [add(i, 1)], at(c, i))]
    fn, _ = renamed(for_(i, 0, n, body))
    assert is_free(fn)


# ---------------------------------------------------------------- refusals


def test_a_value_that_flows():
    assert unchanged(parallel(i, 1, n, [put(a, [i], at(a, sub(i, 1)))]))
    assert unchanged(parallel(i, 1, n, [put(a, [i], add(at(a, sub(i, 1)), at(a, add(i, 1))))]))


def test_a_read_of_either_value():
    body = [
        if_(compare(">", at(b, i), 3.0), [put(a, [add(i, 1)], 0.0)]),
        put(c, [i], at(a, add(i, 1))),
        put(a, [i], 2.0),
    ]
    assert unchanged(parallel(i, 0, n, body))


def test_an_index_that_may_be_out_of_range():
    body = [store(a, [i], load(a, add(i, 1)))]
    assert unchanged(parallel(i, 0, sub(extent(a), 1), body))


def test_an_update_of_what_flows():
    assert unchanged(parallel(i, 0, n, [more(a, [binary("//", i, 2)], at(b, i))]))


def test_a_write_that_another_may_follow():
    body = [if_(compare(">", at(b, i), 3.0), [put(a, [0], at(b, i))])]
    assert unchanged(parallel(i, 0, n, body))


def test_an_empty_body():
    assert unchanged(parallel(i, 0, n, []))
