"""Loops of a tile: rows of a block, and buffers in place of arrays."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from appyc.analysis.patterns.block_chains import member
from appyc.ir.nodes import For, Function, Store
from appyc.ir.printer import print_expr, print_function
from appyc.passes.fuse.tiled_loops import Home, cut_to_rows, into_buffers, storing, with_buffers
from tests.ir_makers import Program, add, alloc, expr, for_, load, mul, store, sub, update
from tests.printed import run_printed

p = Program()
n, x, y, t = p.integer("n"), p.array("x", 1), p.array("y", 1), p.array("t", 1)
i, block = p.index("i"), p.index("block")
own = p.local_array("own", 1)

ROWS = 4


def at(array, index=i):
    return load(array, index, checked=False)


def put(array, index, value):
    return store(array, [index], value, checked=False)


BEHIND = for_(i, 0, sub(n, 2), [put(y, add(i, 1), mul(at(t, add(i, 2)), at(t)))])
"""Its rows are its iterations and one more."""


def rows_of_block(loop: For) -> For:
    found = member(loop)
    assert found is not None
    first = mul(block, ROWS)
    return cut_to_rows(found, first, add(first, ROWS))


def test_blocks_of_rows_are_all_iterations() -> None:
    inside = rows_of_block(BEHIND)
    assert print_expr(inside.lo) == "max((block * 4) - 1, 0)"
    assert print_expr(inside.hi) == "min(n - 2, ((block * 4) + 4) - 1)" or "min" in print_expr(inside.hi)
    fn = p.function(for_(block, 0, n, [inside]))
    for size in (2, 3, 4, 5, 9, 13):
        mine, whole = ([np.arange(float(size)), np.zeros(size), np.arange(1.0, 1.0 + size)] for _ in range(2))
        run_printed(fn, size, *mine)
        run_printed(p.function(BEHIND), size, *whole)
        np.testing.assert_array_equal(mine[1], whole[1])


def test_a_block_that_starts_at_no_row_below_0_needs_no_maximum() -> None:
    same_row = for_(i, 0, n, [put(y, i, at(x))])
    assert print_expr(rows_of_block(same_row).lo) == "block * 4"
    later = for_(i, 1, n, [put(y, i, at(x))])
    assert "max" in print_expr(rows_of_block(later).lo)


def test_updates_become_stores_so_that_rows_may_be_computed_twice() -> None:
    (stmt,) = storing(for_(i, 0, n, [update(y, [i], "*", 2.0)])).body
    assert isinstance(stmt, Store)
    assert print_expr(stmt.value) == "y[i] * 2.0"
    atomic = for_(i, 0, n, [update(y, [i], "+", 2.0, atomic=True)])
    assert storing(atomic) == atomic


def buffered(*, is_copy: bool) -> Function:
    """A block of 4 elements from the third one on, squared in its own array."""
    loop = for_(i, 2, 6, [put(t, i, mul(at(x), at(x))), put(y, i, add(at(t), 1.0))])
    home = Home(own, expr(2), is_copy)
    return p.function(replace(alloc(own, ROWS), zero=False), into_buffers(loop, {t: home}, frozenset({t})))


@pytest.mark.parametrize("is_copy", [False, True])
def test_text_and_result_of_a_block_with_an_array_of_its_own(is_copy: bool) -> None:
    fn = buffered(is_copy=is_copy)
    text = print_function(fn)
    assert "own[i - 2] = x[i] * x[i]" in text
    assert "y[i] = own[i - 2] + 1.0" in text
    assert ("t[i] = own[i - 2]" in text) == is_copy
    args = [np.arange(8.0), np.zeros(8), np.zeros(8)]
    run_printed(fn, 8, *args)
    wanted = np.where((np.arange(8) >= 2) & (np.arange(8) < 6), np.arange(8.0) ** 2, 0.0)
    np.testing.assert_array_equal(args[1], np.where(wanted != 0.0, wanted + 1.0, 0.0))
    np.testing.assert_array_equal(args[2], wanted * is_copy)


def test_an_array_without_a_buffer_and_one_that_is_only_read_there_are_left() -> None:
    loop = for_(i, 2, 6, [put(t, i, at(x))])
    assert into_buffers(loop, {}, frozenset({t})) == loop
    kept = into_buffers(loop, {t: Home(own, expr(2), True)}, frozenset())
    assert kept == loop


def test_allocations_of_what_is_in_buffers() -> None:
    made = alloc(t, n)
    assert not any(stmt == made for stmt in with_buffers(made, frozenset({t}), frozenset()))
    (cleared,) = with_buffers(made, frozenset(), frozenset({t}))
    assert cleared == replace(made, zero=False)
    assert with_buffers(made, frozenset(), frozenset()) == (made,)
