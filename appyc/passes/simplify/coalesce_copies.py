"""Copy coalescing: a scalar that is only copied into another becomes that one.

    t = x + a[i]              x = x + a[i]
    b[i] = t           ->     b[i] = x
    x = t

    if a[i] > x:
        t = a[i]              if a[i] > x:
    else:              ->         x = a[i]
        t = x
    x = t

Where control-flow paths join, the front end copies the value of a name into a separate scalar. The passes that
recognise reductions and induction variables look for `x = x + ...`, and for `if a[i] > x: x = a[i]`.

Requires: nothing. Does not handle: copies behind statements that may jump, or that the other scalar occurs in; a
scalar that is read behind its copy.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from appyc.ir.blocks import map_blocks
from appyc.ir.nodes import Assign, Break, Continue, Function, If, Stmt, Store, Symbol, Update, Var
from appyc.ir.visit import contains, rename, scalars_read, scalars_written, walk, with_body
from appyc.passes.pass_context import PassContext


def coalesce_copies(fn: Function, ctx: PassContext) -> Function:
    """The function without scalars that are assigned once, and copied into another before that is used."""
    reads: Counter[Symbol] = Counter(n.symbol for n in walk(fn) if isinstance(n, Var))
    writes: Counter[Symbol] = Counter(n.target for n in walk(fn) if isinstance(n, Assign | Update))

    def rule(block: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        out: list[Stmt] = []
        for stmt in (map_blocks(inner, rule) for inner in block):
            match stmt:
                case Assign(target=target, value=Var(symbol=source)) if (
                    source != target and writes[source] == 1 and source.type == target.type
                ) and (at := _definition(out, source, target, reads[source] - 1)) is not None:
                    out[at:] = [rename(one, {source: target}) for one in out[at:]]
                    reads[target] += reads[source] - 1  # those of the source, but for this copy
                case Assign(target=target, value=Var(symbol=source)) if (
                    source.type == target.type
                    and (reads[source], writes[source]) == (1, 2)
                    and (found := _branch(out, source, target)) is not None
                ):
                    out[found[0]] = found[1]
                case _:
                    out.append(stmt)
        return tuple(out)

    body = rule(fn.body)
    return with_body(fn, body)


def _branch(block: list[Stmt], source: Symbol, target: Symbol) -> tuple[int, If] | None:
    """The position of the branch of a block that assigns `source`, and what `_branch_into` makes of it, where no
    statement behind it uses `target` or jumps."""
    for at in range(len(block) - 1, -1, -1):
        if (branch := _branch_into(block[at], source, target)) is not None:
            return at, branch
        if target in scalars_read(block[at]) | scalars_written(block[at]) or contains(
            block[at], Break | Continue
        ):
            return None
    return None


def _branch_into(stmt: Stmt, source: Symbol, target: Symbol) -> If | None:
    """A branch that assigns `source` at its end, and else `target` to it, with the latter assigned instead. None for
    other statements."""
    match stmt:
        case If(
            then=(*then, Assign(target=t) as one), orelse=(Assign(target=u, value=Var(symbol=kept)),)
        ) if t == u == source and kept == target:
            return replace(stmt, then=(*then, replace(one, target=target)), orelse=())
        case _:
            return None


def _definition(block: list[Stmt], source: Symbol, target: Symbol, reads: int) -> int | None:
    """The position of the assignment to `source` in a block, if `target` may be assigned there instead: the
    statements behind it contain all `reads` of `source`, and neither read nor write `target`. Else None."""
    for at in range(len(block) - 1, -1, -1):
        stmt = block[at]
        if isinstance(stmt, Assign) and stmt.target == source:
            return at if reads == 0 else None
        if not isinstance(stmt, Assign | Store | Update):
            return None
        if target in scalars_read(stmt) | scalars_written(stmt):
            return None
        reads -= sum(isinstance(n, Var) and n.symbol == source for n in walk(stmt))
    return None
