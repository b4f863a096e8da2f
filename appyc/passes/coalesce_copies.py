"""Copy coalescing: a scalar that is only copied into another is that one.

    t = x + a[i]              x = x + a[i]
    x = t              ->

The front end gives what a name is bound to where paths join a scalar of its own, and copies it. The passes that
recognise reductions and inductions look for `x = x + ...`.

Requires: nothing. Does not handle: copies behind statements that may jump, or that the other scalar occurs in; a
scalar that is read elsewhere too.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from appyc.ir.nodes import Assign, Function, Stmt, Store, Symbol, Update, Var
from appyc.ir.visit import map_blocks, scalars_read, scalars_written, walk
from appyc.passes.context import PassContext


def coalesce_copies(fn: Function, ctx: PassContext) -> Function:
    """The function without scalars that are assigned once and read once, by a copy."""
    reads: Counter[Symbol] = Counter(n.symbol for n in walk(fn) if isinstance(n, Var))
    writes: Counter[Symbol] = Counter(n.target for n in walk(fn) if isinstance(n, Assign | Update))

    def rule(block: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        out: list[Stmt] = []
        for stmt in (map_blocks(inner, rule) for inner in block):
            match stmt:
                case Assign(target=target, value=Var(symbol=source)) if (
                    source != target and reads[source] == writes[source] == 1 and source.type == target.type
                ) and (made := _definition(out, source, target)) is not None:
                    out[out.index(made)] = replace(made, target=target)
                case _:
                    out.append(stmt)
        return tuple(out)

    body = rule(fn.body)
    return replace(fn, body=body) if body != fn.body else fn


def _definition(block: list[Stmt], source: Symbol, target: Symbol) -> Assign | None:
    """The statement that assigns a scalar, if another one may be assigned there as well as at the end."""
    for stmt in reversed(block):
        if isinstance(stmt, Assign) and stmt.target == source:
            return stmt
        if not isinstance(stmt, Assign | Store | Update):
            return None
        if target in scalars_read(stmt) | scalars_written(stmt):
            return None
    return None
