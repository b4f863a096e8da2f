"""Nests with products apart and as they were, chosen by the sizes of a call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from appyc.ir.machine_model import ENOUGH_FOR_ALL
from appyc.ir.nodes import For, If, LoopMode
from appyc.ir.printer import print_expr, print_function
from appyc.ir.visit import loops_of, walk
from appyc.options import Options
from appyc.passes.checks.check_parallel import check_parallel
from appyc.passes.parallelise.choose_threads import choose_threads
from appyc.passes.pass_context import PassContext
from tests.product_nests import RNG, found, same_as_python, square


def rows_first(beta, c, a, b):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            c[i, j] *= beta
        for k in range(a.shape[1]):
            for j in range(c.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def layer(a, b, c):
    return np.maximum(a @ b + c[0], 0.0)


def two_terms(a, b, c):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[j, k] + 0.25 * b[i, k] * a[j, k]
            c[i, j] = np.sqrt(s * s)


def stacks(a, b):
    return a @ b


def test_text(golden: Callable[[str, str], None]) -> None:
    out, _, _ = found(two_terms, square(), square(), square())
    golden("ir/product_versions.txt", print_function(out))


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
