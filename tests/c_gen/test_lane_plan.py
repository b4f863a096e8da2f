"""Lanes around inner loops: what qualifies, and that blocks, strips and their rests are right."""

from __future__ import annotations

import numpy as np
import pytest

import appyc
from appyc.ir.nodes import Const, Expr, Function, Load, LoopMode, Reduction, Symbol
from appyc.ir.types import ArrayType, DType, Layout
from appyc.ir.visit import loops_of, rename
from appyc.passes.vectorise.lane_plan import ROWS, plan_lanes
from tests.c_gen.c_runner import OPTIONS, generate, run_c, with_mode
from tests.ir_makers import (
    Program,
    add,
    assign,
    binary,
    compare,
    extent,
    for_,
    if_,
    load,
    mul,
    neg,
    store,
    sub,
    update,
)

PARALLEL, SIMD = LoopMode.PARALLEL, LoopMode.SIMD
RNG = np.random.default_rng(3)
SIZES = [(1, 1, 1), (9, 7, 5), (13, 64, 3), (21, 107, 40), (4, 24, 0), (33, 16, 17)]


def at(array: Symbol, *index: Expr | Symbol) -> Load:
    return load(array, *index, checked=False)


def product(dtype: DType = DType.FLOAT64, lo: str = "zero", hi: str = "all") -> Function:
    """`c[i, j] = 2 * c[i, j] + sum(a[i, k] * b[k, j])`, for all j or a triangle of them."""
    p = Program()
    a, b, c = (p.array(name, 2, dtype) for name in "abc")
    i, j, k, s = p.index("i"), p.index("j"), p.index("k"), p.local("s", dtype)
    two = Const(2.0, dtype, loc=mul(i, i).loc)
    body = [
        assign(s, Const(0.0, dtype, loc=two.loc)),
        for_(k, 0, extent(a, 1), [update(s, [], "+", mul(at(a, i, k), at(b, k, j)))]),
        store(c, [i, j], add(mul(two, at(c, i, j)), s), checked=False),
    ]
    from_ = {"zero": add(0, 0), "diagonal": binary("min", i, extent(c, 1))}[lo]
    to = {"all": extent(c, 1), "diagonal": binary("min", add(i, 1), extent(c, 1))}[hi]
    fn = p.function(for_(i, 0, extent(c, 0), [for_(j, from_, to, body)]))
    return with_mode(fn, {i: PARALLEL, j: PARALLEL}, private={i: (s,), j: (s,)})


def planned(fn: Function) -> bool:
    return any(plan_lanes(loop) is not None for loop in loops_of(fn))


@pytest.mark.sampled
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", [DType.FLOAT32, DType.FLOAT64])
@pytest.mark.parametrize(("lo", "hi"), [("zero", "all"), ("zero", "diagonal"), ("diagonal", "all")])
def test_products_of_every_shape(size: tuple[int, int, int], dtype: DType, lo: str, hi: str) -> None:
    fn = product(dtype, lo, hi)
    assert planned(fn)
    m, n, k = size
    a, b, c = (RNG.integers(-9, 9, shape).astype(dtype.numpy) for shape in ((m, k), (k, n), (m, n)))
    chosen = np.ones((m, n), bool)
    chosen &= np.tri(m, n, 0, bool) if hi == "diagonal" else True
    chosen &= ~np.tri(m, n, -1, bool) if lo == "diagonal" else True
    want = np.where(chosen, 2 * c + a @ b, c)
    run_c(fn, a, b, c, threads=3)
    np.testing.assert_array_equal(c, want)


@pytest.mark.parametrize("dtype", [DType.FLOAT32, DType.FLOAT64])
@pytest.mark.parametrize("columns", [1, 5, 9, 15])
def test_a_vector_that_is_not_full_stores_nothing_beside_its_part(columns: int, dtype: DType) -> None:
    fn = product(dtype)
    a, b = (RNG.integers(-9, 9, shape).astype(dtype.numpy) for shape in ((9, 3), (3, columns)))
    memory = np.ones(9 * columns + 16, dtype.numpy)
    run_c(fn, a, b, memory[: 9 * columns].reshape(9, columns))
    np.testing.assert_array_equal(memory[: 9 * columns].reshape(9, columns), 2 + a @ b)
    assert np.all(memory[9 * columns :] == 1)


@pytest.mark.sampled
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("cached", [1, 8000, 30_000])
@pytest.mark.parametrize("others", [False, True])
def test_lanes_in_chunks_that_all_rows_do_first(
    monkeypatch: pytest.MonkeyPatch, size: tuple[int, int, int], cached: int, others: bool
) -> None:
    """With room for one strip of lanes, for a few, and for most."""
    monkeypatch.setattr("appyc.c_gen.lanes.lane_loops.CACHED_BYTES", cached)
    m, n, k = size
    a, b, c = (RNG.integers(-9, 9, shape).astype(float) for shape in ((m, k), (k, n), (m, n)))
    if others:
        f = np.zeros((m, max(k, 1)))
        a = np.resize(a, (m, max(k, 1)))
        b = np.resize(b, (max(k, 1), n))
        fn = scaled_product(shared=False)
        plan = plan_lanes(loops_of(fn)[0])
        assert plan is not None
        assert plan.shared == 1
        run_c(fn, a, b, c, f, threads=3)
        np.testing.assert_array_equal(c, 2 * a @ b)
        np.testing.assert_array_equal(f, 2 * a * np.where(np.arange(f.shape[1]) == 0, 0.5, 1.0))
        return
    want = 2 * c + a @ b
    run_c(product(), a, b, c, threads=3)
    np.testing.assert_array_equal(c, want)


def test_lanes_are_not_cut_where_rows_differ_or_share_no_vector() -> None:
    for lo, hi in (("zero", "diagonal"), ("diagonal", "all")):
        plan = plan_lanes(loops_of(product(DType.FLOAT64, lo, hi))[0])
        assert plan is not None
        assert plan.shared == 0
    plan = plan_lanes(loops_of(product())[0])
    assert plan is not None
    assert plan.shared == 1


def test_stores_of_any_stride_and_a_sign() -> None:
    p = Program()
    d, cov = p.array("d", 2), p.array("cov", 2)
    i, j, k, s = p.index("i"), p.index("j"), p.index("k"), p.local("s")
    body = [
        assign(s, 0.0),
        for_(k, 0, extent(d, 0), [update(s, [], "-", mul(neg(at(d, k, i)), at(d, k, j)))]),
        store(cov, [i, j], s, checked=False),
        store(cov, [j, i], s, checked=False),
    ]
    fn = p.function(for_(i, 0, extent(d, 1), [for_(j, i, extent(d, 1), body)]))
    fn = with_mode(fn, {i: PARALLEL, j: PARALLEL}, private={i: (s,), j: (s,)})
    assert planned(fn)
    data = RNG.integers(-9, 9, (20, 77)).astype(np.float64)
    got = np.zeros((77, 77))
    run_c(fn, data, got)
    np.testing.assert_array_equal(got, data.T @ data)


def test_a_sequential_loop_between_the_lanes_and_their_sum() -> None:
    p = Program()
    a, b = p.array("a", 2), p.array("b", 2)
    i, j, k, s = p.index("i"), p.index("j"), p.index("k"), p.local("s")
    body = [
        assign(s, at(b, i, j)),
        for_(k, add(i, 1), extent(a, 0), [update(s, [], "+", mul(at(a, k, i), at(b, k, j)))]),
        if_(compare(">", i, 2), [store(b, [i, j], sub(s, 1.0), checked=False)], [store(b, [i, j], s, False)]),
    ]
    fn = p.function(for_(j, 0, extent(b, 1), [for_(i, 0, extent(b, 0), body)]))
    fn = with_mode(fn, {j: PARALLEL}, private={j: (s,)})
    assert planned(fn)
    x, y = RNG.integers(-2, 2, (8, 8)).astype(float), RNG.integers(-9, 9, (8, 61)).astype(float)
    want = y.copy()
    for row in range(8):
        want[row] += x[row + 1 :, row] @ want[row + 1 :] - (row > 2)
    run_c(fn, x, y)
    np.testing.assert_array_equal(y, want)


@pytest.mark.sampled
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("below", "above"), [(None, 1), (0, None), (-2, 3), (5, 9), (3, -3)])
def test_rows_whose_sums_have_different_bounds(
    size: tuple[int, int, int], below: int | None, above: int | None
) -> None:
    p = Program()
    a, b, c = (p.array(name, 2) for name in "abc")
    i, j, k, s = p.index("i"), p.index("j"), p.index("k"), p.local("s")
    length = extent(a, 1)
    lo = add(0, 0) if below is None else binary("max", add(0, 0), add(i, below))
    hi = length if above is None else binary("min", length, add(i, above))
    body = [
        assign(s, 0.0),
        for_(k, lo, hi, [update(s, [], "+", mul(at(a, i, k), at(b, k, j)))]),
        store(c, [i, j], s, checked=False),
    ]
    fn = p.function(for_(i, 0, extent(c, 0), [for_(j, 0, extent(c, 1), body)]))
    fn = with_mode(fn, {i: PARALLEL, j: PARALLEL}, private={i: (s,), j: (s,)})
    plan = plan_lanes(loops_of(fn)[0])
    assert plan is not None
    assert plan.counts == (ROWS, ROWS)
    m, n, k_ = size
    x, y = RNG.integers(-9, 9, (m, k_)).astype(float), RNG.integers(-9, 9, (k_, n)).astype(float)
    row, at_ = np.ogrid[:m, :k_]
    used = (at_ >= row + (-m if below is None else below)) & (at_ < (k_ if above is None else row + above))
    got = np.zeros((m, n))
    run_c(fn, x, y, got, threads=3)
    np.testing.assert_array_equal(got, np.where(used, x, 0) @ y)


def test_blocks_of_rows_that_have_nothing_in_common_are_not_jammed() -> None:
    """Each block's sums come to rows of their own: several blocks together only come to more memory."""
    p = Program()
    a, b = p.array("a", 2), p.array("b", 2)
    i, j, k, s = p.index("i"), p.index("j"), p.index("k"), p.local("s")
    lo = mul(i, 4)
    body = [
        assign(s, 0.0),
        for_(k, lo, binary("min", add(lo, 4), extent(a, 0)), [update(s, [], "+", at(a, k, j))]),
        store(b, [i, j], s, checked=False),
    ]
    fn = p.function(for_(i, 0, extent(b, 0), [for_(j, 0, extent(b, 1), body)]))
    fn = with_mode(fn, {i: PARALLEL, j: PARALLEL}, private={i: (s,), j: (s,)})
    assert plan_lanes(loops_of(fn)[0]) is None
    inner = plan_lanes(loops_of(fn)[1])
    assert inner is not None
    assert inner.rows is None
    x = RNG.integers(-9, 9, (22, 13)).astype(float)
    got = np.zeros((6, 13))
    run_c(fn, x, got, threads=3)
    np.testing.assert_array_equal(got, np.add.reduceat(x, np.arange(0, 22, 4), axis=0))


def test_column_sums_without_a_scalar() -> None:
    p = Program()
    d, out = p.array("d", 2), p.array("out", 1)
    i, j = p.index("i"), p.index("j")
    inner = for_(i, 0, extent(d, 0), [update(out, [j], "+", at(d, i, j))])
    inner = inner.__class__(inner.var, inner.lo, inner.hi, 1, inner.body, loc=inner.loc)
    fn = p.function(for_(j, 0, extent(d, 1), [inner]))
    data, got = RNG.integers(-9, 9, (30, 45)).astype(float), np.ones(45)
    run_c(with_mode(fn, {j: PARALLEL}), data, got)
    np.testing.assert_array_equal(got, 1 + data.sum(0))


@pytest.mark.parametrize("is_read", [False, True])
def test_what_lanes_add_up_beside_their_sums(is_read: bool) -> None:
    """The sum of the squares of column sums: in lanes, unless an iteration looks at the total so far."""
    p = Program()
    d, out = p.array("d", 2), p.array("out", 1)
    j, k, s, t = p.index("j"), p.index("k"), p.local("s"), p.local("t")
    body = [
        assign(s, 0.0),
        for_(k, 0, extent(d, 0), [update(s, [], "+", at(d, k, j))]),
        update(t, [], "+", mul(s, s)),
        *([store(out, [j], t, checked=False)] if is_read else []),
    ]
    fn = p.function(
        assign(t, 0.5), for_(j, 0, extent(d, 1), body), store(out, [extent(d, 1)], t, checked=False)
    )
    fn = with_mode(
        fn, {j: SIMD if is_read else PARALLEL}, private={j: (s,)}, reductions={j: (Reduction("+", t),)}
    )
    plan = plan_lanes(loops_of(fn)[0])
    assert (plan is None) == is_read
    if plan is not None:
        assert plan.totals == (t,)
        for columns in (0, 1, 7, 8, 45, 107):
            data, got = RNG.integers(-9, 9, (6, columns)).astype(float), np.zeros(columns + 1)
            run_c(fn, data, got, threads=3)
            assert got[-1] == 0.5 + (data.sum(0) ** 2).sum()


def test_fortran_order_has_its_lanes_in_the_first_axis() -> None:
    fn = product()
    turned = {s: Symbol(s.name, s.uid, ArrayType(s.dtype, 2, Layout.F)) for s in fn.params}
    assert planned(rename(fn, turned))
    a, b, c = (np.asfortranarray(RNG.integers(-9, 9, (12, 12)).astype(float)) for _ in range(3))
    want = 2 * c + a @ b
    run_c(rename(fn, turned), a, b, c)
    np.testing.assert_array_equal(c, want)


def test_an_inner_loop_that_is_stride_one_keeps_its_lanes() -> None:
    p = Program()
    a, b, c = (p.array(name, 2) for name in "abc")
    i, j, k, s = p.index("i"), p.index("j"), p.index("k"), p.local("s")
    dot = for_(k, 0, extent(a, 1), [update(s, [], "+", mul(at(a, i, k), at(b, j, k)))])
    body = [assign(s, 0.0), dot, store(c, [i, j], s, checked=False)]
    fn = p.function(for_(i, 0, extent(c, 0), [for_(j, 0, extent(c, 1), body)]))
    fn = with_mode(fn, {i: PARALLEL, j: PARALLEL}, private={i: (s,), j: (s,)})
    assert not planned(fn)


def test_the_safe_variant_has_no_vectors() -> None:
    assert "vector_float64" in generate(product(), OPTIONS).text
    assert "vector_float64" not in generate(product(), OPTIONS, sequential=True).text


def scaled_product(shared: bool) -> Function:
    """Rows that fill `f[i, :] = 2 * a[i, :]`, multiply it with b, and take the first element's half.

    shared: a scalar goes from the first part to the product.
    """
    p = Program()
    a, b, c, f = (p.array(name, 2) for name in "abcf")
    i, j, k, m, s, t = p.index("i"), p.index("j"), p.index("k"), p.index("m"), p.local("s"), p.local("t")
    fill = for_(m, 0, extent(a, 1), [assign(t, mul(2.0, at(a, i, m))), store(f, [i, m], t, checked=False)])
    factor = at(f, i, k) if not shared else mul(at(f, i, k), t)
    sums = [
        assign(s, 0.0),
        for_(k, 0, extent(f, 1), [update(s, [], "+", mul(factor, at(b, k, j)))]),
        store(c, [i, j], s, checked=False),
    ]
    halved = store(f, [i, 0], mul(0.5, at(f, i, 0)), checked=False)
    body = [fill, for_(j, 0, extent(c, 1), sums), halved]
    fn = p.function(for_(i, 0, extent(c, 0), body))
    private = {i: (s, t), j: (s,), m: () if shared else (t,)}
    return with_mode(
        fn, {i: PARALLEL, j: PARALLEL, m: LoopMode.SEQUENTIAL if shared else SIMD}, private=private
    )


@pytest.mark.sampled
@pytest.mark.parametrize("size", [size for size in SIZES if size[2]])
@pytest.mark.parametrize("shared", [False, True])
def test_what_else_is_in_a_row_is_done_before_the_lanes_and_after_them(
    size: tuple[int, int, int], shared: bool
) -> None:
    fn = scaled_product(shared)
    plan = plan_lanes(loops_of(fn)[0])
    assert (plan is None) == shared
    if plan is not None:
        assert (plan.rows, plan.lanes.name) == (loops_of(fn)[0].var, "j")
    m, n, k = size
    a, b, c = (RNG.integers(-9, 9, shape).astype(float) for shape in ((m, k), (k, n), (m, n)))
    f = np.zeros((m, k))
    run_c(fn, a, b, c, f, threads=3)
    np.testing.assert_array_equal(c, (2 * a * (2 * a[:, -1:] if shared else 1.0)) @ b)
    np.testing.assert_array_equal(f, 2 * a * np.where(np.arange(k) == 0, 0.5, 1.0))


def test_threads_get_whole_vectors_of_columns() -> None:
    def weighted(x, e):
        return e @ x

    x, e = np.arange(48.0).reshape(6, 8), np.arange(6.0)
    jitted = appyc.jit(target="cpu", strict=True)(weighted)
    assert np.allclose(jitted(x, e), e @ x)
    assert "pieces = trips / (int64_t)(sizeof(" in jitted.source("c", x, e)
