"""Runs loops that nobody marked on threads, where their iterations may run in any order.

    for t in range(steps):                  for t in range(steps):          # carried
        for i in range(1, n - 1):               for i in ...:               # parallel
            for j in range(1, m - 1):    ->         for j in ...:           # simd
                b[i, j] = a[i, j - 1] + ...             b[i, j] = ...

The outermost such loop of a nest is what threads share. Loops inside it that may run in any
order too become candidates for vector lanes around a sequential loop. Whether threads pay is
decided when the loop runs, by its trip counts: a short one stays on the calling thread.

A pragma is the user's choice and is kept: a loop with one is not touched, and a loop around
a loop that was asked to run in parallel stays sequential.

Requires: `check_parallel` has judged every loop. Does not handle: loops that would be
independent after interchange, distribution or expansion of scalars.
"""

from __future__ import annotations

from dataclasses import replace

from appyc.analysis.verdicts import Verdict
from appyc.ir.nodes import Fail, For, Function, LoopMode, Node, Stmt
from appyc.ir.visit import rewrite, walk
from appyc.passes.check_parallel import rounds_differently
from appyc.passes.context import PassContext


def choose_threads(fn: Function, ctx: PassContext) -> Function:
    """The function with free loops in mode PARALLEL."""
    if not ctx.options.auto:
        return fn
    chosen = _chosen(fn.body, ctx, inside=False)

    def rule(node: Node) -> Node:
        if not isinstance(node, For) or node.var.uid not in chosen:
            return node
        found = ctx.verdicts[node.var]
        return replace(
            node,
            mode=LoopMode.PARALLEL,
            private=found.private,
            last=found.last,
            reductions=found.reductions,
        )

    return rewrite(fn, rule) if chosen else fn


def _chosen(body: tuple[Stmt, ...], ctx: PassContext, *, inside: bool) -> set[int]:
    """The loops to run in parallel, by their variables' numbers. inside: a loop around already does."""
    out: set[int] = set()
    for stmt in body:
        if isinstance(stmt, For):
            takes = _is_free(stmt, ctx, inside=inside)
            if takes:
                out.add(stmt.var.uid)
            out |= _chosen(stmt.body, ctx, inside=inside or takes or stmt.mode is LoopMode.PARALLEL)
            continue
        for block in ("body", "then", "orelse"):
            out |= _chosen(getattr(stmt, block, ()), ctx, inside=inside)
    return out


def _is_free(loop: For, ctx: PassContext, *, inside: bool) -> bool:
    found = ctx.verdicts.get(loop.var)
    if found is None or not found.may_run_in_any_order or loop.clauses is not None:
        return False
    if ctx.options.exact and rounds_differently(found):
        return False
    if any(isinstance(n, Fail) for n in walk(loop.body)):
        return False  # what comes after the iteration that raises must not have happened
    inner = [n for n in walk(loop.body) if isinstance(n, For)]
    if inside:
        return bool(inner) and found.verdict is Verdict.INDEPENDENT
    return not any(n.clauses is not None and n.clauses.request in ("parallel", "simd") for n in inner)
