"""`a if cond else b` of arrays."""

from __future__ import annotations

from appyc.errors import Loc
from appyc.frontend.arrays.tensors import kept
from appyc.frontend.control.joins import merge_branches
from appyc.frontend.scope import Scope
from appyc.frontend.types.values import Tensor, Value
from appyc.ir.names import unused
from appyc.ir.nodes import Expr, If, Stmt


def chosen_array(
    scope: Scope, cond: Expr, sides: tuple[tuple[Value, list[Stmt]], tuple[Value, list[Stmt]]], loc: Loc
) -> Value:
    """One of two arrays, as two branches would bind a name to it; with each the statements it needs."""
    name = unused("chosen", scope.locals)
    start, since = dict(scope.env), len(scope.memory.stores)
    arms = []
    for value, block in sides:
        scope.env = dict(start)
        with scope.collect() as arm:
            arm.extend(block)
            scope.bind(name, kept(scope, value, "chosen", loc) if isinstance(value, Tensor) else value, loc)
        arms.append((scope.env, arm, True))
    merge_branches(scope, arms, start, scope.locals | {name}, since, loc)
    scope.emit(If(cond, tuple(arms[0][1]), tuple(arms[1][1]), loc=loc))
    out = scope.read(name, loc)
    del scope.env[name]
    return out
