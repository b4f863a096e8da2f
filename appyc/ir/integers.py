"""The values that an integer expression can have, as far as the expression itself shows."""

from __future__ import annotations

from appyc.ir.nodes import Binary, Cast, Const, Expr, Extent, Intrinsic, Select, Unary
from appyc.ir.types import DType

Range = tuple[int, int]


def limits(dtype: DType) -> Range:
    """The least and the greatest value of an integer type, or of bool."""
    if dtype is DType.BOOL:
        return 0, 1
    low = 0 if dtype.kind == "u" else -(1 << (dtype.bits - 1))
    return low, low + (1 << dtype.bits) - 1


def is_within(inner: Range, outer: Range) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def range_of(expr: Expr) -> Range:
    """Bounds of an expression of an integer type or bool.

    >>> range_of(Binary("%", Var(n), Const(7)))
    (0, 6)
    """
    whole = limits(expr.dtype)
    found = _range(expr)
    return found if found is not None and is_within(found, whole) else whole


def _range(expr: Expr) -> Range | None:
    match expr:
        case Const(value=int(value)):
            return int(value), int(value)
        case Extent():
            return 0, limits(DType.INT64)[1]
        case Cast(arg=arg) if arg.dtype.is_integer or arg.dtype is DType.BOOL:
            return range_of(arg)
        case Select(then=then, orelse=orelse):
            one, other = range_of(then), range_of(orelse)
            return min(one[0], other[0]), max(one[1], other[1])
        case Unary(op="-", arg=arg):
            low, high = range_of(arg)
            return -high, -low
        case Unary(op="~", arg=arg) if arg.dtype.kind == "i":
            low, high = range_of(arg)
            return ~high, ~low
        case Intrinsic(name="abs", args=(arg,)):
            low, high = range_of(arg)
            return (0 if low <= 0 <= high else min(abs(low), abs(high))), max(abs(low), abs(high))
        case Binary():
            return _range_of_binary(expr.op, range_of(expr.lhs), range_of(expr.rhs))
        case _:
            return None


def _range_of_binary(op: str, a: Range, b: Range) -> Range | None:
    corners = {"+": lambda x, y: x + y, "-": lambda x, y: x - y, "*": lambda x, y: x * y}
    match op:
        case "+" | "-" | "*":
            ends = [corners[op](x, y) for x in a for y in b]
            return min(ends), max(ends)
        case "%" if b[0] > 0:
            return 0, min(b[1] - 1, a[1]) if a[0] >= 0 else b[1] - 1
        case "%" if b[1] < 0:
            return b[0] + 1, 0
        case "//" if b[0] > 0:
            ends = [x // y for x in a for y in b]
            return min(ends), max(ends)
        case ">>" if b[0] >= 0:
            ends = [x >> min(y, 64) for x in a for y in b]
            return min(ends), max(ends)
        case "&" if a[0] >= 0 or b[0] >= 0:
            return 0, min(r[1] for r in (a, b) if r[0] >= 0)
        case "|" | "^" if a[0] >= 0 and b[0] >= 0:
            return 0, (1 << max(a[1], b[1]).bit_length()) - 1
        case "min" | "minimum":
            return min(a[0], b[0]), min(a[1], b[1])
        case "max" | "maximum":
            return max(a[0], b[0]), max(a[1], b[1])
        case _:
            return None
