"""Loops that count the bits of a number."""

from __future__ import annotations

from appyc.ir.nodes import Assign, Binary, Cast, Compare, Const, Update, Var, While


def counts_bits(loop: While) -> bool:
    """Whether a loop clears the lowest bit of a number until none is left, and counts: C compilers make an instruction
    of all of it.

    while x != 0:
        x = x & (x - 1)
        k += 1
    """
    match loop.cond:
        case Compare(op="!=", lhs=Var(number) | Cast(arg=Var(number)), rhs=Const(value=0)):
            x = Var(number, loc=loop.loc)
        case _:
            return False
    lower = Binary("-", x, Const(1, number.dtype, loc=loop.loc), loc=loop.loc)
    cleared = {Binary("&", x, lower, loc=loop.loc), Binary("&", lower, x, loc=loop.loc)}
    steps = [stmt for stmt in loop.body if not (isinstance(stmt, Update) and isinstance(stmt.value, Const))]
    return all(isinstance(s, Assign) and s.target == number and s.value in cleared for s in steps) and bool(
        steps
    )
