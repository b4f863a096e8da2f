"""Compares the magnitude of a complex number with a constant by squares, without a root.

    while abs(z) < 2.0:       ->       while real(z) * real(z) + imag(z) * imag(z) < 4.0:

The constant on the right is the least number whose rounded root is not below the constant on the left, so that the
result is the same as with the rounded root. A square that overflows is infinite, and one that underflows is 0: both
compare correctly with every constant in the range below. If one part is infinite and the other is NaN, the magnitude is
infinite: `>` and `>=` test for that, too.

For the C back end only, and not under `exact`, where the library takes the root.

Does not handle: magnitudes of subexpressions, which would be computed twice; constants below 1e-140 or above 1e140
(1e-15 and 1e15 of single precision).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from appyc.ir.nodes import MIRRORED, Binary, Cast, Compare, Const, Expr, Function, Intrinsic, Load, Node, Var
from appyc.ir.types import DType
from appyc.ir.visit import rewrite
from appyc.passes.pass_context import PassContext

_FARTHEST = {DType.FLOAT64: 1e140, DType.FLOAT32: 1e15}


def compare_magnitudes(fn: Function, ctx: PassContext) -> Function:
    return fn if ctx.options.exact else rewrite(fn, _compared)


def _compared(node: Node) -> Node:
    if not isinstance(node, Compare) or node.op in ("==", "!="):
        return node
    op, size, bound = node.op, node.lhs, node.rhs
    if isinstance(size, Const):
        op, size, bound = MIRRORED[op], bound, size
    match size, bound:
        case Intrinsic("abs", (Var() | Load() as number,)), Const(value=limit) if number.dtype.is_complex:
            if isinstance(number, Load) and number.checked:
                return node
            far = _FARTHEST[size.dtype]
            if isinstance(limit, complex) or not 1 / far < limit < far:
                return node
            return _by_square(op, number, float(limit), size.dtype)
        case _:
            return node


def _by_square(op: str, number: Expr, limit: float, dtype: DType) -> Expr:
    loc = number.loc
    parts: list[Expr] = [Intrinsic(name, (number,), dtype, loc=loc) for name in ("real", "imag")]
    if dtype is DType.FLOAT32:  # whose sizes are computed in double precision
        parts = [Cast(part, DType.FLOAT64, loc=loc) for part in parts]
    squares = [Binary("*", part, part, loc=loc) for part in parts]
    square = Binary("+", squares[0], squares[1], loc=loc)
    least, most = squares_around(limit, dtype)
    if op in ("<", ">="):
        # Sizes below the limit have squares below `least`; all others have one that is that or more.
        found: Expr = Compare(op, square, Const(least, DType.FLOAT64, loc=loc), loc=loc)
    else:
        found = Compare(op, square, Const(most, DType.FLOAT64, loc=loc), loc=loc)
    if op in ("<", "<="):
        return found
    infinity = Const(math.inf, DType.FLOAT64, loc=loc)
    for part in parts:
        endless = Compare("==", Intrinsic("abs", (part,), DType.FLOAT64, loc=loc), infinity, loc=loc)
        found = Binary("|", found, endless, loc=loc)
    return found


def squares_around(limit: float, dtype: DType) -> tuple[float, float]:
    """The least float64 whose root, rounded to the type, is not below `limit`, and the largest whose root is not
    above it."""

    def root(square: float) -> float:
        return float(np.float32(math.sqrt(square))) if dtype is DType.FLOAT32 else math.sqrt(square)

    least = _first(lambda square: root(square) >= limit, limit)
    return least, math.nextafter(_first(lambda square: root(square) > limit, limit), 0.0)


def _first(holds: Callable[[float], bool], limit: float) -> float:
    """The least float from which on something holds that holds somewhere near the square of the limit."""
    low, high = limit * limit * (1 - 1e-6), limit * limit * (1 + 1e-6)
    while math.nextafter(low, high) < high:
        middle = low + (high - low) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
