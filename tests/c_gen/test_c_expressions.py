"""Every operator, cast and intrinsic of the IR through C, compared with NumPy element by element."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest

from appyc.ir.abi import Status
from appyc.ir.intrinsics import INTRINSICS
from appyc.ir.nodes import Binary, Cast, Compare, Const, Expr, Function, Intrinsic, LoopMode, Select, Unary
from appyc.ir.types import DType
from tests.c_gen.c_runner import run_c, with_mode
from tests.ir_makers import Program, extent, for_, here, load, store

INTEGERS = [d for d in DType if d.is_integer]
FLOATS = [DType.FLOAT32, DType.FLOAT64]
COMPLEX = [DType.COMPLEX64, DType.COMPLEX128]
RNG = np.random.default_rng(11)


def elementwise(make: Any, result: DType, *operands: DType) -> Function:
    """`out[i] = make(x0[i], x1[i], ...)`."""
    p = Program()
    out = p.array("out", 1, result)
    inputs = [p.array(f"x{n}", 1, dtype) for n, dtype in enumerate(operands)]
    i = p.index("i")
    value: Expr = make(*(load(x, i, checked=False) for x in inputs))
    fn = p.function(for_(i, 0, extent(out), [store(out, [i], value, checked=False)]))
    return with_mode(fn, {i: LoopMode.SIMD})


def run_elementwise(make: Any, result: DType, *operands: np.ndarray) -> np.ndarray:
    fn = elementwise(make, result, *(DType(str(x.dtype)) for x in operands))
    out = np.zeros(len(operands[0]), result.numpy)
    assert run_c(fn, out, *operands).status == Status.OK
    return out


def run_all(makes: list[tuple[Any, DType]], *operands: np.ndarray) -> list[np.ndarray]:
    """Many expressions of the same operands by one C function: compiling is what takes the time."""
    p = Program()
    outs = [p.array(f"out{n}", 1, result) for n, (_, result) in enumerate(makes)]
    inputs = [p.array(f"x{n}", 1, DType(str(x.dtype))) for n, x in enumerate(operands)]
    loops = []
    for (make, _), out in zip(makes, outs, strict=True):
        i = p.index("i")
        value = make(*(load(x, i, checked=False) for x in inputs))
        loops.append(for_(i, 0, extent(out), [store(out, [i], value, checked=False)]))
    fn = with_mode(p.function(*loops), {loop.var: LoopMode.SIMD for loop in loops})
    results = [np.zeros(len(operands[0]), result.numpy) for _, result in makes]
    assert run_c(fn, *results, *operands).status == Status.OK
    return results


def samples(dtype: DType, count: int = 400) -> np.ndarray:
    """Ordinary values and, first of all, the difficult ones."""
    if dtype.is_complex:
        part = samples(dtype.part, count)
        return (RNG.permutation(part[np.isfinite(part)]) * (1 + 0.5j)).astype(dtype.numpy)[: count // 2]
    if dtype.is_float:
        special = [0.0, -0.0, 1.0, -1.0, 2.5, -2.5, np.inf, -np.inf, np.nan, 1e-30, 1e30]
        return np.array([*special, *RNG.normal(0, 10, count - len(special))], dtype.numpy)
    if dtype is DType.BOOL:
        return RNG.integers(0, 2, count).astype(bool)
    info = np.iinfo(dtype.numpy)
    special = [info.min, info.max, 0, 1, 2, info.max - 1]
    small = RNG.integers(max(-9, info.min), 9, count - len(special))
    return np.array([*special, *small.tolist()], dtype.numpy)


def pairs(dtype: DType) -> tuple[np.ndarray, np.ndarray]:
    values = samples(dtype)
    head = values[:11]
    a = np.concatenate([np.repeat(head, len(head)), values])
    b = np.concatenate([np.tile(head, len(head)), RNG.permutation(values)])
    return a, b


NUMPY = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.true_divide,
    "//": np.floor_divide,
    "%": np.remainder,
    "&": np.bitwise_and,
    "|": np.bitwise_or,
    "^": np.bitwise_xor,
    "<<": np.left_shift,
    ">>": np.right_shift,
    "minimum": np.minimum,
    "maximum": np.maximum,
}
FLOAT_OPS = ("+", "-", "*", "/", "//", "%", "minimum", "maximum")
BOOL_OPS = ("+", "*", "&", "|", "^", "minimum", "maximum")


def equal(got: np.ndarray, want: np.ndarray) -> None:
    """Bit for bit, but for the payloads of NaNs."""
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)
    if got.dtype.kind == "f":
        numbers = ~np.isnan(want)
        np.testing.assert_array_equal(np.signbit(got[numbers]), np.signbit(want[numbers]))


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS, DType.BOOL])
def test_binary(dtype: DType) -> None:
    ops = {"f": FLOAT_OPS, "b": BOOL_OPS}.get(dtype.kind, tuple(op for op in NUMPY if op != "/"))
    a, b = pairs(dtype)
    makes = [(lambda x, y, op=op: Binary(op, x, y, loc=here()), dtype) for op in ops]
    for op, got in zip(ops, run_all(makes, a, b), strict=True):
        with np.errstate(all="ignore"):
            want = NUMPY[op](a, b)
        if op in ("minimum", "maximum") and dtype.is_float:
            ties = (a == 0) & (b == 0)  # which of the two zeros is the smaller is open
            got, want = got[~ties], want[~ties]
        equal(got, want)


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("op", ["+", "-", "*", "/"])
def test_binary_complex(op: str, dtype: DType) -> None:
    a, b = pairs(dtype)
    with np.errstate(all="ignore"):
        want = NUMPY[op](a, b)
    got = run_elementwise(lambda x, y: Binary(op, x, y, loc=here()), dtype, a, b)
    # NumPy's vector code may contract a product; ours is the plain formula.
    np.testing.assert_allclose(got, want, rtol=8 * np.finfo(dtype.numpy).eps)


@pytest.mark.parametrize("dtype", [DType.INT32, DType.UINT8, *FLOATS])
@pytest.mark.parametrize("op", ["min", "max"])
def test_builtin_min_and_max(op: str, dtype: DType) -> None:
    a, b = pairs(dtype)
    want = np.where(b < a, b, a) if op == "min" else np.where(b > a, b, a)
    equal(run_elementwise(lambda x, y: Binary(op, x, y, loc=here()), dtype, a, b), want)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integer_power_wraps(dtype: DType) -> None:
    a = samples(dtype)
    b = RNG.integers(0, 12, len(a)).astype(dtype.numpy)
    equal(run_elementwise(lambda x, y: Binary("**", x, y, loc=here()), dtype, a, b), a**b)


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("exponent", [2.0, 0.5, -1.0, 3.0, 1.0, 0.0, -0.5, 1.7])
def test_power_with_a_constant_exponent(dtype: DType, exponent: float) -> None:
    a = samples(dtype)
    got = run_elementwise(lambda x: Binary("**", x, Const(exponent, dtype, loc=here()), loc=here()), dtype, a)
    with np.errstate(all="ignore"):
        want = np.power(a, np.full(len(a), exponent, a.dtype))
    np.testing.assert_allclose(got, want, rtol=2 * np.finfo(a.dtype).eps)


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("exponent", [2, 3, -2, 0.5, 1 + 1j, 0])
def test_complex_power(dtype: DType, exponent: complex) -> None:
    a = RNG.normal(size=50) + 1j * RNG.normal(size=50)
    a = a.astype(dtype.numpy)
    got = run_elementwise(lambda x: Binary("**", x, Const(exponent, dtype, loc=here()), loc=here()), dtype, a)
    np.testing.assert_allclose(got, a ** a.dtype.type(exponent), rtol=1e3 * np.finfo(a.dtype).eps)


@pytest.mark.sampled
@pytest.mark.parametrize("source", [d for d in DType if d.kind != "s"])
def test_cast(source: DType) -> None:
    a = samples(source)
    if source.is_float or source.is_complex:
        a = np.abs(a[np.isfinite(a) & (np.abs(a) < 100)])  # out of range is whatever the processor does
        a = a.astype(source.numpy)
    targets = [d for d in DType if d.kind != "s"]
    makes = [(lambda x, target=target: Cast(x, target, loc=here()), target) for target in targets]
    for target, got in zip(targets, run_all(makes, a), strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            equal(got, a.astype(target.numpy))


def test_cast_of_negative_and_complex_numbers() -> None:
    a = np.array([-1.5, -2.0, -99.9, -0.0])
    signed = [d for d in DType if d.kind not in "us"]
    makes = [(lambda x, target=target: Cast(x, target, loc=here()), target) for target in signed]
    for target, got in zip(signed, run_all(makes, a), strict=True):
        equal(got, a.astype(target.numpy))
    z = np.array([-1.5 + 2j, 0.5j, 0])
    makes = [(lambda x, target=target: Cast(x, target, loc=here()), target) for target in signed]
    for target, got in zip(signed, run_all(makes, z), strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            equal(got, z.astype(target.numpy))


@pytest.mark.parametrize("dtype", [DType.INT8, DType.UINT64, DType.FLOAT32, DType.BOOL])
def test_compare_and_select(dtype: DType) -> None:
    a, b = pairs(dtype)
    holds = {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "==": a == b, "!=": a != b}
    makes = [(lambda x, y, op=op: Compare(op, x, y, loc=here()), DType.BOOL) for op in holds]
    makes += [
        (lambda x, y, op=op: Select(Compare(op, x, y, loc=here()), x, y, loc=here()), dtype) for op in holds
    ]
    got = run_all(makes, a, b)
    for one, chosen, want in zip(got[:6], got[6:], holds.values(), strict=True):
        equal(one, want)
        equal(chosen, np.where(want, a, b))


@pytest.mark.parametrize("dtype", [DType.INT8, DType.UINT16, DType.INT64, DType.FLOAT32, DType.COMPLEX128])
def test_negative(dtype: DType) -> None:
    a = samples(dtype)
    np.testing.assert_array_equal(run_elementwise(lambda x: Unary("-", x, loc=here()), dtype, a), -a)


@pytest.mark.parametrize("dtype", [DType.INT8, DType.UINT16, DType.INT64, DType.BOOL])
def test_invert(dtype: DType) -> None:
    a = samples(dtype)
    equal(run_elementwise(lambda x: Unary("~", x, loc=here()), dtype, a), ~a)


def intrinsic(name: str, dtype: DType) -> tuple[Any, DType]:
    """An intrinsic of the first of two operands, or of both, and the type of its result."""
    info = INTRINSICS[name]
    result = {"same": dtype, "bool": DType.BOOL, "part": dtype.part}[info.result]
    return lambda x, y: Intrinsic(name, (x, y)[: info.arity], result, loc=here()), result


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", [*FLOATS, *COMPLEX, DType.INT8, DType.INT64, DType.UINT32])
def test_intrinsics(dtype: DType) -> None:
    a, b = pairs(dtype)
    if dtype.is_complex:
        a = b = RNG.normal(size=60).astype(dtype.part.numpy) * dtype.numpy.type(1 + 0.3j)
    apart = (
        "erf",
        "erfc",
        "tgamma",
        "lgamma",
        "complex",
        "mulhi",
        "float_bits",
    )  # these have tests of their own
    names = [n for n, info in INTRINSICS.items() if dtype.kind in info.kinds and n not in apart]
    makes = [intrinsic(name, dtype) for name in names]
    for name, got in zip(names, run_all(makes, a, b), strict=True):
        info = INTRINSICS[name]
        with np.errstate(all="ignore"):
            want = getattr(np, info.numpy.removeprefix("np."))(*(a, b)[: info.arity])
        if dtype.kind in "iu":
            equal(got, want)
        else:
            np.testing.assert_allclose(
                got, want, rtol=40 * np.finfo(dtype.numpy).eps, atol=1e-30, err_msg=name
            )


def test_float_bits() -> None:
    a = samples(DType.FLOAT64)
    got = run_elementwise(lambda x: Intrinsic("float_bits", (x,), DType.INT64, loc=here()), DType.INT64, a)
    equal(got, a.view(np.int64))


def test_error_functions() -> None:
    a = RNG.normal(size=50)
    makes = [
        (lambda x, name=name: Intrinsic(name, (x,), DType.FLOAT64, loc=here()), DType.FLOAT64)
        for name in ("erf", "erfc", "tgamma", "lgamma")
    ]
    erf, erfc, gamma, log_gamma = run_all(makes, a)
    np.testing.assert_allclose(gamma, [math.gamma(x) for x in a], rtol=1e-13)
    np.testing.assert_allclose(log_gamma, [math.lgamma(x) for x in a], rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(erf, [math.erf(x) for x in a], rtol=1e-14)
    np.testing.assert_allclose(erfc, [math.erfc(x) for x in a], rtol=1e-14)


def test_upper_half_of_a_product() -> None:
    a = RNG.integers(0, 2**64 - 1, 40, dtype=np.uint64, endpoint=True)
    b = np.r_[a[1:], np.uint64(2**64 - 1)]
    got = run_elementwise(
        lambda x, y: Intrinsic("mulhi", (x, y), DType.UINT64, loc=here()), DType.UINT64, a, b
    )
    assert got.tolist() == [int(x) * int(y) >> 64 for x, y in zip(a, b, strict=True)]


def test_complex_from_parts() -> None:
    a, b = samples(DType.FLOAT32), samples(DType.FLOAT32)[::-1].copy()
    got = run_elementwise(
        lambda x, y: Intrinsic("complex", (x, y), DType.COMPLEX64, loc=here()), DType.COMPLEX64, a, b
    )
    np.testing.assert_array_equal(got.real, a)
    np.testing.assert_array_equal(got.imag, b)


@pytest.mark.parametrize("dtype", [DType.INT64, DType.INT8, DType.FLOAT64])
@pytest.mark.parametrize("op", ["//", "%"])
def test_python_division_by_zero_raises(op: str, dtype: DType) -> None:
    fn = elementwise(lambda x, y: Binary(op, x, y, trap=True, loc=here()), dtype, dtype, dtype)
    a = np.array([7, -7, 5], dtype.numpy)
    b = np.array([2, 2, 0], dtype.numpy)
    out = np.zeros_like(a)
    ran = run_c(fn, out, a, b)
    assert ran.status == Status.FAULT
    assert ran.site.error == "ZeroDivisionError"
    assert "by zero" in ran.message
    np.testing.assert_array_equal(out, [*NUMPY[op](a[:2], b[:2]), 0])


def test_negative_integer_power_raises() -> None:
    fn = elementwise(lambda x, y: Binary("**", x, y, loc=here()), DType.INT64, DType.INT64, DType.INT64)
    out = np.zeros(2, np.int64)
    ran = run_c(fn, out, np.array([2, 2]), np.array([3, -1]))
    assert ran.site.error == "ValueError"
    assert out[0] == 8


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", [d for d in DType if d.kind != "s"])
def test_scalar_parameters_constants_and_results(dtype: DType) -> None:
    p = Program()
    x = p.local("x", dtype)
    extremes: list[Any] = [0, 1]
    if dtype.is_integer:
        extremes += [np.iinfo(dtype.numpy).min, np.iinfo(dtype.numpy).max]
    elif dtype.is_float:
        extremes += [0.1, -0.0, np.inf, -np.inf, np.nan, 1e-40]
    elif dtype.is_complex:
        extremes += [0.1 + 2j, complex(-0.0, -0.0), complex(np.inf, -1)]
    constants = [Const(v, dtype, loc=here()) for v in extremes]
    fn = p.function(results=[x, *constants])
    fn = Function(fn.name, (x,), fn.body, fn.results, loc=fn.loc)
    for value in extremes:
        got = run_c(fn, dtype.numpy.type(value)).results
        want = [dtype.numpy.type(v) for v in (value, *extremes)]
        for one, other in zip(got, want, strict=True):
            assert one.dtype == other.dtype
            assert one.tobytes() == other.tobytes() or np.isnan(other)
