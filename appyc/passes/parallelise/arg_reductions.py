"""Recognises arg-reductions: the last iteration that sets a scalar, or the first with an extreme value."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TypeAlias

from appyc.analysis.accesses.recomputable import Recomputable
from appyc.analysis.dependences.free_loops import is_free
from appyc.ir import nodes as ir
from appyc.ir.array_accesses import step_along_rows
from appyc.ir.blocks import has_own
from appyc.ir.names import NameSupply
from appyc.ir.types import DType
from appyc.ir.visit import (
    loops_of,
    map_loops,
    scalar_reads,
    scalar_writes,
    scalars_read,
    scalars_written,
    substitute,
    walk,
)
from appyc.passes.node_builders import shifted
from appyc.passes.parallelise.plain_loops import has_fixed_bounds
from appyc.passes.pass_context import PassContext

MAX_SIZE = 24
"""Nodes of a value that replaces a scalar; a larger value is not recomputed."""


def arg_reductions(fn: ir.Function, ctx: PassContext) -> ir.Function:
    """Conditional assignments whose target is live after the loop become reductions of an iteration index.

    Before:                                   After:
        for i in range(n):                        last = -1
            if a[i] > 0.0:                        for i in range(n):
                x = a[i]                              if a[i] > 0.0: last = max(last, i)
                                                  if last >= 0: x = a[last]

        for i in range(n):                        best_before = best
            if a[i] > best:                       for i in range(n):
                best = a[i]                           best = max(best, a[i])
                where = i                         if best > best_before:
                                                      first = n
                                                      for i_2 in range(n):
                                                          first = min(first, i_2 if a[i_2] == best else n)
                                                      if first < n: where = first

    With `>=`, the last maximal element is searched for, and the test for a change of `best` is omitted.
    The second loop reads the elements again, which costs little compared with a loop-carried comparison.
    Values must be recomputable after the loop: their operands are the loop variable, scalars that the loop
    does not set or sets earlier in the same iteration from such operands, and elements of arrays that the
    loop does not write.

    Runs before `recognise_reductions`, which rejects a maximum whose branch has other statements.

    A loop down the columns of an array, each of which is an iteration of a parallel loop, stays: that one becomes the
    lanes (`vectorise_outer_loops`), which read rows.

    Does not handle: what is assigned under an inner condition, or in the `else`; loops with
    `break` or `continue`; assigned scalars that the loop reads elsewhere.
    """
    if not ctx.may_change_loops(fn):
        return fn
    names = NameSupply.after(fn)
    columns = {
        inner.var
        for loop in loops_of(fn.body)
        for inner in loop.body
        if isinstance(inner, ir.For)
        and _is_candidate(inner)
        and _goes_down(inner, loop)
        and is_free(loop, ctx.trials)
    }

    def rule(loop: ir.For) -> ir.For | tuple[ir.Stmt, ...]:
        return _rewritten(loop, names, ctx) if loop.var not in columns and _is_candidate(loop) else loop

    return map_loops(fn, rule)


def _goes_down(loop: ir.For, across: ir.For) -> bool:
    """Whether a loop with conditions reads columns of arrays, whose rows the loop around it goes along."""
    if not any(isinstance(stmt, ir.If) for stmt in loop.body):
        return False
    both = {loop.var, across.var}
    loads = [n for n in walk(loop.body) if isinstance(n, ir.Load) and both <= scalars_read(n)]
    steps = {step_along_rows(n.array, n.index, across.var) for n in loads}
    return steps == {1} and not any(step_along_rows(n.array, n.index, loop.var) for n in loads)


@dataclass(frozen=True, slots=True)
class Extreme:
    """The first extreme value in the order of iterations, as `op` finds it ("max", "min"), and scalars set with it.

    symbols: the value, and these scalars."""

    op: str
    symbols: tuple[ir.Symbol, ...]


def first_extremes(nest: ir.For) -> list[Extreme]:
    """The searches for a first extreme in a nest whose scalars are neither read nor set elsewhere in it, so
    that parts of its iteration domain can be searched independently."""
    reads, writes = Counter(scalar_reads(nest.body)), Counter(scalar_writes(nest.body))
    out = []
    for loop in loops_of(nest):
        again = Recomputable(loop, MAX_SIZE)
        for stmt in loop.body:
            if not isinstance(stmt, ir.If) or stmt.orelse or (best := _best_of(stmt, again)) is None:
                continue
            moved = _moved(loop, stmt, again, best)
            symbols = (best.symbol, *moved)
            is_alone = reads[best.symbol] == again.reads[best.symbol] and not any(reads[s] for s in moved)
            is_whole = len(symbols) == len(stmt.then) and all(writes[s] == 1 for s in symbols)
            if best.strict and is_alone and is_whole:
                out.append(Extreme(best.op, symbols))
    return out


def _is_candidate(loop: ir.For) -> bool:
    if loop.clauses is not None and (loop.clauses.request == "sequential" or loop.clauses.collapse > 1):
        return False
    return has_fixed_bounds(loop) and not has_own(loop.body, ir.Break | ir.Continue | ir.Fail)


def _rewritten(loop: ir.For, names: NameSupply, ctx: PassContext) -> tuple[ir.Stmt, ...]:
    before: list[ir.Stmt] = []
    after: list[ir.Stmt] = []
    given = loop
    loop = replace(loop, body=tuple(_forwarded(s) if isinstance(s, ir.If) else s for s in loop.body))
    branches = [(number, s) for number, s in enumerate(loop.body) if isinstance(s, ir.If) and not s.orelse]
    again = Recomputable(loop, MAX_SIZE) if branches else None
    for number, stmt in branches:
        assert again is not None
        best = _best_of(stmt, again)
        moved = _moved(loop, stmt, again, best)
        waits = bool(scalars_read(stmt.cond) & scalars_written(stmt.then))
        if best is None and moved and not waits:
            new = _last_position(loop, stmt, moved, names)
        elif best is not None and len(moved) + 1 == len(stmt.then) and moved:
            new = _best_position(loop, stmt, best, moved, names)
        else:
            continue
        first, instead, last = new
        before += first
        after += last
        loop = replace(loop, body=(*loop.body[:number], instead, *loop.body[number + 1 :]))
        what = ", ".join(f"'{symbol.name}'" for symbol in moved)
        ctx.remark(stmt.loc, f"{what}: the position is reduced, and the value had after the loop")
    return (*before, loop, *after) if after else (given,)


def _forwarded(branch: ir.If) -> ir.If:
    """The branch, in which no assignment reads what an earlier one sets: a value in a wider type is its own value."""
    known: dict[ir.Symbol, ir.Expr] = {}
    then: list[ir.Stmt] = []
    for stmt in branch.then:
        if not isinstance(stmt, ir.Assign):
            return branch
        value = substitute(stmt.value, known)
        if sum(1 for _ in walk(value)) > MAX_SIZE:
            return branch
        then.append(replace(stmt, value=value))
        known = {s: v for s, v in {**known, stmt.target: value}.items() if stmt.target not in scalars_read(v)}
    return replace(branch, then=tuple(then))


_New: TypeAlias = tuple[list[ir.Stmt], ir.Stmt, list[ir.Stmt]]
"""The statements before the loop, the one that replaces the conditional statement, and those behind the
loop."""


@dataclass(frozen=True, slots=True)
class _Best:
    """`if value > symbol: symbol = value; ...`, as a maximum or minimum. strict: the first counts."""

    symbol: ir.Symbol
    value: ir.Expr
    op: str
    strict: bool


def _best_of(stmt: ir.If, again: Recomputable) -> _Best | None:
    for inner in stmt.then:
        if not isinstance(inner, ir.Assign):
            continue
        relation, target = _relation(stmt.cond, inner), inner.target
        value = again.of(inner.value) if relation is not None else None
        if relation is None or value is None or again.writes[target] > 1 or target in scalars_read(value):
            continue
        if again.reads[target] == sum(1 for symbol in scalar_reads((stmt.cond, inner)) if symbol == target):
            return _Best(target, value, "max" if relation[0] == ">" else "min", len(relation) == 1)
    return None


def _relation(cond: ir.Expr, assign: ir.Assign) -> str | None:
    """The operator that compares the assigned value with the scalar's old value, where the condition is that
    comparison; else None."""
    if not isinstance(cond, ir.Compare) or cond.op in ("==", "!="):
        return None
    if cond.lhs == assign.value and isinstance(cond.rhs, ir.Var) and cond.rhs.symbol == assign.target:
        return cond.op
    if cond.rhs == assign.value and isinstance(cond.lhs, ir.Var) and cond.lhs.symbol == assign.target:
        return ir.MIRRORED[cond.op]
    return None


def _moved(loop: ir.For, stmt: ir.If, again: Recomputable, best: _Best | None) -> dict[ir.Symbol, ir.Expr]:
    """The scalars that the branch sets and that no statement of the loop reads, with their values."""
    out: dict[ir.Symbol, ir.Expr] = {}
    taken = set()
    if loop.clauses is not None:
        taken = {r.symbol for r in loop.clauses.reductions} | set(loop.clauses.private)
    for inner in stmt.then:
        if not isinstance(inner, ir.Assign) or (best is not None and inner.target == best.symbol):
            continue
        value, target = again.of(inner.value), inner.target
        alone = target not in taken and not again.reads[target] and again.writes[target] == 1
        if value is not None and alone:
            out[target] = value
    return out


def _last_position(loop: ir.For, stmt: ir.If, moved: dict[ir.Symbol, ir.Expr], names: NameSupply) -> _New:
    loc = stmt.loc
    last = names.fresh("last", DType.INT64)
    rest = tuple(s for s in stmt.then if not (isinstance(s, ir.Assign) and s.target in moved))
    new = replace(stmt, then=(*rest, _noted(loop, last, ir.Var(loop.var, loc=loc), first=False)))
    found = ir.Compare(">=" if loop.step > 0 else "<=", ir.Var(last, loc=loc), loop.lo, loc=loc)
    start = shifted(loop.lo, -1 if loop.step > 0 else 1)
    return [ir.Assign(last, start, loc=loc)], new, [_set(loop, moved, last, found)]


def _best_position(
    loop: ir.For, stmt: ir.If, best: _Best, moved: dict[ir.Symbol, ir.Expr], names: NameSupply
) -> _New:
    loc, dtype = stmt.loc, best.symbol.dtype
    before = names.fresh(f"{best.symbol.name}_before", dtype)
    where = names.fresh("first" if best.strict else "last", DType.INT64)
    var = names.fresh(loop.var.name, DType.INT64)
    held = ir.Var(best.symbol, loc=loc)
    here = substitute(best.value, {loop.var: ir.Var(var, loc=loc)})
    forward = loop.step > 0
    if best.strict:
        start, found = loop.hi, ir.Compare("<" if forward else ">", ir.Var(where, loc=loc), loop.hi, loc=loc)
    else:
        moved = moved | {best.symbol: best.value}  # of elements that are equal, 0.0 and -0.0, it has the last
        start = shifted(loop.lo, -1 if forward else 1)
        found = ir.Compare(">=" if forward else "<=", ir.Var(where, loc=loc), loop.lo, loc=loc)
    is_best = ir.Compare("==", here, held, loc=loc)
    note = ir.Select(
        is_best, ir.Var(var, loc=loc), start, loc=loc
    )  # without a branch the search may end early
    find = _noted(loop, where, note, first=best.strict)
    clauses = loop.clauses and replace(loop.clauses, reductions=(), private=())
    search = ir.For(var, loop.lo, loop.hi, loop.step, (find,), clauses=clauses, loc=loop.loc)
    after: tuple[ir.Stmt, ...] = (ir.Assign(where, start, loc=loc), search, _set(loop, moved, where, found))
    if best.strict:
        better = ir.Compare(">" if best.op == "max" else "<", held, ir.Var(before, loc=loc), loc=loc)
        after = (ir.If(better, after, loc=loc),)
    value = next(s.value for s in stmt.then if isinstance(s, ir.Assign) and s.target == best.symbol)
    kept: list[ir.Stmt] = [ir.Assign(before, held, loc=loc)] if best.strict else []
    return kept, ir.Update(best.symbol, (), best.op, value, loc=loc), list(after)


def _noted(loop: ir.For, position: ir.Symbol, value: ir.Expr, *, first: bool) -> ir.Update:
    """Notes an iteration: the first one that does so counts, or the last."""
    return ir.Update(position, (), "min" if first == (loop.step > 0) else "max", value, loc=value.loc)


def _set(loop: ir.For, moved: dict[ir.Symbol, ir.Expr], position: ir.Symbol, found: ir.Expr) -> ir.If:
    at: ir.Expr = ir.Var(position, loc=found.loc)
    assigns = tuple(
        ir.Assign(symbol, substitute(value, {loop.var: at}), loc=value.loc) for symbol, value in moved.items()
    )
    return ir.If(found, assigns, loc=found.loc)
