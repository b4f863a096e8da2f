"""Calls that are left to Python, before they have stored anything."""

from __future__ import annotations

from appyc.errors import LeftToPython, Loc
from appyc.frontend.scope import Scope
from appyc.ir.nodes import Binary, Cast, Compare, Const, Expr, Extent, Fail, If, Likely, Unary, Var
from appyc.ir.visit import walk


def leave_unless(scope: Scope, cond: Expr, why: str, loc: Loc, *, late: bool = True) -> None:
    """Emits a guard: where the condition does not hold, the call is left to Python. late: also where that can be told
    in the middle of the call only."""
    test = If(
        Unary("~", Likely(cond, loc=loc), loc=loc), (Fail(LeftToPython.__name__, why, loc=loc),), loc=loc
    )
    if _is_of_call(scope, cond):
        scope.first.append(test)  # before every store
    elif late:
        scope.block.append(test)


def _is_of_call(scope: Scope, cond: Expr) -> bool:
    """Whether the condition depends only on the arguments, through arithmetic that cannot raise."""
    if scope.is_inlined:
        return False
    for node in walk(cond):
        match node:
            case Const() | Compare() | Cast() | Unary():
                continue
            case Var(symbol=symbol) if symbol in scope.fixed:
                continue
            case Extent(array=array) if array not in scope.memory.made:
                continue
            case Binary(op="+" | "-" | "*" | "min" | "max"):
                continue
            case _:
                return False
    return True
