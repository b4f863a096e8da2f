"""Copy coalescing: a scalar that is only copied into another is that one.

    t = x + a[i]              x = x + a[i]
    x = t              ->

The front end gives what a name is bound to where paths join a scalar of its own, and copies it. The passes that
recognise reductions and inductions look for `x = x + ...`.

Requires: nothing. Does not handle: copies with a statement between; a scalar that is read elsewhere too.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from appyc.ir.nodes import Assign, Function, Stmt, Symbol, Update, Var
from appyc.ir.visit import map_blocks, walk
from appyc.passes.context import PassContext


def coalesce_copies(fn: Function, ctx: PassContext) -> Function:
    """The function without scalars that are assigned once, and read once: by the copy that follows."""
    reads: Counter[Symbol] = Counter(n.symbol for n in walk(fn) if isinstance(n, Var))
    writes: Counter[Symbol] = Counter(n.target for n in walk(fn) if isinstance(n, Assign | Update))

    def rule(block: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        out: list[Stmt] = []
        for stmt in (map_blocks(inner, rule) for inner in block):
            match out[-1] if out else None, stmt:
                case Assign(target=source) as made, Assign(target=target, value=Var(symbol=read)) if (
                    read == source != target
                    and reads[source] == writes[source] == 1
                    and source.type == target.type
                ):
                    out[-1] = replace(made, target=target)
                case _:
                    out.append(stmt)
        return tuple(out)

    body = rule(fn.body)
    return replace(fn, body=body) if body != fn.body else fn
