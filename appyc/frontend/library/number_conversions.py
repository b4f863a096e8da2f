"""Conversions of numbers, and the methods that numbers have: int, float, complex, np.float32 and its like, x.item()."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from appyc.errors import Loc, TypeInferenceError, UnsupportedError
from appyc.frontend.expressions import arithmetic
from appyc.frontend.expressions.arithmetic import cast, python_number, to_type
from appyc.frontend.types.descriptions import describe
from appyc.frontend.types.numbers import PY_COMPLEX, PY_INT, NumberType, dtype_named
from appyc.frontend.types.values import Number
from appyc.ir.integers import is_within, limits, range_of
from appyc.ir.nodes import Intrinsic
from appyc.ir.types import DType

Maker: TypeAlias = Callable[[list[Number], Loc], Number]


def real_part(a: Number, loc: Loc) -> Number:
    if not a.type.dtype.is_complex:
        return to_type(a, PY_INT) if a.python and a.type.dtype is DType.BOOL else a
    return Number(Intrinsic("real", (a.expr,), a.type.dtype.part, loc=loc), a.python)


def imaginary_part(a: Number, loc: Loc) -> Number:
    if not a.type.dtype.is_complex:
        return to_type(python_number(0, loc), a.type)
    return Number(Intrinsic("imag", (a.expr,), a.type.dtype.part, loc=loc), a.python)


def to_int(rounding: str | None, args: list[Number], loc: Loc) -> Number:
    """int, math.floor, math.ceil, math.trunc, round: a Python int."""
    (a,) = args
    if a.type.dtype.is_complex:
        raise TypeInferenceError("a complex number cannot be made an integer", loc, "use z.real")
    expr = a.expr
    if rounding is not None and a.type.dtype.is_float:
        expr = Intrinsic(rounding, (expr,), expr.dtype, loc=loc)
    if expr.dtype is DType.UINT64 and not is_within(range_of(expr), limits(DType.INT64)):
        return Number(expr, python=True)
    return Number(cast(expr, DType.INT64), python=True)


def to_python(target: NumberType, args: list[Number], loc: Loc) -> Number:
    if not args:
        return to_type(python_number(0, loc), target)
    if args[0].type.dtype.is_complex and target.dtype.is_float:
        raise TypeInferenceError("a complex number cannot be made real", loc, "use z.real")
    return to_type(args[0], target)


def make_complex(args: list[Number], loc: Loc) -> Number:
    if len(args) == 1:
        return to_type(args[0], PY_COMPLEX)
    if any(a.type.dtype.is_complex for a in args):
        raise UnsupportedError("complex(...) of complex parts is not compiled", loc, "write a + 1j * b")
    parts = tuple(cast(a.expr, DType.FLOAT64) for a in args)
    return Number(Intrinsic("complex", parts, DType.COMPLEX128, loc=loc), python=True)


def to_dtype(dtype: DType, args: list[Number], loc: Loc) -> Number:
    """np.float32(x) and the like."""
    if not args:
        return Number(cast(python_number(0, loc).expr, dtype), python=False)
    (a,) = args
    if a.type.dtype.is_complex and not dtype.is_complex and dtype is not DType.BOOL:
        raise TypeInferenceError(f"a complex number cannot be made {dtype}", loc, "use z.real")
    return Number(cast(a.expr, dtype), python=False)


def conjugate(args: list[Number], loc: Loc) -> Number:
    (a,) = args
    if not a.type.dtype.is_complex:
        return a
    return Number(Intrinsic("conj", (a.expr,), a.type.dtype, loc=loc), a.python)


def number_method(owner: Number, name: str, args: list[Number], dtype: DType | None, loc: Loc) -> Number:
    """`x.conjugate()`, `x.item()`, `x.astype(dtype)` of a scalar, and those that an array of one element has."""
    match name:
        case "conjugate" | "conj" if not args:
            return conjugate([owner], loc)
        case "item" if not args and not owner.python:
            return _item(owner)
        case "astype" if dtype is not None and not owner.python:
            return to_dtype(dtype, [owner], loc)
        case "min" | "max" | "copy" if not args and not owner.python:
            return owner
        case "all" | "any" if not args and not owner.python:
            return Number(arithmetic.truth_of(owner.expr), python=False)
        case "sum" | "prod" | "mean" if not args and not owner.python:
            of_one = getattr(np.zeros(1, owner.type.dtype.numpy), name)()
            found = dtype_named(of_one.dtype.name)
            assert found is not None, "NumPy's sums and means are numbers"
            return Number(cast(owner.expr, found), python=False)
        case _:
            raise UnsupportedError(f"the method {name!r} of {describe(owner)} is not compiled", loc)


def _item(owner: Number) -> Number:
    wide = {"b": DType.BOOL, "i": DType.INT64, "u": DType.INT64, "f": DType.FLOAT64, "c": DType.COMPLEX128}
    dtype = owner.type.dtype
    return Number(cast(owner.expr, dtype if dtype is DType.UINT64 else wide[dtype.kind]), python=True)
