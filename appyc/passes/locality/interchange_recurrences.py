"""Moves the reduction of a recurrence out of the loop that carries it: each element is pushed to those that need it.

    for j in range(i + 1, n):                        row = identities, for each j
        s = f(j)                                     for j in range(i + 1, n):
        for k in range(i + 1, j):              ->        s = f(j)
            s = max(s, t[i, k] + t[k + 1, j])            s = max(s, row[j - i - 1])
        t[i, j] = s                                      t[i, j] = s
                                                         for m in range(j + 1, n):
                                                             row[m - i - 1] = max(row[m - i - 1],
                                                                                  t[i, j] + t[j + 1, m])

Dynamic programs over intervals and left-looking factorisations have this form: element j needs all earlier elements of
its row, and a column. As written, the reduction strides down the column, a cache line for each element. Pushed,
the inner loop is free, and walks along rows. Both orders combine the operands of an element in the same order, but for
the start `f(j)`, which comes last.

A read in the reduction at (j, k) moves from iteration j to iteration k. This is legal if no iteration between them, nor
a later one than k, stores what is read: isl decides.

Requires: `check_bounds`, `recognise_reductions`; that nothing in the loop can raise. Runs before verdicts, which are
about the new loops.

Does not handle: reductions whose operands use scalars of iteration j; bounds of k that do not move with j, for which
`tile_column_reductions` and `interchange_loops` serve; wavefronts (`for d: for i: j = i + d`); loops with pragmas;
GPUs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from appyc.analysis.algebra.linear_subscripts import SECOND
from appyc.analysis.dependences.dependences import Conflict
from appyc.analysis.dependences.legality import Legality
from appyc.analysis.dependences.verdicts import named
from appyc.ir import nodes as ir
from appyc.ir import visit
from appyc.ir.affine import coefficient, distance, excess
from appyc.ir.names import NameSupply
from appyc.ir.raising import may_raise
from appyc.ir.types import ArrayType, Layout
from appyc.passes.loop_ops.nests import is_rounding
from appyc.passes.node_builders import filling, integer, larger, result_of, shifted, start_of_sum, trip_count
from appyc.passes.pass_context import PassContext

MAX_CONFLICTS = 48
"""The most dependences of a loop; one with more is not transformed."""


def interchange_recurrences(fn: ir.Function, ctx: PassContext) -> ir.Function:
    """The function with such reductions pushed, where they stride down columns."""
    if not ctx.options.auto or ctx.options.on_gpu:
        return fn
    names, new = NameSupply.after(fn), {}
    for loop in visit.loops_of(fn.body):
        found = _recurrence(loop)
        if found is None or not found.is_legal(ctx.legality(fn)):
            continue
        if ctx.options.exact and is_rounding(found.update.op, found.update.target.dtype.is_integer):
            continue
        new[loop.var] = found.pushed(names)
        ctx.remark(
            loop.loc, f"{named(loop)} adds each element to those behind it: rows are walked, not columns"
        )
    return visit.with_loops(fn, new)


@dataclass(frozen=True, slots=True)
class _Recurrence:
    """A loop whose iterations reduce over the earlier ones: `inner`, at position `at` of its body.

    update: the reduction. behind: c of the inner loop's end `j + c`. ahead: how many values of k there are before the
    first of j.
    """

    outer: ir.For
    inner: ir.For
    at: int
    update: ir.Update
    behind: int
    ahead: int

    def is_legal(self, legality: Legality) -> bool:
        """Whether each read in the reduction may move to iteration k; False for loops that carry nothing."""
        dependences = legality.dependences
        inside = {id(access) for access in dependences.found.within(self.inner)}
        conflicts = dependences.all_conflicts(self.outer, MAX_CONFLICTS) or ()
        flows = [c for c in conflicts if c.source.writes and id(c.sink) in inside]
        return bool(flows) and all(self._is_settled(legality, conflict) for conflict in flows)

    def _is_settled(self, legality: Legality, conflict: Conflict) -> bool:
        """Whether what is read at (j, k) is never stored in an iteration behind k."""
        found, sets = legality.dependences.found, legality.dependences.sets
        assert conflict.instances is not None
        stored = sets.parameter(found.variables[self.outer.var])
        read = sets.parameter(found.variables[self.inner.var] + SECOND)
        late = partial(conflict.instances.intersect, stored.gt_set(read))
        return sets.bounded(lambda: bool(late().is_empty()), False)

    def pushed(self, names: NameSupply) -> tuple[ir.Stmt, ...]:
        outer, update, loc = self.outer, self.update, self.outer.loc
        row = names.fresh(update.target.name, ArrayType(update.target.dtype, 1))
        count = larger(trip_count(outer.lo, outer.hi, 1), integer(0, loc))
        start = start_of_sum(update.op, update.target.dtype, loc)
        here = ir.Var(outer.var, loc=loc)
        total = ir.Load(row, (trip_count(outer.lo, here, 1),), checked=False, loc=loc)
        body = list(outer.body)
        body[self.at] = replace(update, value=total)
        body.append(self._push(row, here, shifted(here, 1 - self.behind), names))
        cleared = filling(row, (count,), start, names)
        out: list[ir.Stmt] = [ir.Alloc(row, (count,), zero=False, loc=loc), cleared]
        if self.ahead:
            early = names.fresh(self.inner.var.name, self.inner.var.dtype)
            k = ir.Var(early, loc=loc)
            first = larger(shifted(k, 1 - self.behind), outer.lo)
            out.append(
                ir.For(early, self.inner.lo, outer.lo, 1, (self._push(row, k, first, names),), loc=loc)
            )
        return (*out, replace(outer, body=tuple(body)))

    def _push(self, row: ir.Symbol, k: ir.Expr, first: ir.Expr, names: NameSupply) -> ir.For:
        """Adds what iteration k gives to all elements from `first` on."""
        inner, loc = self.inner, self.inner.loc
        var = names.fresh(self.outer.var.name, self.outer.var.dtype)
        there = ir.Var(var, loc=loc)
        *before, update = visit.substitute(inner.body, {inner.var: k, self.outer.var: there})
        assert isinstance(update, ir.Update)
        at = (trip_count(self.outer.lo, there, 1),)
        total = result_of(replace(update, target=row, index=at, checked=False))
        body = (*before, ir.Store(row, at, total, checked=False, loc=loc))
        own = {s: names.fresh(s.name, s.dtype) for s in visit.scalars_written(body)}
        return ir.For(var, first, self.outer.hi, 1, visit.rename(body, own), loc=loc)


def _recurrence(outer: ir.For) -> _Recurrence | None:
    """The recurrence that a loop computes, as far as its statements show; None for another loop."""
    loops = [at for at, stmt in enumerate(outer.body) if isinstance(stmt, ir.For)]
    if (
        outer.step != 1
        or len(loops) != 1
        or visit.contains(outer.body, ir.While | ir.Alloc | ir.Break | ir.Continue)
    ):
        return None
    inner = outer.body[loops[0]]
    assert isinstance(inner, ir.For)
    if inner.step != 1 or outer.clauses is not None or inner.clauses is not None or may_raise(outer):
        return None
    if len(visit.loops_of(outer.body)) != 1 or not isinstance(update := inner.body[-1], ir.Update):
        return None
    behind = distance(inner.hi, outer.var)
    ahead = excess(outer.lo, inner.lo)
    if behind is None or behind > 0 or ahead is None or ahead < 0:
        return None
    found = _Recurrence(outer, inner, loops[0], update, behind, ahead)
    return found if _operands_move(found) and _strides(found) else None


def _operands_move(found: _Recurrence) -> bool:
    """Whether the reduction combines straight-line expressions of j, k and what the outer loop does not change."""
    outer, inner, update = found.outer, found.inner, found.update
    *before, _ = inner.body
    if (
        update.index
        or update.mask is not None
        or update.trap
        or visit.contains(update.value, ir.Draw | ir.Call)
    ):
        return False
    bounds = (inner.lo, outer.lo, outer.hi)
    if visit.contains(bounds, ir.Load):
        return False  # they are evaluated again, when it may be another element
    known = visit.scalars_read(bounds)
    changed = visit.scalars_written(outer.body)
    for stmt in before:
        if not isinstance(stmt, ir.Assign):
            return False
        known |= visit.scalars_read(stmt.value) & (changed - {inner.var})
        changed -= {stmt.target}
    known |= visit.scalars_read(update.value) & (changed - {inner.var})
    own = visit.scalars_written(inner.body) - {update.target}
    first, rest = outer.body[: found.at], outer.body[found.at + 1 :]
    if visit.arrays_written(first):
        return False  # the reduction may read what its own iteration stores
    return not known & changed and not own & {*visit.symbols_of(first), *visit.symbols_of(rest)}


def _strides(found: _Recurrence) -> bool:
    """Whether the reduction strides through an array whose rows the outer loop walks along, and never the reverse."""
    inner, outer = found.inner.var, found.outer.var
    columns = 0
    for load in visit.walk(found.inner.body):
        if not isinstance(load, ir.Load) or load.array.array.layout is not Layout.C:
            continue
        last, others = load.index[-1], load.index[:-1]
        along = coefficient(last, outer) == 1 and coefficient(last, inner) == 0
        if any(outer in visit.scalars_read(index) for index in others):
            return False
        columns += along and any(inner in visit.scalars_read(index) for index in others)
    return columns > 0
