"""Functions of the C library in lanes: they are called with vectors, and mean what they mean one by one."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from appyc.ir.intrinsics import VECTOR_FUNCTIONS
from appyc.ir.nodes import Expr, Function, Intrinsic, LoopMode
from appyc.ir.types import DType
from appyc.ir.visit import map_loops
from appyc.options import Options
from appyc.runtime import toolchain
from appyc.runtime.toolchain import build, find_compiler
from appyc.runtime.vector_math import vector_functions
from tests.c_gen.c_runner import generate, run_c
from tests.ir_makers import Program, binary, compare, expr, extent, for_, here, if_, load, store

AVAILABLE = vector_functions(find_compiler())
needs_library = pytest.mark.skipif(not AVAILABLE, reason="this C library has no functions for vectors")

UNITS = 4
"""How far from the library's own numbers, in units of the last place, those in lanes may be."""

LENGTHS = (0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 61)
"""Around the widths of vectors: an edge value stands in a lane, and in what is left over behind the lanes."""

DTYPES = (DType.FLOAT64, DType.FLOAT32)


def program(dtype: DType) -> Function:
    """Row k of `out` is the k-th function of VECTOR_FUNCTIONS of the elements of a (and b), in lanes."""
    p = Program()
    a, b, out = p.array("a", 1, dtype), p.array("b", 1, dtype), p.array("out", 2, dtype)
    loops = []
    for row, (name, arity) in enumerate(VECTOR_FUNCTIONS.items()):
        i = p.index(f"i{row}")
        args = tuple(load(array, i, checked=False) for array in (a, b)[:arity])
        value: Expr = Intrinsic(name, args, dtype, loc=here())
        if name == "pow":
            value = binary("**", *args)
        loops.append(for_(i, 0, extent(a), [store(out, [row, i], value, checked=False)]))
    return map_loops(p.function(*loops), lambda loop: replace(loop, mode=LoopMode.SIMD))


@cache
def function(dtype: DType) -> Function:
    return program(dtype)


def values(dtype: DType, a: np.ndarray, b: np.ndarray, functions: frozenset[str]) -> dict[str, np.ndarray]:
    out = np.full((len(VECTOR_FUNCTIONS), len(a)), 77, dtype.numpy)
    ran = run_c(
        function(dtype), a.astype(dtype.numpy), b.astype(dtype.numpy), out, vector_functions=functions
    )
    assert ran.status == 0
    return dict(zip(VECTOR_FUNCTIONS, out, strict=True))


def assert_same(name: str, found: np.ndarray, expected: np.ndarray, units: int = UNITS) -> None:
    """Every special value and every sign is the same; other numbers are a few digits apart."""
    special = ~np.isfinite(expected) | (expected == 0)
    assert np.array_equal(found[special], expected[special], equal_nan=True), name
    number = ~np.isnan(expected)
    assert np.array_equal(np.signbit(found[number]), np.signbit(expected[number])), name
    one, two = found[~special].astype(np.longdouble), expected[~special].astype(np.longdouble)
    with np.errstate(over="ignore"):
        apart = np.abs(one - two) / np.spacing(np.abs(expected[~special]))
    assert not apart.size or float(apart.max()) <= units, name


def edges(dtype: DType) -> np.ndarray:
    """Zeros, infinities, NaN, subnormal and extreme numbers, and where results leave the type's range."""
    info = np.finfo(dtype.numpy)
    positive = [0.0, np.inf, np.nan, 1.0, 2.0, 0.5, 27.0, info.tiny, info.tiny / 2, info.smallest_subnormal,
                info.max, 1 - info.epsneg, 1 + info.eps, 1e-5, 1e5, 88.8, 103.9, 149.5, 709.8, 745.0, 1074.0,
                127.0, 128.0, 1023.0, 1024.0]  # fmt: skip
    return np.array([sign * number for number in positive for sign in (1, -1)], dtype.numpy)


@pytest.mark.sampled
@needs_library
@pytest.mark.parametrize("dtype", DTYPES)
def test_edge_values_in_lanes_and_behind_them(dtype: DType) -> None:
    a = edges(dtype)
    first, second = (part.ravel() for part in np.meshgrid(a, a))
    for length in (*LENGTHS, len(first)):
        # From the end too, so that each value is once in a lane and once left over.
        for x, y in ((first[:length], second[:length]), (first[-length:], second[::-1][-length:])):
            expected = values(dtype, x, y, frozenset())
            for name, found in values(dtype, x, y, AVAILABLE).items():
                assert_same(name, found, expected[name])


@needs_library
@pytest.mark.parametrize("dtype", DTYPES)
def test_ordinary_numbers_are_a_few_digits_apart(dtype: DType) -> None:
    rng = np.random.default_rng(5)
    scales = (1.0, 10.0, 100.0)
    x = np.concatenate([rng.uniform(-scale, scale, 20_001) for scale in scales]).astype(dtype.numpy)
    y = rng.permutation(x)
    # In double precision what is exact of single numbers: the library's own are some digits off too.
    wide = values(DType.FLOAT64, x, y, frozenset())
    for name, found in values(dtype, x, y, AVAILABLE).items():
        with np.errstate(over="ignore"):
            assert_same(name, found, wide[name].astype(dtype.numpy))


@needs_library
def test_with_fastmath_they_are_called_too() -> None:
    x = np.random.default_rng(2).uniform(0.1, 0.9, 1_001)
    out, expected = np.zeros((2, len(VECTOR_FUNCTIONS), len(x)))
    fast = Options(fastmath=True)
    assert (
        run_c(
            function(DType.FLOAT64), x, x[::-1].copy(), out, options=fast, vector_functions=AVAILABLE
        ).status
        == 0
    )
    assert run_c(function(DType.FLOAT64), x, x[::-1].copy(), expected).status == 0
    at = ~np.isnan(expected)  # acosh has no value below 1, and -ffast-math knows no NaN
    assert np.allclose(out[at], expected[at], rtol=1e-14)


@needs_library
@pytest.mark.parametrize("dtype", DTYPES)
def test_integers_come_out_exact(dtype: DType) -> None:
    whole = np.arange(-40, 41)
    found = values(dtype, whole, np.zeros(81), AVAILABLE)
    assert np.array_equal(found["exp2"], np.ldexp(np.ones(81, dtype.numpy), whole))
    assert np.array_equal(values(dtype, found["exp2"], whole, AVAILABLE)["log2"], whole)
    base, power = (part.ravel() for part in np.meshgrid(np.arange(-15, 16), np.arange(6)))
    assert np.array_equal(values(dtype, base, power, AVAILABLE)["pow"], base**power)
    assert np.array_equal(values(dtype, 3 * whole, 4 * whole, AVAILABLE)["hypot"], 5 * abs(whole))


@needs_library
@pytest.mark.parametrize("dtype", DTYPES)
def test_no_result_leaves_the_range_of_its_function(dtype: DType) -> None:
    """cos in lanes is a digit above 1 for some arguments, and sqrt(1 - cos(x) ** 2) would be NaN."""
    quarters = np.arange(-100_000, 100_000) * (np.pi / 2)
    x = np.concatenate([quarters, np.random.default_rng(1).uniform(-800, 800, 400_000)])
    found = values(dtype, x, x, AVAILABLE)
    for name in ("sin", "cos", "tanh", "erf"):
        assert np.abs(found[name]).max() <= 1, name
    assert found["cosh"].min() >= 1


@needs_library
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_function_is_called_with_vectors(dtype: DType, tmp_path: Path) -> None:
    suffix = "f" if dtype is DType.FLOAT32 else ""
    called = imports(function(dtype), tmp_path, AVAILABLE)
    for name in VECTOR_FUNCTIONS:
        if name + suffix in AVAILABLE:
            assert any(symbol.endswith(f"v_{name}{suffix}") for symbol in called), name


@needs_library
@pytest.mark.parametrize("name", ["sin", "cos", "exp"])
def test_functions_under_conditions_are_called_with_vectors(name: str, tmp_path: Path) -> None:
    p = Program()
    a, out = p.array("a", 1), p.array("out", 1)
    i = p.index("i")
    value = load(a, i, checked=False)
    called = store(out, [i], Intrinsic(name, (value,), DType.FLOAT64, loc=here()), checked=False)
    body = if_(compare(">", value, 0.25), [called], [store(out, [i], 0.0, checked=False)])
    fn = map_loops(p.function(for_(i, 0, extent(a), [body])), lambda loop: replace(loop, mode=LoopMode.SIMD))
    assert imports(fn, tmp_path, AVAILABLE)


@needs_library
def test_exact_digits_are_those_of_the_scalar_functions(tmp_path: Path) -> None:
    fn, exact = function(DType.FLOAT64), Options(exact=True)
    assert toolchain.vector_functions(fn, Options()) == AVAILABLE
    assert toolchain.vector_functions(fn, exact) == frozenset()
    assert not imports(fn, tmp_path, frozenset(), exact)


@needs_library
def test_the_version_that_keeps_the_order_keeps_the_functions() -> None:
    assert "simd(" in generate(function(DType.FLOAT64), Options(), vector_functions=AVAILABLE).text
    plain = generate(function(DType.FLOAT64), Options(), vector_functions=AVAILABLE, sequential=True)
    assert "simd(" not in plain.text


def test_without_the_library_functions_are_called_one_by_one() -> None:
    text = generate(function(DType.FLOAT64), Options()).text
    assert "simd(" not in text
    assert "bounded_" not in text


EXPONENTS = (2, 3, 4, -1, -2, 0.5, 1.5, -0.5, -1.5)


def powers(dtype: DType) -> Function:
    """Row k of `out` is the elements of `a` to the power of EXPONENTS[k]."""
    p = Program()
    a, out = p.array("a", 1, dtype), p.array("out", 2, dtype)
    loops = []
    for row, exponent in enumerate(EXPONENTS):
        i = p.index(f"i{row}")
        value = binary("**", load(a, i, checked=False), expr(float(exponent), dtype))
        loops.append(for_(i, 0, extent(a), [store(out, [row, i], value, checked=False)]))
    return map_loops(p.function(*loops), lambda loop: replace(loop, mode=LoopMode.SIMD))


@pytest.mark.parametrize("dtype", DTYPES)
def test_small_powers_are_products_and_roots(dtype: DType) -> None:
    rng = np.random.default_rng(3)
    wide = np.exp(rng.uniform(np.log(np.finfo(dtype.numpy).tiny), np.log(np.finfo(dtype.numpy).max), 50_000))
    whole = np.arange(-20.0, 21.0)
    x = np.concatenate([edges(dtype), wide, -wide, whole, whole**2]).astype(dtype.numpy)
    out = np.zeros((len(EXPONENTS), len(x)), dtype.numpy)
    assert run_c(powers(dtype), x, out).status == 0
    for exponent, found in zip(EXPONENTS, out, strict=True):
        with np.errstate(all="ignore"):
            # With an array of exponents, for which NumPy has no ways of its own.
            expected = np.power(x.astype(np.float64), np.full(len(x), exponent)).astype(dtype.numpy)
        assert_same(str(exponent), found, expected, units=2)


def test_small_powers_are_the_librarys_where_digits_count() -> None:
    assert " pow(" not in generate(powers(DType.FLOAT64), Options()).text
    exact = generate(powers(DType.FLOAT64), Options(exact=True)).text
    assert exact.count(" pow(a") == 6


def imports(fn: Function, folder: Path, functions: frozenset[str], options: Any = None) -> list[str]:
    """The names of functions for vectors in what is built."""
    options = options or Options()
    built = folder / "kernel.so"
    build(generate(fn, options, vector_functions=functions).text, built, options)
    return [word.decode() for word in built.read_bytes().split(b"\0") if word.startswith(b"_ZGV")]
