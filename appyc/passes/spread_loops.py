"""Loops without a pragma that may run in any order, in parallel.

    for i in range(n):             #pragma parallel for
        for j in range(i):    ->   for i in range(n):
            a[i, j] = 0.0              for j in range(i):
                                           a[i, j] = 0.0

A CPU thread is worth starting for a loop that the user marked. On a GPU one program is some
thousand times slower than all of it, so the outermost loop that dependence analysis found
independent, or a reduction, takes the grid. For the analysed function only: verdicts hold
where arguments do not overlap. Loops inside a parallel one stay as they are, and so does a
loop that the user asked to be sequential.
"""

from __future__ import annotations

from dataclasses import replace

from appyc.ir.nodes import For, Function, If, LoopMode, Stmt, While
from appyc.passes.context import PassContext


def spread_loops(fn: Function, ctx: PassContext) -> Function:
    if not ctx.options.auto:
        return fn
    return replace(fn, body=_spread(fn.body, ctx))


def _spread(body: tuple[Stmt, ...], ctx: PassContext) -> tuple[Stmt, ...]:
    out: list[Stmt] = []
    for stmt in body:
        match stmt:
            case For():
                out.append(_decided(stmt, ctx))
            case While():
                out.append(replace(stmt, body=_spread(stmt.body, ctx)))
            case If():
                out.append(replace(stmt, then=_spread(stmt.then, ctx), orelse=_spread(stmt.orelse, ctx)))
            case _:
                out.append(stmt)
    return tuple(out)


def _decided(loop: For, ctx: PassContext) -> For:
    if loop.mode is LoopMode.PARALLEL:
        return loop
    verdict = ctx.verdicts.get(loop.var)
    told = loop.clauses is not None and loop.clauses.request in ("sequential", "simd")
    if verdict is None or told or not verdict.may_run_in_any_order:
        return replace(loop, body=_spread(loop.body, ctx))
    return replace(
        loop,
        mode=LoopMode.PARALLEL,
        private=verdict.private,
        last=verdict.last,
        reductions=verdict.reductions,
    )
