"""Subscripts that are the quotients and remainders of one position."""

from __future__ import annotations

from collections.abc import Sequence

from appyc.ir.nodes import Binary, Expr, Extent, Symbol
from appyc.ir.types import Layout


def coalesced_position(array: Symbol, index: Sequence[Expr]) -> tuple[Expr, list[Expr | None]] | None:
    """The position that the last indices are the quotients and remainders of (`coalesce_loops`), and the index
    of the element that it counts from, None for 0: x // n + d, x % n is x, from element d, 0 on."""
    if len(index) < 2 or array.array.layout is not Layout.C:
        return None
    match index[-1]:
        case Binary("%", x, Extent()):
            pass
        case _:
            return None
    quotient: Expr = x
    for axis in range(len(index) - 1, -1, -1):
        extent = Extent(array, axis, loc=quotient.loc)
        start: list[Expr | None] = [*index[:axis], None, *([None] * (len(index) - 1 - axis))]
        match index[axis]:
            case same if same == quotient:
                return x, start
            case Binary("+", same, offset) if same == quotient:
                start[axis] = offset
                return x, start
            case Binary("%", same, n) if same == quotient and n == extent:
                quotient = Binary("//", quotient, extent, loc=quotient.loc)
            case _:
                return None
    return None
