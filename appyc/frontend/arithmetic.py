"""Operators on numbers: result types as NumPy 2 and Python have them, and the IR for them."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable

from appyc.errors import Loc, TypeInferenceError, UnsupportedError
from appyc.frontend.numbers import (
    PY_BOOL,
    PY_FLOAT,
    PY_INT,
    NumberType,
    division_type,
    holds,
    promote,
)
from appyc.frontend.values import Number, describe
from appyc.ir.integers import is_within, limits, range_of
from appyc.ir.nodes import Binary, Cast, Compare, Const, Expr, Intrinsic, Logical, Select, Unary
from appyc.ir.types import DType


def const(value: bool | int | float | complex, dtype: DType, loc: Loc) -> Const:
    return Const(value, dtype, loc=loc)


def integer(value: int, loc: Loc) -> Const:
    """An int64 constant."""
    return Const(value, DType.INT64, loc=loc)


def python_number(value: bool | int | float | complex, loc: Loc) -> Number:
    """A literal of the program. Raises TypeInferenceError for an int beyond int64."""
    match value:
        case bool():
            return Number(const(value, DType.BOOL, loc), python=True)
        case int():
            if not holds(DType.INT64, value):
                raise TypeInferenceError(
                    f"the integer {value} does not fit into int64",
                    loc,
                    hints=("compiled integers have 64 bits; use a float, or np.uint64(...)",),
                )
            return Number(const(value, DType.INT64, loc), python=True)
        case float():
            return Number(const(value, DType.FLOAT64, loc), python=True)
        case complex():
            return Number(const(value, DType.COMPLEX128, loc), python=True)


def cast(expr: Expr, dtype: DType) -> Expr:
    """The expression as `dtype`; constants are converted here and now."""
    if expr.dtype is dtype:
        return expr
    if isinstance(expr, Const):
        return Const(_convert(expr.value, dtype), dtype, loc=expr.loc)
    if dtype is DType.BOOL:
        return truth_of(expr)
    return Cast(expr, dtype, loc=expr.loc)


def _convert(value: bool | int | float | complex, dtype: DType) -> bool | int | float | complex:
    if dtype.is_integer and isinstance(value, int):
        wrapped = int(value) & ((1 << dtype.bits) - 1)
        return wrapped - (1 << dtype.bits) if dtype.kind == "i" and wrapped >> (dtype.bits - 1) else wrapped
    if isinstance(value, complex) and not dtype.is_complex:
        value = value.real
    out = dtype.numpy.type(value).item()
    assert isinstance(out, bool | int | float | complex)
    return out


def to_type(number: Number, target: NumberType) -> Number:
    return Number(cast(number.expr, target.dtype), target.python)


def truth_of(expr: Expr) -> Expr:
    """`expr` as a bool."""
    if expr.dtype is DType.BOOL:
        return expr
    if isinstance(expr, Const):
        return const(bool(expr.value), DType.BOOL, expr.loc)
    return Compare("!=", expr, Const(_convert(0, expr.dtype), expr.dtype, loc=expr.loc), loc=expr.loc)


_PYTHON_BINARY: dict[str, Callable[[object, object], object]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    "//": operator.floordiv, "%": operator.mod, "&": operator.and_, "|": operator.or_,
    "^": operator.xor, "<<": operator.lshift, ">>": operator.rshift,
}  # fmt: skip


def binary(op: str, a: Number, b: Number, loc: Loc) -> Number:
    """`a op b`. Raises TypeInferenceError where the operands' types do not allow it."""
    if folded := _fold(op, a, b, loc):
        return folded
    match op:
        case "+" | "-" | "*":
            return _additive(op, a, b, loc)
        case "/":
            t = _known(division_type(a.type, b.type), op, a, b, loc)
            return _apply(op, a, b, t, loc, trap=t.python)
        case "//" | "%":
            return _modular(op, a, b, loc)
        case "**":
            return _power(a, b, loc)
        case "&" | "|" | "^":
            return _bitwise(op, a, b, loc)
        case "<<" | ">>":
            t = _integers(op, a, b, loc)
            return _apply(op, a, b, t, loc)
        case _:
            raise UnsupportedError(f"operator {op!r} is not supported", loc)


def _fold(op: str, a: Number, b: Number, loc: Loc) -> Number | None:
    """The result where both operands are Python literals and nothing can go wrong."""
    if not (a.python and b.python) or a.constant is None or b.constant is None:
        return None
    x, y = a.constant, b.constant
    if op == "**":
        if isinstance(x, int) and isinstance(y, int) and not 0 <= y <= 64:
            return None
        fold: Callable[[object, object], object] = operator.pow
    elif op in _PYTHON_BINARY:
        fold = _PYTHON_BINARY[op]
    else:
        return None
    if op in ("<<", ">>") and not (isinstance(y, int) and 0 <= y < 64):
        return None
    try:
        value = fold(x, y)
    except (ArithmeticError, TypeError, ValueError):
        return None  # the program raises when it gets here, not when it is compiled
    if isinstance(value, int) and not isinstance(value, bool) and not holds(DType.INT64, value):
        return None
    assert isinstance(value, bool | int | float | complex)
    return python_number(value, loc)


def _known(t: NumberType | None, op: str, a: Number, b: Number, loc: Loc) -> NumberType:
    if t is None:
        raise UnsupportedError(
            f"NumPy gives {describe(a)} {op} {describe(b)} a type that appyc does not have (float16)",
            loc,
            hints=("convert an operand first, for example with np.float32(...)",),
        )
    return t


def _apply(op: str, a: Number, b: Number, t: NumberType, loc: Loc, *, trap: bool = False) -> Number:
    lhs, rhs = _fit(a, t, loc), _fit(b, t, loc)
    trap = trap and not (isinstance(rhs, Const) and rhs.value != 0)
    return Number(Binary(op, lhs, rhs, trap, loc=loc), t.python)


def _fit(number: Number, t: NumberType, loc: Loc) -> Expr:
    """An operand in the operation's type; a literal that NumPy would refuse is an error."""
    value = number.constant
    weak = number.python and not t.python and t.dtype.is_integer
    if weak and isinstance(value, int) and not holds(t.dtype, value):
        raise TypeInferenceError(
            f"Python integer {value} out of bounds for {t.dtype}",
            number.expr.loc,
            hints=(f"NumPy raises OverflowError here; convert the other operand, to np.int64 say",),  # noqa: F541
        )
    return cast(number.expr, t.dtype)


def _additive(op: str, a: Number, b: Number, loc: Loc) -> Number:
    t = _known(promote(a.type, b.type), op, a, b, loc)
    if t == PY_BOOL:
        t = PY_INT
    if t.dtype is DType.BOOL:
        if op == "-":
            raise TypeInferenceError("numpy boolean subtract, the `-` operator, is not supported", loc,
                                     hints=("use ^ (exclusive or), or convert with int(...)",))  # fmt: skip
        return _apply("|" if op == "+" else "&", a, b, t, loc)
    return _apply(op, a, b, t, loc)


def _modular(op: str, a: Number, b: Number, loc: Loc) -> Number:
    t = _known(promote(a.type, b.type), op, a, b, loc)
    if t == PY_BOOL:
        t = PY_INT
    if t.dtype is DType.BOOL:
        t = NumberType(DType.INT8, python=False)
    if t.dtype.is_complex:
        raise TypeInferenceError(f"complex numbers have no {op}", loc)
    return _apply(op, a, b, t, loc, trap=t.python)


def _power(a: Number, b: Number, loc: Loc) -> Number:
    t = _known(promote(a.type, b.type), "**", a, b, loc)
    if t == PY_BOOL:
        t = PY_INT
    if t.dtype is DType.BOOL:
        t = NumberType(DType.INT8, python=False)
    exponent = b.constant
    if t.dtype.is_integer and isinstance(exponent, int) and exponent < 0:
        if not t.python:
            raise TypeInferenceError(
                "Integers to negative integer powers are not allowed", loc,
                hints=("NumPy raises ValueError here; convert the base with float(...)",),
            )  # fmt: skip
        t = PY_FLOAT
    return _apply("**", a, b, t, loc)


def _integers(op: str, a: Number, b: Number, loc: Loc) -> NumberType:
    t = _known(promote(a.type, b.type), op, a, b, loc)
    if t == PY_BOOL:
        return PY_INT
    if t.dtype is DType.BOOL:
        return NumberType(DType.INT8, python=False)
    if not t.dtype.is_integer:
        raise TypeInferenceError(
            f"{op} takes integers, not {describe(a)} and {describe(b)}", loc,
            hints=("convert with int(...) or np.int64(...)",),
        )  # fmt: skip
    return t


def _bitwise(op: str, a: Number, b: Number, loc: Loc) -> Number:
    t = promote(a.type, b.type)
    if t is None or t.dtype.kind not in "biu":
        raise TypeInferenceError(
            f"{op} takes integers or bools, not {describe(a)} and {describe(b)}", loc,
            hints=("on conditions use `and` and `or`; convert numbers with int(...)",),
        )  # fmt: skip
    return _apply(op, a, b, t, loc)


def negative(a: Number, loc: Loc) -> Number:
    """`-a`."""
    if a.python and a.constant is not None:
        value = a.constant
        return python_number(-value, loc) if value != -(2**63) else Number(a.expr, python=True)
    if a.type.dtype is DType.BOOL:
        if not a.python:
            raise TypeInferenceError("The numpy boolean negative, the `-` operator, is not supported", loc,
                                     hints=("use `not`",))  # fmt: skip
        a = to_type(a, PY_INT)
    return Number(Unary("-", a.expr, loc=loc), a.python)


def invert(a: Number, loc: Loc) -> Number:
    """`~a`."""
    if a.type == PY_BOOL:
        a = to_type(a, PY_INT)
    if a.type.dtype.kind not in "biu":
        raise TypeInferenceError(f"~ takes integers or bools, not {describe(a)}", loc)
    return Number(Unary("~", a.expr, loc=loc), a.python)


def logical_not(a: Number, loc: Loc) -> Number:
    """`not a`."""
    if a.constant is not None:
        return python_number(not a.constant, loc)
    return Number(Unary("~", truth_of(a.expr), loc=loc), python=True)


def compare(op: str, a: Number, b: Number, loc: Loc) -> Number:
    """`a op b` for the six comparisons; exact between integers of any types, as in NumPy 2."""
    python = a.python and b.python
    ka, kb = a.type.dtype.kind, b.type.dtype.kind
    if "c" in (ka, kb) and op not in ("==", "!="):
        raise TypeInferenceError("complex numbers have no order", loc, hints=("compare abs(z) or z.real",))
    if ka in "biu" and kb in "biu":
        if isinstance(a.expr, Const) and isinstance(b.expr, Const):  # such as `x.ndim == 2`
            known = _COMPARISONS[op](a.expr.value, b.expr.value)
            return Number(const(known, DType.BOOL, loc), python)
        return Number(_compare_integers(op, a.expr, b.expr, loc), python)
    t = _known(promote(a.type, b.type), op, a, b, loc)
    return Number(Compare(op, cast(a.expr, t.dtype), cast(b.expr, t.dtype), loc=loc), python)


_COMPARISONS: dict[str, Callable[..., bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq,
    "!=": operator.ne,
}  # fmt: skip

_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


def _compare_integers(op: str, a: Expr, b: Expr, loc: Loc) -> Expr:
    if a.dtype is b.dtype:
        return Compare(op, a, b, loc=loc)
    wide = DType.UINT64
    if a.dtype is not wide and b.dtype is not wide:
        return Compare(op, cast(a, DType.INT64), cast(b, DType.INT64), loc=loc)
    if "i" not in (a.dtype.kind, b.dtype.kind):
        return Compare(op, cast(a, wide), cast(b, wide), loc=loc)
    if b.dtype is wide:
        return _compare_integers(_MIRRORED[op], b, a, loc)
    # a is uint64 and b signed: a negative b is below every a, else both are unsigned.
    if isinstance(b, Const):
        if int(b.value.real) < 0:
            return const(op in (">", ">=", "!="), DType.BOOL, loc)
        return Compare(op, a, cast(b, wide), loc=loc)
    zero = Const(0, b.dtype, loc=loc)
    both = Compare(op, a, cast(b, wide), loc=loc)
    if op in (">", ">=", "!="):
        return Logical("or", Compare("<", b, zero, loc=loc), both, loc=loc)
    return Logical("and", Compare(">=", b, zero, loc=loc), both, loc=loc)


def common_type(a: Number, b: Number) -> NumberType | None:
    """The type for a value that is one of the two, not a result of both: it holds either."""
    t = promote(a.type, b.type)
    for number in (a, b):
        if t is not None and number.python:
            t = holding(t, number.constant)
    return t


def holding(t: NumberType, literal: bool | int | float | complex | None) -> NumberType:
    """`t`, or the widest type of its kind where it cannot hold a literal: -1 beside uint8."""
    if t.python or literal is None:
        return t
    if t.dtype.is_integer and isinstance(literal, int) and not holds(t.dtype, literal):
        return NumberType(DType.INT64, python=False)
    if t.dtype is DType.FLOAT32 and isinstance(literal, float) and math.isfinite(literal):
        return NumberType(DType.FLOAT64, python=False) if abs(literal) > _LARGEST_FLOAT32 else t
    return t


_LARGEST_FLOAT32 = 3.4028234663852886e38


def select(cond: Expr, a: Number, b: Number, loc: Loc) -> Number:
    """`a if cond else b`, in the type that both meet in."""
    t = _known(common_type(a, b), "or", a, b, loc)
    if isinstance(cond, Const):
        return to_type(a if cond.value else b, t)
    return Number(Select(cond, cast(a.expr, t.dtype), cast(b.expr, t.dtype), loc=loc), t.python)


def extremum(op: str, a: Number, b: Number, loc: Loc) -> Number:
    """op "min", "max" (Python's) or "minimum", "maximum" (NumPy's) of two numbers."""
    builtin = op in ("min", "max")
    t = _known(common_type(a, b) if builtin else promote(a.type, b.type), op, a, b, loc)
    if t.dtype.is_complex:
        raise TypeInferenceError("complex numbers have no order", loc, hints=("compare abs(z) or z.real",))
    if op in ("minimum", "maximum"):
        t = NumberType(t.dtype, python=False)
    if t.dtype is DType.BOOL:
        return Number(Binary("&" if op.startswith("min") else "|", a.expr, b.expr, loc=loc), t.python)
    return _apply(op, a, b, t, loc)


def nearest(a: Number, dtype: DType, loc: Loc) -> Number:
    """A Python int as the value of an integer type that is nearest to it."""
    if a.type != PY_INT or not dtype.is_integer or is_within(range_of(a.expr), limits(dtype)):
        return a
    least, greatest = limits(dtype)
    if isinstance(a.constant, int):
        return python_number(min(max(a.constant, least), greatest), loc)
    low, high = python_number(max(least, -(2**63)), loc), python_number(min(greatest, 2**63 - 1), loc)
    return extremum("min", extremum("max", a, low, loc), high, loc)


def absolute(a: Number, loc: Loc) -> Number:
    """`abs(a)`; a complex number's is real."""
    if a.type == PY_BOOL:
        a = to_type(a, PY_INT)
    if a.constant is not None and a.python:
        return python_number(abs(a.constant), loc)
    dtype = a.type.dtype
    if dtype is DType.BOOL or dtype.kind == "u":
        return a
    return Number(Intrinsic("abs", (a.expr,), dtype.part, loc=loc), a.python)
