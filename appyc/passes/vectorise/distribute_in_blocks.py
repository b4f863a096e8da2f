"""Loop distribution in blocks, with scalar expansion: for calls beside what runs in order, and for lanes in step."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from itertools import combinations

from appyc.analysis.accesses.scalar_flow import LoopScalars, scalars_of
from appyc.analysis.dependences.statement_graph import StatementGraph, statement_graph
from appyc.ir import nodes as ir
from appyc.ir.blocks import has_own
from appyc.ir.intrinsics import VECTOR_FUNCTIONS
from appyc.ir.names import NameSupply, ordered
from appyc.ir.raising import can_fault
from appyc.ir.types import DType
from appyc.ir.visit import (
    arrays_read,
    arrays_written,
    contains,
    loops_of,
    map_operands,
    rename,
    rewrite_all,
    scalars_read,
    scalars_written,
    walk,
)
from appyc.passes import node_builders as build
from appyc.passes.loop_ops.expand_scalars import expand_scalars
from appyc.passes.loop_ops.strip_mine import map_to_blocks
from appyc.passes.parallelise.distribute_loops import MAX_STATEMENTS, distribution
from appyc.passes.parallelise.plain_loops import walks_as_memory_lies
from appyc.passes.pass_context import PassContext
from appyc.passes.vectorise.lane_plan import plan_lanes
from appyc.passes.vectorise.simd_forms import why_not_simd

BLOCK = 64
"""Iterations of a block: several vectors of each type, and few enough that what is kept stays in the first cache."""

LONGEST_STEP = 4
"""Elements that are kept have the distance of the iterations, and vectors are permuted for them."""

FEW = 16
"""Up to this trip count, lanes do not pay for what is kept for them."""

MOST_KEPT = 4
"""Scalars that are kept for each iteration of a block."""


def distribute_in_blocks(fn: ir.Function, ctx: PassContext) -> ir.Function:
    """Strip-mining, scalar expansion and fission of loops whose statements are faster in lanes of their own.

    Before:                                     After:
        for i in range(n):                          for at in range(0, n, 64):
            x = (x * 69069 + 1) % 4294967296            for i in range(at, min(at + 64, n)):
            s += exp(-x / 4294967296)                       x = (x * 69069 + 1) % 4294967296
                                                            x_kept[i - at] = x
                                                        for i in range(at, min(at + 64, n)):  # simd
                                                            x_2 = x_kept[i - at]
                                                            s += exp(-x_2 / 4294967296)

        for i in range(1, n):   # in step           for at in range(1, n, 64):
            b[i] = b[i + 1] * d[i]                      for i in range(at, min(at + 64, n)):
            a[i] = b[i - 1] + c[i]         ->               b[i] = b[i + 1] * d[i]
                                                        for i in range(at, min(at + 64, n)):
                                                            a[i] = b[i - 1] + c[i]

    The first loop calls a function of vectors in some statements only. A call whose arguments do not depend on
    earlier iterations gets a statement of its own. In a loop whose iterations are independent it is inner loops that
    have no lanes with it. The source is R. Allen and K. Kennedy, Automatic translation of Fortran programs to vector
    form (1987). The lanes of the second loop read elements that their neighbours have just stored: a vector which
    overlaps two stored ones waits until both are in the cache. Likewise loops down columns, `s += t[r] * a[r, i]`, are
    lanes of `i` apart from statements that have none, such as `y[i] = s * b[i, k[0]]`, unless there are few iterations.

    Requires: modes are chosen. Does not handle: loops that may raise or end early, but for what follows loops down
    columns; calls under conditions.
    """
    names, classes = NameSupply.after(fn), cache(partial(scalars_of, fn))
    products = {x.var for loop in loops_of(fn.body) if loop.product is not None for x in loops_of(loop)}

    def rule(loop: ir.For) -> ir.For | ir.If | None:
        columns = 0 if loop.var in products else _columns(loop)
        if not columns and not _is_candidate(loop):
            return None
        expansion = _Expansion(loop, classes()[loop.var], frozenset(), names)
        if columns:
            return expansion.behind(columns)
        if loop.in_step:
            graph = statement_graph(ctx.legality(fn), loop)
            return expansion.in_steps(graph) if graph is not None else None
        if ctx.options.exact:  # functions of vectors round otherwise
            return None
        if loop.mode is ir.LoopMode.SEQUENTIAL:
            conflicts = ctx.legality(fn).dependences.conflicts(loop)
            expansion.conflicts = frozenset(c.source.array for c in conflicts)
        return expansion.in_blocks()

    return map_to_blocks(fn, rule)


def _calls(nodes: ir.Node | Iterable[ir.Node]) -> bool:
    return any(isinstance(n, ir.Intrinsic) and n.name in VECTOR_FUNCTIONS for n in walk(nodes))


def _columns(loop: ir.For) -> int:
    """The number of statements that compute scalars of a free iteration in loops down a column, one for each iteration,
    if lanes of these are better and the statements behind them prevent those; else 0."""
    count = max((n + 1 for n, stmt in enumerate(loop.body) if contains(stmt, ir.For)), default=0)
    first, rest = loop.body[:count], loop.body[count:]
    inner = loops_of(first)
    own = {*loop.private, *(symbol for each in inner for symbol in each.private)}
    if not rest or not _is_shared(loop) or loop.step != 1 or not scalars_written(first) <= own:
        return 0
    if can_fault(first) or arrays_written(first) or any(loops_of(each.body) for each in inner):
        return 0
    if contains(loop.body, ir.Alloc | ir.Call | ir.While | ir.Break | ir.Continue):
        return 0
    down = [walks_as_memory_lies(replace(loop, body=each.body)) for each in inner]
    if not all(down) or all(map(walks_as_memory_lies, inner)):
        return 0
    if not can_fault(rest) and walks_as_memory_lies(replace(loop, body=rest)):
        return 0
    return count if plan_lanes(loop) is None else 0


def _is_shared(loop: ir.For) -> bool:
    """Whether the iterations are free, and combine into scalars at most."""
    if loop.mode is ir.LoopMode.SEQUENTIAL or loop.in_step or loop.safelen is not None or loop.last:
        return False
    return not (loop.clauses and loop.clauses.chunk) and not any(r.symbol.is_array for r in loop.reductions)


def _is_candidate(loop: ir.For) -> bool:
    if not 1 <= loop.step <= LONGEST_STEP or loop.safelen is not None or len(loop.body) > MAX_STATEMENTS:
        return False
    leaves = has_own(loop.body, ir.Break | ir.Continue)
    if leaves or can_fault(loop.body) or contains(loop.body, ir.Alloc | ir.Call):
        return False
    trips = build.most_trips(loop)
    is_short = trips is not None and trips <= FEW
    if loop.in_step:
        return not is_short and not loop.last
    if loop.mode is ir.LoopMode.SEQUENTIAL:
        return _calls(loop.body) and loop.clauses is None and not is_short
    if not _calls(loop.body) or not _is_shared(loop) or contains(loop.body, ir.While):
        return False
    innermost = [n for n in loops_of(loop.body) if not loops_of(n.body)]
    return bool(innermost) and all(n.mode is not ir.LoopMode.SEQUENTIAL and n.reductions for n in innermost)


@dataclass
class _Expansion:
    """A loop, with the classes of its scalars and the arrays by which iterations may depend on each other."""

    loop: ir.For
    classes: LoopScalars
    conflicts: frozenset[ir.Symbol]
    names: NameSupply

    def in_blocks(self) -> ir.For | None:
        """The loop over blocks; None where no call gets lanes, or where all have them."""
        body = self._with_own_calls()
        serial = self._serial(body)
        while True:
            groups = distribution(
                StatementGraph(body, tuple(range(len(body))), (), self._edges(body), (), serial)
            )
            if groups is None:
                return None
            idle = {n for group in groups if not _calls(body[n] for n in group) for n in group} - serial
            if not idle:
                break
            serial |= idle  # without a call
        return self._blocks([(tuple(body[n] for n in group), not serial & {*group}) for group in groups])

    def behind(self, count: int) -> ir.For | ir.If | None:
        """The loop over blocks, whose first statements have a loop of their own, unless there are few iterations."""
        loop, body = self.loop, self.loop.body
        blocks = self._blocks([(body[:count], False), (body[count:], False)])
        if blocks is None:
            return None
        few = rewrite_all(
            (build.copy_of(loop, self.names),), lambda n: build.in_order(n) if isinstance(n, ir.For) else n
        )
        return ir.If(build.at_least(build.trip_count(loop.lo, loop.hi, 1), FEW), (blocks,), few, loc=loop.loc)

    def in_steps(self, graph: StatementGraph) -> ir.For | None:
        """The loop over blocks, in which no statement reads what another one of its loop stores in earlier iterations;
        None where none does as it is."""
        flow = {(edge.source, edge.sink) for edge in graph.carried if edge.conflict.kind == "flow"}
        starts = [0]
        for number in range(len(self.loop.body)):
            if any((source, number) in flow for source in range(starts[-1], number)):
                starts.append(number)
        if len(starts) == 1:
            return None
        ends = (*starts[1:], len(self.loop.body))
        return self._blocks([(self.loop.body[a:b], True) for a, b in zip(starts, ends, strict=True)])

    @cached_property
    def _combined(self) -> dict[ir.Symbol, ir.Reduction]:
        return {r.symbol: r for r in self.classes.reductions if not r.symbol.is_array}

    def _with_own_calls(self) -> tuple[ir.Stmt, ...]:
        """The body with a scalar for each call in a serial statement that does not depend on earlier iterations."""
        body, moving = self.loop.body, {scalar.symbol for scalar in self.classes.carried}
        before = None
        while before != moving:
            before = set(moving)
            for stmt in body:
                if scalars_read(stmt) & moving:
                    moving |= scalars_written(stmt) - self._combined.keys()
        out: list[ir.Stmt] = []

        def named(e: ir.Expr) -> ir.Expr:
            if not _calls(e) or isinstance(e, ir.Select | ir.Logical):
                return e
            if isinstance(e, ir.Intrinsic) and not (
                scalars_read(e) & moving or arrays_read(e) & self.conflicts
            ):
                return build.let("called", e, self.names, out)
            return map_operands(e, named)

        for stmt in body:
            if scalars_read(stmt) & moving and isinstance(stmt, ir.Assign | ir.Update | ir.Store):
                stmt = map_operands(stmt, named)
            out.append(stmt)
        return tuple(out)

    def _serial(self, body: tuple[ir.Stmt, ...]) -> frozenset[int]:
        """The statements that have no lanes."""
        slow = {scalar.symbol for scalar in self.classes.carried} | {*self.classes.last}
        return frozenset(
            number
            for number, stmt in enumerate(body)
            if scalars_written(stmt) & slow
            or (arrays_read(stmt) | arrays_written(stmt)) & self.conflicts
            or contains(stmt, ir.For | ir.While)
        )

    def _edges(self, body: tuple[ir.Stmt, ...]) -> frozenset[tuple[int, int]]:
        """The dependences between statements, where what one scalar holds behind its last definition is kept."""
        out: set[tuple[int, int]] = set()
        for symbol in scalars_written(body) - self._combined.keys():
            writing = [n for n, stmt in enumerate(body) if symbol in scalars_written(stmt)]
            reading = [n for n, stmt in enumerate(body) if symbol in scalars_read(stmt)]
            tied = {*writing, *(n for n in reading if n < writing[-1])}
            out |= {(a, b) for a in tied for b in tied if a != b}
            out |= {(writing[-1], n) for n in reading if n > writing[-1]}
        for array in arrays_written(body):
            using = [n for n, stmt in enumerate(body) if array in arrays_read(stmt) | arrays_written(stmt)]
            for first, second in combinations(using, 2):
                out.add((first, second))
                if array in self.conflicts:
                    out.add((second, first))
        return frozenset(out)

    def _blocks(self, groups: list[tuple[tuple[ir.Stmt, ...], bool]]) -> ir.For | None:
        """The loop over blocks of iterations. groups: the statements of each loop, and whether it has lanes."""
        loop, loc, names = self.loop, self.loop.loc, self.names
        at = ir.Var(names.fresh("at", DType.INT64), loc=loc)
        span = BLOCK * loop.step
        end = build.smaller(build.shifted(at, span), loop.hi)
        index = (build.binary("-", ir.Var(loop.var, loc=loc), at),)
        bodies, kept = expand_scalars([body for body, _ in groups], index, names, apart=self._combined.keys())
        loops = [self._part(body, lanes, at, end) for body, (_, lanes) in zip(bodies, groups, strict=True)]
        if len(kept) > MOST_KEPT or any(
            part.mode is ir.LoopMode.SIMD and why_not_simd(replace(part, in_step=False)) for part in loops
        ):
            return None
        made = scalars_written([s for body in bodies for s in body]) - scalars_written(loop.body)
        size = build.integer(span, loc)
        arrays = (ir.Alloc(a, (size,), zero=False, in_frame=True, loc=loc) for a in kept.values())
        blocks = replace(loop, var=at.symbol, step=span, scans=(), body=(*arrays, *loops))
        if loop.mode is ir.LoopMode.PARALLEL:
            return replace(blocks, private=(*loop.private, *ordered(made)))
        return build.in_order(blocks)

    def _part(self, body: tuple[ir.Stmt, ...], has_lanes: bool, at: ir.Expr, end: ir.Expr) -> ir.For:
        """The iterations of a block for some statements, with a variable of their own."""
        loop, written = self.loop, scalars_written(body)
        combined = tuple(r for s, r in self._combined.items() if s in written)
        bare = replace(loop, lo=at, hi=end, body=body, clauses=None)
        if has_lanes:
            own = ordered(written - self._combined.keys())
            mode = ir.LoopMode.SIMD
            bare = replace(build.in_order(bare), mode=mode, in_step=loop.in_step, scans=())
            bare = replace(bare, private=tuple(own), reductions=combined)
        elif loop.mode is ir.LoopMode.SEQUENTIAL or combined:
            scans = loop.scans if {scan.symbol for scan in loop.scans} <= written else ()
            bare = replace(build.in_order(bare), scans=scans)
        else:
            bare = replace(bare, private=tuple(s for s in loop.private if s in written), reductions=())
        return rename(bare, {loop.var: self.names.fresh(loop.var.name, loop.var.type)})
