"""Rewrites expressions by the values that the loop variables around them take."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from appyc.ir.blocks import map_blocks
from appyc.ir.invariance import changed_in
from appyc.ir.nodes import Const, Expr, For, Node, Stmt, Symbol, While
from appyc.ir.visit import arrays_read, arrays_written, symbols_of
from appyc.passes.node_builders import rewrite_own


@dataclass(frozen=True, slots=True)
class Counted:
    """The values of a loop variable: from a constant to below an expression."""

    lo: int
    hi: Expr


Ranges: TypeAlias = Mapping[Symbol, Counted]
"""The ranges of the variables of the enclosing loops of step 1."""


def rewrite_in_ranges(
    body: tuple[Stmt, ...], rule: Callable[[Node, Ranges], Node], ranges: Ranges
) -> tuple[Stmt, ...]:
    """The statements with `rule` applied to each expression in them, given the ranges that hold there."""

    def statement(stmt: Stmt) -> Stmt:
        inner = ranges
        if isinstance(stmt, For | While):
            if isinstance(stmt, For) and isinstance(stmt.lo, Const) and stmt.step == 1:
                inner = {**ranges, stmt.var: Counted(int(stmt.lo.value.real), stmt.hi)}
            changed, stored = changed_in(stmt.body), arrays_written(stmt.body)
            inner = {
                var: known
                for var, known in inner.items()
                if not changed & {var, *symbols_of(known.hi)} and not stored & arrays_read(known.hi)
            }
        # The condition of a `while` is asked where its body has changed the variables around.
        own = stmt if isinstance(stmt, While) else rewrite_own(stmt, lambda node: rule(node, ranges))
        return map_blocks(own, lambda block: rewrite_in_ranges(block, rule, inner))

    return tuple(statement(stmt) for stmt in body)
