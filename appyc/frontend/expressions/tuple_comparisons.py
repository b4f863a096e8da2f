"""Elementwise and lexicographic comparisons of tuples: `a.shape != b.shape`, `(i, j) < (k, l)`.

    (a, b) == (c, d)        a == c and b == d
    (a, b) < (c, d)         a < c or (a == c and b < d)

Tuples of different lengths are never equal, and a tuple never equals a value of another type. Items are numbers,
tuples, and compile-time objects.

Does not handle: array items, whose comparison has no single truth value; Python's identity shortcut for NaN.
"""

from __future__ import annotations

import ast

from appyc.errors import Loc, UnsupportedError
from appyc.frontend.expressions import arithmetic, selections
from appyc.frontend.scope import constant_truth
from appyc.frontend.types.descriptions import describe
from appyc.frontend.types.values import Number, Opaque, TupleValue, Value
from appyc.ir.nodes import Logical

_ORDERS: dict[type[ast.cmpop], tuple[str, bool]] = {
    ast.Lt: ("<", False), ast.LtE: ("<", True), ast.Gt: (">", False), ast.GtE: (">", True),
}  # fmt: skip
"""By operator: the strict comparison of items, and the result for equal tuples."""


def compare_tuples(a: Value, op: ast.cmpop, b: Value, loc: Loc) -> Number | None:
    """The truth of `a op b` where one operand is a tuple and the other is not an array; else None."""
    if not (isinstance(a, TupleValue) or isinstance(b, TupleValue)):
        return None
    if not all(isinstance(v, TupleValue | Number | Opaque) for v in (a, b)):
        return None
    if isinstance(op, ast.Eq | ast.NotEq):
        same = _equal(a, b, loc)
        return same if isinstance(op, ast.Eq) else arithmetic.logical_not(same, loc)
    if not (isinstance(a, TupleValue) and isinstance(b, TupleValue)):
        raise UnsupportedError(f"{describe(a)} and {describe(b)} have no order", loc)
    return _ordered(a, *_ORDERS[type(op)], b, loc)


def _equal(a: Value, b: Value, loc: Loc) -> Number:
    match a, b:
        case Number(), Number():
            return selections.compare("==", a, b, loc)
        case Opaque(), Opaque():
            return arithmetic.python_number(bool(a.obj == b.obj), loc)
        case TupleValue(), TupleValue() if len(a.items) == len(b.items):
            out = arithmetic.python_number(True, loc)
            for one, other in zip(a.items, b.items, strict=True):
                out = _joined("and", out, _equal(one, other, loc), loc)
            return out
        case ((TupleValue() | Number() | Opaque()), (TupleValue() | Number() | Opaque())):
            return arithmetic.python_number(False, loc)
        case _:
            raise UnsupportedError(
                f"{describe(a)} and {describe(b)} cannot be compared as items of tuples", loc,
                hints=("compare numbers; for arrays np.array_equal",),
            )  # fmt: skip


def _ordered(a: TupleValue, symbol: str, whole: bool, b: TupleValue, loc: Loc) -> Number:
    """The lexicographic comparison, built from the last items to the first. whole: the result for equal tuples."""
    one, other = len(a.items), len(b.items)
    out = arithmetic.python_number(whole if one == other else (one < other) == (symbol == "<"), loc)
    for mine, yours in reversed(list(zip(a.items, b.items, strict=False))):
        if isinstance(mine, TupleValue) and isinstance(yours, TupleValue):
            before = _ordered(mine, symbol, False, yours, loc)
        elif isinstance(mine, Number) and isinstance(yours, Number):
            before = selections.compare(symbol, mine, yours, loc)
        else:
            raise UnsupportedError(f"{describe(mine)} and {describe(yours)} have no order here", loc)
        out = _joined("or", before, _joined("and", _equal(mine, yours, loc), out, loc), loc)
    return out


def _joined(op: str, a: Number, b: Number, loc: Loc) -> Number:
    """`a and b`, or `a or b`, simplified where one operand is a constant."""
    for one, other in ((a, b), (b, a)):
        known = constant_truth(one.expr)
        if known is not None:
            return other if known == (op == "and") else arithmetic.python_number(known, loc)
    return Number(Logical(op, a.expr, b.expr, loc=loc), python=True)
