"""Jammed sums: what qualifies, and that blocks and their rests are right."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import appyc
from appyc.ir.nodes import Const, Expr, For, Function, Load, LoopMode, Reduction, Symbol
from appyc.ir.schedule import Accumulators, Dots, LoopSchedule
from appyc.ir.types import ArrayType, DType, Layout
from appyc.ir.visit import loops_of, rename
from appyc.passes.vectorise.dot_plan import plan_dots, waits_for_its_sums
from tests.c_gen.c_runner import OPTIONS, generate, run_c, with_mode
from tests.ir_makers import Program, add, assign, binary, extent, for_, load, mul, store, update

PARALLEL, SIMD = LoopMode.PARALLEL, LoopMode.SIMD
RNG = np.random.default_rng(5)
ROWS_COLUMNS = [(1, 1), (3, 9), (4, 4), (9, 7), (13, 30), (22, 21)]
LENGTHS = [0, 1, 7, 8, 9, 17, 40]


def at(array: Symbol, *index: Expr | Symbol) -> Load:
    return load(array, *index, checked=False)


def zero(dtype: DType) -> Const:
    return Const(0.0, dtype, loc=add(0, 0).loc)


def sums(fn: Function, names: dict[str, LoopMode], reduced: tuple[Symbol, ...], *own: Symbol) -> Function:
    """The function with modes by loop name; loops of mode PARALLEL own the scalars, `k` reduces."""
    loops = {loop.var.name: loop.var for loop in loops_of(fn)}
    private = {var: (*reduced, *own) for name, var in loops.items() if names[name] is PARALLEL}
    private[loops["k"]] = own
    reductions = {loops["k"]: tuple(Reduction("+", s) for s in reduced)}
    modes = {var: names[name] for name, var in loops.items()}
    return with_mode(fn, modes, private=private, reductions=reductions)


def products(dtype: DType = DType.FLOAT64, lo: str = "zero", hi: str = "all") -> Function:
    """`c[i, j] += sum(a[i, k] * b[j, k])`, for all j or a triangle of them."""
    p = Program()
    a, b, c = (p.array(name, 2, dtype) for name in "abc")
    i, j, k, s = p.index("i"), p.index("j"), p.index("k"), p.local("s", dtype)
    body = [
        assign(s, zero(dtype)),
        for_(k, 0, extent(a, 1), [update(s, [], "+", mul(at(a, i, k), at(b, j, k)))]),
        store(c, [i, j], add(at(c, i, j), s), checked=False),
    ]
    from_ = {"zero": add(0, 0), "diagonal": binary("min", i, extent(c, 1))}[lo]
    to = {"all": extent(c, 1), "diagonal": binary("min", add(i, 1), extent(c, 1))}[hi]
    fn = p.function(for_(i, 0, extent(c, 0), [for_(j, from_, to, body)]))
    return sums(fn, {"i": PARALLEL, "j": PARALLEL, "k": SIMD}, (s,))


def plan_of(fn: Function) -> Dots | None:
    """The plan of the outermost loop that has one."""
    return next((plan for loop in loops_of(fn) if (plan := plan_dots(loop)) is not None), None)


def integers(dtype: DType, *shape: int) -> np.ndarray:
    return RNG.integers(-9, 9, shape).astype(dtype.numpy)


@pytest.mark.sampled
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("dtype", [DType.FLOAT32, DType.FLOAT64])
@pytest.mark.parametrize(("lo", "hi"), [("zero", "all"), ("zero", "diagonal"), ("diagonal", "all")])
def test_products_of_every_shape(length: int, dtype: DType, lo: str, hi: str) -> None:
    fn = products(dtype, lo, hi)
    plan = plan_of(fn)
    assert plan is not None
    assert plan.rows is not None
    for m, n in ROWS_COLUMNS:
        a, b, c = integers(dtype, m, length), integers(dtype, n, length), integers(dtype, m, n)
        chosen = np.ones((m, n), bool)
        chosen &= np.tri(m, n, 0, bool) if hi == "diagonal" else True
        chosen &= ~np.tri(m, n, -1, bool) if lo == "diagonal" else True
        want = np.where(chosen, c + a @ b.T, c)
        run_c(fn, a, b, c, threads=3)
        np.testing.assert_array_equal(c, want)


@pytest.mark.sampled
@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_several_sums_in_one_loop(count: int) -> None:
    p = Program()
    a, b, c = p.array("a", 2), p.array("b", 2), p.array("c", 3)
    i, j, k = p.index("i"), p.index("j"), p.index("k")
    own = [p.local(f"s{number}") for number in range(count)]
    terms = [add(mul(at(a, i, k), at(b, j, k)), float(number)) for number in range(count)]
    dot = for_(k, 0, extent(a, 1), [update(s, [], "+", term) for s, term in zip(own, terms, strict=True)])
    body = [assign(s, 0.0) for s in own]
    stores = [store(c, [number, i, j], s, checked=False) for number, s in enumerate(own)]
    fn = p.function(
        for_(i, 0, extent(c, 1), [for_(j, 0, extent(c, 2), [*body, dot, *stores])]),
    )
    fn = sums(fn, {"i": PARALLEL, "j": PARALLEL, "k": SIMD}, tuple(own))
    plan = plan_of(fn)
    assert (plan is not None) == (count <= 4)
    x, y, got = integers(DType.FLOAT64, 11, 19), integers(DType.FLOAT64, 7, 19), np.zeros((count, 11, 7))
    run_c(fn, x, y, got)
    want = (x @ y.T) + 19.0 * np.arange(count)[:, None, None]
    np.testing.assert_array_equal(got, want)


@pytest.mark.sampled
@pytest.mark.parametrize("length", LENGTHS)
def test_rows_of_a_matrix_share_the_vector_that_they_are_multiplied_with(length: int) -> None:
    p = Program()
    a, x, y = p.array("a", 2), p.array("x", 1), p.array("y", 1)
    i, k, s, t = p.index("i"), p.index("k"), p.local("s"), p.local("t")
    term = [assign(t, mul(at(a, i, k), at(x, k))), update(s, [], "+", mul(t, at(y, i)))]
    body = [assign(s, 1.0), for_(k, 0, extent(a, 1), term), store(y, [i], s, checked=False)]
    fn = sums(p.function(for_(i, 0, extent(y, 0), body)), {"i": PARALLEL, "k": SIMD}, (s,), t)
    plan = plan_of(fn)
    assert plan is not None
    assert plan.rows is None
    matrix, vector, got = (integers(DType.FLOAT64, *shape) for shape in ((13, length), (length,), (13,)))
    want = 1 + (matrix @ vector) * got
    run_c(fn, matrix, vector, got)
    np.testing.assert_array_equal(got, want)


def test_a_sequential_loop_around_the_sums() -> None:
    p = Program()
    a, b, c = p.array("a", 3), p.array("b", 3), p.array("c", 2)
    i, j, l, k, s = p.index("i"), p.index("j"), p.index("l"), p.index("k"), p.local("s")
    dot = for_(k, 0, extent(a, 2), [update(s, [], "+", mul(at(a, i, l, k), at(b, j, l, k)))])
    body = [assign(s, 0.0), for_(l, 0, extent(a, 1), [dot]), store(c, [i, j], s, checked=False)]
    fn = p.function(for_(i, 0, extent(c, 0), [for_(j, 0, extent(c, 1), body)]))
    fn = sums(fn, {"i": PARALLEL, "j": PARALLEL, "l": LoopMode.SEQUENTIAL, "k": SIMD}, (s,))
    assert plan_of(fn) is not None
    x, y, got = integers(DType.FLOAT64, 9, 5, 19), integers(DType.FLOAT64, 6, 5, 19), np.zeros((9, 6))
    run_c(fn, x, y, got)
    np.testing.assert_array_equal(got, np.einsum("ilk,jlk->ij", x, y))


def test_fortran_order_has_its_sums_along_the_first_axis() -> None:
    p = Program()
    a, b, c = (p.array(name, 2) for name in "abc")
    i, j, k, s = p.index("i"), p.index("j"), p.index("k"), p.local("s")
    dot = for_(k, 0, extent(a, 0), [update(s, [], "+", mul(at(a, k, i), at(b, k, j)))])
    body = [assign(s, 0.0), dot, store(c, [i, j], s, checked=False)]
    fn = p.function(for_(i, 0, extent(c, 0), [for_(j, 0, extent(c, 1), body)]))
    fn = sums(fn, {"i": PARALLEL, "j": PARALLEL, "k": SIMD}, (s,))
    assert plan_of(fn) is None
    turned = rename(fn, {x: Symbol(x.name, x.uid, ArrayType(x.dtype, 2, Layout.F)) for x in fn.params})
    assert plan_of(turned) is not None
    x, y, got = (np.asfortranarray(integers(DType.FLOAT64, 10, 10)) for _ in range(3))
    run_c(turned, x, y, got)
    np.testing.assert_array_equal(got, x.T @ y)


def test_a_sum_of_nothing_keeps_its_sign() -> None:
    p = Program()
    a, x, y = p.array("a", 2), p.array("x", 1), p.array("y", 1)
    i, k, s = p.index("i"), p.index("k"), p.local("s")
    dot = for_(k, 0, extent(a, 1), [update(s, [], "+", mul(at(a, i, k), at(x, k)))])
    body = [assign(s, -0.0), dot, store(y, [i], s, checked=False)]
    fn = sums(p.function(for_(i, 0, extent(y, 0), body)), {"i": PARALLEL, "k": SIMD}, (s,))
    assert plan_of(fn) is not None
    for length, negative in ((0, True), (16, True), (17, True), (9, False)):
        got = np.ones(5)
        run_c(fn, np.full((5, length), 0.0), np.full(length, -0.0 if negative else 0.0), got)
        assert (np.signbit(got) == negative).all()


def test_any_number_of_threads_gives_the_same_bits() -> None:
    fn = products(hi="diagonal")
    a, b = RNG.standard_normal((50, 333)), RNG.standard_normal((50, 333))
    results = []
    for threads in (1, 2, 3):
        c = np.zeros((50, 50))
        run_c(fn, a, b, c, threads=threads)
        results.append(c)
    np.testing.assert_allclose(results[0], np.tril(a @ b.T), rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(results[1], results[0])
    np.testing.assert_array_equal(results[2], results[0])


def _with_loop(fn: Function, name: str, **changes: object) -> Function:
    def changed(loop: For) -> For:
        body = tuple(changed(s) if isinstance(s, For) else s for s in loop.body)
        return replace(loop, body=body, **(changes if loop.var.name == name else {}))  # type: ignore[arg-type]

    return replace(fn, body=tuple(changed(s) if isinstance(s, For) else s for s in fn.body))


def test_what_is_not_jammed() -> None:
    fn = products()
    i, j, k = loops_of(fn)
    strided = {s: Symbol(s.name, s.uid, ArrayType(s.dtype, 2, Layout.STRIDED)) for s in fn.params}
    assert plan_of(rename(fn, strided)) is None
    assert plan_of(_with_loop(fn, "k", mode=LoopMode.SEQUENTIAL)) is None
    assert plan_of(_with_loop(fn, "k", hi=add(add(i.var, j.var), 1))) is None
    assert plan_of(_with_loop(fn, "k", reductions=(Reduction("max", k.reductions[0].symbol),))) is None


def test_of_loops_around_sums_the_nearest_is_jammed() -> None:
    """A loop over blocks of rows that share a vector: the rows are jammed, and each block is done by itself."""
    p = Program()
    a, x, c = p.array("a", 2), p.array("x", 1), p.array("c", 1)
    b, i, k, s = p.index("b"), p.index("i"), p.index("k"), p.local("s")
    body = [
        assign(s, 0.0),
        for_(k, 0, extent(a, 1), [update(s, [], "+", mul(at(a, i, k), at(x, k)))]),
        store(c, [i], s, checked=False),
    ]
    lo = mul(b, 8)
    rows = for_(i, lo, binary("min", add(lo, 8), extent(a, 0)), body)
    fn = p.function(for_(b, 0, binary("//", add(extent(a, 0), 7), 8), [rows]))
    fn = sums(fn, {"b": PARALLEL, "i": PARALLEL, "k": SIMD}, (s,))
    outer, inner, _ = loops_of(fn)
    assert plan_dots(outer) is None
    plan = plan_dots(inner)
    assert plan is not None
    assert plan.columns == inner.var
    matrix, vector, got = integers(DType.FLOAT64, 21, 19), integers(DType.FLOAT64, 19), np.zeros(21)
    run_c(fn, matrix, vector, got, threads=3)
    np.testing.assert_array_equal(got, matrix @ vector)


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", [DType.FLOAT32, DType.FLOAT64])
@pytest.mark.parametrize("length", [0, 1, 15, 16, 17, 40, 63, 64, 65, 130])
def test_a_sum_alone_has_several_accumulators(length: int, dtype: DType) -> None:
    p = Program()
    a, b, got = p.array("a", 1, dtype), p.array("b", 1, dtype), p.array("got", 1, dtype)
    i, k = p.index("i"), p.index("k")
    s, t, term = p.local("s", dtype), p.local("t", dtype), p.local("term", dtype)
    one = [assign(s, at(got, 0)), for_(k, 0, extent(a, 0), [update(s, [], "+", mul(at(a, k), at(b, k)))])]
    lone = sums(p.function(for_(i, 0, 1, [*one, store(got, [0], s, checked=False)])),
                {"i": LoopMode.SEQUENTIAL, "k": SIMD}, (s,))  # fmt: skip
    terms = [assign(term, mul(at(a, k), at(b, k))), update(s, [], "+", term), update(t, [], "+", at(b, k))]
    two = [assign(s, at(got, 0)), assign(t, at(got, 1)), for_(k, 0, extent(a, 0), terms)]
    stores = [store(got, [0], s, checked=False), store(got, [1], t, checked=False)]
    both = sums(
        p.function(for_(i, 0, 1, [*two, *stores])), {"i": LoopMode.SEQUENTIAL, "k": SIMD}, (s, t), term
    )
    for fn, chains in ((lone, 4), (both, 2)):
        inner = loops_of(fn)[1]
        assert waits_for_its_sums(inner)
        scheduled = replace(fn, schedule=fn.schedule.updated({inner.var: LoopSchedule(Accumulators(chains))}))
        x, y, out = integers(dtype, length), integers(dtype, length), integers(dtype, 2)
        want = np.add(out, [x @ y, y.sum() if fn is both else 0])
        run_c(scheduled, x, y, out)
        np.testing.assert_array_equal(out, want.astype(dtype.numpy))


def test_columns_that_depend_on_each_other_leave_the_rows_jammed() -> None:
    plan = plan_of(_with_loop(products(), "j", mode=LoopMode.SEQUENTIAL))
    assert plan is not None
    assert plan.rows is None
    assert plan.columns.name == "i"


def test_a_bound_that_differs_between_rows_leaves_the_columns_jammed() -> None:
    fn = products()
    i = loops_of(fn)[0].var
    fn = _with_loop(fn, "k", hi=binary("min", i, extent(fn.params[0], 1)))
    plan = plan_of(fn)
    assert plan is not None
    assert plan.rows is None
    assert plan.columns.name == "j"
    a, b, c = integers(DType.FLOAT64, 23, 19), integers(DType.FLOAT64, 7, 19), np.zeros((23, 7))
    run_c(fn, a, b, c)
    np.testing.assert_array_equal(c, np.tril(a, -1) @ b.T)


def test_the_safe_variant_has_no_vectors() -> None:
    assert "vector_sum_float64" in generate(products(), OPTIONS).text
    assert "vector_float64" not in generate(products(), OPTIONS, sequential=True).text


def distances(a, b, out):
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            s = a[i, 0] * 0
            for k in range(a.shape[1]):
                s += (a[i, k] - b[j, k]) ** 2
            out[i, j] = s


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_squares_are_jammed_for_any_length(dtype):
    compiled = appyc.jit(cache=False, target="cpu")(distances)
    for length in (1, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 50):
        a, b = (RNG.random((rows, length)).astype(dtype) for rows in (9, 13))
        out = np.zeros((9, 13), dtype)
        compiled(a, b, out)
        exact = ((a[:, None].astype(np.float64) - b[None]) ** 2).sum(axis=2)
        np.testing.assert_allclose(out, exact, rtol=1e-13 if dtype == np.float64 else 1e-5)
    assert "vector_sum" in compiled.source("c")


def filtered(a, b, out):
    n = a.shape[1]
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            s = a[i, 0] * 0
            for k in range(n):
                s += a[i, k] * b[j, n - 1 - k]
            out[i, j] = s


def recursed(a, b, out):
    for k in range(1, b.shape[1]):
        s = b[0, k]
        for i in range(k):
            s += a[0, i] * b[1, k - 1 - i]
        out[0, 0] += s * 0.5
        a[0, k] = s


@pytest.mark.parametrize("fn", [filtered, recursed])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_an_operand_in_descending_order_is_reversed(fn, dtype):
    compiled = appyc.jit(cache=False, target="cpu")(fn)
    for length in (1, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 50, 130):
        expected = [RNG.random(shape) / (length + 1) for shape in ((9, length), (13, length), (9, 13))]
        args = [a.astype(dtype) for a in expected]
        compiled(*args)
        fn(*expected)
        for got, want in zip(args, expected, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-12 if dtype == np.float64 else 1e-4)
    assert "vector_reversed" in compiled.source("c")
