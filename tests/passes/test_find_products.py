"""Products of matrices are found by what loops do, and get nests of their own where more stands around them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from appyc import pipeline
from appyc.ir.nodes import If
from appyc.ir.printer import print_expr
from appyc.ir.schedule import ProductShape
from appyc.ir.visit import loops_of, walk
from appyc.options import Options
from appyc.passes.locality.find_products import find_products
from appyc.passes.pass_context import PassContext
from tests.lowering import lowered
from tests.product_nests import RNG, found, same_as_python, square


def gemm(alpha, beta, c, a, b):
    c[:] = alpha * (a @ b) + beta * c


def sum_outside(c, a, b):
    for k in range(a.shape[0]):
        for i in range(c.shape[0]):
            for j in range(c.shape[1]):
                c[i, j] -= 2.0 * a[k, i] * b[k, j]


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


def between_two_diagonals(a, b, c):
    for i in range(c.shape[0]):
        for j in range(i, min(c.shape[1], 20 - i)):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def behind_the_later_of_two_diagonals(a, b, c):
    for i in range(2, c.shape[0]):
        for j in range(max(i - 2, i + 3), c.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


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
        between_two_diagonals,
        behind_the_later_of_two_diagonals,
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


# ---------------------------------------------------------------- triangles


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


def test_the_report_tells_of_the_library() -> None:
    _, _, context = found(gemm, 1.5, 1.25, square(), square(), square())
    assert any("NumPy's BLAS" in remark.text for remark in context.remarks)


@pytest.mark.parametrize("fn", [lower_alone])
def test_triangles_are_products_on_a_gpu_too(fn: Callable[..., Any]) -> None:
    out, marked, _ = found(fn, square(), square(), square(), target="interpret")
    _, on_cpu, _ = found(fn, square(), square(), square())
    assert [loop.product.shape for loop in marked] == [loop.product.shape for loop in on_cpu]
    same_as_python(out, fn, square(9), square(9), square(9))


def by_recursion(a, b, n):
    return a @ b if n < 1 else by_recursion(a, b, n - 1)


def into_an_argument(a, b, n):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            a[i, j] = s
    return into_an_argument(a, b, n - 1) if n > 0 else n


@pytest.mark.parametrize(("fn", "marked"), [(by_recursion, 1), (into_an_argument, 0)])
def test_products_of_callees_are_marked_where_their_result_has_no_other_name(fn: Any, marked: int) -> None:
    context = PassContext(Options())
    simple = pipeline.run_all(lowered(fn, square(), square(), 2), pipeline.SIMPLIFY, context)
    (callee,) = find_products(simple, context).callees
    assert sum(loop.product is not None for loop in loops_of(callee.function.body)) == marked
