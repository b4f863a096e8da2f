"""Products of matrices are found by what loops do, and get nests of their own where more stands around them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from appyc import pipeline
from appyc.ir.machine_model import ENOUGH_FOR_ALL
from appyc.ir.nodes import Alloc, For, Function, If, LoopMode
from appyc.ir.printer import print_expr
from appyc.ir.schedule import ProductShape
from appyc.ir.verify import check
from appyc.ir.visit import loops_of, walk
from appyc.options import Options
from appyc.passes.checks.check_parallel import check_parallel
from appyc.passes.locality import product_panels, product_steps
from appyc.passes.locality.find_products import find_products
from appyc.passes.parallelise.choose_threads import choose_threads
from appyc.passes.pass_context import PassContext
from tests.lowering import lowered
from tests.printed import run_printed

UP_TO = pipeline.ANALYSE[: pipeline.ANALYSE.index(find_products) + 1]
RNG = np.random.default_rng(11)


def square(n: int = 3) -> np.ndarray:
    return RNG.uniform(-1, 1, (n, n))


def found(fn: Callable[..., Any], *args: object, **options: Any) -> tuple[Function, list[For], PassContext]:
    """The function after the pass, its marked loops, and what was said."""
    context = PassContext(Options(**{"target": "cpu", **options}))
    out = lowered(fn, *args)
    for transform in (*pipeline.SIMPLIFY, *UP_TO):
        out = transform(out, context)
        check(out, transform.__name__)
    return out, [loop for loop in loops_of(out) if loop.product is not None], context


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays of a few rows are worth panels of 4 rows and steps of 4."""
    monkeypatch.setattr(product_panels, "PANEL", 4)
    monkeypatch.setattr(product_panels, "WIDE_PANEL", 4)
    monkeypatch.setattr(product_steps, "STEPS", 4)
    for module in (product_panels, product_steps):
        monkeypatch.setattr(module, "WORTH", 8)
        monkeypatch.setattr(module, "FEWEST", 1)


def check_choice(fn: Callable[..., Any], size: int, products: int) -> None:
    """So many products, all in the branch for arrays that are large enough; and it does what Python does."""
    out, marked, _ = found(fn, square(), square(), square())
    (choice,) = [n for n in walk(out) if isinstance(n, If)]
    assert len(marked) == products
    assert {loop.var for loop in marked} <= {loop.var for loop in loops_of(choice.then)}
    same_as_python(out, fn, square(size), square(size), square(size))


def same_as_python(out: Function, fn: Callable[..., Any], *args: Any) -> None:
    """The printed IR does what the function does, with arrays of several sizes in their places."""
    bare = replace(out, guards=())
    ours, theirs = ([a.copy() if isinstance(a, np.ndarray) else a for a in args] for _ in range(2))
    result, expected = run_printed(bare, *ours), fn(*theirs)
    if expected is not None:
        np.testing.assert_allclose(result, expected, rtol=1e-12, atol=1e-12)
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


def gemm(alpha, beta, c, a, b):
    c[:] = alpha * (a @ b) + beta * c


def rows_first(beta, c, a, b):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            c[i, j] *= beta
        for k in range(a.shape[1]):
            for j in range(c.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def sum_outside(c, a, b):
    for k in range(a.shape[0]):
        for i in range(c.shape[0]):
            for j in range(c.shape[1]):
                c[i, j] -= 2.0 * a[k, i] * b[k, j]


def layer(a, b, c):
    return np.maximum(a @ b + c[0], 0.0)


def two_terms(a, b, c):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[j, k] + b[i, k] * a[j, k]
            c[i, j] = np.sqrt(s * s)


def test_a_nest_that_is_a_product_is_marked_and_else_left_as_it_is() -> None:
    out, (loop,), _ = found(gemm, 1.5, 1.25, square(), square(), square())
    assert not any(isinstance(n, If) for n in walk(out))
    product = loop.product
    assert product is not None
    assert product.scale is not None
    assert product.keep is not None
    assert (print_expr(product.scale), print_expr(product.keep)) == ("alpha", "beta")
    assert [o.array.name for o in (product.target, product.left, product.right)] == ["c", "a", "b"]


def test_a_sum_of_float32_may_start_with_a_float() -> None:
    def product(a, b, c):
        for i in range(c.shape[0]):
            for j in range(c.shape[1]):
                s = 0.0
                for k in range(a.shape[1]):
                    s += a[i, k] * b[k, j]
                c[i, j] = s

    _, (loop,), _ = found(product, *(square().astype(np.float32) for _ in range(3)))
    assert loop.product is not None
    assert loop.product.keep is None


def test_the_order_of_the_loops_and_the_sign_make_no_difference() -> None:
    _, (loop,), _ = found(sum_outside, square(), square(), square())
    product = loop.product
    assert product is not None
    assert product.scale is not None
    assert product.keep is not None
    assert print_expr(product.keep) == "1.0"
    assert eval(print_expr(product.scale), {}) == -2.0
    assert product.summed.name == "k"


@pytest.mark.parametrize("size", [0, 1, 2, 7, 31])
@pytest.mark.parametrize("fn", [layer, two_terms])
def test_what_stands_around_a_sum_finds_it_in_memory(fn: Callable[..., Any], size: int) -> None:
    out, marked, context = found(fn, square(), square(), square())
    (choice,) = [n for n in walk(out) if isinstance(n, If)]
    assert len(marked) == (1 if fn is layer else 2)
    assert {loop.var for loop in marked} <= {loop.var for loop in loops_of(choice.then)}
    assert not any(loop.product for loop in loops_of(choice.orelse))
    assert {loop.var for loop in loops_of(out)} & context.copies.keys()
    if size or fn is two_terms:
        same_as_python(out, fn, square(size), square(size), square(size))


@pytest.mark.parametrize("size", [0, 1, 2, 7, 31])
def test_statements_beside_a_product_are_done_before_it(size: int) -> None:
    out, (loop,), _ = found(rows_first, 1.5, square(), square(), square())
    (choice,) = [n for n in walk(out) if isinstance(n, If)]
    assert len(choice.then) == 2
    assert choice.then[1] is loop
    same_as_python(out, rows_first, 1.5, square(size), square(size), square(size))


def test_the_result_holds_the_sum_before_it_is_the_result() -> None:
    out, (loop,), _ = found(layer, square(), square(), square())
    assert loop.product is not None
    assert loop.product.target.array in {r.value for r in out.results}


# ---------------------------------------------------------------- refusals


def operand_written(a, b):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            a[i, j] = s


def operand_written_later(a, b, c):
    for i in range(c.shape[0]):
        for k in range(a.shape[1]):
            for j in range(c.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
        for j in range(c.shape[1]):
            b[i, j] *= 0.5


def factor_of_each_row(a, b, c):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j] * c[i, 0]
            c[i, j] = s


def in_order(a, b, c):
    # pragma sequential for
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            c[i, j] = s


def diagonal(a, b, c):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            for k in range(a.shape[1]):
                c[i, i] += a[i, k] * b[k, j]


def last_one_is_read(a, b, c):
    s = 0.0
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            c[i, j] = s
    return s


@pytest.mark.parametrize(
    "fn",
    [
        operand_written,
        operand_written_later,
        factor_of_each_row,
        in_order,
        diagonal,
        last_one_is_read,
    ],
)
def test_what_is_no_product_or_must_keep_its_order_is_left_alone(fn: Callable[..., Any]) -> None:
    args = [square() for _ in range(fn.__code__.co_argcount)]
    out, marked, _ = found(fn, *args)
    assert not marked
    assert not any(isinstance(n, If) for n in walk(out))


@pytest.mark.parametrize("options", [{"exact": True}, {"blas": False}, {"auto": False}])
def test_options_keep_products_in_loops(options: dict[str, Any]) -> None:
    _, marked, _ = found(sum_outside, square(), square(), square(), **options)
    assert not marked


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.bool_])
def test_other_elements_stay_in_loops(dtype: Any) -> None:
    def multiplied(a, b):
        return a @ b

    a = np.ones((3, 3), dtype)
    assert not found(multiplied, a, a)[1]


def test_sums_inside_a_loop_that_a_pragma_shares_stay_there() -> None:
    def more_than_stacks(a, b, c):
        # pragma parallel for
        for n in range(a.shape[0]):
            for i in range(a.shape[1]):
                for j in range(b.shape[2]):
                    for k in range(a.shape[2]):
                        c[n, i, j] += a[n, i, k] * b[n, k, j]
            c[n, 0, 0] = 1.0

    a = RNG.uniform(-1, 1, (2, 3, 3))
    out, marked, _ = found(more_than_stacks, a, a, a.copy())
    assert not marked
    assert not any(isinstance(n, If) for n in walk(out))


def test_a_pragma_over_a_stack_is_kept_by_the_library_s_threads() -> None:
    def stacks_shared(a, b, c):
        # pragma parallel for
        for n in range(a.shape[0]):
            # pragma parallel for
            for i in range(a.shape[1]):
                for j in range(b.shape[2]):
                    for k in range(a.shape[2]):
                        c[n, i, j] += a[n, i, k] * b[n, k, j]

    a = RNG.uniform(-1, 1, (2, 3, 3))
    _, (loop,), _ = found(stacks_shared, a, a, a.copy())
    assert loop.product is not None
    assert loop.product.stack == loop.var


def stacks(a, b):
    return a @ b


def with_steps_that_differ(a, b):
    """Which matrix is next is no matter of steps of one size."""
    n = a.shape[1]
    c = np.zeros((3, n, n))
    for i in range(3):
        for j in range(n):
            for k in range(n):
                for p in range(n):
                    c[i, j, k] += a[i, j, p] * b[i * i // 4, p, k]
    return c


def into_one(a, b):
    """All add to the same matrix."""
    n = a.shape[1]
    c = np.zeros((n, n))
    for i in range(a.shape[0]):
        for j in range(n):
            for k in range(n):
                for p in range(n):
                    c[j, k] += a[i, j, p] * b[i, p, k]
    return c


@pytest.mark.parametrize("shape", [(0, 3, 3), (1, 1, 1), (3, 9, 9)])
def test_a_stack_of_products_is_one_thing(shape: tuple[int, int, int]) -> None:
    a = RNG.uniform(-1, 1, (2, 3, 3))
    out, (loop,), _ = found(stacks, a, a)
    assert loop.product is not None
    assert loop.product.stack == loop.var
    assert not any(isinstance(n, If) for n in walk(out))
    b = RNG.uniform(-1, 1, shape)
    same_as_python(out, stacks, b, b)


@pytest.mark.parametrize("fn", [with_steps_that_differ, into_one])
def test_what_is_no_stack(fn: Callable[..., Any]) -> None:
    a = RNG.uniform(-1, 1, (3, 4, 4))
    out, marked, _ = found(fn, a, a)
    assert all(loop.product is None or loop.product.stack is None for loop in marked)
    same_as_python(out, fn, a, a)


@pytest.mark.parametrize("shape", [(2, 0, 3, 3), (1, 1, 1, 1), (2, 3, 9, 9)])
def test_stacks_are_shared_by_threads_unless_each_product_keeps_all_of_them_busy(
    shape: tuple[int, int, int, int],
) -> None:
    """Of stacks, say."""
    a = RNG.uniform(-1, 1, (2, 2, 3, 3))
    out, (loop,), _ = found(stacks, a, a)
    (choice,) = [n for n in walk(out) if isinstance(n, If)]
    assert str(ENOUGH_FOR_ALL) in print_expr(choice.cond)
    assert loop in loops_of(choice.then)
    shared = choose_threads(check_parallel(out, context := PassContext(Options())), context)
    modes = {n.var: n.mode for n in loops_of(shared)}
    (around,), (other,) = choice.then, choice.orelse
    assert isinstance(around, For)
    assert isinstance(other, For)
    assert modes[around.var] is LoopMode.SEQUENTIAL
    assert modes[loop.var] is modes[other.var] is LoopMode.PARALLEL
    b = RNG.uniform(-1, 1, shape)
    same_as_python(out, stacks, b, b)


# ---------------------------------------------------------------- triangles


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


def lower_alone(a, b, c):
    """One product, and nothing beside it: no panels are needed."""
    for i in range(c.shape[0]):
        for j in range(i + 1):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[j, k]
            c[i, j] = c[i, j] * 0.5 + s


def upper_alone(a, b, c):
    n = c.shape[0]
    for i in range(n):
        for j in range(i + 1, n):
            for k in range(a.shape[0]):
                c[i, j] -= a[k, i] * b[k, j]


def exchanged(a, b, c):
    """A product and its transpose: one sum."""
    for i in range(c.shape[0]):
        for j in range(i + 1):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[j, k] * b[i, k] + b[j, k] * a[i, k]
            c[i, j] = c[i, j] * 0.5 + 0.25 * s


@pytest.mark.parametrize(
    ("fn", "shape"),
    [
        (lower_alone, ProductShape.BEFORE),
        (upper_alone, ProductShape.FROM),
        (exchanged, ProductShape.BEFORE),
    ],
)
def test_a_triangle_is_one_product(fn: Callable[..., Any], shape: ProductShape) -> None:
    out, (loop,), _ = found(fn, square(), square(), square())
    assert loop.product is not None
    assert loop.product.shape is shape
    assert loop.product.exchanged == (fn is exchanged)
    assert not any(isinstance(n, If) for n in walk(out))
    same_as_python(out, fn, square(7), square(7), square(7))


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
        column_that_changes,
        factor_of_all_rows_read_behind,
        factor_that_is_read_behind,
    ],
)
def test_panels_that_would_read_their_own_rows_are_not_made(fn: Callable[..., Any]) -> None:
    out, marked, _ = found(fn, square(), square(), square())
    assert not marked
    assert not any(isinstance(n, If) for n in walk(out))


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("size", [0, 1, 9, 13])
def test_columns_that_wait_keep_their_order(size: int) -> None:
    out, _, _ = found(columns_wait, square(), square(), square())
    same_as_python(out, columns_wait, square(size), square(size), square(size))


# ---------------------------------------------------------------- step by step


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


def test_the_report_tells_of_the_library() -> None:
    _, _, context = found(gemm, 1.5, 1.25, square(), square(), square())
    assert any("NumPy's BLAS" in remark.text for remark in context.remarks)


@pytest.mark.parametrize("fn", [lower_alone, lower, upper, of_a_copy, eliminated])
def test_triangles_are_products_on_a_gpu_too(fn: Callable[..., Any]) -> None:
    out, marked, _ = found(fn, square(), square(), square(), target="interpret")
    _, on_cpu, _ = found(fn, square(), square(), square())
    assert [loop.product.shape for loop in marked] == [loop.product.shape for loop in on_cpu]
    same_as_python(out, fn, square(9), square(9), square(9))
