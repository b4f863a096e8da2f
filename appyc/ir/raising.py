"""What may raise when a program runs: one answer for all who move, repeat or leave out code."""

from __future__ import annotations

from collections.abc import Iterable

from appyc.ir.nodes import Binary, Call, Const, Draw, Expr, Fail, Load, Node, Store, Update
from appyc.ir.visit import walk


def raises_itself(node: Node) -> bool:
    """Whether a node can raise, be its parts what they may. A draw counts as one that can: it is made as often as
    the program says, and where."""
    match node:
        case Fail() | Draw() | Call():
            return True
        case Binary("**", _, exponent) if node.dtype.kind == "i":
            return not is_never_negative(exponent)
        case Binary():
            return node.trap
        case Load() | Store() | Update():
            return node.checked and bool(node.index)
        case _:
            return False


def is_never_negative(expr: Expr) -> bool:
    """Whether an integer is seen to be 0 or more."""
    match expr:
        case Const(value=value):
            return value.real >= 0
        case Binary("max", lhs, rhs):
            return is_never_negative(lhs) or is_never_negative(rhs)
        case _:
            return False


def may_raise(node: Node | Iterable[Node]) -> bool:
    """Whether the node, one of several, or something below may raise."""
    return any(raises_itself(n) for n in walk(node))
