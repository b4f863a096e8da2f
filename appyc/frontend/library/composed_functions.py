"""More of NumPy's functions of numbers, compositions of others."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from appyc.errors import Loc, UnsupportedError
from appyc.frontend.expressions import arithmetic
from appyc.frontend.expressions.arithmetic import cast, const
from appyc.frontend.library.bit_generators import high_product
from appyc.frontend.library.scalar_functions import FUNCTIONS
from appyc.frontend.types.numbers import NumberType, float_type_of, promote
from appyc.frontend.types.values import Number
from appyc.ir.nodes import Binary, Compare, Expr, Intrinsic, Select
from appyc.ir.types import DType

Maker: TypeAlias = Callable[[list[Number], Loc], Number]


def _floats(args: list[Number], loc: Loc) -> list[Expr]:
    """The arguments in the float type that NumPy computes with. Raises UnsupportedError for others."""
    kind: NumberType | None = args[0].type
    for a in args[1:]:
        kind = promote(kind, a.type) if kind is not None else None
    kind = float_type_of(kind) if kind is not None else None
    if kind is None or not kind.dtype.is_float:
        raise UnsupportedError("this function is compiled for float32 and float64 results", loc)
    return [cast(a.expr, kind.dtype) for a in args]


def _number(value: float, like: Expr, loc: Loc) -> Expr:
    return const(value, like.dtype, loc)


def _call(name: str, loc: Loc, *args: Expr) -> Expr:
    dtype = DType.BOOL if name in ("isnan", "isinf", "isfinite") else args[0].dtype
    return Intrinsic(name, args, dtype, loc=loc)


def _heaviside(args: list[Number], loc: Loc) -> Number:
    """0 below zero, 1 above, the second argument at zero, NaN of NaN."""
    x, at_zero = _floats(args, loc)
    zero, one = _number(0.0, x, loc), _number(1.0, x, loc)
    above = Select(Compare(">", x, zero, loc=loc), one, x, loc=loc)  # x: a NaN
    below = Select(Compare("<", x, zero, loc=loc), zero, above, loc=loc)
    return Number(Select(Compare("==", x, zero, loc=loc), at_zero, below, loc=loc), python=False)


def _logaddexp(base: float | None) -> Maker:
    """log(exp(a) + exp(b)) without overflow; of equal ones, infinities too, a + log(2)."""

    def make(args: list[Number], loc: Loc) -> Number:
        a, b = _floats(args, loc)
        apart = Binary("-", a, b, loc=loc)
        size = _call("abs", loc, apart)
        small = _call(
            "exp" if base is None else "exp2", loc, Binary("-", _number(0.0, a, loc), size, loc=loc)
        )
        tail = _call("log1p", loc, small)
        if base is not None:
            tail = Binary("*", tail, _number(1.0 / math.log(2.0), a, loc), loc=loc)
        larger = Select(Compare(">", apart, _number(0.0, a, loc), loc=loc), a, b, loc=loc)
        general: Expr = Binary("+", larger, tail, loc=loc)
        general = Select(_call("isnan", loc, apart), apart, general, loc=loc)
        two = Binary("+", a, _number(math.log(2.0) if base is None else 1.0, a, loc), loc=loc)
        return Number(Select(Compare("==", a, b, loc=loc), two, general, loc=loc), python=False)

    return make


def _signbit(args: list[Number], loc: Loc) -> Number:
    (x,) = _floats(args, loc)
    sign = _call("copysign", loc, _number(1.0, x, loc), x)
    return Number(Compare("<", sign, _number(0.0, x, loc), loc=loc), python=False)


def _float_power(args: list[Number], loc: Loc) -> Number:
    kind = DType.COMPLEX128 if any(a.type.dtype.is_complex for a in args) else DType.FLOAT64
    a, b = (Number(cast(n.expr, kind), python=False) for n in args)
    return arithmetic.binary("**", a, b, loc)


def _sinc(args: list[Number], loc: Loc) -> Number:
    (x,) = _floats(args, loc)
    zero = Compare("==", x, _number(0.0, x, loc), loc=loc)
    moved = Select(zero, _number(1.0e-20, x, loc), x, loc=loc)
    scaled = Binary("*", _number(math.pi, x, loc), moved, loc=loc)
    return Number(Binary("/", _call("sin", loc, scaled), scaled, loc=loc), python=False)


def _fix(args: list[Number], loc: Loc) -> Number:
    return FUNCTIONS[np.trunc][1](args, loc)


def _round(args: list[Number], loc: Loc) -> Number:
    """np.round: to even, at a decimal place that is a constant."""
    x = args[0]
    decimals = args[1].constant if len(args) > 1 else 0
    if not isinstance(decimals, int) or x.type.dtype.is_complex:
        raise UnsupportedError("np.round is compiled for real numbers and a constant number of decimals", loc)
    if not x.type.dtype.is_float:
        if decimals < 0 or x.type.dtype is DType.BOOL:
            raise UnsupportedError("np.round of such integers is not compiled", loc)
        return Number(x.expr, python=False)
    if decimals == 0:
        return Number(_call("rint", loc, x.expr), python=False)
    scale = _number(10.0 ** abs(decimals), x.expr, loc)
    up, down = ("*", "/") if decimals > 0 else ("/", "*")
    scaled = _call("rint", loc, Binary(up, x.expr, scale, loc=loc))
    return Number(Binary(down, scaled, scale, loc=loc), python=False)


def _infinite(sign: str) -> Maker:
    def make(args: list[Number], loc: Loc) -> Number:
        (x,) = _floats(args, loc)
        limit = _number(math.inf if sign == ">" else -math.inf, x, loc)
        return Number(Compare("==", x, limit, loc=loc), python=False)

    return make


def _remainder(args: list[Number], loc: Loc) -> Number:
    """np.fmod of integers: the sign is the dividend's; 0 for a zero divisor."""
    a, b = args
    kinds = [n.type.dtype.kind for n in args]
    if any(k == "f" for k in kinds):
        return FUNCTIONS[np.fmod][1](args, loc)
    if kinds != ["i", "i"]:
        raise UnsupportedError("np.fmod of such numbers is not compiled", loc)
    kind = promote(a.type, b.type)
    assert kind is not None, "integers have a common type"
    x, y = cast(a.expr, kind.dtype), cast(b.expr, kind.dtype)
    rest = Binary("%", x, y, loc=loc)
    zero = const(0, kind.dtype, loc)
    # `%` takes the divisor's sign; where that is not the dividend's, it is one divisor too far.
    differ = Compare("!=", _is_negative(x, zero, loc), _is_negative(y, zero, loc), loc=loc)
    off = Select(Compare("!=", rest, zero, loc=loc), differ, const(False, DType.BOOL, loc), loc=loc)
    return Number(Select(off, Binary("-", rest, y, loc=loc), rest, loc=loc), python=False)


def _is_negative(x: Expr, zero: Expr, loc: Loc) -> Expr:
    return Compare("<", x, zero, loc=loc)


def _high_product(args: list[Number], loc: Loc) -> Number:
    return Number(Intrinsic("mulhi", tuple(a.expr for a in args), DType.UINT64, loc=loc), python=False)


MORE_FUNCTIONS: dict[object, tuple[range, Maker]] = {
    high_product: (range(2, 3), _high_product),
    np.heaviside: (range(2, 3), _heaviside),
    np.logaddexp: (range(2, 3), _logaddexp(None)),
    np.logaddexp2: (range(2, 3), _logaddexp(2.0)),
    np.signbit: (range(1, 2), _signbit),
    np.float_power: (range(2, 3), _float_power),
    np.sinc: (range(1, 2), _sinc),
    np.fix: (range(1, 2), _fix),
    np.round: (range(1, 3), _round),
    np.around: (range(1, 3), _round),
    np.isposinf: (range(1, 2), _infinite(">")),
    np.isneginf: (range(1, 2), _infinite("<")),
    np.fmod: (range(2, 3), _remainder),
}

ALL_FUNCTIONS: dict[object, tuple[range, Maker]] = {**FUNCTIONS, **MORE_FUNCTIONS}
