"""Splits a reduction in each iteration of a small parallel nest over many programs, in two stages.

    for j in range(0, m):      # parallel           parts = min(LANES // m, n // LEAST)
        s = 0.0                                     if parts >= FEWEST:
        for i in range(0, n):  # reduction(+: s)        each = ceil(n / parts)
            s += a[i, j] * x[i]                         s_parts = empty((m, parts))
        y[j] = s                                        for j in range(0, m):              # parallel
                                                            for p in range(0, parts):      # parallel
                                       ->                       s = 0.0
                                                                for i in range(p * each, min(p * each + each, n)):
                                                                    s += a[i, j] * x[i]
                                                                s_parts[j, p] = s
                                                        for j in range(0, m):              # parallel
                                                            s = 0.0
                                                            for p in range(0, parts):      # reduction(+: s)
                                                                s += s_parts[j, p]
                                                            y[j] = s
                                                    else:
                                                        as before

Column sums of a matrix with 2,000 columns are 2,000 lanes, and a GPU runs a hundred times as many. So are a few row
sums a few programs. The shares are combined in the same order on each run, and on every GPU: `parts` depends on
extents alone.

Of a reduction over several axes, in loops that hold one another alone, an inner one is split, and those around it are
parallel in the first stage: the innermost that gives each lane LEAST elements.

A nest qualifies if the body of its perfect chain is loops with reductions and no other effect, between statements
without loops. Those before the first loop are in both of its stages, and those after it in the second. Each further
loop has two stages of its own, which find in arrays the scalars that the stages before have left.

Requires: loops have their modes; `promote_accumulators` has run. Nests with `row_lanes` are left alone.

Does not handle: loops with a step; bounds that depend on an iteration, or that kernels compute; statements that may
raise; reductions of the nest itself, of which each program keeps a share.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from appyc.analysis.dependences.verdicts import named
from appyc.ir import nodes as ir
from appyc.ir.blocks import nested, replace_outermost
from appyc.ir.invariance import is_invariant
from appyc.ir.names import NameSupply, ordered
from appyc.ir.raising import may_raise
from appyc.ir.types import ArrayType, DType
from appyc.ir.visit import scalars_read, scalars_written, walk, with_body
from appyc.passes import node_builders as build
from appyc.passes.gpu.map_gpu import map_gpu, why_not_parallel
from appyc.passes.loop_ops.expand_scalars import expand_scalars
from appyc.passes.pass_context import PassContext

LANES = 1 << 17
"""Lanes that hide the latency of memory: a thousand on each of a hundred and thirty multiprocessors."""
STRIP_THREADS = 128
"""Threads of a program that runs a loop in strips of lanes."""
LEAST = 16
"""The fewest elements that a lane sums up: shares are then at most an eighth of the memory traffic."""
FEWEST = 3
"""Parts that are worth the second stage, which has a program for each iteration of the nest."""
DEEPEST = 3
"""Loops of a reduction of which one may be split."""


def split_reductions(fn: ir.Function, ctx: PassContext) -> ir.Function:
    """The function with such nests in two versions."""
    splitter = _Splitter(fn, NameSupply.after(fn), ctx)
    return with_body(fn, replace_outermost(fn.body, splitter.versions))


@dataclass(frozen=True, slots=True)
class _Nest:
    """A chain of loops, and its innermost body: what is before the reduction, the reduction, and what is after.
    outer: the loops of the reduction around the one that is split."""

    chain: tuple[ir.For, ...]
    before: tuple[ir.Stmt, ...]
    loop: ir.For
    after: tuple[ir.Stmt, ...]
    threads: int
    """The number of threads for each iteration of the chain."""
    outer: tuple[ir.For, ...] = ()

    def around(self, body: tuple[ir.Stmt, ...], outer: tuple[ir.For, ...] = ()) -> ir.For:
        """The chain around another body."""
        private = ordered(scalars_written(body))
        return nested([replace(loop, private=private) for loop in (*self.chain, *outer)], body)

    def deeper(self) -> _Nest | None:
        """The nest with the next inner loop of the reduction as the one that is split; None where there is
        none."""
        match self.loop.body:
            case (ir.For() as inner,) if _is_reduction(inner) and inner.reductions == self.loop.reductions:
                outer = (*self.outer, self.loop)
                inside = {each.var for each in (*self.chain, *outer)} | scalars_written((*self.before, inner))
                return replace(self, loop=inner, outer=outer) if is_invariant(inner.bounds, inside) else None
            case _:
                return None


@dataclass(frozen=True, slots=True)
class _Splitter:
    fn: ir.Function
    names: NameSupply
    ctx: PassContext

    def versions(self, stmt: ir.Stmt) -> tuple[ir.Stmt, ...] | None:
        """The split and the unsplit version of a nest that is in no parallel loop, or the nest alone where it
        cannot be split; None for other statements."""
        if not isinstance(stmt, ir.For) or (stmt.mode is ir.LoopMode.SEQUENTIAL and stmt.product is None):
            return None
        nests = self._nests(stmt)
        return self._split(nests, stmt) if nests else (stmt,)

    def _nests(self, nest: ir.For) -> tuple[_Nest, ...]:
        """The nest as one for each of its reductions; none where it may not be split."""
        if nest.product is not None or self.fn.schedule[nest.var].row_lanes is not None:
            return ()
        mapping = map_gpu(nest)
        chain, body = mapping.chain, mapping.body
        loops = [stmt for stmt in body if isinstance(stmt, ir.For)]
        if not loops or any(loop.last or loop.reductions or loop.step != 1 for loop in chain):
            return ()
        if not all(map(_is_reduction, loops)):
            return ()
        bounds = [bound for each in (*chain, *loops) for bound in each.bounds]
        inside = {each.var for each in chain} | scalars_written(body)
        if not is_invariant(bounds, inside) or may_raise(body):
            return ()
        start = body.index(loops[0])
        if not all(
            isinstance(stmt, ir.Assign) or (isinstance(stmt, ir.Update) and not stmt.index)
            for stmt in body[:start]
        ):
            return ()
        if not all(isinstance(stmt, ir.For | ir.Assign | ir.Update | ir.Store) for stmt in body[start:]):
            return ()
        threads = 1 if mapping.lane is not None else STRIP_THREADS
        ends = [*(body.index(loop) for loop in loops), len(body)]
        parts = zip(loops, ends, ends[1:], strict=False)
        return tuple(
            _Nest(chain, body[:start] if at == start else (), loop, body[at + 1 : end], threads)
            for loop, at, end in parts
        )

    def _split(self, nests: tuple[_Nest, ...], whole: ir.For) -> tuple[ir.Stmt, ...]:
        """A version for each loop of the reductions that may be split, the whole one, and the choice between them."""
        out: tuple[ir.Stmt, ...] = (whole,)
        for each in _depths(nests):
            out = self._version(each, out)
        self.ctx.remark(
            whole.loc,
            f"{named(nests[0].loop)}: its sums are split over programs of the GPU, where there are few of them",
        )
        return out

    def _version(self, nests: Sequence[_Nest], other: tuple[ir.Stmt, ...]) -> tuple[ir.Stmt, ...]:
        """The two stages of each split nest, under the test that there are enough parts; `other` where there
        are too few."""
        first = nests[0]
        loc, loop = first.chain[0].loc, first.loop
        parts = ir.Var(self.names.fresh("parts", DType.INT64), loc=loc)
        counts = [build.iterations_of(each) for each in first.chain]
        some = build.larger(
            build.product_of_all([*counts, *map(build.iterations_of, first.outer)]), build.integer(1, loc)
        )
        free = build.binary("//", build.integer(LANES // first.threads, loc), some)
        inner = [each.loop for (each, *_) in _depths((first,))][1:]
        trips = build.trip_count(loop.lo, loop.hi, 1)
        elements = build.product_of_all([trips, *map(build.iterations_of, inner)])
        full: ir.Expr = build.binary("//", elements, build.integer(LEAST * first.threads, loc))
        if inner:
            full = build.smaller(full, trips)
        split: list[ir.Stmt] = []
        for nest in self._with_scalars_in_arrays(nests, counts, split):
            each = ir.Var(self.names.fresh("each", DType.INT64), loc=loc)
            length = build.ceiling_quotient(build.trip_count(nest.loop.lo, nest.loop.hi, 1), parts)
            shape = (*counts, *map(build.iterations_of, nest.outer), parts)
            shares = {
                r.symbol: self.names.fresh(f"{r.symbol.name}_parts", ArrayType(r.symbol.dtype, len(shape)))
                for r in nest.loop.reductions
            }
            made = (ir.Alloc(array, shape, zero=False, loc=loc) for array in shares.values())
            stages = (
                self._stage_of_shares(nest, shares, parts, each),
                self._stage_of_results(nest, shares, parts),
            )
            split += [ir.Assign(each.symbol, length, loc=loc), *made, *build.copy_of(stages, self.names)]
        return (
            ir.Assign(parts.symbol, build.smaller(free, full), loc=loc),
            ir.If(build.at_least(parts, FEWEST), tuple(split), other, loc=loc),
        )

    def _with_scalars_in_arrays(
        self, nests: Sequence[_Nest], counts: Sequence[ir.Expr], out: list[ir.Stmt]
    ) -> Iterator[_Nest]:
        """The nests, of which each finds the scalars of those before in arrays, which are made in `out`."""
        groups = [(*nest.before, nest.loop, *nest.after) for nest in nests]
        bodies, kept = expand_scalars(groups, build.numbers_of(nests[0].chain), self.names)
        out += [ir.Alloc(array, tuple(counts), zero=False, loc=nests[0].loop.loc) for array in kept.values()]
        for nest, body in zip(nests, bodies, strict=True):
            at = body.index(nest.loop)
            yield replace(nest, before=body[:at], after=body[at + 1 :])

    def _stage_of_shares(
        self, nest: _Nest, shares: dict[ir.Symbol, ir.Symbol], parts: ir.Var, each: ir.Expr
    ) -> ir.For:
        """The nest over parts of the reduction, which stores the partial result of each."""
        loop, loc = nest.loop, nest.loop.loc
        part = ir.Var(self.names.fresh("part", DType.INT64), loc=loc)
        first = build.iteration(loop.lo, 1, build.binary("*", part, each))
        last = build.smaller(build.binary("+", first, each), loop.hi)
        outer = tuple(replace(build.in_order(each), mode=ir.LoopMode.PARALLEL) for each in nest.outer)
        index = (*build.numbers_of((*nest.chain, *outer)), part)
        added_to = {r.symbol for r in loop.reductions}
        read = scalars_read((*nest.before, loop.lo, loop.hi)) | (scalars_read(loop.body) - added_to)
        body: tuple[ir.Stmt, ...] = (
            *(
                s
                for s in nest.before
                if not (isinstance(s, ir.Assign) and s.target in shares and s.target not in read)
            ),
            *(build.begun(r.symbol, r.op, loc) for r in loop.reductions),
            replace(loop, lo=first, hi=last, clauses=None),
            *(
                ir.Store(array, index, ir.Var(symbol, loc=loc), checked=False, loc=loc)
                for symbol, array in shares.items()
            ),
        )
        return nest.around((build.counting(part.symbol, parts, body, ir.LoopMode.PARALLEL),), outer)

    def _stage_of_results(self, nest: _Nest, shares: dict[ir.Symbol, ir.Symbol], parts: ir.Var) -> ir.For:
        """The nest with the reduction replaced by one over the partial results."""
        loop, loc = nest.loop, nest.loop.loc
        part = ir.Var(self.names.fresh("part", DType.INT64), loc=loc)
        index = (*build.numbers_of((*nest.chain, *nest.outer)), part)
        shared = [(r, ir.Load(shares[r.symbol], index, checked=False, loc=loc)) for r in loop.reductions]
        updates = tuple(ir.Update(r.symbol, (), r.op, share, loc=loc) for r, share in shared)
        over_parts = build.counting(part.symbol, parts, updates, ir.LoopMode.SIMD, loop.reductions)
        for each in reversed(nest.outer):
            over_parts = replace(build.in_order(each), body=(over_parts,), reductions=each.reductions)
        return nest.around((*nest.before, over_parts, *nest.after))


def _depths(nests: tuple[_Nest, ...]) -> Iterator[tuple[_Nest, ...]]:
    """The nests, as they split each of their loops, the outermost first."""
    for _ in range(DEEPEST):
        yield nests
        inner = [nest.deeper() for nest in nests]
        if None in inner:
            return
        nests = tuple(nest for nest in inner if nest is not None)


def _is_reduction(loop: ir.For) -> bool:
    """Whether a loop has results that are reductions of scalars, and no other effect."""
    if loop.request == "sequential" or why_not_parallel(loop) is not None:
        return False
    if not loop.reductions or loop.last or loop.scans or loop.step != 1:
        return False
    if loop.product is not None or any(r.symbol.is_array for r in loop.reductions):
        return False
    return not any(
        isinstance(n, ir.Store | ir.While | ir.Alloc) or (isinstance(n, ir.Update) and n.index)
        for n in walk(loop.body)
    )
