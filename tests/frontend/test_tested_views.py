"""Where an index of a view is tested, and that the test leaves the expressions around it as they are."""

from __future__ import annotations

import numpy as np
import pytest

from appyc.ir.nodes import Assign, BoundsCheck, For
from appyc.ir.printer import print_expr
from appyc.ir.visit import walk
from tests.lowering import lowered


def dead_row(a, n):
    row = a[n]  # noqa: F841
    return 1


def dead_column(a, n):
    column = a[:, n]  # noqa: F841
    return 1


def chain(a, n):
    return a[n][1]


def chain_that_is_stored(a, n):
    a[n][1] = 2.0


def element_with_an_ellipsis(a, n):
    return a[..., n, 1]


def part_of_a_row(a, n):
    return a[n][1:].sum()


def row_of_a_row(a, n):
    row = a[n]
    return row[1]


@pytest.mark.parametrize(
    ("fn", "tested"),
    [
        (dead_row, ["n of axis 0 of length a.shape[0]"]),
        (dead_column, ["n of axis 1 of length a.shape[1]"]),
        (part_of_a_row, ["n of axis 0 of length a.shape[0]"]),
        (row_of_a_row, ["n of axis 0 of length a.shape[0]"]),
        (chain, []),
        (chain_that_is_stored, []),
        (element_with_an_ellipsis, []),
    ],
)
def test_an_index_is_tested_once_where_the_view_is_made(fn, tested):
    checks = [n for n in walk(lowered(fn, np.ones((3, 4)), 1)) if isinstance(n, BoundsCheck)]
    found = [f"{print_expr(n.index)} of axis {n.axis} of length {print_expr(n.extent)}" for n in checks]
    assert found == tested


def row_behind_a_factor(a, n, x):
    a[0] = (x + 1.0) * a[n]


def rows_behind_a_factor(a, ix, x):
    a[0] = ((x + 1.0) * a[ix]).sum()


@pytest.mark.parametrize(("fn", "index"), [(row_behind_a_factor, 1), (rows_behind_a_factor, np.arange(3))])
def test_a_factor_before_a_row_gets_no_temporary(fn, index):
    out = lowered(fn, np.ones((3, 4)), index, 2.0)
    assert any(isinstance(n, BoundsCheck) for n in walk(out))
    assert not any(isinstance(n, Assign) and n.target.name == "kept" for n in walk(out))


def items(a, n):
    return np.array([a[k] * 2.0 for k in range(n)])


def test_items_of_a_comprehension_are_tested_in_a_loop_of_their_own():
    out = lowered(items, np.ones((3, 4)), 2)
    loops = [n for n in walk(out) if isinstance(n, For)]
    assert [[type(stmt) for stmt in loop.body] for loop in loops] == [[BoundsCheck]]
