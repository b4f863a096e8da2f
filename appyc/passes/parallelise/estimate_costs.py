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
from appyc.ir.nodes import For, Function, LoopMode, Stmt
from appyc.ir.visit import map_loops
from appyc.passes.pass_context import PassContext


def estimate_costs(fn: Function, ctx: PassContext) -> Function:
    """The function with `cost` set on its outermost parallel loops."""
    costs = {loop.var: cost_of(loop) for loop in outermost_parallel(fn.body)}

    def rule(loop: For) -> For:
        return replace(loop, cost=costs[loop.var]) if loop.var in costs else loop

    return map_loops(fn, rule) if costs else fn


def outermost_parallel(body: tuple[Stmt, ...]) -> list[For]:
    """The parallel loops that are in no other one, in program order."""
    out: list[For] = []
    for stmt in body:
        if isinstance(stmt, For) and stmt.mode is LoopMode.PARALLEL:
            out.append(stmt)
            continue
        for name in ("body", "then", "orelse"):
            out += outermost_parallel(getattr(stmt, name, ()))
    return out
