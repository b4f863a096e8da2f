"""Functions of numbers that compile: builtins, `math`, and NumPy's ufuncs on scalars.

A table from the Python object to a maker of IR. Result types are the object's own: `math`
gives Python floats, NumPy's functions NumPy scalars, the builtins what they were given.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from appyc.errors import Loc, TypeInferenceError, UnsupportedError
from appyc.frontend.expressions import arithmetic, selections
from appyc.frontend.expressions.arithmetic import cast, python_number, to_type, truth_of
from appyc.frontend.library.number_conversions import (
    Maker,
    conjugate,
    imaginary_part,
    make_complex,
    real_part,
    to_dtype,
    to_int,
    to_python,
)
from appyc.frontend.types.numbers import PY_BOOL, PY_FLOAT, NumberType, float_type_of, promote, promoted
from appyc.frontend.types.values import Number
from appyc.ir.intrinsics import INTRINSICS
from appyc.ir.nodes import Binary, Intrinsic, Logical, Unary
from appyc.ir.types import DType
from appyc.library import primitives


def _strong(number: Number) -> Number:
    """The operand of a NumPy function: a Python number becomes a NumPy scalar of its default type."""
    return Number(number.expr, python=False)


def _intrinsic(name: str, args: list[Number], loc: Loc, *, python: bool) -> Number:
    """A function of floats (or complex numbers). python: `math`'s, on and to Python floats."""
    info = INTRINSICS[name]
    t = PY_FLOAT if python else _common_float(args)
    for a in args:
        if a.type.dtype.is_complex and (python or "c" not in info.kinds):
            raise TypeInferenceError(f"{info.numpy} takes no complex number", loc)
    values = tuple(cast(a.expr, t.dtype) for a in args)
    dtype = {"same": t.dtype, "bool": DType.BOOL, "part": t.dtype.part}[info.result]
    return Number(Intrinsic(name, values, dtype, loc=loc), t.python)


def _common_float(args: list[Number]) -> NumberType:
    return float_type_of(promoted(a.type for a in args))


def _binary(op: str, args: list[Number], loc: Loc) -> Number:
    a, b = args
    out = arithmetic.binary(op, a, _strong(b) if a.python else b, loc)
    return arithmetic.untrapped(_strong(out))


def _compare(op: str, args: list[Number], loc: Loc) -> Number:
    return _strong(selections.compare(op, args[0], args[1], loc, by_ufunc=True))


def _logical(op: str, args: list[Number], loc: Loc) -> Number:
    a, b = (truth_of(x.expr) for x in args)
    found = Binary(op, a, b, loc=loc) if op == "^" else Logical(op, a, b, loc=loc)
    return Number(found, python=False)


def _extremum(op: str, args: list[Number], loc: Loc) -> Number:
    """min and max of two or more arguments."""
    if len(args) < 2:
        raise UnsupportedError(f"{op} of one argument is not compiled", loc,
                               "loop over the elements", f"{op}(a, b) is compiled")  # fmt: skip
    out = args[0]
    for nxt in args[1:]:
        out = selections.extremum(op, out, nxt, loc)
    return out


def _ignoring_nan(op: str, args: list[Number], loc: Loc) -> Number:
    """np.fmin and np.fmax: a NaN gives way to the other operand."""
    if all(a.type.dtype.kind in "biu" for a in args):
        return selections.extremum("minimum" if op == "fmin" else "maximum", args[0], args[1], loc)
    out = selections.extremum("min" if op == "fmin" else "max", args[0], args[1], loc)
    if not out.type.dtype.is_float:
        return _strong(out)
    assert isinstance(out.expr, Binary)
    other = Number(out.expr.rhs, python=False)
    is_nan = Intrinsic("isnan", (out.expr.lhs,), DType.BOOL, loc=loc)
    return selections.select(is_nan, other, _strong(out), loc)


def _where(args: list[Number], loc: Loc) -> Number:
    cond, a, b = args
    t = promote(a.type, b.type)
    if t.dtype.is_integer:  # a Python int takes NumPy's type, whether it fits or not
        a, b = arithmetic.to_type(a, t), arithmetic.to_type(b, t)
    return _strong(selections.select(truth_of(cond.expr), a, b, loc))


def _square(args: list[Number], loc: Loc) -> Number:
    (a,) = args
    if a.type.dtype is DType.BOOL:  # NumPy squares no booleans, but small integers
        a = arithmetic.to_type(a, NumberType(DType.INT8, python=False))
    return _strong(arithmetic.binary("*", a, a, loc))


def _reciprocal(args: list[Number], loc: Loc) -> Number:
    (a,) = args
    if a.type.dtype.kind not in "fc":
        raise TypeInferenceError("np.reciprocal of an integer is integer division", loc, "write 1.0 / x")
    return arithmetic.untrapped(_strong(arithmetic.binary("/", python_number(1, loc), _strong(a), loc)))


def _sign(args: list[Number], loc: Loc) -> Number:
    (a,) = args
    if a.type.dtype.is_complex or a.type.dtype is DType.BOOL:
        raise TypeInferenceError(f"np.sign takes no {a.type}", loc)
    return Number(Intrinsic("sign", (a.expr,), a.type.dtype, loc=loc), python=False)


def _scaled(factor: float, args: list[Number], loc: Loc, *, python: bool = False) -> Number:
    """The product with a factor. python: `math`'s, on and to Python floats."""
    t = PY_FLOAT if python else _common_float(args)
    wide = (
        NumberType(DType.FLOAT32, python=False) if t.dtype is DType.FLOAT16 else t
    )  # the factor is not rounded
    product = arithmetic.binary("*", to_type(args[0], wide), python_number(factor, loc), loc)
    return to_type(product, t)


def _high_product(args: list[Number], loc: Loc) -> Number:
    return Number(Intrinsic("mulhi", tuple(a.expr for a in args), DType.UINT64, loc=loc), python=False)


def _rounding(name: str, args: list[Number], loc: Loc) -> Number:
    """np.floor and its kin leave integers alone."""
    is_whole = args[0].type.dtype.kind in "biu"
    return _strong(args[0]) if is_whole else _intrinsic(name, args, loc, python=False)


def _counted(a: Number) -> Number:
    """NumPy's conjugate has no form for bools, and takes them as small integers."""
    if a.python or a.type.dtype is not DType.BOOL:
        return a
    return Number(cast(a.expr, DType.INT8), python=False)


def _math_log(args: list[Number], loc: Loc) -> Number:
    log = partial(_intrinsic, "log", python=True)
    out = log(args[:1], loc)
    return out if len(args) == 1 else arithmetic.binary("/", out, log(args[1:], loc), loc)


def _math_pow(args: list[Number], loc: Loc) -> Number:
    a, b = (Number(cast(x.expr, DType.FLOAT64), python=True) for x in args)
    return Number(Binary("**", a.expr, b.expr, loc=loc), python=True)


def _is_test(name: str, args: list[Number], loc: Loc) -> Number:
    inner = partial(_intrinsic, name, python=False)
    if args[0].type.dtype.kind in "biu":
        return Number(arithmetic.const(name == "isfinite", DType.BOOL, loc), python=False)
    if args[0].type.dtype.is_complex:
        parts = [inner([p], loc).expr for p in (real_part(args[0], loc), imaginary_part(args[0], loc))]
        op = "and" if name == "isfinite" else "or"
        return Number(Logical(op, parts[0], parts[1], loc=loc), python=False)
    return inner(args, loc)


def _phase(args: list[Number], loc: Loc) -> Number:
    (a,) = args
    a = Number(cast(a.expr, DType.INT64), python=False) if a.type.dtype is DType.BOOL else a
    return _intrinsic("atan2", [imaginary_part(a, loc), real_part(a, loc)], loc, python=False)


def _complex_function(name: str, args: list[Number], loc: Loc) -> Number:
    value = cast(args[0].expr, DType.COMPLEX128)
    return Number(Intrinsic(name, (value,), DType.COMPLEX128, loc=loc), python=True)


_MATH = {math.fabs: "abs", **{getattr(math, name): name for name in INTRINSICS if hasattr(math, name)}}
_NUMPY = {np.fabs: "abs", **{getattr(np, info.numpy.removeprefix("np.")): name for name, info in INTRINSICS.items()
                             if info.numpy.startswith("np.")}}  # fmt: skip
"""Functions that are intrinsics; what `FUNCTIONS` says for itself comes first."""

_NUMPY_BINARY = {
    np.add: "+", np.subtract: "-", np.multiply: "*", np.true_divide: "/", np.floor_divide: "//",
    np.remainder: "%", np.power: "**", np.bitwise_and: "&", np.bitwise_or: "|", np.bitwise_xor: "^",
    np.left_shift: "<<", np.right_shift: ">>",
}  # fmt: skip

_NUMPY_COMPARE = {
    np.less: "<", np.less_equal: "<=", np.greater: ">", np.greater_equal: ">=", np.equal: "==",
    np.not_equal: "!=",
}  # fmt: skip

_ONE, _TWO, _THREE = range(1, 2), range(2, 3), range(3, 4)

_ALIKE: tuple[tuple[range, Callable[..., Number], dict[Any, Any]], ...] = (
    (_ONE, to_int, {round: "rint", math.floor: "floor", math.ceil: "ceil", math.trunc: "trunc"}),
    (range(2), to_python, {float: PY_FLOAT, bool: PY_BOOL}),
    (range(2), to_dtype, {dtype.numpy.type: dtype for dtype in DType if dtype.kind != "s"}),
    (range(1, 99), _extremum, {min: "min", max: "max"}),
    (_TWO, _extremum, {np.minimum: "minimum", np.maximum: "maximum"}),
    (_TWO, _ignoring_nan, {np.fmin: "fmin", np.fmax: "fmax"}),
    (_ONE, partial(_scaled, python=True), {math.degrees: 180.0 / math.pi, math.radians: math.pi / 180.0}),
    (_ONE, _scaled, {np.deg2rad: math.pi / 180.0, np.radians: math.pi / 180.0,
                     np.rad2deg: 180.0 / math.pi, np.degrees: 180.0 / math.pi}),
    (_ONE, _complex_function, {cmath.exp: "exp", cmath.sqrt: "sqrt"}),
    (_TWO, _logical, {np.logical_and: "and", np.logical_or: "or", np.logical_xor: "^"}),
    (_ONE, _rounding, {np.floor: "floor", np.ceil: "ceil", np.trunc: "trunc"}),
    (_ONE, _is_test, {np.isnan: "isnan", np.isinf: "isinf", np.isfinite: "isfinite"}),
    (_ONE, partial(_intrinsic, python=False), {primitives.erf: "erf", primitives.erfc: "erfc",
                                               primitives.gamma: "tgamma", primitives.log_gamma: "lgamma"}),
    (_TWO, partial(_intrinsic, python=False), {primitives.rest_of_floats: "fmod"}),
    (_TWO, _binary, _NUMPY_BINARY),
    (_TWO, _compare, _NUMPY_COMPARE),
)  # fmt: skip
"""Functions that differ in the first argument of their maker: which that is."""

FUNCTIONS: dict[object, tuple[range, Maker]] = {
    **{
        fn: (range(INTRINSICS[name].arity, INTRINSICS[name].arity + 1), partial(_intrinsic, name, python=python))
        for python, table in ((True, _MATH), (False, _NUMPY)) for fn, name in table.items()
    },
    abs: (_ONE, lambda args, loc: arithmetic.absolute(args[0], loc)),
    np.absolute: (_ONE, lambda args, loc: _strong(arithmetic.absolute(args[0], loc))),
    int: (range(2), lambda args, loc: to_int(None, args, loc) if args else python_number(0, loc)),
    complex: (range(1, 3), make_complex),
    pow: (_TWO, lambda args, loc: arithmetic.binary("**", args[0], args[1], loc)),
    math.log: (range(1, 3), _math_log),
    math.pow: (_TWO, _math_pow),
    cmath.phase: (_ONE, _phase),
    np.angle: (_ONE, _phase),
    primitives.high_product: (_TWO, _high_product),
    np.where: (_THREE, _where),
    np.sign: (_ONE, _sign),
    np.square: (_ONE, _square),
    np.reciprocal: (_ONE, _reciprocal),
    np.negative: (_ONE, lambda args, loc: _strong(arithmetic.negative(args[0], loc))),
    np.positive: (_ONE, lambda args, loc: _strong(args[0])),
    np.invert: (_ONE, lambda args, loc: _strong(arithmetic.invert(_strong(args[0]), loc))),
    np.logical_not: (_ONE, lambda args, loc: Number(Unary("~", truth_of(args[0].expr), loc=loc), False)),
    np.real: (_ONE, lambda args, loc: real_part(args[0], loc)),
    np.imag: (_ONE, lambda args, loc: imaginary_part(args[0], loc)),
    np.conjugate: (_ONE, lambda args, loc: _strong(conjugate([_counted(args[0])], loc))),
    **{fn: (counts, partial(make, first)) for counts, make, table in _ALIKE for fn, first in table.items()},
}  # fmt: skip
"""The numbers of arguments that each Python function takes, and the maker of its IR."""

TO_INT = (int, round, math.floor, math.ceil, math.trunc)
"""Functions of the table that make a Python int of a number."""
