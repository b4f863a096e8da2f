"""Parallel scans and linear recurrences: the chunks' totals first, then the chunks.

The range is cut into chunks, and so many of them as the machine has workers make a round:

    for i in range(n):          for c in range(chunks):        # parallel
        t += x[i]                   total = 0.0
        s[i] = t                    for i in chunk c: total += x[i]
                                    totals[c] = total
                         ->     for c in range(chunks):        # in order, and short
                                    starts[c] = t
                                    t += totals[c]
                                for c in range(chunks):        # parallel
                                    t = starts[c]
                                    for i in chunk c:
                                        t += x[i]
                                        s[i] = t

Chunks are short enough that the data of the first pass is still in the cache for the second,
so a round moves no more memory than the loop itself. For a linear recurrence, the first pass
computes two numbers: the product of the factors, and the result from a start of 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil

from appyc.analysis.dependences.verdicts import named
from appyc.analysis.patterns.compaction_pattern import packed_arrays
from appyc.analysis.patterns.scans import LINEAR
from appyc.ir import nodes as ir
from appyc.ir.blocks import replace_outermost
from appyc.ir.names import NameSupply, ordered
from appyc.ir.raising import traps_overflow
from appyc.ir.types import DType
from appyc.ir.visit import loops_of, map_loops, rename, scalars_read, scalars_written, walk
from appyc.passes import node_builders as build
from appyc.passes.parallelise.scan_composition import Totals, rounds_in_products
from appyc.passes.pass_context import PassContext

MIN_WORK = 1 << 17
"""Operations of a loop below which threads cost more than they gain: a scan wakes them twice."""

MIN_CHUNK = 1024
MAX_CHUNK = 250_000
"""Iterations. Short enough for a cache to hold much of a round until the second pass, long enough
that threads seldom wait for each other: where other processes use the cores too, a wait is long. Not a
power of two: chunks that run in parallel would map to the same cache sets."""

INNER_TRIPS = 64
"""The assumed trip count of an inner loop."""

MARGIN = 1.25
"""The least ratio of the workers' speedup to the overhead of the first pass, for a loop without a pragma."""

MAX_NODES = 400
"""A larger body is not written three times."""


def parallel_scan(fn: ir.Function, ctx: PassContext) -> ir.Function:
    """The function with scans in chunks; a test at run time selects them for loops that are long enough.

    Before:                                   After:
        for i in range(n):   # scan(+: t)         if n >= 32768 and workers >= 2:
            t += x[i]                                 ... as above, round by round
            s[i] = t                              else:
                                                      for i in range(n): ...

    A loop with a pragma is cut into chunks wherever the machine has two workers. Without a pragma, the
    speedup of the workers must exceed the cost of the first pass. Sums of floats are reassociated, as in
    reductions. Reassociation is sound for a linear recurrence only if no factor is larger than 1 and no
    chunk starts from a huge number: otherwise rounding errors would grow, or 0 would be multiplied by
    infinity. A round that fails this test runs sequentially.

    Requires: `check_parallel` has found the scans, `choose_threads` the loops that threads share.

    Loops that are not cut into chunks keep only the scans that are sound for all data.

    Does not handle: scans inside loops that run in parallel themselves; steps that depend on
    another scan's value; maps other than linear ones; packed arrays with a counter below zero.
    """
    names = NameSupply.after(fn)
    fn = replace(fn, body=_block(fn.body, ctx, names))

    def rule(loop: ir.For) -> ir.For:
        sound = loop.var in ctx.parts or not any(rounds_in_products(scan) for scan in loop.scans)
        return loop if sound else replace(loop, scans=())

    return map_loops(fn, rule)


def _block(body: tuple[ir.Stmt, ...], ctx: PassContext, names: NameSupply) -> tuple[ir.Stmt, ...]:
    def rule(stmt: ir.Stmt) -> list[ir.Stmt] | None:
        if not isinstance(stmt, ir.For) or (stmt.mode is ir.LoopMode.SEQUENTIAL and not stmt.scans):
            return None
        if stmt.mode is not ir.LoopMode.SEQUENTIAL:
            return [stmt]
        return in_chunks(stmt, ctx, names) if is_wanted(stmt, ctx) else None

    return replace_outermost(body, rule)


def is_wanted(loop: ir.For, ctx: PassContext) -> bool:
    """Whether a loop with scans is one to cut into chunks."""
    asked = loop.request == "parallel"
    if not asked and (loop.clauses is not None or not ctx.options.auto):
        return False
    if not asked and any(traps_overflow(n) for n in walk(loop.body)):
        return False  # tests of each index cost more than the chain of operations that chunks would shorten
    count = build.iterations_of(loop)
    if isinstance(count, ir.Const) and int(count.value.real) * INNER_TRIPS < MIN_CHUNK:
        return False  # chunks are never long enough
    if any(n.request == "parallel" for n in loops_of(loop.body)):
        return False  # the user has said which loop threads share
    return sum(1 for _ in walk(loop.body)) <= MAX_NODES


def in_chunks(loop: ir.For, ctx: PassContext, names: NameSupply) -> list[ir.Stmt]:
    """The statements that replace a loop with scans: parallel chunks where its trip count is large enough,
    else the loop."""
    return _Chunked(loop, ctx, names).statements()


class _Chunked:
    """Builds the chunked replacement of one loop."""

    def __init__(self, loop: ir.For, ctx: PassContext, names: NameSupply) -> None:
        self.loop, self.ctx, self.names, self.loc = loop, ctx, names, loop.loc
        self.before: list[ir.Stmt] = []
        self.totals = Totals(loop, names)
        self.weight = INNER_TRIPS if loops_of(loop.body) else 1
        self.least = max(MIN_CHUNK // self.weight, 1)
        own = loop.clauses or ir.Clauses("parallel", loc=loop.loc)
        # The same thread has to come back to a chunk, whose data its cache holds.
        self.clauses = replace(own, schedule="static", chunk=None, reductions=(), private=(), condition=None)

    def statements(self) -> list[ir.Stmt]:
        loop, loc = self.loop, self.loc
        lo: ir.Expr = loop.lo
        if not build.is_simple(lo) or scalars_read(lo) & scalars_written(loop.body):
            lo = build.let("start", lo, self.names, self.before)
        count = build.let("count", build.iterations_of(replace(loop, lo=lo)), self.names, self.before)
        inside: list[ir.Stmt] = []
        self._rounds(lo, count, inside)
        for scan in loop.scans:
            how = "a linear recurrence" if scan.op == LINEAR else f"a scan ({scan.op})"
            text = f"{named(loop)} runs in chunks: {how} of '{scan.symbol.name}' links them"
            self.ctx.remark(loc, text)
        shorter = replace(loop, body=_block(loop.body, self.ctx, self.names))
        return [*self.before, ir.If(self._pays(count), tuple(inside), (shorter,), loc=loc)]

    def _pays(self, count: ir.Expr) -> ir.Expr:
        """The run-time condition for chunks: the loop is long enough, and the conditions for soundness hold."""
        loop, loc = self.loop, self.loc
        cost = self.totals.cost()
        trips = max(2 * ir.CHAINS * self.least, MIN_WORK // (cost.in_order * self.weight))
        asked = loop.clauses is not None
        workers = 2 if asked else max(2, ceil(MARGIN * cost.in_chunks / cost.in_order))
        needed = [build.at_least(count, trips), build.at_least(ir.Workers(loc=loc), ir.CHAINS * workers)]
        for packed in packed_arrays(loop, loop.scans):
            if packed.checked:  # a negative index counts from the end and may alias a later one
                needed.append(build.at_least(ir.Var(packed.counter, loc=loc), -packed.offset))
        needed += self.totals.conditions()
        if loop.condition is not None:
            needed.append(loop.condition)
        return build.conjunction(needed)

    def _rounds(self, lo: ir.Expr, count: ir.Expr, out: list[ir.Stmt]) -> None:
        loc, workers = self.loc, ir.Workers(loc=self.loc)
        share = ir.Binary(
            "max", build.ceiling_quotient(count, workers), build.integer(self.least, loc), loc=loc
        )
        most = max(MAX_CHUNK // self.weight, self.least)
        size = build.let("size", ir.Binary("min", share, build.integer(most, loc), loc=loc), self.names, out)
        chunks = build.let("chunks", build.ceiling_quotient(count, size), self.names, out)
        width = build.let("width", ir.Binary("min", chunks, workers, loc=loc), self.names, out)
        out += [ir.Alloc(array, (width,), zero=False, loc=loc) for array in self.totals.arrays()]
        body: list[ir.Stmt] = []
        number = self._loop_variable("round")
        first = build.let("first", ir.Binary("*", ir.Var(number, loc=loc), width, loc=loc), self.names, body)
        left = ir.Binary("-", chunks, first, loc=loc)
        here = build.let("here", ir.Binary("min", width, left, loc=loc), self.names, body)
        cut = _Cut(lo, self.loop.step, count, size, first)
        body += self._first_pass(cut, here)
        body += self.totals.combine(self._loop_variable("chunk"), here)
        second, holds = self._second_pass(cut, here), self.totals.is_sound()
        if holds is None:
            body.append(second)
        else:
            one_by_one = self._copy(
                replace(self.loop, scans=()), cut.start(build.integer(0, loc)), cut.start(here)
            )
            body.append(ir.If(holds, (second,), (one_by_one,), loc=loc))
        out.append(build.counting(number, build.ceiling_quotient(chunks, width), tuple(body), loc=loc))

    def _first_pass(self, cut: _Cut, here: ir.Expr) -> list[ir.Stmt]:
        chunk = self._loop_variable("chunk")
        inner = self._copy(self.totals.loop(), *cut.bounds(chunk))
        body = (*self.totals.first(), inner, *self.totals.stores(ir.Var(chunk, loc=self.loc)))
        reductions = self.totals.reductions
        combined = {r.symbol for r in reductions}
        private = tuple(s for s in ordered(scalars_written(body)) if s not in combined)
        loop = self._parallel(chunk, here, body, private)
        return [*self.totals.before(), replace(loop, reductions=reductions)]

    def _second_pass(self, cut: _Cut, here: ir.Expr) -> ir.For:
        loop, chunk = self.loop, self._loop_variable("chunk")
        inner = self._copy(loop, *cut.bounds(chunk))
        handed = tuple(scan.symbol for scan in loop.scans)
        body = (*self.totals.seeds(ir.Var(chunk, loc=self.loc)), inner)
        found = self._parallel(chunk, here, body, (*handed, *loop.private))
        return replace(found, last=(*handed, *loop.last), reductions=loop.reductions)

    def _parallel(
        self, var: ir.Symbol, here: ir.Expr, body: tuple[ir.Stmt, ...], private: tuple[ir.Symbol, ...]
    ) -> ir.For:
        zero, mode = build.integer(0, self.loc), ir.LoopMode.PARALLEL
        return ir.For(var, zero, here, 1, body, mode, self.clauses, private, loc=self.loc)

    def _copy(self, loop: ir.For, lo: ir.Expr, hi: ir.Expr) -> ir.For:
        """The loop between other bounds, with variables of its own."""
        part = replace(loop, lo=lo, hi=hi, clauses=None)
        return rename(part, {n.var: self._loop_variable(n.var.name) for n in loops_of(part)})

    def _loop_variable(self, name: str) -> ir.Symbol:
        symbol = self.names.fresh(name, DType.INT64)
        self.ctx.parts[symbol] = self.loop.var
        return symbol


@dataclass(frozen=True, slots=True)
class _Cut:
    """A round of chunks: the loop's lower bound, step and number of iterations, the length of a
    chunk, and the number of the round's first one."""

    lo: ir.Expr
    step: int
    count: ir.Expr
    size: ir.Expr
    first: ir.Expr

    def start(self, chunk: ir.Expr) -> ir.Expr:
        """The loop variable's value where a chunk of the round starts; at the end where there is none."""
        loc = self.lo.loc
        number = self.first if chunk == build.integer(0, loc) else ir.Binary("+", self.first, chunk, loc=loc)
        reached = ir.Binary("min", ir.Binary("*", number, self.size, loc=loc), self.count, loc=loc)
        return build.iteration(self.lo, self.step, reached)

    def bounds(self, chunk: ir.Symbol) -> tuple[ir.Expr, ir.Expr]:
        here: ir.Expr = ir.Var(chunk, loc=self.lo.loc)
        return self.start(here), self.start(build.shifted(here, 1))
