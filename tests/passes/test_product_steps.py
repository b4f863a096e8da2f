"""Rank-one updates of many steps as one product: which steps wait, and that nothing reads what waits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from appyc.ir.nodes import Alloc, For
from appyc.ir.printer import print_function
from appyc.ir.schedule import ProductShape
from appyc.ir.visit import loops_of, walk
from appyc.passes.locality import product_steps
from tests import product_nests
from tests.product_nests import check_choice, found, same_as_python, square


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    product_nests.small_blocks(monkeypatch)


def eliminated(a, b, c):
    n = a.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] /= 4.0 + a[k, k]
        for i in range(k + 1, n):
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]


def eliminated_slices(a, b, c):
    """The same in statements; the rest of every row belongs to it."""
    for k in range(a.shape[0]):
        a[k + 1 :, k] /= 4.0 + a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])


def lower_half(a, b, c):
    """The columns end at the row, and two products are added in every step."""
    n = a.shape[0]
    for k in range(n):
        for i in range(k, n):
            b[i, k] += a[i, k]
        for i in range(k + 1, n):
            for j in range(k + 1, i + 1):
                a[i, j] += 0.1 * a[i, k] * b[j, k] - 0.1 * b[i, k] * a[j, k]


def into_all_rows(a, b, c):
    """The rows begin at the first in every step."""
    n = a.shape[0]
    for k in range(n):
        b[k, k] = 0.5 + a[k, k]
        for i in range(n):
            for j in range(k + 1, n):
                a[i, j] += 0.1 * a[i, k] * c[k, j]


def of_a_copy(a, b, c):
    """A factor of a matrix, whose columns are copied to have them side by side."""
    n = a.shape[0]
    column = np.empty(n)
    for k in range(n):
        a[k, k] = 2.0 + a[k, k] * a[k, k]
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            column[i] = a[i, k]
        for i in range(k + 1, n):
            for j in range(k + 1, i + 1):
                a[i, j] -= 0.1 * column[i] * column[j]


def slanted(a, b, c):
    """Each row has two columns more: the products of all of them have memory of their own."""
    n = a.shape[0]
    for k in range(n):
        b[k, k] = 0.5 + b[k, k]
        for i in range(k + 1, n // 2):
            for j in range(k + 1, 2 * i + 1):
                c[i, j] += 0.1 * a[i, k] * b[k, j]


def past_the_diagonal(a, b, c):
    """The last row before the end of a group has one column beyond it."""
    n = a.shape[0]
    for k in range(n):
        b[k, k] = 0.5 + b[k, k]
        for i in range(k + 1, n - 1):
            for j in range(k + 1, i + 2):
                c[i, j] += 0.1 * a[i, k] * b[k, j]


IN_STEPS = (eliminated, eliminated_slices, lower_half, into_all_rows, of_a_copy)


def test_text(golden: Callable[[str, str], None]) -> None:
    texts = [print_function(found(fn, square(), square(), square())[0]) for fn in (eliminated, into_all_rows)]
    golden("ir/product_steps.txt", "\n".join(texts))


@pytest.mark.sampled
@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("fn", [*IN_STEPS, slanted, past_the_diagonal])
@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 13, 17])
def test_products_that_are_added_step_by_step_wait_for_each_other(fn: Callable[..., Any], size: int) -> None:
    check_choice(fn, size, products=2 if fn is lower_half else 1)


@pytest.mark.parametrize("fn", [*IN_STEPS, slanted])
def test_steps_are_added_in_their_place_where_that_is_possible(fn: Callable[..., Any]) -> None:
    out, marked, _ = found(fn, square(), square(), square())
    targets = {loop.product.target.array.name for loop in marked if loop.product is not None}
    assert targets == ({"total"} if fn is slanted else {"a"})
    shape = ProductShape.BEFORE if fn in (lower_half, of_a_copy) else ProductShape.ALL
    assert {loop.product.shape for loop in marked if loop.product is not None} == {shape}
    assert any(isinstance(n, Alloc) and n.array.array.ndim == 2 for n in walk(out)) == (fn is slanted)


@pytest.mark.parametrize(("fn", "nests"), [(lower_half, 1), (past_the_diagonal, 2)])
def test_rows_of_a_group_have_columns_beyond_it_above_the_diagonal_only(
    fn: Callable[..., Any], nests: int
) -> None:
    out, _, _ = found(fn, square(), square(), square())
    groups = next(loop for loop in loops_of(out.body) if loop.step == product_steps.STEPS)
    steps = next(stmt for stmt in groups.body if isinstance(stmt, For))
    assert sum(isinstance(stmt, For) and isinstance(stmt.body[0], For) for stmt in steps.body) == nests


def with_rows_swapped(a, b, c):
    """A step comes to all columns of two rows."""
    n = a.shape[0]
    for k in range(n - 1):
        for j in range(n):
            t = a[k, j]
            a[k, j] = a[k + 1, j]
            a[k + 1, j] = t
        for i in range(k + 1, n):
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]


def with_the_last_element(a, b, c):
    n = a.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] *= a[n - 1, n - 1]
        for i in range(k + 1, n):
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]


def with_one_column_for_all_steps(a, b, c):
    """What a step multiplies the next one overwrites."""
    n = a.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            b[i, 0] = a[i, k]
        for i in range(k + 1, n):
            for j in range(k + 1, n):
                a[i, j] -= b[i, 0] * a[k, j]


def with_a_copy_of_too_little(a, b, c):
    n = a.shape[0]
    column = np.empty(n)
    for k in range(n):
        for i in range(k + 2, n):
            column[i] = a[i, k]
        for i in range(k + 1, n):
            for j in range(k + 1, n):
                a[i, j] -= column[i] * a[k, j]


def with_a_copy_that_is_changed(a, b, c):
    n = a.shape[0]
    column = np.empty(n)
    for k in range(n):
        for i in range(k + 1, n):
            column[i] = a[i, k]
        column[n - 1] = 0.5
        for i in range(k + 1, n):
            for j in range(k + 1, n):
                a[i, j] -= column[i] * a[k, j]


def with_a_copy_of_what_was_there(a, b, c):
    n = a.shape[0]
    column = np.empty(n)
    for k in range(n):
        for i in range(k + 1, n):
            column[i] = a[i, k]
            a[i, k] *= 0.5
        for i in range(k + 1, n):
            for j in range(k + 1, n):
                a[i, j] -= column[i] * a[k, j]


def two_steps_ahead(a, b, c):
    """Of the next row not all is there."""
    n = a.shape[0]
    for k in range(n - 2):
        b[k, 0] = a[k, k]
        for i in range(k + 2, n):
            for j in range(k + 2, n):
                a[i, j] -= a[i, k] * a[k, j]


def into_its_own_factor(a, b, c):
    """What is added to is multiplied with in the same step."""
    n = a.shape[0]
    for k in range(n):
        b[k, k] = 1.0
        for i in range(n):
            for j in range(n):
                a[i, j] += a[i, k] * c[k, j]


@pytest.mark.sampled
@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize(
    "fn",
    [
        with_rows_swapped,
        with_the_last_element,
        with_one_column_for_all_steps,
        with_a_copy_of_too_little,
        with_a_copy_that_is_changed,
        with_a_copy_of_what_was_there,
        two_steps_ahead,
        into_its_own_factor,
    ],
)
@pytest.mark.parametrize("size", [9])
def test_steps_that_need_what_would_wait_keep_their_order(fn: Callable[..., Any], size: int) -> None:
    out, marked, _ = found(fn, square(), square(), square())
    assert not marked
    same_as_python(out, fn, square(size), square(size), square(size))


@pytest.mark.parametrize("fn", [of_a_copy, eliminated])
def test_triangles_are_products_on_a_gpu_too(fn: Callable[..., Any]) -> None:
    out, marked, _ = found(fn, square(), square(), square(), target="interpret")
    _, on_cpu, _ = found(fn, square(), square(), square())
    assert [loop.product.shape for loop in marked] == [loop.product.shape for loop in on_cpu]
    same_as_python(out, fn, square(9), square(9), square(9))
