"""The values that an integer expression can have, as far as the expression itself shows; limits and neutral elements of
types."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from functools import cache

from appyc.ir import nodes as ir
from appyc.ir.types import DType

Range = tuple[int, int]

_BITS = {"&": operator.and_, "|": operator.or_, "^": operator.xor}
_MONOTONIC = {"+": operator.add, "-": operator.sub, "*": operator.mul}
"""Operators whose bounds are among the results for the bounds of the operands."""

NOTHING_KNOWN: Mapping[ir.Symbol, Range] = {}


@cache
def limits(dtype: DType) -> Range:
    """The least and the greatest value of an integer type, or of bool."""
    if dtype is DType.BOOL:
        return 0, 1
    low = 0 if dtype.kind == "u" else -(1 << (dtype.bits - 1))
    return low, low + (1 << dtype.bits) - 1


def is_integer(dtype: DType) -> bool:
    return dtype.is_integer or dtype is DType.BOOL


def neutral_element(op: str, dtype: DType) -> bool | int | float | complex:
    """The value that changes nothing when it is combined.

    >>> neutral_element("min", DType.INT8)
    127
    """
    match op:
        case "+" | "|" | "^" | "or":
            value: float = 0
        case "*":
            value = 1
        case "&" | "and":
            value = limits(dtype)[1] if dtype.kind in "bu" else -1
        case _:
            least, greatest = (-math.inf, math.inf) if dtype.is_float else limits(dtype)
            value = greatest if op.startswith("min") else least
    out: bool | int | float | complex = dtype.numpy.type(value).item()
    return out


def is_within(inner: Range, outer: Range) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def hull(a: Range, b: Range) -> Range:
    return a if a == b else (min(a[0], b[0]), max(a[1], b[1]))


def cut(a: Range, b: Range) -> Range | None:
    low, high = max(a[0], b[0]), min(a[1], b[1])
    return (low, high) if low <= high else None


def range_of(
    expr: ir.Expr, known: Mapping[ir.Symbol, Range] = NOTHING_KNOWN, memo: dict[int, Range] | None = None
) -> Range:
    """Bounds of an expression of an integer type or bool. known: those of variables, and of arrays' extents.
    memo: of subexpressions that have been asked for, by `id`.

    >>> range_of(Binary("%", Var(n), Const(7)))
    (0, 6)
    """
    if isinstance(expr, ir.Const) and isinstance(expr.value, int):
        return int(expr.value), int(expr.value)
    if isinstance(expr, ir.Var):
        found = known.get(expr.symbol)
    elif memo is not None and (found := memo.get(id(expr))) is not None:
        return found
    else:
        found = _range(expr, known, memo)
    least, greatest = whole = limits(expr.dtype)
    if found is None or found[0] < least or found[1] > greatest:
        found = whole
    if memo is not None:
        memo[id(expr)] = found
    return found


def _range(expr: ir.Expr, known: Mapping[ir.Symbol, Range], memo: dict[int, Range] | None) -> Range | None:
    match expr:  # the most frequent ones first
        case ir.Binary():
            return range_of_binary(expr.op, range_of(expr.lhs, known, memo), range_of(expr.rhs, known, memo))
        case ir.Logical():
            a, b = range_of(expr.lhs, known, memo), range_of(expr.rhs, known, memo)
            return (
                (min(a[0], b[0]), min(a[1], b[1])) if expr.op == "and" else (max(a[0], b[0]), max(a[1], b[1]))
            )
        case ir.Compare() if is_integer(expr.lhs.dtype):
            return range_of_comparison(
                expr.op, range_of(expr.lhs, known, memo), range_of(expr.rhs, known, memo)
            )
        case ir.Unary(op="-", arg=arg):
            low, high = range_of(arg, known, memo)
            return -high, -low
        case ir.Unary(op="~", arg=arg) if arg.dtype is DType.BOOL:
            low, high = range_of(arg, known, memo)
            return 1 - high, 1 - low
        case ir.Unary(op="~", arg=arg) if arg.dtype.kind == "i":
            low, high = range_of(arg, known, memo)
            return ~high, ~low
        case ir.Likely(arg=arg):
            return range_of(arg, known, memo)
        case ir.Load() | ir.Call():
            return None
        case ir.Extent(array=array):
            return known.get(array, (0, limits(DType.INT64)[1]))
        case ir.Cast(arg=arg) if is_integer(arg.dtype):
            low, high = range_of(arg, known, memo)
            is_truth = expr.dtype is DType.BOOL
            return (int(low > 0 or high < 0), int(low != 0 or high != 0)) if is_truth else (low, high)
        case ir.Cast(
            arg=ir.Intrinsic(name="sqrt", args=(ir.Cast(arg=arg),))
            | ir.Binary(op="**", lhs=ir.Cast(arg=arg), rhs=ir.Const(value=0.5))
        ) if expr.dtype is DType.INT64 and arg.dtype.is_integer:
            low, high = range_of(arg, known, memo)
            least = math.isqrt(low) - 1 if low >= 0 else -(2**62)
            return least, math.isqrt(max(high, 0)) + 1  # both the number and its root are rounded
        case ir.Cast(arg=arg) if arg.dtype.is_float and expr.dtype is DType.INT64:
            return -(2**62), 2**62  # what else the processor makes of a float is no number
        case ir.Select(cond=cond, then=then, orelse=orelse):
            fails, holds = range_of(cond, known, memo)
            if fails == holds:
                return range_of(then if holds else orelse, known, memo)
            return hull(range_of(then, known, memo), range_of(orelse, known, memo))
        case ir.Intrinsic(name="abs", args=(arg,)):
            low, high = range_of(arg, known, memo)
            return (0 if low <= 0 <= high else min(abs(low), abs(high))), max(abs(low), abs(high))
        case _:
            return None


def range_of_comparison(op: str, a: tuple[float, float], b: tuple[float, float]) -> Range:
    """Whether a comparison always holds, and whether it ever does, of numbers within these bounds."""
    match op:
        case "<":
            return int(a[1] < b[0]), int(a[0] < b[1])
        case "<=":
            return int(a[1] <= b[0]), int(a[0] <= b[1])
        case "==":
            return int(a[0] == a[1] == b[0] == b[1]), int(a[0] <= b[1] and b[0] <= a[1])
        case "!=":
            low, high = range_of_comparison("==", a, b)
            return 1 - high, 1 - low
        case _:
            return range_of_comparison({">": "<", ">=": "<="}[op], b, a)


def range_of_binary(op: str, a: Range, b: Range) -> Range | None:
    """Bounds of `x op y` for x and y within these; None where nothing is known."""
    if a[0] == a[1] and b[0] == b[1] and op in _BITS:
        value = _BITS[op](a[0], b[0])
        return value, value
    match op:
        case "+" | "-" | "*":
            ends = [_MONOTONIC[op](x, y) for x in a for y in b]
            return min(ends), max(ends)
        case "%" if a[0] >= 0 and a[1] < b[0]:
            return a
        case "%" if b[0] == b[1] != 0 and a[0] // b[0] == a[1] // b[0]:
            ends = [x % b[0] for x in a]
            return min(ends), max(ends)
        case "%" if b[0] > 0:
            return 0, min(b[1] - 1, a[1]) if a[0] >= 0 else b[1] - 1
        case "%" if b[1] < 0:
            return b[0] + 1, 0
        case "%":
            return min(b[0] + 1, 0), max(b[1] - 1, 0)
        case "//" if b[0] > 0:
            ends = [x // y for x in a for y in b]
            return min(ends), max(ends)
        case "//":
            most = max(abs(x) for x in a)
            return -most, most
        case "<<" if b[0] >= 0 and b[1] <= 64:
            ends = [x << y for x in a for y in b]
            return min(ends), max(ends)
        case "**" if b[0] >= 0 and b[1] <= 64:
            most = max(1, *(abs(x) ** b[1] for x in a))
            return (0 if a[0] >= 0 or (b[0] == b[1] and b[0] % 2 == 0) else -most), most
        case ">>" if b[0] >= 0:
            ends = [x >> min(y, 64) for x in a for y in b]
            return min(ends), max(ends)
        case "&" if a[0] >= 0 or b[0] >= 0:
            return 0, min(r[1] for r in (a, b) if r[0] >= 0)
        case "|" | "^" if a[0] >= 0 and b[0] >= 0:
            return 0, (1 << max(a[1], b[1]).bit_length()) - 1
        case "&" | "|" | "^":
            bits = max((x if x >= 0 else ~x).bit_length() for x in (*a, *b))
            return -(1 << bits), (1 << bits) - 1
        case "min" | "minimum":
            return min(a[0], b[0]), min(a[1], b[1])
        case "max" | "maximum":
            return max(a[0], b[0]), max(a[1], b[1])
        case _:
            return None
