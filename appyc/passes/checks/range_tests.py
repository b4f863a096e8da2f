"""Subscripts and loads that the tests of range checks for a block of iterations depend on."""

from __future__ import annotations

from collections.abc import Iterator

from appyc.ir.nodes import Binary, Cast, Compare, Const, Expr, Load, Logical, Node, Store, Unary, Update
from appyc.ir.types import DType
from appyc.ir.visit import children
from appyc.passes.node_builders import integer


def bits_outside(cond: Expr) -> Expr:
    """An int64 that is not 0 where a test fails: of `not 0 <= v <= 255`, the bits of v that are beyond the last 8."""
    match cond:
        case Unary(
            "~",
            Logical("and", Compare(">=", v, Const(value=int(lo))), Compare("<=", same, Const(value=int(hi)))),
        ) if v == same and v.dtype is DType.INT64 and (hi - lo) & (hi - lo + 1) == 0:
            above = Binary("-", v, integer(lo, v.loc), loc=v.loc) if lo else v
            return Binary("&", above, integer(~(hi - lo), v.loc), loc=v.loc)
        case _:
            return Cast(cond, DType.INT64, loc=cond.loc)


def subscripts_of(node: Node) -> tuple[Expr, ...]:
    return node.index if isinstance(node, Load | Store | Update) else ()


def outside_loads(expr: Expr) -> Iterator[Node]:
    stack: list[Node] = [expr]
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, Load):
            stack += children(node)
