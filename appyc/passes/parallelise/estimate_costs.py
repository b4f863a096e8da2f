"""Attaches cost estimates to loops that threads may share, for the decision at run time.

    for i in range(n):   # parallel        for i in range(n):   # parallel, costs 4 vector operations
        b[i] = a[i] * c[i] + d      ->         b[i] = a[i] * c[i] + d        and 32 bytes an iteration

Only the outermost parallel loop of a nest is asked whether threads pay: what is inside runs on the
thread that has the iteration.

Requires: all loops have their modes. Does not handle: conditions that are seldom true, and loops
whose trip counts the data decide; see `analysis/cost/costs.py` for what is assumed of them.
"""

from __future__ import annotations

from dataclasses import replace

from appyc.analysis.cost.costs import cost_of
from appyc.ir.blocks import blocks_of
from appyc.ir.nodes import For, Function, LoopMode, Stmt
from appyc.passes.pass_context import PassContext


def estimate_costs(fn: Function, ctx: PassContext) -> Function:
    """The function with its schedule saying what its outermost parallel loops cost."""
    if ctx.options.on_gpu:
        return fn
    costs = {
        loop.var: replace(fn.schedule[loop.var], cost=cost_of(loop)) for loop in outermost_parallel(fn.body)
    }
    return replace(fn, schedule=fn.schedule.updated(costs)) if costs else fn


def outermost_parallel(body: tuple[Stmt, ...]) -> list[For]:
    """The parallel loops that are in no other one, in program order."""
    out: list[For] = []
    for stmt in body:
        if isinstance(stmt, For) and stmt.mode is LoopMode.PARALLEL:
            out.append(stmt)
            continue
        for block in blocks_of(stmt):
            out += outermost_parallel(block)
    return out
