"""Index-set splitting: cuts a range at the one iteration that conflicts with the others, or at its middle."""

from __future__ import annotations

from functools import reduce
from itertools import pairwise, product

from appyc.analysis.accesses.accesses import FunctionAccesses
from appyc.analysis.dependences.dependences import Conflict
from appyc.analysis.dependences.legality import Legality
from appyc.analysis.dependences.verdicts import Verdict, named
from appyc.analysis.sets.conditions import expression_of
from appyc.analysis.sets.lazy_isl import isl
from appyc.ir.blocks import collapsed_loops, constant_range, depth
from appyc.ir.names import NameSupply
from appyc.ir.nodes import Expr, For, Function, Stmt, Symbol
from appyc.ir.visit import loops_of, walk, with_loops
from appyc.passes.loop_ops.cut import split, why_not_cut
from appyc.passes.node_builders import shifted
from appyc.passes.parallelise.plain_loops import has_fixed_bounds, is_asked
from appyc.passes.pass_context import PassContext

MAX_NODES = 200
"""A larger body is not written three times."""

MAX_CONFLICTS = 24


def index_set_splitting(fn: Function, ctx: PassContext) -> Function:
    """A loop whose only conflicts are with one iteration, or between its halves, is cut there.

    Before:                                   After:
        for i in range(n):                        cut = min(max(k, 0), n)
            a[i, j] += a[i, k] * a[k, j]          end = min(max(k + 1, cut), n)
                                                  for i in range(0, cut): ...        # free
                                                  for i_2 in range(cut, end): ...    # iteration k
                                                  for i_3 in range(end, n): ...      # free

        for i in range(n):                        cut = min(max((n + 1) // 2, 0), n)
            a[i] = a[n - 1 - i]                   for i in range(0, cut): ...        # free
                                                  for i_2 in range(cut, n): ...      # free

    A conflict relates an earlier iteration to a later one. The least later iteration and the greatest
    earlier one of all conflicts are functions of the parameters and of the enclosing loops. The ranges
    before the first and after the second have no conflicts. The loop is split only if at most one
    iteration lies between the two ranges.

    Runs before `check_parallel`, which finds that the parts may run in any order. A pragma on the loop is kept.

    Does not handle: steps other than 1; loop-carried scalars; conflicts with several iterations.
    """
    collapsed = collapsed_loops(fn)
    for height in range(depth(fn.body)):  # inner loops first
        free = [n for n in loops_of(fn.body) if depth(n.body) == height and n.var not in collapsed]
        candidates = [n for n in free if _is_candidate(n, ctx)]
        if candidates:
            fn = _split(fn, candidates, ctx.legality(fn), ctx)
    return fn


def _split(fn: Function, candidates: list[For], legality: Legality, ctx: PassContext) -> Function:
    """The function with those candidates split for which splitting makes the parts parallel."""
    names = NameSupply.after(fn)
    parts: dict[Symbol, tuple[Stmt, ...]] = {}
    for loop in candidates:
        points, ordered = _points(legality, loop)
        if points:
            before, loops = split(fn, loop, points, names, ordered=ordered)
            parts[loop.var] = (*before, *loops)
            for part in loops:
                ctx.freed(part.var, "splitting the index set where iterations conflict")
            ctx.remark(loop.loc, f"{named(loop)}: its range is cut where iterations conflict")
    return with_loops(fn, parts)


def _is_candidate(loop: For, ctx: PassContext) -> bool:
    clauses = loop.clauses
    if clauses is None:
        # Around a loop that was asked to run in parallel nothing else does.
        asked = any(is_asked(inner) for inner in loops_of(loop.body))
        wanted = ctx.options.auto and not asked and not _is_short(loop)
    else:
        wanted = is_asked(loop) and not clauses.independent and clauses.collapse == 1
    if not wanted or why_not_cut(loop) is not None or not has_fixed_bounds(loop):
        return False
    return sum(1 for _ in walk(loop.body)) <= MAX_NODES


def _is_short(loop: For) -> bool:
    """Whether each part would be one iteration, as of a time loop over two or three steps."""
    trips = constant_range(loop)
    return trips is not None and len(trips) <= 3


def _points(legality: Legality, loop: For) -> tuple[list[tuple[str, Expr]], bool]:
    """The start of the second part of a loop's range, and of the third if there is one; empty where the range
    is not split. With it whether they lie in the range, in their order, whenever the loop is reached."""
    nowhere: tuple[list[tuple[str, Expr]], bool] = [], False
    if legality.scalars[loop.var].carried or legality.judge(loop).verdict is not Verdict.CARRIED:
        return nowhere
    conflicts: list[Conflict] = []
    for conflict in legality.dependences.conflicts(loop):
        conflicts.append(conflict)
        if conflict.instances is None or conflict.kind == "reduction" or len(conflicts) > MAX_CONFLICTS:
            return nowhere
        if len(conflicts) == 1 and legality.dependences.turning_points(loop, conflicts) is None:
            return nowhere  # others can only move the points further apart
    points = legality.dependences.turning_points(loop, conflicts)
    if points is None:
        return nowhere
    later, earlier = points
    affine = legality.dependences.found.affine
    first = expression_of(later, affine, loop.loc)
    second = expression_of(earlier, affine, loop.loc)
    if first is None or second is None:
        return nowhere
    apart = affine.in_context(earlier.ge_set(later)).is_empty()
    cuts = [("cut", first)] if apart else [("cut", first), ("end", shifted(second, 1))]
    starts = [later] if apart else [later, earlier.add(affine.sets.constant(1))]
    return cuts, _are_ordered(legality.dependences.found, loop, starts)


def _are_ordered(found: FunctionAccesses, loop: For, starts: list[isl.PwAff]) -> bool:
    """Whether the starts of parts lie in the loop's range, in their order, whenever the loop is reached."""
    sets = found.sets
    lows, highs = found.limits[loop.var]
    points = [
        isl.PwAff.from_aff(start.get_pieces()[0][1]) for start in starts
    ]  # without iterations that conflict too
    behind = [high.add(sets.constant(1)) for high in highs]
    pairs = [*product(lows, points[:1]), *pairwise(points), *product(points[-1:], behind)]

    def are_ordered() -> bool:
        falls = reduce(isl.Set.union, (a.gt_set(b) for a, b in pairs))
        return bool(found.affine.in_context(falls.intersect(found.entries[loop.var])).is_empty())

    return sets.bounded(are_ordered, False)
