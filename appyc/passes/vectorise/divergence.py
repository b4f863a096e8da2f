"""Divergence analysis: which scalars have one value a lane in a vectorised loop."""

from __future__ import annotations

from appyc.ir.nodes import Assign, For, If, Load, Logical, Node, Select, Stmt, Symbol, Update, Var, While
from appyc.ir.raising import may_raise
from appyc.ir.visit import walk
from appyc.passes.gpu.lane_expressions import may_act


def divergence(body: tuple[Stmt, ...], varying: set[Symbol]) -> set[Symbol]:
    """The scalars of `body` that differ between lanes where those in `varying` do.

    A scalar varies if a value that varies is assigned to it, or if not every lane assigns it.
    """
    known = set(varying)
    while True:
        found = known | _pass(body, known, False)
        if found == known:
            return found
        known = found


def _pass(body: tuple[Stmt, ...], varying: set[Symbol], masked: bool) -> set[Symbol]:
    found: set[Symbol] = set()
    for stmt in body:
        match stmt:
            case Assign(target, value):
                if masked or _varies(value, varying):
                    found.add(target)
            case Update(target, index, _, value):
                if not index and not target.is_array and (masked or _varies(value, varying)):
                    found.add(target)
            case If(cond, then, orelse):
                differ = masked or _varies(cond, varying)
                found |= _pass(then, varying, differ) | _pass(orelse, varying, differ)
            case While(cond, inner):
                found |= _pass(inner, varying, masked or _varies(cond, varying) or may_raise(stmt))
            case For():
                if _varies(stmt.lo, varying):
                    found.add(stmt.var)
                differ = masked or _varies(stmt.lo, varying) or _varies(stmt.hi, varying)
                found |= _pass(stmt.body, varying, differ)
    return found


def _varies(node: Node, varying: set[Symbol]) -> bool:
    """Whether lanes differ in a value. What is read under a mask counts as different, even from
    one address: lanes that do not act read nothing."""
    return any(
        (isinstance(n, Var) and n.symbol in varying)
        or (isinstance(n, Load) and n.checked)
        or (isinstance(n, Select | Logical) and may_act(n))
        for n in walk(node)
    )
