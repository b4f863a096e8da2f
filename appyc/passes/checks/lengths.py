"""Lengths of arrays that are provably not negative, and the test of others before an allocation."""

from __future__ import annotations

from appyc.ir.nodes import Alloc, Binary, Const, Expr, Extent, Fail, If, Stmt
from appyc.ir.raising import may_raise
from appyc.passes.node_builders import integer, less


def is_length(expr: Expr) -> bool:
    """Whether a number surely is not negative, and cannot fail to be computed."""
    match expr:
        case Const():
            return expr.value.real >= 0
        case Extent():
            return True
        case Binary(op="+" | "*" | "min", lhs=lhs, rhs=rhs):
            return is_length(lhs) and is_length(rhs)
        case Binary(op="max", lhs=lhs, rhs=rhs):
            return not may_raise(expr) and (is_length(lhs) or is_length(rhs))
        case _:
            return False


def tested(alloc: Alloc) -> tuple[Stmt, ...]:
    """The residual of an allocation whose array is dead: the test that raises where a length is negative."""
    fail = Fail("ValueError", "negative dimensions are not allowed", loc=alloc.loc)
    return tuple(
        If(less(size, integer(0, alloc.loc)), (fail,), loc=alloc.loc)
        for size in alloc.shape
        if not is_length(size)
    )
