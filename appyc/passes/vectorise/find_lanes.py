"""Finds SIMD loops among those with dependences: by distance, or by reductions."""

from __future__ import annotations

from dataclasses import replace

from appyc.analysis.dependences.legality import Legality
from appyc.analysis.dependences.statement_graph import Carried, StatementGraph, statement_graph
from appyc.analysis.dependences.verdicts import Verdict
from appyc.ir.array_accesses import AccessNode, by_number
from appyc.ir.names import NameSupply, ordered
from appyc.ir.nodes import Assign, For, Function, If, Load, Logical, LoopMode, Node, Select, Stmt, Symbol, Var
from appyc.ir.visit import loops_of, map_loops, rewrite_all, scalars_read, scalars_written, walk, with_loops
from appyc.passes.checks.check_parallel import may_get_lanes, refusal, rounds_differently
from appyc.passes.node_builders import with_private
from appyc.passes.parallelise.plain_loops import is_plain
from appyc.passes.pass_context import PassContext

MIN_DISTANCE = 4
"""A smaller dependence distance leaves too few lanes to pay."""


def find_lanes(fn: Function, ctx: PassContext) -> Function:
    """Innermost loops become SIMD loops with a safe length, or with all lanes in lockstep.

    Before:                                   After:
        for i in range(16, n):                    for i in range(16, n):    # simd, safelen 16
            a[i] = a[i - 16] + b[i]                   a[i] = a[i - 16] + b[i]

        for i in range(n - 1):                    for i in range(n - 1):    # simd, in step
            a[i] = b[i] * c[i]                        t = a[i + 1]
            b[i] = a[i + 1] * d[i]                    a[i] = b[i] * c[i]
                                                      b[i] = t * d[i]

    Where every loop-carried dependence is lexically forward, lanes may execute each statement in lockstep.
    An anti dependence from a read to an earlier statement, which writes the element in a later iteration,
    is lexically backward. Such a read is hoisted to the top of the body, if nothing before it in the body
    writes the element.

    Runs after `check_parallel`, for the loops that it did not prove parallel, and after
    `distribute_loops`, which reorders statements. A loop with `#pragma simd` may have as few as two lanes.
    Where it can have none, this pass raises the DependenceError that `check_parallel` deferred.

    Does not handle: reads under a condition (they are not moved); loops with another pragma.
    """
    candidates = [loop for loop in loops_of(fn.body) if _is_candidate(loop, ctx)]
    if not candidates:
        return fn
    legality = ctx.legality(fn)
    names = NameSupply.after(fn)
    changed: dict[Symbol, For] = {}
    made: set[Symbol] = set()
    for loop in candidates:
        graph = None if legality.scalars[loop.var].carried else statement_graph(legality, loop)
        new = None if graph is None else _in_lanes(legality, loop, graph, names)
        verdict = ctx.verdicts[loop.var]
        if new is None and loop.clauses is not None:
            raise refusal(loop.clauses, verdict)
        if new is not None:
            changed[loop.var] = verdict.applied(new, LoopMode.SIMD, verdict.reductions)
            made |= scalars_written(new.body) - scalars_written(loop.body)
            how = "in step" if new.in_step else f"up to {new.safelen} at a time"
            ctx.verdicts[loop.var] = replace(verdict, reason=f"{verdict.reason}; lanes run {how}")
    fn = map_loops(with_loops(fn, changed), lambda loop: with_private(loop, made))
    for loop in loops_of(fn.body):
        if own := ordered(scalars_written(loop.body) & made):  # loops around may run in parallel
            verdict = ctx.verdicts[loop.var]
            ctx.verdicts[loop.var] = replace(verdict, private=(*verdict.private, *own))
    return fn


def _is_candidate(loop: For, ctx: PassContext) -> bool:
    verdict = ctx.verdicts.get(loop.var)
    if verdict is None or verdict.verdict not in (Verdict.CARRIED, Verdict.UNKNOWN):
        return False
    if may_get_lanes(loop, verdict):
        return True
    if ctx.options.exact and rounds_differently(verdict):
        return False
    return loop.clauses is None and ctx.options.auto and bool(loop.body) and is_plain(loop)


def _in_lanes(legality: Legality, loop: For, graph: StatementGraph, names: NameSupply) -> For | None:
    """The loop with its limits."""
    backward = [edge for edge in graph.carried if not edge.forward or edge.conflict.kind == "reduction"]
    if not backward:
        return replace(loop, in_step=True)
    early = {legality.dependences.found.number_of(edge.conflict.source, loop) for edge in backward}
    if all(_may_move(legality, loop, edge) for edge in backward):
        return _read_early(loop, early, names)
    distance = _distance(legality, graph, MIN_DISTANCE if loop.clauses is None else 2)
    return None if distance is None else replace(loop, safelen=distance)


def _may_move(legality: Legality, loop: For, edge: Carried) -> bool:
    """Whether the conflict's source is a read that may as well come first in the body."""
    access, stmt = edge.conflict.source, loop.body[edge.source]
    if edge.conflict.kind != "anti" or access.op != "read" or _has_conditions(stmt):
        return False
    moving = scalars_written(loop.body)
    loads = [n for n in walk(stmt) if isinstance(n, Load) and n.array == access.array]
    if any(scalars_read(load.index) & moving for load in loads):
        return False
    found = legality.dependences.found
    before = found.within(loop)[: found.number_of(access, loop)]
    return not any(
        other.writes and other.array == access.array and legality.dependences.may_meet(other, access)
        for other in before
    )


def _has_conditions(stmt: Stmt) -> bool:
    return any(
        isinstance(n, If | Select | Logical) or getattr(n, "mask", None) is not None for n in walk(stmt)
    )


def _read_early(loop: For, positions: set[int], names: NameSupply) -> For:
    """The loop with some of its reads hoisted to the top of its body; `positions` numbers them in order of access."""
    reads: list[Assign] = []

    def early_read(number: int, node: AccessNode) -> Node:
        if number not in positions:
            return node
        assert isinstance(node, Load)
        early = names.fresh(f"{node.array.name}_early", node.dtype)
        reads.append(Assign(early, node, loc=node.loc))
        return Var(early, loc=node.loc)

    body = rewrite_all(loop.body, by_number(early_read))
    return replace(loop, body=(*reads, *body), in_step=True)


def _distance(legality: Legality, graph: StatementGraph, enough: int) -> int | None:
    """The least dependence distance, where it is at least `enough`: so many consecutive iterations are independent."""
    least = [legality.dependences.distances(edge.conflict)[0] for edge in graph.carried]
    known = [distance for distance in least if distance is not None]
    return min(known) if len(known) == len(least) and min(known) >= enough else None
