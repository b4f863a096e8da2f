"""Branches: both arms are lowered from the same bindings, and joined at their ends."""

from __future__ import annotations

import ast
from collections.abc import Callable

from appyc.errors import Loc
from appyc.frontend.control.joins import merge_branches
from appyc.frontend.expressions import arithmetic
from appyc.frontend.scope import Scope
from appyc.frontend.types.values import Number
from appyc.ir.nodes import Expr, If


def lower_only_if(
    scope: Scope, cond: Expr, body: list[ast.stmt], loc: Loc, finish: Callable[[], None] | None = None
) -> None:
    """`if cond: body`; finish: as in `lower_block`."""
    arms = (lambda: scope.lower_block(body, finish), lambda: scope.lower_block([], finish))
    lower_arms(scope, cond, arms, needed_behind(scope, body, []), loc)


def lower_arms(
    scope: Scope,
    cond: Expr,
    arms: tuple[Callable[[], None], Callable[[], None]],
    needed: frozenset[str],
    loc: Loc,
) -> None:
    """An `if` whose arms are emitted by two functions. needed: names that are live behind it."""
    start = dict(scope.env)
    since = len(scope.memory.stores)
    ends = []
    for lower in arms:
        scope.env = dict(start)
        scope.live = True
        with scope.collect() as block:
            lower()
        ends.append((scope.env, block, scope.live))
    scope.live = True
    merge_branches(scope, ends, start, needed, since, loc)
    then, other = tuple(ends[0][1]), tuple(ends[1][1])
    if then or not other:  # an empty one is kept: its condition may raise
        scope.emit(If(cond, then, other, loc=loc))
    else:
        scope.emit(If(arithmetic.logical_not(Number(cond, True), loc).expr, other, loc=loc))


def needed_behind(scope: Scope, body: list[ast.stmt], orelse: list[ast.stmt]) -> frozenset[str]:
    """Names that are live behind the two arms of a branch."""
    out: frozenset[str] = frozenset()
    for statements in (body, orelse):
        if statements:
            out |= scope.names_behind.get(statements[-1], scope.locals)
    return out
