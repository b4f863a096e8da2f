"""Candidates and rewritten accesses for array expansion: shared by `privatise_arrays` and `rename_arrays`."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from appyc.analysis.dependences.array_dataflow import IterationFlow, Sees
from appyc.analysis.dependences.dependences import Conflict
from appyc.analysis.dependences.legality import Legality
from appyc.analysis.dependences.verdicts import Verdict
from appyc.ir.array_accesses import passed_arrays
from appyc.ir.blocks import has_own
from appyc.ir.invariance import arrays_made
from appyc.ir.nodes import Break, Expr, For, Function, If, Stmt, Symbol
from appyc.ir.visit import loops_of, walk
from appyc.passes.parallelise.plain_loops import is_asked
from appyc.passes.pass_context import PassContext

MAX_CONFLICTS = 128
"""An array with more conflicts is not expanded."""

MAX_NODES = 600
"""A larger body is not analysed."""

Change = Callable[[Function, For, PassContext], Function | None]


def each_candidate(fn: Function, ctx: PassContext, change: Change) -> Function:
    """The function with `change` tried on every loop that may gain by it, outer ones first.

    A loop inside or around a loop with a `parallel` or `simd` clause is tried only if it has such a clause itself.
    The same holds for a loop inside one whose iterations may run in any order.
    """
    tried: set[Symbol] = set()
    before: Function | None = None
    while before is not fn:
        before = fn
        for loop in _candidates(fn, ctx):
            if loop.var not in tried:
                tried.add(loop.var)
                new = change(fn, loop, ctx)
                if new is not None:
                    fn = new
                    break  # what comes behind it may have changed as well
    return fn


def _candidates(fn: Function, ctx: PassContext) -> Iterator[For]:
    loops = loops_of(fn.body)
    free: set[Symbol] = set()
    for loop in loops:
        if is_asked(loop):
            free.update(inner.var for inner in loops_of(loop.body))
            # One that is free for some arguments only would raise at a call with others.
            if _is_within_reach(loop) and not ctx.legality(fn).judge(loop).may_run_in_any_order:
                yield loop
        elif loop.var in free or loop.clauses is not None or not ctx.options.auto:
            continue
        elif not any(is_asked(inner) for inner in loops_of(loop.body)) and _is_within_reach(loop):
            verdict = ctx.legality(fn).judge(loop)
            if verdict.may_run_in_any_order:
                free.update(inner.var for inner in loops_of(loop.body))
            elif verdict.verdict is not Verdict.CONDITIONAL:
                yield loop


def _is_within_reach(loop: For) -> bool:
    clauses = loop.clauses
    if clauses is not None and (clauses.request != "parallel" or clauses.independent or clauses.collapse > 1):
        return False
    if has_own(loop.body, Break):
        return False
    return sum(1 for _ in walk(loop.body)) <= MAX_NODES


def conflicts_by_array(legality: Legality, loop: For) -> dict[Symbol, list[Conflict]] | None:
    """The conflicts that the loop carries; None where there are too many, or isl timed out, or one is on an array that
    the loop allocates: its shape is not known before the loop. Or on one that a call is given."""
    made = arrays_made(loop.body) | passed_arrays(loop.body)
    found: dict[Symbol, list[Conflict]] = {}
    for conflict in legality.dependences.conflicts(loop):
        mine = found.setdefault(conflict.source.array, [])
        mine.append(conflict)
        if conflict.instances is None or len(mine) > MAX_CONFLICTS or conflict.source.array in made:
            return None
    return found


def carries_a_value(flow: IterationFlow, conflicts: list[Conflict]) -> bool:
    """Whether a read may find the value that an earlier iteration wrote: a loop-carried flow dependence."""
    return any(
        c.source.writes and c.sink.op != "write" and flow.sees(c.sink) is not Sees.OWN for c in conflicts
    )


def lasting_writes(
    flow: IterationFlow, conflicts: list[Conflict], loop: For
) -> dict[int, Expr | bool] | None:
    """For each write, by its number among the accesses of the loop, the condition under which no later iteration
    overwrites the element; None where isl cannot derive one."""
    out: dict[int, Expr | bool] = {}
    for write in flow.writes:
        lasts = flow.lasting(write, conflicts, loop.loc)
        if lasts is None:
            return None
        out[flow.number_of(write)] = lasts
    return out


def where(lasts: Expr | bool, stmt: Stmt) -> tuple[Stmt, ...]:
    """The statement under its condition."""
    if lasts is True:
        return (stmt,)
    return () if lasts is False else (If(lasts, (stmt,), loc=stmt.loc),)


def loop_over(fn: Function, var: Symbol) -> For:
    return next(loop for loop in loops_of(fn.body) if loop.var == var)
