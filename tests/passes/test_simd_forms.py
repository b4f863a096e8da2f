"""Innermost loops in lanes: which are not, and which of them accumulate extremes, end early, or are short."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import appyc
from appyc import pipeline
from appyc.ir.nodes import Expr, For, LoopMode, Stmt
from appyc.ir.schedule import Scan
from appyc.ir.types import DType
from appyc.ir.visit import loops_of
from appyc.options import Options
from appyc.passes.pass_context import PassContext
from appyc.passes.vectorise.simd_forms import (
    MOST_IN_ORDER,
    SHORT_BYTES,
    accumulates_extremes,
    decides_early,
    in_order_below,
    is_flat_at_one,
    packed_rows,
    why_not_simd,
)
from tests.ir_makers import (
    Program,
    alloc,
    assign,
    compare,
    expr,
    extent,
    for_,
    load,
    mul,
    neg,
    select,
    store,
    update,
    while_,
)
from tests.lowering import lowered
from tests.triton_gen.gpu_runner import simd

p = Program()
n, x, y = p.integer("n"), p.array("x", 1), p.array("y", 1)
narrow, plane = p.array("narrow", 1, DType.UINT8), p.array("plane", 2)
i, j = p.index("i"), p.index("j")
s, t, z = p.local("s"), p.local("t"), p.local("z", DType.COMPLEX128)
first, some = p.local("first", DType.INT64), p.local("some", DType.BOOL)


def at(array, *index: object) -> Expr:
    return load(array, *(index or (i,)), checked=False)


def put(array, value: object) -> Stmt:
    return store(array, [i], value, checked=False)


def lanes(*body: Stmt, hi: object = n, **facts: Any) -> For:
    return simd(i, 0, hi, body, **facts)


LEAST = lanes(update(s, [], "min", at(x)), reductions=[("min", s)])
ANY = lanes(update(some, [], "or", compare(">", at(x), 1.0)), reductions=[("or", some)])


@pytest.mark.parametrize(
    ("loop", "reason"),
    [
        (for_(i, 0, n, [put(y, at(x))]), "depend on each other"),
        (replace(lanes(put(y, at(x))), in_step=True), "keep step"),
        (lanes(put(y, at(x)), hi=3), "fewer iterations"),
        (lanes(put(y, load(x, i))), "may raise"),
        (lanes(replace(update(y, [0], "+", 1.0), checked=False), reductions=[("+", y)]), "one element of an array"),
        (lanes(update(z, [], "+", 1.0), reductions=[("+", z)]), "complex"),
        (lanes(assign(t, at(x)), put(y, t)), "a scalar that is not"),
        (lanes(for_(j, 0, n, [])), "another loop"),
        (lanes(while_(compare("<", at(x), 0.0), [])), "another loop"),
        (lanes(alloc(p.local_array("made", 1), 3)), "may raise"),
        (lanes(replace(alloc(p.local_array("made", 1), 3), in_frame=True)), "allocates"),
        (lanes(replace(update(y, [0], "+", 1.0, atomic=True), checked=False)), "atomically"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_what_keeps_a_loop_from_lanes(loop: For, reason: str) -> None:
    assert reason in (why_not_simd(loop) or "")


def test_scalars_of_each_iteration_s_own_are_no_reason() -> None:
    loop = lanes(assign(t, at(x)), put(y, t))
    assert why_not_simd(replace(loop, private=(t,))) is None
    assert why_not_simd(replace(loop, last=(t,))) is None
    assert why_not_simd(LEAST) is None
    assert why_not_simd(lanes(put(y, at(x)), hi=4)) is None


def test_extremes_of_floats_have_accumulators() -> None:
    both = [update(s, [], "min", at(x)), update(t, [], "maximum", mul(at(x), 2.0))]
    assert accumulates_extremes(LEAST)
    assert accumulates_extremes(lanes(*both, reductions=[("min", s), ("maximum", t)]))
    assert accumulates_extremes(
        replace(lanes(assign(t, at(x)), update(s, [], "min", t), reductions=[("min", s)]), private=(t,))
    )


@pytest.mark.parametrize(
    "loop",
    [
        ANY,
        lanes(update(s, [], "+", at(x)), reductions=[("+", s)]),
        lanes(update(first, [], "min", i), reductions=[("min", first)]),
        lanes(update(s, [], "min", at(x)), update(s, [], "min", at(y)), reductions=[("min", s)]),
        lanes(update(s, [], "min", at(x)), put(y, 0.0), reductions=[("min", s)]),
        replace(LEAST, step=2),
        replace(LEAST, safelen=expr(4)),
        lanes(put(y, at(x))),
    ],
    ids=["flags", "a sum", "integers", "two of one", "stores", "step", "safelen", "nothing reduced"],
)
def test_other_reductions_have_none(loop: For) -> None:
    assert not accumulates_extremes(loop)


def test_flags_and_first_matches_are_decided_early() -> None:
    match = select(compare(">", at(x), 1.0), i, n)
    assert decides_early(ANY)
    assert decides_early(lanes(update(first, [], "min", match), reductions=[("min", first)]))


@pytest.mark.parametrize(
    "loop",
    [
        LEAST,
        lanes(update(first, [], "min", select(compare(">", at(x), 1.0), j, n)), reductions=[("min", first)]),
        lanes(update(first, [], "min", select(compare(">", at(x), 1.0), i, i)), reductions=[("min", first)]),
        lanes(*ANY.body, put(y, 0.0), reductions=[("or", some)]),
        lanes(*ANY.body, *ANY.body, reductions=[("or", some)]),
        replace(ANY, step=2),
    ],
    ids=["a minimum", "another index", "no fixed end", "stores", "two of one", "step"],
)
def test_other_reductions_run_to_their_end(loop: For) -> None:
    assert not decides_early(loop)


def test_short_reductions_run_in_order() -> None:
    assert in_order_below(LEAST) == SHORT_BYTES // 8
    assert in_order_below(replace(ANY, body=(update(some, [], "or", at(narrow)),))) == MOST_IN_ORDER
    assert in_order_below(replace(LEAST, hi=expr(80))) == 0
    assert in_order_below(lanes(put(y, at(x)))) == 0


def rows_of(end: object, lo: object = 0, **facts: Any) -> For:
    inner = simd(j, lo, end, [update(s, [], "+", at(plane, i, j))], reductions=[("+", s)])
    return replace(lanes(assign(s, 0.0), replace(inner, **facts), put(y, s)), private=(s,))


def test_rows_of_one_element_are_lanes_of_the_loop_around() -> None:
    assert is_flat_at_one(rows_of(extent(plane, 1)))
    assert is_flat_at_one(rows_of(extent(plane, 1), 1))


@pytest.mark.parametrize(
    "loop",
    [
        rows_of(n),
        rows_of(extent(plane, 1), i),
        rows_of(mul(extent(plane, 1), 2)),
        rows_of(neg(extent(plane, 1))),
        rows_of(extent(plane, 1), scans=(Scan("+", s),)),
        rows_of(extent(plane, 1), step=2),
        replace(rows_of(extent(plane, 1)), mode=LoopMode.SEQUENTIAL),
        lanes(put(y, at(x))),
    ],
    ids=[
        "no array's length",
        "rows of other lengths",
        "twice a length",
        "a negative length",
        "scan",
        "step",
        "sequential",
        "no rows",
    ],
)
def test_other_rows_are_not(loop: For) -> None:
    assert not is_flat_at_one(loop)


def row_norms(a):
    out = np.empty(a.shape[0])
    for i in range(a.shape[0]):
        m = a[i, 0]
        for j in range(1, a.shape[1]):
            m = max(m, a[i, j])
        s = 0.0
        for j in range(a.shape[1]):
            s += (a[i, j] / m) ** 2
        out[i] = s
    return out


def of_given_length(a, m=3):
    out = np.zeros(a.shape[0])
    for i in range(a.shape[0]):
        for j in range(m):
            out[i] += a[i, j]
    return out


def exceeds(a):
    return (a > 3.0).any()


def analysed(fn: Callable[..., Any], *args: object) -> list[For]:
    context = PassContext(Options(target="cpu"))
    out = lowered(fn, *args)
    for passes in (pipeline.SIMPLIFY, pipeline.ANALYSE):
        out = pipeline.run(out, passes, context, verify=True)
    return loops_of(out.body)


def moved(p, v, o):
    for i in range(p.shape[0]):
        p[i, 0] += v[i, 0] - v[i, 1]
        p[i, 1] += v[i, 1]
        p[i, 2] += v[i, 0]
        o[i, 1] = v[0, 0]
    return p


@pytest.mark.parametrize("columns", [(3, 2), (4, 2), (3, 3), (5, 7)])
def test_rows_of_the_length_that_an_iteration_has_are_packed(columns: tuple[int, int]) -> None:
    p, v, o = (np.arange(n * 300.0).reshape(300, n) for n in (*columns, 2))
    (loop,) = analysed(moved, p, v, o)
    assert [(array.name, length) for array, length in packed_rows(loop)] == [
        ("p", 3)
    ]  # v also has a row for all
    compiled = appyc.jit(target="cpu", strict=True)(moved)
    np.testing.assert_array_equal(compiled(p.copy(), v, o), moved(p.copy(), v, o))
    assert "packed p 3" in compiled.source("schedule")
    assert "p_n1 == 3" in compiled.source("c")
    assert "packed" not in appyc.jit(schedule=compiled.source("schedule").replace(" packed p 3", ""))(
        moved
    ).source("schedule", p, v, o)


def test_loops_of_programs() -> None:
    assert [is_flat_at_one(loop) for loop in analysed(row_norms, np.ones((4, 3)))] == [True, False, False]
    assert not any(map(is_flat_at_one, analysed(of_given_length, np.ones((4, 3)), 3)))
    assert any(map(decides_early, analysed(exceeds, np.ones((4, 3)))))
    for fn in (row_norms, exceeds):
        compiled = appyc.jit(target="cpu", strict=True)(fn)
        for shape in ((4, 3), (9, 1), (70, 2)):
            a = np.arange(1.0, 1 + shape[0] * shape[1]).reshape(shape)
            np.testing.assert_allclose(compiled(a), fn(a), rtol=1e-13)
