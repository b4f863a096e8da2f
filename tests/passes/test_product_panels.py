"""Triangular sums in panels of rows, each of which is one product: that they are cut where that is legal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from appyc.ir.nodes import If
from appyc.ir.printer import print_function
from appyc.ir.visit import walk
from tests import product_nests
from tests.product_nests import check_choice, found, same_as_python, square


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    product_nests.small_blocks(monkeypatch)


def lower(a, b, c):
    """The columns depend on the row."""
    for i in range(c.shape[0]):
        for j in range(i + 1):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[j, k] + 0.25 * b[i, k] * a[j, k]
            c[i, j] = c[i, j] * 0.5 + s


def upper(a, b, c):
    """So do they here, and the result goes to both sides of the diagonal."""
    n = c.shape[0]
    for i in range(n):
        for j in range(i, n):
            s = 0.0
            for k in range(a.shape[0]):
                s += a[k, i] * b[k, j]
            c[i, j] = s
            c[j, i] = s


def symmetric(a, b, c):
    """Two sums, of which one ends and one begins at the row."""
    n = c.shape[0]
    for i in range(n):
        for j in range(n):
            s = 0.0
            for k in range(i + 1):
                s += a[i, k] * b[k, j]
            for k in range(i + 1, n):
                s -= a[k, i] * b[k, j]
            c[i, j] += s


def in_place(a, b, c):
    """Row i reads rows that are written later."""
    n = b.shape[0]
    for j in range(n):
        for i in range(n):
            s = b[i, j]
            for k in range(i + 1, n):
                s += a[k, i] * b[k, j]
            b[i, j] = 0.5 * s


def in_place_after(a, b, c):
    """Row i reads rows that have been written: a triangular system."""
    n = b.shape[0]
    for j in range(n):
        for i in range(n):
            s = b[i, j]
            for k in range(i):
                s -= a[i, k] * b[k, j]
            b[i, j] = 0.5 * s


def lower_rows(a, b, c):
    """Slices that grow; two sums in one loop, and a factor that is computed on the way."""
    for i in range(c.shape[0]):
        c[i, : i + 1] = c[i, : i + 1] * 0.5 + (0.25 * a[: i + 1] @ b[i] + b[: i + 1] @ a[i])


def in_place_rows(a, b, c):
    """Slices that begin further and further down."""
    for i in range(b.shape[0]):
        b[i] += a[i + 1 :, i] @ b[i + 1 :]


def column_by_column(a, b, c):
    """What else a column needs is done once its sum is there."""
    for k in range(a.shape[0]):
        a[k:, k] -= a[k:, :k] @ a[k, :k]
        a[k, k] = 2.0 + a[k, k] * a[k, k]
        a[k + 1 :, k] /= a[k, k]


def test_text(golden: Callable[[str, str], None]) -> None:
    texts = [print_function(found(fn, square(), square(), square())[0]) for fn in (in_place_after, in_place)]
    golden("ir/product_panels.txt", "\n".join(texts))


PANELS = (lower, upper, symmetric, in_place, in_place_after, lower_rows, in_place_rows, column_by_column)


@pytest.mark.sampled
@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("fn", PANELS)
@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 13])
def test_triangles_are_cut_into_panels(fn: Callable[..., Any], size: int) -> None:
    check_choice(fn, size, products=2 if fn in (lower, symmetric, lower_rows) else 1)


def row_of_its_own(a, b, c):
    """Row i reads itself: what a panel's product would read the panel writes."""
    n = b.shape[0]
    for j in range(n):
        for i in range(n):
            s = 0.0
            for k in range(i, n):
                s += a[k, i] * b[k, j]
            b[i, j] = s


def one_row_on(a, b, c):
    n = b.shape[0] - 1
    for j in range(n):
        for i in range(n):
            s = 0.0
            for k in range(i):
                s += a[i, k] * b[k + 1, j]
            b[i, j] = s


def both_bounds(a, b, c):
    for i in range(c.shape[0] - 2):
        for j in range(i, i + 2):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            c[i, j] = s


def in_threes(a, b, c):
    """Where a sum goes on behind a panel's product depends on the row."""
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            s = 0.0
            for k in range(i, a.shape[0], 3):
                s += a[k, i] * b[k, j]
            c[i, j] = s


def downwards(a, b, c):
    for i in range(c.shape[0]):
        for j in range(i + 1):
            s = 0.0
            for k in range(a.shape[1] - 1, -1, -2):
                s += a[i, k] * b[k, j]
            c[i, j] = max(s, 0.0)


def columns_wait(a, b, c):
    """Column j reads what column j - 1 has left: they cannot be done panel by panel."""
    n = b.shape[0]
    for j in range(1, n):
        for i in range(n):
            s = b[i, j - 1]
            for k in range(i):
                s += a[i, k] * b[k, j]
            b[i, j] = s


def column_that_changes(a, b, c):
    """Column k reads what the one before it does to all that lies to its right."""
    n = a.shape[0]
    for k in range(n):
        for i in range(k, n):
            s = 0.0
            for j in range(k):
                s += a[i, j] * a[k, j]
            a[i, k] -= s
        for i in range(n):
            a[i, 0] *= 0.5


def factor_of_all_rows_read_behind(a, b, c):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            s = 0.0
            f = 0.0
            for k in range(a.shape[1]):
                f = 0.5 * a[i, k]
                s += f * b[j, k]
            c[i, j] = s + f


def factor_that_is_read_behind(a, b, c):
    for i in range(c.shape[0]):
        for j in range(i + 1):
            s = 0.0
            f = 0.0
            for k in range(a.shape[1]):
                f = 0.5 * a[i, k]
                s += f * b[j, k]
            c[i, j] = s + f


@pytest.mark.parametrize(
    "fn",
    [
        row_of_its_own,
        one_row_on,
        both_bounds,
        in_threes,
        downwards,
        column_that_changes,
        factor_of_all_rows_read_behind,
        factor_that_is_read_behind,
    ],
)
@pytest.mark.parametrize("target", ["cpu", "interpret"])
def test_what_cannot_be_done_in_panels(fn: Callable[..., Any], target: str) -> None:
    out, marked, _ = found(fn, square(), square(), square(), target=target)
    assert not marked
    assert not any(isinstance(n, If) for n in walk(out))


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("size", [0, 1, 9, 13])
def test_columns_that_wait_keep_their_order(size: int) -> None:
    out, _, _ = found(columns_wait, square(), square(), square())
    same_as_python(out, columns_wait, square(size), square(size), square(size))


@pytest.mark.parametrize("fn", [lower, upper])
def test_triangles_are_products_on_a_gpu_too(fn: Callable[..., Any]) -> None:
    out, marked, _ = found(fn, square(), square(), square(), target="interpret")
    _, on_cpu, _ = found(fn, square(), square(), square())
    assert [loop.product.shape for loop in marked] == [loop.product.shape for loop in on_cpu]
    same_as_python(out, fn, square(9), square(9), square(9))
