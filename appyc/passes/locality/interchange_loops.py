"""Loop interchange by a cost model of memory, threads and lanes.

    for j in range(m):                        for i in range(n):          # free: threads
        for i in range(n):           ->           for j in range(m):      # stride one: lanes
            B[i, j] = A[i, j] * 2.0                   B[i, j] = A[i, j] * 2.0

    for i in range(n):                        for j in range(n - 1):
        for j in range(i):           ->           for i in range(j + 1, n):
            B[j, i] = A[j, i]                         B[j, i] = A[j, i]

A band is a perfect nest of at most `MAX_LOOPS` loops. An order is legal if
it preserves the direction of every conflict between two iterations (`analysis/dependences/bands.py`).
Scalars that the body writes must be private to an iteration, or reductions. A static cost model
compares the orders (`analysis/cost/loop_order.py`). Where bounds depend on an outer loop, the iterations
of the band are one set of integers, and the new bounds are those of its projections.

A loop with a pragma keeps its position, and so do the loops around it, so that the request is met
literally. The loops inside it may be interchanged.

Requires: `check_bounds` and `recognise_reductions`; only where nothing in the band can raise,
since the writes before an exception would be visible. Runs before `check_parallel`, whose
verdicts are about the new order.

Does not handle: statements between the loops; steps other than 1 and -1 where bounds depend
on a loop that is moved inwards; bounds that are not a single polyhedron, such as `range(max(i, j))`.
"""

from __future__ import annotations

from dataclasses import dataclass

from appyc.analysis.cost.loop_order import Cost, OrderCosts
from appyc.analysis.dependences.bands import MAX_LOOPS, Order, band_of
from appyc.analysis.dependences.dependences import Conflict
from appyc.analysis.dependences.legality import Legality
from appyc.ir.blocks import blocks_of, perfect_nest
from appyc.ir.nodes import For, Function, Stmt, Symbol
from appyc.ir.visit import loops_of, with_loops
from appyc.passes.loop_ops.interchange import interchange
from appyc.passes.loop_ops.nests import keeps_sums, why_not_permute
from appyc.passes.pass_context import PassContext


def interchange_loops(fn: Function, ctx: PassContext) -> Function:
    """The function with its bands in the best order that is legal."""
    if not ctx.options.auto:
        return fn
    bands = _bands(fn.body, ())
    changed: dict[Symbol, For] = {}
    for loops, around in bands:
        legality = ctx.legality(fn)
        new = _reordered(fn, loops, around, legality, ctx)
        if new is not None:
            changed[loops[0].var] = new
    return with_loops(fn, changed)


def _bands(body: tuple[Stmt, ...], around: tuple[For, ...]) -> list[tuple[tuple[For, ...], tuple[For, ...]]]:
    """The bands for which pragmas and exceptions permit interchange, each with its enclosing loops."""
    out: list[tuple[tuple[For, ...], tuple[For, ...]]] = []
    for stmt in body:
        if isinstance(stmt, For):
            chain = perfect_nest(stmt)
            kept = _marked(chain)
            free, within = chain[kept:][-MAX_LOOPS:], (*around, *chain)
            if len(free) > 1:
                out.append((free, within[: -len(free)]))
            out += _bands(chain[-1].body, within)
            continue
        for block in blocks_of(stmt):
            out += _bands(block, around)
    return out


def _marked(chain: tuple[For, ...]) -> int:
    """The number of outermost loops of a chain that a pragma keeps outermost."""
    kept = 0
    for level, loop in enumerate(chain):
        if loop.clauses is not None:
            kept = level + loop.clauses.collapse
    inside = any(loop.clauses is not None for loop in loops_of(chain[-1].body))
    return len(chain) if inside else kept


@dataclass(frozen=True, slots=True)
class _Choice:
    """An order and what it costs; `broken`: a conflict that it would turn round."""

    order: Order
    cost: Cost
    broken: Conflict | None


def _reordered(
    fn: Function, loops: tuple[For, ...], around: tuple[For, ...], legality: Legality, ctx: PassContext
) -> For | None:
    """The band in a better order; None where there is none."""
    exact = ctx.options.exact
    if why_not_permute(loops, legality, exact=exact) is not None:
        return None
    band = band_of(legality, loops)
    if band is None:
        return None
    exact = exact and keeps_sums(band)
    costs = OrderCosts(band, ctx.options.on_gpu, has_threads(around, legality))
    choices = [_Choice(order, costs.of(order), band.broken(order, exact=exact)) for order in band.orders()]
    written = choices[0]
    better = sorted((c for c in choices[1:] if c.cost.is_worth(written.cost)), key=lambda c: c.cost)
    for choice in better:
        if choice.broken is not None:
            continue
        new = interchange(fn, loops, choice.order, legality)
        if new is None:
            ctx.missed(
                loops[0].loc,
                f"{_named(loops)} stay in this order, though {_listed(loops, choice.order)} would be "
                "better: the bounds cannot be turned round",
                "let the bounds of the inner loop depend on the outer one by a factor of 1, or not at all",
            )
            continue
        _tell(loops, choice, written, ctx)
        ctx.changes.update((loop.var, "after interchange") for loop in loops)
        return new
    if better and better[0].broken is not None and better[0].cost.distance < written.cost.distance:
        _tell_why_not(loops, better[0], ctx)
    return None


def has_threads(around: tuple[For, ...], legality: Legality) -> bool:
    """Whether one of these loops is what threads share."""
    return any(
        loop.request == "parallel" or (loop.clauses is None and legality.judge(loop).may_run_in_any_order)
        for loop in around
    )


def _named(loops: tuple[For, ...]) -> str:
    return f"the loops over {_listed(loops, tuple(range(len(loops))))}"


def _listed(loops: tuple[For, ...], order: Order) -> str:
    return ", ".join(f"axis {n}" if loops[n].implied else f"'{loops[n].var.name}'" for n in order)


def _tell(loops: tuple[For, ...], choice: _Choice, written: _Choice, ctx: PassContext) -> None:
    why: list[str] = []
    if choice.cost.distance < written.cost.distance:
        why.append("memory is then read as it lies")
    if choice.cost.waiting < written.cost.waiting:
        why.append("a loop that threads may share is outermost")
    if not why and choice.cost.moving < written.cost.moving:
        why.append("elements stay in registers")
    reason = " and ".join(why or ["arrays are then walked as they lie"])
    ctx.remark(
        loops[0].loc,
        f"{_named(loops)} are interchanged: their order is {_listed(loops, choice.order)}, since {reason}",
    )


def _tell_why_not(loops: tuple[For, ...], choice: _Choice, ctx: PassContext) -> None:
    """`choice`: a better order that is not legal."""
    assert choice.broken is not None
    source, sink = choice.broken.source, choice.broken.sink
    ctx.missed(
        loops[0].loc,
        f"{_named(loops)} stay in this order, though {_listed(loops, choice.order)} would be better: "
        f"what line {source.loc.line} {source.deed} in '{source.array.name}' comes before what line "
        f"{sink.loc.line} {sink.deed}, and would come after it",
        "write the loops in the other order if the results allow it, or into another array",
    )
