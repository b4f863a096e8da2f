"""Comparisons of numbers, and the choice between numbers: selects, minimum and maximum."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import replace

from appyc.errors import Loc, TypeInferenceError
from appyc.frontend.expressions.arithmetic import (
    apply,
    cast,
    const,
    in_each_type,
    index_of,
    python_number,
    to_type,
)
from appyc.frontend.expressions.ints_or_floats import are_ints_or_floats, is_int
from appyc.frontend.types.numbers import (
    PY_INT,
    PY_LARGE_INT,
    NumberType,
    PartedTypesError,
    either_of,
    joined,
    promote,
)
from appyc.frontend.types.values import Number, Slot
from appyc.ir.integers import is_within, limits, range_of
from appyc.ir.nodes import MIRRORED, Binary, Compare, Const, Expr, Intrinsic, Select
from appyc.ir.types import DType


def compare(op: str, a: Number, b: Number, loc: Loc, *, by_ufunc: bool = False) -> Number:
    """`a op b` for the six comparisons; exact between integers of any types, as in NumPy 2. by_ufunc: NumPy compares
    elements, not two numbers."""
    python = a.python and b.python
    ka, kb = a.type.dtype.kind, b.type.dtype.kind
    if "s" in (ka, kb):
        if ka != kb:
            return Number(const(_unequal(op, a, b, loc), DType.BOOL, loc), python)
        return Number(Compare(op, a.expr, cast(b.expr, a.expr.dtype), loc=loc), python)
    if "c" in (ka, kb) and op not in ("==", "!="):
        if python:
            raise TypeInferenceError("complex numbers have no order", loc, "compare abs(z) or z.real")
        dtype = promote(a.type, b.type).dtype
        by_ufunc |= dtype not in (a.type.dtype, b.type.dtype)
        return Number(_compare_complex(op, cast(a.expr, dtype), cast(b.expr, dtype), loc, by_ufunc), python)
    if ka in "biu" and kb in "biu":
        if isinstance(a.expr, Const) and isinstance(b.expr, Const):  # such as `x.ndim == 2`
            known = _COMPARISONS[op](a.expr.value, b.expr.value)
            return Number(const(known, DType.BOOL, loc), python)
        return Number(_compare_integers(op, a.expr, b.expr, loc), python)
    t = promote(a.type, b.type)
    return Number(Compare(op, cast(a.expr, t.dtype), cast(b.expr, t.dtype), loc=loc), python)


def _unequal(op: str, a: Number, b: Number, loc: Loc) -> bool:
    """The comparison of a character and a number."""
    if op in ("==", "!="):
        return op == "!="
    raise TypeInferenceError(f"'{op}' not supported between instances of '{a.type}' and '{b.type}'", loc)


_COMPARISONS: dict[str, Callable[..., bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq,
    "!=": operator.ne,
}  # fmt: skip


def _compare_complex(op: str, a: Expr, b: Expr, loc: Loc, by_ufunc: bool) -> Expr:
    """NumPy's order: that of the real parts, and where they are equal that of the imaginary ones. Only its ufuncs see
    that an imaginary part is NaN where the real ones are not equal."""
    (a_real, b_real), (a_imag, b_imag) = (
        [Intrinsic(part, (e,), e.dtype.part, loc=loc) for e in (a, b)] for part in ("real", "imag")
    )
    first: Expr = Compare(op[0], a_real, b_real, loc=loc)
    for imag in (a_imag, b_imag) if by_ufunc else ():
        first = Binary("&", first, Compare("==", imag, imag, loc=loc), loc=loc)
    equal = Compare("==", a_real, b_real, loc=loc)
    return Binary("|", first, Binary("&", equal, Compare(op, a_imag, b_imag, loc=loc), loc=loc), loc=loc)


def _compare_integers(op: str, a: Expr, b: Expr, loc: Loc) -> Expr:
    if a.dtype is b.dtype:
        return Compare(op, a, b, loc=loc)
    wide = DType.UINT64
    if a.dtype is not wide and b.dtype is not wide:
        return Compare(op, cast(a, DType.INT64), cast(b, DType.INT64), loc=loc)
    if "i" not in (a.dtype.kind, b.dtype.kind):
        return Compare(op, cast(a, wide), cast(b, wide), loc=loc)
    if b.dtype is wide:
        return _compare_integers(MIRRORED[op], b, a, loc)
    # a is uint64 and b signed: a negative b is below every a, else both are unsigned.
    if isinstance(b, Const):
        if int(b.value.real) < 0:  # `a` is evaluated all the same: it may raise
            return Compare(">=" if op in (">", ">=", "!=") else "<", a, Const(0, wide, loc=loc), loc=loc)
        return Compare(op, a, cast(b, wide), loc=loc)
    zero = Const(0, b.dtype, loc=loc)
    both = Compare(op, a, cast(b, wide), loc=loc)
    if op in (">", ">=", "!="):
        return Binary("|", Compare("<", b, zero, loc=loc), both, loc=loc)
    return Binary("&", Compare(">=", b, zero, loc=loc), both, loc=loc)


def common_type(a: Number | Slot, b: Number | Slot) -> NumberType | None:
    """The join of two numbers' types: a type that holds either value, as at a join or in a select."""
    t = joined(a.known_type, b.known_type)
    for number in (a, b):
        literal = number.constant if isinstance(number, Number) else number.literal
        largest = _LARGEST.get(t.dtype) if t is not None and number.python else None
        if largest is not None and isinstance(literal, float) and largest < abs(literal) < math.inf:
            return NumberType(DType.FLOAT64, python=False)
    return t


_LARGEST = {DType.FLOAT16: 65504.0, DType.FLOAT32: 3.4028234663852886e38}


def select(cond: Expr, a: Number, b: Number, loc: Loc) -> Number:
    """`a if cond else b`, in the common type of both."""
    t = common_type(a, b)
    if t is None:
        raise PartedTypesError(None, loc)
    if isinstance(cond, Const):
        return to_type(a if cond.value else b, t)
    out = Number(Select(cond, cast(a.expr, t.dtype), cast(b.expr, t.dtype), loc=loc), t.python, t.either)
    return _flagged(out, cond, a, b, loc)


def _flagged(out: Number, cond: Expr, a: Number, b: Number, loc: Loc) -> Number:
    """The choice `a if cond else b`, with the flag whether it is an int, where only the run tells."""
    if not are_ints_or_floats(a, b):
        return out
    return replace(out, is_int=Select(cond, is_int(a, loc), is_int(b, loc), loc=loc))


def extremum(op: str, a: Number, b: Number, loc: Loc) -> Number:
    """op "min", "max" (Python's) or "minimum", "maximum" (NumPy's) of two numbers."""
    if op in ("min", "max"):
        return _builtin_extremum(op, a, b, loc)
    if a.either is not None or b.either is not None:
        return in_each_type(lambda numbers: extremum(op, numbers[0], numbers[1], loc), (a, b), loc)
    return _extremum(op, a, b, promote(a.type, b.type), loc)


def _builtin_extremum(op: str, a: Number, b: Number, loc: Loc) -> Number:
    """Python's min and max, which keep each operand's own type."""
    t = common_type(a, b)
    if t is None and all(n.type.dtype.is_integer for n in (a, b)):
        # uint64 and a signed type: the maximum fits into uint64, the minimum into int64.
        dtype, end, other = (DType.UINT64, 0, "max") if op == "max" else (DType.INT64, 2**63 - 1, "min")
        a, b = (
            n if (n.type.dtype is DType.UINT64) == (dtype is DType.UINT64)
            else replace(n, expr=Binary(other, n.expr, Const(end, n.type.dtype, loc=loc), loc=loc))
            for n in (a, b)
        )  # fmt: skip
        out = Binary(op, cast(a.expr, dtype), cast(b.expr, dtype), loc=loc)
        python = a.python and b.python
        return Number(out, python, None if python else either_of(a.type, b.type))
    assert t is not None, "an integer and a float meet in a float"
    takes_b = compare("<" if op == "min" else ">", b, a, loc)
    return _flagged(_extremum(op, a, b, t, loc), takes_b.expr, b, a, loc)


def _extremum(op: str, a: Number, b: Number, t: NumberType, loc: Loc) -> Number:
    if t.dtype.is_complex:
        raise TypeInferenceError("complex numbers have no order", loc, "compare abs(z) or z.real")
    if op in ("minimum", "maximum"):
        t = NumberType(t.dtype, python=False)
    if t.dtype is DType.BOOL:
        return Number(Binary("&" if op.startswith("min") else "|", a.expr, b.expr, loc=loc), t.python)
    return replace(apply(op, a, b, t, loc), either=t.either)


def nearest(a: Number, dtype: DType, loc: Loc) -> Number:
    """A Python int saturated to the range of an integer type."""
    if a.type == PY_LARGE_INT and dtype is not DType.UINT64:
        a = Number(index_of(a.expr), python=True)
    if a.type != PY_INT or not dtype.is_integer or is_within(range_of(a.expr), limits(dtype)):
        return a
    least, greatest = limits(dtype)
    if isinstance(a.constant, int):
        return python_number(min(max(a.constant, least), greatest), loc)
    low, high = python_number(max(least, -(2**63)), loc), python_number(min(greatest, 2**63 - 1), loc)
    return extremum("min", extremum("max", a, low, loc), high, loc)
