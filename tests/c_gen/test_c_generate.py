"""Whole functions through C: loops in every mode, reductions, last values, layouts, faults."""

from __future__ import annotations

import numpy as np
import pytest

from appyc.ir.abi import Status
from appyc.ir.nodes import Fail, Function, LoopMode, Reduction, Symbol
from appyc.ir.types import ArrayType, DType, Layout
from tests.c_gen.c_runner import OPTIONS, generate, run_c, with_mode
from tests.ir_makers import (
    Program,
    add,
    alloc,
    assign,
    binary,
    break_,
    compare,
    extent,
    for_,
    if_,
    load,
    mul,
    parallel,
    store,
    update,
    while_,
)

PARALLEL, SIMD, SEQUENTIAL = LoopMode.PARALLEL, LoopMode.SIMD, LoopMode.SEQUENTIAL
RNG = np.random.default_rng(7)


def gemm() -> tuple[Function, dict[str, Symbol]]:
    p = Program()
    a, b, c = (p.array(name, 2) for name in "abc")
    i, j, k, s = p.index("i"), p.index("j"), p.index("k"), p.local("s")
    product = mul(load(a, i, k, checked=False), load(b, k, j, checked=False))
    body = [assign(s, 0.0), for_(k, 0, extent(a, 1), [update(s, [], "+", product)])]
    body.append(store(c, [i, j], s, checked=False))
    fn = p.function(for_(i, 0, extent(c, 0), [for_(j, 0, extent(c, 1), body)]))
    return fn, {"i": i, "j": j, "k": k, "s": s}


@pytest.mark.sampled
@pytest.mark.parametrize("sequential", [False, True])
@pytest.mark.parametrize("shape", [(3, 4, 5), (70, 65, 33), (0, 3, 2), (2, 3, 0)])
def test_gemm_in_threads(shape: tuple[int, int, int], sequential: bool) -> None:
    fn, s = gemm()
    private = {s["i"]: (s["s"],), s["j"]: (s["s"],)}
    fn = with_mode(fn, {s["i"]: PARALLEL, s["j"]: PARALLEL}, private=private)
    m, n, k = shape
    a, b, c = RNG.random((m, k)), RNG.random((k, n)), np.full((m, n), 7.0)
    assert run_c(fn, a, b, c, sequential=sequential).status == Status.OK
    np.testing.assert_allclose(c, a @ b, rtol=1e-14)


@pytest.mark.sampled
@pytest.mark.parametrize("mode", list(LoopMode))
@pytest.mark.parametrize("op", ["+", "*", "min", "max", "minimum", "maximum"])
@pytest.mark.parametrize("n", [0, 1, 7, 40_001])
def test_scalar_reduction(mode: LoopMode, op: str, n: int) -> None:
    p = Program()
    a = p.array("a", 1)
    s, i = p.real("s"), p.index("i")
    fn = p.function(for_(i, 0, extent(a), [update(s, [], op, load(a, i, checked=False))]), results=[s])
    fn = with_mode(fn, {i: mode}, reductions={i: (Reduction(op, s),)})
    data = 1 + RNG.random(n) * 1e-5
    got = run_c(fn, data, 1.25).results[0]
    want = {
        "+": lambda: 1.25 + data.sum(),
        "*": lambda: 1.25 * data.prod(),
        "min": lambda: min([1.25, *data]),
        "max": lambda: max([1.25, *data]),
        "minimum": lambda: np.minimum.reduce(data, initial=1.25),
        "maximum": lambda: np.maximum.reduce(data, initial=1.25),
    }[op]()
    np.testing.assert_allclose(got, want, rtol=1e-12)


@pytest.mark.sampled
@pytest.mark.parametrize("mode", list(LoopMode))
@pytest.mark.parametrize("op", ["min", "max", "minimum", "maximum"])
@pytest.mark.parametrize("start", [0.5, float("nan")])
def test_reductions_treat_nan_as_python_and_numpy_do(mode: LoopMode, op: str, start: float) -> None:
    p = Program()
    a = p.array("a", 1)
    s, i = p.real("s"), p.index("i")
    fn = p.function(for_(i, 0, extent(a), [update(s, [], op, load(a, i, checked=False))]), results=[s])
    fn = with_mode(fn, {i: mode}, reductions={i: (Reduction(op, s),)})
    data = RNG.random(30_000)
    data[[5, 20_000]] = np.nan
    want = start
    for x in data:
        if op in ("min", "max"):
            want = min(want, x) if op == "min" else max(want, x)
        else:
            want = getattr(np, op)(want, x)
    np.testing.assert_equal(run_c(fn, data, start).results[0], want)


def test_complex_reduction_is_the_same_on_every_run() -> None:
    p = Program()
    a = p.array("a", 1, DType.COMPLEX128)
    s, i = p.local("s", DType.COMPLEX128), p.index("i")
    fn = p.function(for_(i, 0, extent(a), [update(s, [], "+", load(a, i, checked=False))]), results=[s])
    fn = with_mode(fn, {i: PARALLEL}, reductions={i: (Reduction("+", s),)})
    data = RNG.random(50_000) + 1j * RNG.random(50_000)
    first = run_c(fn, data, threads=3).results[0]
    np.testing.assert_allclose(first, data.sum(), rtol=1e-12)
    assert all(run_c(fn, data, threads=3).results[0] == first for _ in range(5))


@pytest.mark.sampled
@pytest.mark.parametrize("mode", list(LoopMode))
@pytest.mark.parametrize(("lo", "hi", "step"), [(0, 50_000, 1), (5, 2, 1), (40_000, -1, -3), (0, 0, 2)])
def test_last_value_of_a_private_scalar(mode: LoopMode, lo: int, hi: int, step: int) -> None:
    p = Program()
    a = p.array("a", 1)
    t, i = p.real("t"), p.index("i")
    body = [assign(t, mul(load(a, i, checked=False), 2.0)), store(a, [i], add(t, 1.0), checked=False)]
    fn = p.function(for_(i, lo, hi, body, step), results=[t])
    fn = with_mode(fn, {i: mode}, private={i: (t,)}, last={i: (t,)})
    data = RNG.random(50_000)
    want, last = data.copy(), -1.0
    for k in range(lo, hi, step):
        last = data[k] * 2
        want[k] = last + 1
    assert run_c(fn, data, -1.0).results[0] == last
    np.testing.assert_array_equal(data, want)
    if mode is LoopMode.PARALLEL and len(range(lo, hi, step)) > 3:
        # lanes without an iteration leave their last value undefined, and copy it
        piece = generate(fn, OPTIONS).text.partition("const int64_t begin")[2]
        assert piece.index("if (begin >= end) return;") < piece.index("lastprivate")


@pytest.mark.parametrize("mode", list(LoopMode))
def test_conditional_private_and_body(mode: LoopMode) -> None:
    p = Program()
    a, b = p.array("a", 1), p.array("b", 1)
    t, i = p.local("t"), p.index("i")
    body = [
        assign(t, load(a, i, checked=False)),
        if_(compare("<", t, 0.5), [assign(t, mul(t, 3.0))], [store(b, [i], -1.0, checked=False)]),
        update(b, [i], "max", t),
    ]
    fn = with_mode(p.function(for_(i, 0, extent(a), body)), {i: mode}, private={i: (t,)})
    x, y = RNG.random(30_000), RNG.random(30_000)
    z = np.where(x < 0.5, y, -1.0)
    want = np.maximum(np.where(x < 0.5, x * 3, x), z)
    run_c(fn, x, y)
    np.testing.assert_array_equal(y, want)


def test_collapse_and_triangular_loops() -> None:
    p = Program()
    a = p.array("a", 3)
    i, j, k = p.index("i"), p.index("j"), p.index("k")
    code = add(mul(i, 10_000), add(mul(j, 100), k))
    from appyc.ir.nodes import Cast

    value = Cast(code, DType.FLOAT64, loc=code.loc)
    inner = for_(k, extent(a, 2), 0, [store(a, [i, j, binary("-", k, 1)], value, checked=False)], -1)
    nest = parallel(i, 0, extent(a, 0), [for_(j, 0, extent(a, 1), [inner], 2)], collapse=3)
    fn = with_mode(p.function(nest), {i: PARALLEL, j: PARALLEL, k: PARALLEL})
    data = np.zeros((13, 21, 200))
    run_c(fn, data, threads=5)
    x, y, z = np.indices(data.shape)
    np.testing.assert_array_equal(data, np.where(y % 2 == 0, x * 10_000 + y * 100 + z + 1, 0.0))

    p = Program()
    a = p.array("a", 2)
    i, j = p.index("i"), p.index("j")
    fn = p.function(for_(i, 0, extent(a, 0), [for_(j, 0, add(i, 1), [update(a, [i, j], "+", 1.0)])]))
    fn = with_mode(fn, {i: PARALLEL, j: SIMD})
    square = np.zeros((300, 300))
    run_c(fn, square, threads=3)
    np.testing.assert_array_equal(square, np.tri(300))


@pytest.mark.sampled
@pytest.mark.parametrize("layout", list(Layout))
@pytest.mark.parametrize("mode", list(LoopMode))
def test_layouts(layout: Layout, mode: LoopMode) -> None:
    p = Program()
    symbol = p.local_array("a", 3)
    a = Symbol(symbol.name, symbol.uid, ArrayType(DType.FLOAT32, 3, layout))
    i, j, k = p.index("i"), p.index("j"), p.index("k")
    body = update(a, [i, j, k], "*", load(a, i, j, k))
    nest = for_(i, 0, extent(a, 0), [for_(j, 0, extent(a, 1), [for_(k, 0, extent(a, 2), [body])])])
    fn = p.function(nest)
    fn = Function(fn.name, (a,), fn.body, loc=fn.loc)
    fn = with_mode(fn, {i: mode, k: SIMD})
    base = RNG.random((20, 30, 40)).astype(np.float32)
    data = {
        Layout.C: base,
        Layout.F: np.asfortranarray(base),
        Layout.STRIDED: base[::-2, 3:20:2].transpose(2, 0, 1),
    }[layout]
    want = data * data
    run_c(fn, data)
    np.testing.assert_array_equal(data, want)


@pytest.mark.parametrize("mode", list(LoopMode))
@pytest.mark.parametrize("sequential", [False, True])
def test_index_out_of_range_is_a_fault_and_touches_nothing(mode: LoopMode, sequential: bool) -> None:
    p = Program()
    a, index = p.array("a", 1), p.array("index", 1, DType.INT64)
    i = p.index("i")
    fn = p.function(for_(i, 0, extent(index), [update(a, [load(index, i)], "+", 1.0)]))
    fn = with_mode(fn, {i: mode})
    guarded = np.zeros(30_004)
    data = guarded[2:-2]
    places = np.arange(30_000)
    places[77] = 30_000
    ran = run_c(fn, data, places, sequential=sequential)
    assert ran.status == Status.FAULT
    assert ran.message == "index 30000 is out of bounds for axis 0 of 'a' with size 30000"
    assert not guarded[[0, 1, -2, -1]].any()
    places[77] = -1
    data[:] = 0
    assert run_c(fn, data, places, sequential=sequential).status == Status.OK
    assert data[-1] == 2
    assert data[77] == 0


def test_a_fault_ends_sequential_code_at_once() -> None:
    p = Program()
    a = p.array("a", 1)
    i, n = p.index("i"), p.local("n", DType.INT64)
    body = [store(a, [n], 1.0), assign(n, add(n, 1))]
    fn = p.function(while_(compare(">=", n, 0), body), for_(i, 0, 5, [store(a, [i], 9.0)]), results=[n])
    data = np.zeros(4)
    ran = run_c(fn, data)
    assert (ran.status, ran.value, ran.extent) == (Status.FAULT, 4, 4)
    np.testing.assert_array_equal(data, np.ones(4))


def test_guards_and_fail() -> None:
    from appyc.ir.nodes import Guard

    p = Program()
    a, n = p.array("a", 1), p.integer("n")
    i = p.index("i")
    loop = for_(i, 0, n, [store(a, [i], 1.0, checked=False)])
    fail = Fail("ValueError", "no {luck}", loc=loop.loc)
    fn = p.function(loop, if_(compare("==", n, 2), [fail]))
    guard = Guard(compare("<=", n, extent(a)), "n is at most the length of a", loc=loop.loc)
    fn = Function(fn.name, fn.params, fn.body, guards=(guard,), loc=fn.loc)
    data = np.zeros(3)
    assert run_c(fn, data, 4).status == Status.GUARD
    assert not data.any()
    assert run_c(fn, data, 3).status == Status.OK
    ran = run_c(fn, data, 2)
    assert (ran.site.error, ran.message) == ("ValueError", "no {luck}")


def test_allocation_in_a_loop_and_in_threads() -> None:
    p = Program()
    out, n = p.array("out", 1), p.integer("n")
    tmp = p.local_array("tmp", 2)
    i, j, k = p.index("i"), p.index("j"), p.index("k")
    body = [
        alloc(tmp, n, 3),
        for_(j, 0, n, [store(tmp, [j, 1], 2.0)]),
        for_(k, 0, n, [update(out, [i], "+", add(load(tmp, k, 1), load(tmp, k, 0)))]),
    ]
    for mode in (SEQUENTIAL, PARALLEL):
        fn = with_mode(p.function(for_(i, 0, extent(out), body)), {i: mode})
        data = np.zeros(500)
        assert run_c(fn, data, 9).status == Status.OK
        np.testing.assert_array_equal(data, np.full(500, 18.0))
        ran = run_c(fn, data, -1)
        assert (ran.site.error, ran.message) == ("ValueError", "negative dimensions are not allowed")
        ran = run_c(fn, data, 1 << 61)
        assert ran.site.error == "MemoryError"


@pytest.mark.parametrize(
    ("op", "dtype"),
    [
        ("+", DType.INT64),
        ("+", DType.FLOAT32),
        ("+", DType.INT8),
        ("max", DType.FLOAT64),
        ("+", DType.COMPLEX128),
        ("|", DType.BOOL),
        ("^", DType.UINT16),
        ("*", DType.INT32),
    ],
)
def test_atomic_updates(op: str, dtype: DType) -> None:
    p = Program()
    histogram, keys = p.array("histogram", 1, dtype), p.array("keys", 1, DType.INT64)
    values = p.array("values", 1, dtype)
    i = p.index("i")
    fn = p.function(
        for_(i, 0, extent(keys), [update(histogram, [load(keys, i)], op, load(values, i), atomic=True)])
    )
    fn = with_mode(fn, {i: PARALLEL})
    n = 60_000
    places = RNG.integers(0, 7, n)
    amounts = (RNG.integers(0, 4, n) if op != "^" else RNG.integers(0, 60_000, n)).astype(dtype.numpy)
    got = np.ones(7, dtype.numpy)
    want = got.copy()
    ufunc = {"+": np.add, "*": np.multiply, "max": np.maximum, "|": np.logical_or, "^": np.bitwise_xor}[op]
    ufunc.at(want, places, amounts)
    run_c(fn, got, places, amounts, threads=4)
    np.testing.assert_array_equal(got, want)


def test_break_and_bounds_evaluated_once() -> None:
    p = Program()
    a, n = p.array("a", 1), p.integer("n")
    i = p.index("i")
    fn = p.function(
        for_(i, 0, n, [assign(n, 3), store(a, [i], 1.0), if_(compare("==", i, 6), [break_()])]), results=[n]
    )
    data = np.zeros(10)
    assert run_c(fn, data, 9).results[0] == 3
    np.testing.assert_array_equal(data, np.arange(10) <= 6)


def test_names_that_mean_something_in_c() -> None:
    p = Program()
    names = ["double", "frame", "a_n0", "λ", "_", "exp", "piece", "i_lo", "linux", "min_float64", "true"]
    a = p.array("a", 1)
    reals = [p.real(name) for name in names]
    i = p.index("i")
    total = load(a, i)
    for symbol in reals:
        total = add(total, symbol)
    fn = p.function(for_(i, 0, extent(a), [store(a, [i], binary("min", total, 1e9))]))
    fn = with_mode(Function("int", fn.params, fn.body, loc=fn.loc), {i: PARALLEL})
    data = np.zeros(3)
    run_c(fn, data, *range(len(names)))
    np.testing.assert_array_equal(data, np.full(3, sum(range(len(names)))))


def test_text_is_the_same_every_time() -> None:
    fn, s = gemm()
    fn = with_mode(fn, {s["i"]: PARALLEL, s["j"]: PARALLEL}, private={s["i"]: (s["s"],)})
    first = generate(fn, OPTIONS)
    assert generate(fn, OPTIONS) == first
    assert "restrict" in first.text
    assert "restrict" not in generate(fn, OPTIONS, sequential=True).text
