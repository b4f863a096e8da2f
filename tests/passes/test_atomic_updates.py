"""Sums into arrays on a GPU: atomic where the order does not show, in an order where it does."""

from __future__ import annotations

import numpy as np
import pytest

from appyc.ir.nodes import For, Function, LoopMode, Reduction, Symbol, Update
from appyc.ir.types import DType
from appyc.ir.verify import verify
from appyc.ir.visit import loops_of, walk
from appyc.passes.gpu.atomic_updates import atomic_updates
from appyc.passes.pass_context import PassContext
from tests.ir_makers import Program, add, expr, for_, load, pragma, update
from tests.printed import run_printed


def counted(dtype: DType, op: str = "+", asked: bool = False) -> tuple[Function, PassContext]:
    """hist[key[i]] op= one, in parallel, after the pass."""
    p = Program()
    hist, key, n, i = p.array("hist", 1, dtype), p.array("key", 1, DType.INT64), p.integer("n"), p.index("i")
    clauses = pragma("parallel", reductions=((op, hist),) if asked else ())
    body = update(hist, [load(key, i)], op, expr(1, dtype))
    return after(p, for_(i, 0, n, [body], clauses=clauses), hist, op)


def after(p: Program, loop: For, array: Symbol, op: str) -> tuple[Function, PassContext]:
    parallel = For(
        loop.var, loop.lo, loop.hi, loop.step, loop.body, LoopMode.PARALLEL, loop.clauses,
        reductions=(Reduction(op, array),), loc=loop.loc,
    )  # fmt: skip
    fn, context = p.function(parallel), PassContext()
    assert verify(fn) == []
    out = atomic_updates(fn, context)
    assert verify(out) == []
    assert not any(r.symbol.is_array for found in loops_of(out) for r in found.reductions)
    return out, context


def is_atomic(fn: Function) -> bool:
    return any(isinstance(n, Update) and n.atomic for n in walk(fn))


@pytest.mark.parametrize(("dtype", "op"), [(DType.INT64, "+"), (DType.INT32, "max"), (DType.UINT64, "^")])
def test_integers_are_updated_atomically(dtype: DType, op: str) -> None:
    out, context = counted(dtype, op)
    (loop,) = loops_of(out)
    assert loop.mode is LoopMode.PARALLEL
    assert is_atomic(out)
    assert not context.remarks


@pytest.mark.parametrize(
    ("dtype", "op", "why"),
    [
        (DType.FLOAT64, "+", "reduction(+: hist)"),
        (DType.FLOAT32, "max", "no atomic 'max'"),
        (DType.INT8, "+", "no atomic '+'"),
        (DType.INT64, "*", "no atomic '*'"),
    ],
)
def test_what_has_no_atomic_or_an_order_that_shows_runs_in_order_and_says_so(
    dtype: DType, op: str, why: str
) -> None:
    out, context = counted(dtype, op)
    (loop,) = loops_of(out)
    assert loop.mode is LoopMode.SEQUENTIAL
    assert not is_atomic(out)
    (remark,) = context.remarks
    assert remark.kind == "missed"
    assert why in remark.text


def test_a_clause_gives_leave_to_add_in_any_order() -> None:
    out, _ = counted(DType.FLOAT64, asked=True)
    (loop,) = loops_of(out)
    assert loop.mode is LoopMode.PARALLEL
    assert is_atomic(out)


def test_a_free_loop_inside_comes_outside() -> None:
    p = Program()
    a, out, n, m = p.array("a", 2), p.array("out", 1), p.integer("n"), p.integer("m")
    i, j = p.index("i"), p.index("j")
    loop = for_(i, 0, n, [for_(j, 0, m, [update(out, [j], "+", load(a, i, j))])])
    turned, _ = after(p, loop, out, "+")
    outer, inner = loops_of(turned)
    assert (outer.var, outer.mode) == (j, LoopMode.PARALLEL)
    assert (inner.var, inner.mode) == (i, LoopMode.SEQUENTIAL)
    for rows, columns in ((4, 3), (0, 3), (3, 0), (1, 1)):
        values, sums = np.random.default_rng(0).random((rows, columns)), np.ones(columns)
        run_printed(turned, values, sums, rows, columns)
        np.testing.assert_array_equal(sums, _in_order(values))


def _in_order(values: np.ndarray) -> np.ndarray:
    total = np.ones(values.shape[1])
    for row in values:
        total += row
    return total


def test_a_loop_inside_that_meets_itself_in_another_row_stays() -> None:
    p = Program()
    a, out, n, m = p.array("a", 2), p.array("out", 1), p.integer("n"), p.integer("m")
    i, j = p.index("i"), p.index("j")
    loop = for_(i, 0, n, [for_(j, 0, m, [update(out, [add(i, j)], "+", load(a, i, j))])])
    kept, context = after(p, loop, out, "+")
    assert [x.mode for x in loops_of(kept)] == [LoopMode.SEQUENTIAL, LoopMode.SEQUENTIAL]
    assert context.remarks
