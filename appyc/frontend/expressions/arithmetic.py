"""Operators on numbers: type promotion as in NumPy 2 and Python, and the IR for them."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import replace

from appyc.errors import LengthError, Loc, TypeInferenceError, UnsupportedError
from appyc.frontend.expressions.ints_or_floats import are_ints_or_floats, is_int, without_negative_zero
from appyc.frontend.types.characters import cast_character
from appyc.frontend.types.descriptions import describe
from appyc.frontend.types.numbers import (
    PY_BOOL,
    PY_COMPLEX,
    PY_FLOAT,
    PY_INT,
    PY_LARGE_INT,
    NumberType,
    PartedTypesError,
    division_type,
    holds,
    joined,
    promote,
)
from appyc.frontend.types.values import Number
from appyc.ir.integers import Range, is_within, limits, range_of, range_of_binary
from appyc.ir.nodes import NEGATED, Binary, Cast, Compare, Const, Expr, Intrinsic, Load, Symbol, Unary
from appyc.ir.types import DType


def const(value: bool | int | float | complex, dtype: DType, loc: Loc) -> Const:
    return Const(value, dtype, loc=loc)


def integer(value: int, loc: Loc) -> Const:
    """An int64 constant."""
    return Const(value, DType.INT64, loc=loc)


def python_number(value: bool | int | float | complex, loc: Loc) -> Number:
    """A literal of the program. Raises UnsupportedError for an int beyond 64 bits."""
    match value:
        case bool():
            return Number(const(value, DType.BOOL, loc), python=True)
        case int():
            dtype = next((d for d in (DType.INT64, DType.UINT64) if holds(d, value)), None)
            if dtype is None:
                raise UnsupportedError(f"the integer {value} does not fit into 64 bits", loc, "use a float")
            return Number(const(value, dtype, loc), python=True)
        case float():
            return Number(const(value, DType.FLOAT64, loc), python=True)
        case complex():
            return Number(const(value, DType.COMPLEX128, loc), python=True)


def element_of(array: Symbol, index: tuple[Expr, ...], loc: Loc, *, checked: bool = True) -> Number:
    """An element of an array; of a list, bytes or a text it is a number of Python's own."""
    load = Load(array, index, checked=checked, loc=loc)
    is_list = array.array.is_list
    kinds = {"u": DType.INT64, "s": DType.CHARACTER} if is_list else {}
    return Number(cast(load, kinds.get(array.dtype.kind, array.dtype)), is_list)


def cast(expr: Expr, dtype: DType) -> Expr:
    """The expression converted to `dtype`; constants are folded."""
    if expr.dtype is dtype:
        return expr
    if "s" in (expr.dtype.kind, dtype.kind):
        return cast_character(expr, dtype)
    if isinstance(expr, Const):
        return Const(_convert(expr.value, dtype), dtype, loc=expr.loc)
    if dtype is DType.BOOL:
        return truth_of(expr)
    return Cast(expr, dtype, loc=expr.loc)


def index_of(expr: Expr) -> Expr:
    """An integer as an int64 index or bound; a larger one of uint64 is the greatest int64, beyond every array's end."""
    if expr.dtype is DType.UINT64 and not is_within(range_of(expr), limits(DType.INT64)):
        expr = Binary("min", expr, Const(limits(DType.INT64)[1], DType.UINT64, loc=expr.loc), loc=expr.loc)
    return cast(expr, DType.INT64)


def _convert(value: bool | int | float | complex, dtype: DType) -> bool | int | float | complex:
    if isinstance(value, complex) and not dtype.is_complex:
        value = value.real
    if dtype.is_integer and not isinstance(value, complex):
        wrapped = int(value if math.isfinite(value) else 0) & ((1 << dtype.bits) - 1)
        return wrapped - (1 << dtype.bits) if dtype.kind == "i" and wrapped >> (dtype.bits - 1) else wrapped
    out = dtype.numpy.type(value).item()
    assert isinstance(out, bool | int | float | complex)
    return out


def to_type(number: Number, target: NumberType) -> Number:
    return Number(cast(number.expr, target.dtype), target.python, target.either)


def truth_of(expr: Expr) -> Expr:
    """The truth value of `expr`, as a bool."""
    if expr.dtype is DType.BOOL:
        return expr
    nothing = -1 if expr.dtype.kind == "s" else _convert(0, expr.dtype)
    if isinstance(expr, Const):
        return const(expr.value != nothing, DType.BOOL, expr.loc)
    return Compare("!=", expr, Const(nothing, expr.dtype, loc=expr.loc), loc=expr.loc)


def constant_truth(expr: Expr) -> bool | None:
    """The value of a condition if it is known at compile time, else None."""
    return bool(expr.value) if isinstance(expr, Const) else None


PYTHON_BINARY: dict[str, Callable[[object, object], object]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    "//": operator.floordiv, "%": operator.mod, "&": operator.and_, "|": operator.or_,
    "^": operator.xor, "<<": operator.lshift, ">>": operator.rshift, "**": operator.pow,
}  # fmt: skip


def binary(op: str, a: Number, b: Number, loc: Loc) -> Number:
    """The binary operation `a op b`. Raises TypeInferenceError where the operands' types do not allow it."""
    if a.either is not None or b.either is not None:
        return in_each_type(lambda numbers: binary(op, numbers[0], numbers[1], loc), (a, b), loc)
    if a.is_int is not None or b.is_int is not None:
        return _of_ints_or_floats(op, a, b, loc)
    if a.type == PY_COMPLEX and b.expr.dtype is DType.FLOAT64:
        b = replace(
            b, python=True
        )  # np.float64 is a float of Python's, which complex.__add__ takes for itself
    if folded := _fold(op, a, b, loc):
        return folded
    match op:
        case "+" | "-" | "*":
            return _additive(op, a, b, loc)
        case "/":
            t = division_type(a.type, b.type)
            return apply(op, a, b, t, loc, trap=t.python)
        case "//" | "%":
            return _modular(op, a, b, loc)
        case "**":
            return _power(a, b, loc)
        case "&" | "|" | "^":
            return _bitwise(op, a, b, loc)
        case "<<" | ">>":
            return _shift(op, a, b, loc)
        case _:
            raise UnsupportedError(f"operator {op!r} is not supported", loc)


def _of_ints_or_floats(op: str, a: Number, b: Number, loc: Loc) -> Number:
    """The operation on numbers of which only the run tells whether they are ints: it is done with floats."""
    others = [n for n in (a, b) if n.is_int is None]
    gives_float = op == "/" or any(n.type.dtype.kind == "f" for n in others)
    is_told = op in ("+", "-", "*", "/", "//", "%") and (gives_float or are_ints_or_floats(a, b))
    if not all(n.python for n in (a, b) if n.is_int is not None):  # an int of Python's, or np.float64
        is_told &= all(n.python or n.type.dtype is DType.FLOAT64 for n in others)
        raises = op in ("/", "//", "%") and not b.constant and (b.python or b.is_int is not None)
        is_told &= not raises  # for zero, if it is Python's
    if not is_told:
        raise UnsupportedError(
            f"what {op!r} does with an int and a float differs, and which this is shows only when the program runs",
            loc, "convert the numbers, with int(...) or float(...)",
        )  # fmt: skip
    x, y = (to_type(n, NumberType(DType.FLOAT64, n.python)) if n.python or n.is_int else n for n in (a, b))
    out = binary(op, x, y, loc)
    if gives_float:
        return out
    out = replace(out, is_int=Binary("&", is_int(a, loc), is_int(b, loc), loc=loc))
    return out if op in ("+", "-") else without_negative_zero(out, loc)


def in_each_type(make: Callable[[Sequence[Number]], Number], operands: Sequence[Number], loc: Loc) -> Number:
    """`make` of operands that may have one of several types, if the result is the same for each type.

    Raises PartedTypesError if it is not.
    """
    k, mixed = next((k, n) for k, n in enumerate(operands) if n.either is not None)
    if any(n.type == PY_LARGE_INT for n in operands):
        raise PartedTypesError(mixed.either, loc)
    wide = Number(mixed.expr, python=False)  # of a type that has the values of all
    *ways, whole = (
        _in_each_type_or_one(make, [*operands[:k], way, *operands[k + 1 :]], loc)
        for way in (*ways_of(mixed), wide)
    )
    found = [way for way in ways if way is not None]
    weak = [range_of(n.expr) for n in operands if n.type == PY_INT]
    exact = [n for n in (whole, ways[0] if mixed.either and mixed.either.python else None) if n is not None]
    if len(found) == len(ways) and (out := _one_of(found, exact, weak)) is not None:
        if found[0].python and isinstance(out.expr, Binary | Unary) and not _fits(make, operands, k):
            return replace(out, expr=replace(out.expr, python=True))  # it does not wrap
        return out
    raise PartedTypesError(mixed.either, loc)


def _fits(make: Callable[[Sequence[Number]], Number], operands: Sequence[Number], k: int) -> bool:
    """Whether the result stays within 64 bits if operand number k is the int of Python's that it may be."""
    number = operands[k]
    if number.either is None or number.either.python is None or number.type.dtype is not DType.INT64:
        return True
    low, high = (integer(end, number.expr.loc) for end in number.either.python)
    within = Binary("min", Binary("max", number.expr, low, loc=low.loc), high, loc=low.loc)
    match make([*operands[:k], Number(within, python=True), *operands[k + 1 :]]).expr:
        case Binary(op, lhs, rhs, python=True):
            found = range_of_binary(op, range_of(lhs), range_of(rhs))
        case Unary("-", arg, python=True):
            found = range_of_binary("-", (0, 0), range_of(arg))
        case _:
            return True
    return found is not None and is_within(found, limits(DType.INT64))


def _in_each_type_or_one(
    make: Callable[[Sequence[Number]], Number], operands: Sequence[Number], loc: Loc
) -> Number | None:
    """`make` of the operands, further alternatives included; None if their types do not allow the operation."""
    try:
        if any(n.either is not None for n in operands):
            return in_each_type(make, operands, loc)
        return make(operands)
    except TypeInferenceError:
        return None


def ways_of(number: Number) -> list[Number]:
    """A number that may have one of several types, converted to each of them; Python's int is first."""
    either = number.either
    if either is None:
        return [number]
    out = []
    if either.python is not None:
        low, high = either.python  # `-x` and `~x` must fit too
        is_exact = holds(number.type.dtype, -low) and holds(number.type.dtype, ~high)
        out.append(Number(number.expr if is_exact else cast(number.expr, DType.INT64), python=True))
    dtypes = sorted(either.dtypes, key=lambda dtype: dtype.bits)
    return out + [Number(cast(number.expr, dtype), python=False) for dtype in dtypes]


def _one_of(results: Sequence[Number], exact: Sequence[Number], weak: Sequence[Range]) -> Number | None:
    """The common value of the results for each type; None if they may differ. exact: results of operands that are
    converted to no narrower type. weak: ranges of Python int operands."""
    dtypes = {n.type.dtype for n in results}
    is_one = len(dtypes) == 1
    fitting = next((n for n in exact if n.type.dtype in dtypes), None)
    if is_one and len({n.python for n in results if n.either is None}) == 1:
        return fitting
    if is_one and not results[0].type.dtype.is_integer:
        return fitting and replace(fitting, python=results[-1].python)
    if not exact or not all(dtype.is_integer for dtype in dtypes):
        return None
    widest = max(exact, key=lambda n: n.type.dtype.bits)  # the one that does not wrap
    if dtypes != {DType.INT64}:
        values = range_of(widest.expr)
        if not all(is_within(each, limits(dtype)) for each in (values, *weak) for dtype in dtypes):
            return None
    t: NumberType | None = results[0].type
    for n in results[1:]:
        t = joined(t, n.type) if t is not None else None
    return None if t is None else to_type(widest, t)


def _fold(op: str, a: Number, b: Number, loc: Loc) -> Number | None:
    """Constant folding: the result for two Python literals if the operation cannot raise; else None."""
    if not (a.python and b.python) or a.constant is None or b.constant is None:
        return None
    x, y = a.constant, b.constant
    if op == "**" and isinstance(x, int) and isinstance(y, int) and not 0 <= y <= 64:
        return None
    if op not in PYTHON_BINARY:
        return None
    if op in ("<<", ">>") and not (isinstance(y, int) and 0 <= y < 64):
        return None
    try:
        value = PYTHON_BINARY[op](x, y)
    except (ArithmeticError, TypeError, ValueError):
        return None  # the program raises at run time, not at compile time
    if isinstance(value, int) and not isinstance(value, bool) and not holds(DType.INT64, value):
        return None
    assert isinstance(value, bool | int | float | complex)
    return python_number(value, loc)


def apply(op: str, a: Number, b: Number, t: NumberType, loc: Loc, *, trap: bool = False) -> Number:
    lhs, rhs = cast(a.expr, t.dtype), cast(b.expr, t.dtype)
    trap = trap and not (isinstance(rhs, Const) and rhs.value != 0)
    return Number(Binary(op, lhs, rhs, trap, t == PY_INT, loc=loc), t.python)


def untrapped(a: Number) -> Number:
    """The result of an operation of which nothing is tested."""
    e = a.expr
    return replace(a, expr=replace(e, trap=False, python=False)) if isinstance(e, Binary) else a


def _arithmetic_type(a: Number, b: Number) -> NumberType:
    """The type of an arithmetic operation, of which bools are operands as integers are."""
    t = promote(a.type, b.type)
    if t == PY_BOOL:
        return PY_INT
    return NumberType(DType.INT8, python=False) if t.dtype is DType.BOOL else t


def _additive(op: str, a: Number, b: Number, loc: Loc) -> Number:
    t = promote(a.type, b.type)
    if t.dtype is not DType.BOOL or t == PY_BOOL:
        return apply(op, a, b, PY_INT if t == PY_BOOL else t, loc)
    if op == "-":
        raise TypeInferenceError("numpy boolean subtract, the `-` operator, is not supported", loc,
                                 "use ^ (exclusive or), or convert with int(...)")  # fmt: skip
    return apply("|" if op == "+" else "&", a, b, t, loc)


def _modular(op: str, a: Number, b: Number, loc: Loc) -> Number:
    t = _arithmetic_type(a, b)
    if t.dtype.is_complex:
        raise TypeInferenceError(f"complex numbers have no {op}", loc)
    return apply(op, a, b, t, loc, trap=t.python)


def _power(a: Number, b: Number, loc: Loc) -> Number:
    t = _arithmetic_type(a, b)
    exponent = b.constant
    if t.dtype.is_integer and isinstance(exponent, int) and exponent < 0:
        if not t.python:
            raise LengthError("Integers to negative integer powers are not allowed", loc,
                              "NumPy raises ValueError here; convert the base with float(...)")  # fmt: skip
        t = PY_FLOAT
    return apply("**", a, b, t, loc)


def _shift(op: str, a: Number, b: Number, loc: Loc) -> Number:
    t = _arithmetic_type(a, b)
    if not t.dtype.is_integer:
        raise TypeInferenceError(f"{op} takes integers, not {describe(a)} and {describe(b)}", loc,
                                 "convert with int(...) or np.int64(...)")  # fmt: skip
    return apply(op, a, b, t, loc)


def _bitwise(op: str, a: Number, b: Number, loc: Loc) -> Number:
    t = promote(a.type, b.type)
    if t.dtype.kind not in "biu":
        raise TypeInferenceError(f"{op} takes integers or bools, not {describe(a)} and {describe(b)}", loc,
                                 "on conditions use `and` and `or`; convert numbers with int(...)")  # fmt: skip
    return apply(op, a, b, t, loc)


def negative(a: Number, loc: Loc) -> Number:
    """The negation `-a`."""
    if a.either is not None:
        return in_each_type(lambda numbers: negative(numbers[0], loc), (a,), loc)
    if a.python and a.constant is not None:
        value = a.constant
        return python_number(-value, loc) if value != -(2**63) else Number(a.expr, python=True)
    if a.type.dtype is DType.BOOL:
        if not a.python:
            raise TypeInferenceError("The numpy boolean negative, the `-` operator, is not supported", loc,
                                     "use `~`")  # fmt: skip
        a = to_type(a, PY_INT)
    out = Number(Unary("-", a.expr, a.type == PY_INT, loc=loc), a.python, is_int=a.is_int)
    return out if a.is_int is None else without_negative_zero(out, loc)


def invert(a: Number, loc: Loc) -> Number:
    """The bitwise complement `~a`."""
    if a.either is not None:
        return in_each_type(lambda numbers: invert(numbers[0], loc), (a,), loc)
    if a.type == PY_BOOL:
        a = to_type(a, PY_INT)
    if a.type.dtype.kind not in "biu":
        raise TypeInferenceError(f"~ takes integers or bools, not {describe(a)}", loc)
    return Number(Unary("~", a.expr, loc=loc), a.python)


def logical_not(a: Number, loc: Loc) -> Number:
    """The logical negation `not a`."""
    if a.constant is not None:
        return python_number(not a.constant, loc)
    cond = truth_of(a.expr)
    if isinstance(cond, Compare) and (cond.op in ("==", "!=") or cond.lhs.dtype.kind in "biu"):  # no NaN
        return Number(replace(cond, op=NEGATED[cond.op], loc=loc), python=True)
    return Number(Unary("~", cond, loc=loc), python=True)


def absolute(a: Number, loc: Loc) -> Number:
    """`abs(a)`; the result is real for a complex number."""
    if a.either is not None:
        return in_each_type(lambda numbers: absolute(numbers[0], loc), (a,), loc)
    if a.type == PY_BOOL:
        a = to_type(a, PY_INT)
    if a.constant is not None and a.python:
        return python_number(abs(a.constant), loc)
    dtype = a.type.dtype
    if dtype is DType.BOOL or dtype.kind == "u":
        return a
    number = negative(a, loc) if a.type == PY_INT else a  # of -2**63 the negation leaves 64 bits
    return Number(Intrinsic("abs", (number.expr,), dtype.part, loc=loc), a.python, is_int=a.is_int)
