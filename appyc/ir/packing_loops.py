"""Loops that do nothing but select elements: they store some under a condition, and count them.

for i in range(n):
    if keep[i]:
        x[k] = a[i]
        k += 1
"""

from __future__ import annotations

from dataclasses import dataclass

from appyc.ir.nodes import Const, Expr, For, If, Stmt, Store, Symbol, Update


@dataclass(frozen=True, slots=True)
class Selection:
    """The condition of such a loop, its stores, and the counter with its step."""

    cond: Expr
    stores: tuple[Store, ...]
    counter: Symbol
    step: Update


def selection_of(loop: Stmt) -> Selection | None:
    """The selection that a loop consists of, if it has that form."""
    match loop:
        case For(
            body=(If(cond=cond, then=(*stores, Update(op="+", value=Const(value=1)) as step), orelse=()),)
        ):
            kept = tuple(store for store in stores if isinstance(store, Store))
            return Selection(cond, kept, step.target, step) if len(kept) == len(stores) else None
        case _:
            return None
