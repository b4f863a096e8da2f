"""Loop skewing: a nest of two loops that both carry dependences runs as a wavefront.

    for i in range(1, n):
        for j in range(1, m):
            a[i, j] = (a[i - 1, j] + a[i, j - 1]) * 0.5

Before, every iteration depends on the previous one. On a CPU, the nest keeps its form, and the schedule gets the skew:
`jam_waves` interleaves the rows of a strip, each some columns behind the one above it.

On a GPU a front spans all rows:

    for front in range(2, n + m - 1):
        for i in range(max(1, front - m + 1), min(n, front)):
            a[i, front - i] = ...                       # free

A loop around that has nothing else in it is skewed against the fronts in the same way: of all steps of a stencil in
place, a front has an iteration of each row of each step that may run by then.

The dependences determine how many columns each row is behind, up to four (`skew_factor`). All
dependences are exact relations, and results are bitwise identical.

Requires: `check_bounds`; only where nothing in the nest can raise. Runs after
`interchange_loops` and before `check_parallel`, which finds the fronts free.

Not done on a CPU where a free loop around walks all arrays as they lie, since it becomes vector lanes.

Does not handle: loops with a pragma; inner bounds that depend on the outer loop; steps other than 1;
loop-carried scalars, and scalars that are read after the nest.
"""

from __future__ import annotations

from dataclasses import replace

from appyc.analysis.dependences.wavefront import skew_factor
from appyc.ir.blocks import blocks_of
from appyc.ir.names import NameSupply
from appyc.ir.nodes import For, Function, Stmt, Symbol
from appyc.ir.schedule import LoopSchedule
from appyc.ir.visit import loops_of, with_loops
from appyc.passes.loop_ops.skew import skew, why_not_skew
from appyc.passes.parallelise.plain_loops import is_unordered, walks_as_memory_lies
from appyc.passes.pass_context import PassContext

FRONT = "as a wavefront"


def skew_loops(fn: Function, ctx: PassContext) -> Function:
    """The function with the skew of nests that carry dependences in both loops; on a GPU, with loops over fronts."""
    if not ctx.options.auto:
        return fn
    fn = _skewed(fn, frozenset(), ctx)
    fronts = frozenset[Symbol]()
    while ctx.options.on_gpu and (new := _fronts(fn, ctx) - fronts):
        fronts |= new
        fn = _skewed(fn, new, ctx)
    return fn


def _fronts(fn: Function, ctx: PassContext) -> frozenset[Symbol]:
    """The loops over fronts that there are."""
    return frozenset(loop.var for loop in loops_of(fn.body) if ctx.changes.get(loop.var) == FRONT)


def _skewed(fn: Function, fronts: frozenset[Symbol], ctx: PassContext) -> Function:
    """The function with nests skewed whose inner loop is one of `fronts`, or an innermost loop where there are none."""
    names, legality, on_gpu = NameSupply.after(fn), ctx.legality(fn), ctx.options.on_gpu
    changed: dict[Symbol, For] = {}
    skewed: dict[Symbol, LoopSchedule] = {}
    for outer, inner, around in _pairs(fn.body, (), fronts):
        scalars = legality.scalars[outer.var]
        stays = scalars.carried or scalars.last or scalars.reductions
        free = [loop for loop in around if is_unordered(loop, legality)]
        if stays or (free if on_gpu else any(map(walks_as_memory_lies, free))):
            continue
        factor = skew_factor(legality, outer, inner, integers=on_gpu)
        if factor is None:
            continue
        if on_gpu:
            made = changed[outer.var] = skew(outer, inner, factor, names)
            ctx.changes[outer.var] = "after skewing"
            ctx.changes[made.var] = FRONT
        else:
            skewed[outer.var] = replace(fn.schedule[outer.var], skew=factor)
        ctx.remark(
            outer.loc,
            f"the loops over '{outer.var.name}', '{inner.var.name}' run as a wave: "
            f"each row {factor} column{'s' if factor > 1 else ''} behind the one before it",
        )
    if skewed:
        fn = replace(fn, schedule=fn.schedule.updated(skewed))
    return with_loops(fn, changed)


def _pairs(
    body: tuple[Stmt, ...], around: tuple[For, ...], fronts: frozenset[Symbol]
) -> list[tuple[For, For, tuple[For, ...]]]:
    """A loop with one of `fronts` as all its body, or an innermost loop where there are none, and the loops around."""
    out: list[tuple[For, For, tuple[For, ...]]] = []
    for stmt in body:
        if isinstance(stmt, For):
            match stmt.body:
                case (For() as inner,) if _is_candidate(stmt, inner, fronts):
                    out.append((stmt, inner, around))
                case _:
                    out += _pairs(stmt.body, (*around, stmt), fronts)
            continue
        for block in blocks_of(stmt):
            out += _pairs(block, around, fronts)
    return out


def _is_candidate(outer: For, inner: For, fronts: frozenset[Symbol]) -> bool:
    is_inner = inner.var in fronts if fronts else not loops_of(inner.body)
    is_unordered = outer.clauses is None and inner.clauses is None
    return is_inner and is_unordered and why_not_skew(outer, inner) is None
