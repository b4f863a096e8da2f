"""Peels the first iteration where a scalar holds a value of the iteration before (wrap-around variables)."""

from __future__ import annotations

from dataclasses import replace

from appyc.analysis.accesses.recomputable import Recomputable
from appyc.ir.nodes import Assign, Expr, Fail, For, Function, Stmt, Symbol, Var
from appyc.ir.visit import contains, map_loops, scalars_read, substitute
from appyc.passes.loop_ops.peel import peel, why_not_peel
from appyc.passes.node_builders import shifted
from appyc.passes.pass_context import PassContext

MAX_STATEMENTS = 12
"""A longer body is not written twice."""

MAX_SIZE = 12
"""The most nodes of a recomputed value; recomputation of a larger value costs more than the dependence."""

ROUNDS = 3
"""The greatest dependence distance of a wrap-around scalar, in iterations: each round peels one iteration."""


def peel_wrap_around(fn: Function, ctx: PassContext) -> Function:
    """A wrap-around scalar, which is read before it is set, is replaced by the value that the previous iteration set.

    Before:                                   After:
        before = n - 1                            before = n - 1
        for i in range(n):                        if 0 < n:
            a[i] = b[i] + b[before]                   a[0] = b[0] + b[before]
            before = i                                before = 0
                                                  for i in range(1, n):
                                                      a[i] = b[i] + b[i - 1]
                                                      before = i

    The value must be recomputable: its operands are the loop variable, scalars that the loop does not set
    or sets earlier in the same iteration from such operands, and elements of arrays that the loop does not write.

    Runs after `substitute_induction`, and before `check_bounds`, which can bound the index of `b[i - 1]`
    but not that of `b[before]`.

    A loop with another loop-carried scalar is left unchanged.

    Does not handle: scalars that are set under a condition; loops with loops in them, or with
    `break` or `continue`; loops that a pragma's clause says more about than to run in parallel.
    """
    if not ctx.may_change_loops(fn):
        return fn

    return map_loops(fn, lambda loop: _peeled(loop, ctx) if _is_candidate(loop) else loop)


def _is_candidate(loop: For) -> bool:
    clauses = loop.clauses
    if clauses is not None and (
        clauses.request == "sequential" or clauses.collapse > 1 or clauses.private or clauses.reductions
    ):
        return False
    if len(loop.body) > MAX_STATEMENTS or why_not_peel(loop) is not None:
        return False
    return not contains(loop.body, Fail)


def _peeled(original: For, ctx: PassContext) -> tuple[Stmt, ...]:
    loop = original
    first: list[Stmt] = []
    names: list[str] = []
    for _ in range(ROUNDS):
        values = Recomputable(loop, MAX_SIZE).around
        if not values:
            break
        names += [symbol.name for symbol in values]
        once, others = peel(loop)
        first.append(once)
        earlier: Expr = shifted(Var(loop.var, loc=loop.loc), -loop.step)
        before = {symbol: substitute(value, {loop.var: earlier}) for symbol, value in values.items()}
        loop = replace(others, body=_with_values(loop.body, before))
    if not first or _still_waits(loop):
        return (original,)
    for name in names:
        text = f"'{name}' wraps around the loop over '{loop.var.name}': the first iteration runs apart"
        ctx.remark(loop.loc, text)
        ctx.freed(loop.var, f"peeling the first iteration, whose '{name}' is from before the loop")
    return (*first, loop)


def _still_waits(loop: For) -> bool:
    """Whether some scalar is read before it is set: then an iteration waits for the one before
    it anyway. One that is only accumulated into is read where it is set."""
    return any(
        isinstance(stmt, Assign) and stmt.target in scalars_read(loop.body[:number])
        for number, stmt in enumerate(loop.body)
    )


def _with_values(body: tuple[Stmt, ...], values: dict[Symbol, Expr]) -> tuple[Stmt, ...]:
    """The body with each scalar's reads, up to where it is set, replaced by its value."""
    left = dict(values)
    out: list[Stmt] = []
    for stmt in body:
        out.append(substitute(stmt, left))
        if isinstance(stmt, Assign):
            left.pop(stmt.target, None)
    return tuple(out)
