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

A nest qualifies if the body of its perfect chain is one loop with reductions and no other effect, between statements
without loops. Those before it are in both stages, and those after it in the second.

Requires: loops have their modes; `promote_accumulators` has run. Nests with `row_lanes` are left alone.

Does not handle: loops with a step; bounds that depend on an iteration, or that kernels compute; several loops in one
body; statements that may raise; reductions of the nest itself, of which each program keeps a share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

from appyc.analysis.dependences.verdicts import named
from appyc.ir.names import NameSupply
from appyc.ir.nodes import (
    Alloc,
    Assign,
    Compare,
    Expr,
    Extent,
    For,
    Function,
    If,
    Load,
    LoopMode,
    Stmt,
    Store,
    Symbol,
    Update,
    Var,
    While,
)
from appyc.ir.raising import is_never_negative, may_raise
from appyc.ir.types import ArrayType, DType
from appyc.ir.visit import arrays_read, map_blocks, rename, scalars_read, scalars_written, walk
from appyc.passes.gpu.map_gpu import map_gpu, may_be_lanes
from appyc.passes.node_builders import (
    binary,
    ceiling_quotient,
    fresh_variables,
    identity,
    integer,
    iteration,
    larger,
    smaller,
    trip_count,
)
from appyc.passes.pass_context import PassContext

LANES = 1 << 17
"""Lanes that hide the latency of memory: a thousand on each of a hundred and thirty multiprocessors."""
STRIP_THREADS = 128
"""Threads of a program that runs a loop in strips of lanes."""
LEAST = 32
"""The fewest elements that a lane sums up: shares are then at most a sixteenth of the memory traffic."""
FEWEST = 8
"""Parts that are worth the second stage, which has a program for each iteration of the nest."""


def split_reductions(fn: Function, ctx: PassContext) -> Function:
    """The function with such nests in two versions."""
    splitter = _Splitter(fn, NameSupply.after(fn), ctx)
    body = splitter.block(fn.body)
    return fn if body == fn.body else replace(fn, body=body)


@dataclass(frozen=True, slots=True)
class _Nest:
    """A chain of loops, and its innermost body: what is before the reduction, the reduction, and what is after."""

    chain: tuple[For, ...]
    before: tuple[Stmt, ...]
    loop: For
    after: tuple[Stmt, ...]
    threads: int
    """How many threads an iteration of the chain has."""

    def around(self, body: tuple[Stmt, ...]) -> For:
        """The chain around another body."""
        private = tuple(sorted(scalars_written(body), key=lambda s: s.uid))
        for loop in reversed(self.chain):
            body = (replace(loop, body=body, private=private),)
        made = body[0]
        assert isinstance(made, For)
        return made


@dataclass(frozen=True, slots=True)
class _Splitter:
    fn: Function
    names: NameSupply
    ctx: PassContext

    def block(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        """Statements around which no loop runs in parallel."""
        out: list[Stmt] = []
        for stmt in body:
            match stmt:
                case For() if stmt.mode is not LoopMode.SEQUENTIAL or stmt.product is not None:
                    nest = self._nest(stmt)
                    out += [stmt] if nest is None else self._split(nest, stmt)
                case _:
                    out.append(map_blocks(stmt, self.block))
        return tuple(out)

    def _nest(self, nest: For) -> _Nest | None:
        """The nest as one that may be split; None where it is no such nest."""
        if nest.product is not None or self.fn.schedule[nest.var].row_lanes is not None:
            return None
        mapping = map_gpu(nest)
        chain, body = mapping.chain, mapping.body
        at = [number for number, stmt in enumerate(body) if isinstance(stmt, For)]
        if len(at) != 1 or any(loop.last or loop.reductions or loop.step != 1 for loop in chain):
            return None
        before, loop, after = body[: at[0]], body[at[0]], body[at[0] + 1 :]
        assert isinstance(loop, For)
        if not _is_reduction(loop) or not all(isinstance(stmt, Assign | Update | Store) for stmt in after):
            return None
        bounds = [bound for each in (*chain, loop) for bound in (each.lo, each.hi)]
        inside = {each.var for each in chain} | scalars_written(body)
        if scalars_read(bounds) & inside or arrays_read(bounds) or may_raise((*body, *bounds)):
            return None
        if not all(isinstance(stmt, Assign) or _is_of_scalar(stmt) for stmt in before):
            return None
        threads = 1 if mapping.lane is not None else STRIP_THREADS
        return _Nest(chain, before, loop, after, threads)

    def _split(self, nest: _Nest, whole: For) -> tuple[Stmt, ...]:
        """Both versions, and the choice between them."""
        loc = whole.loc
        parts = Var(self.names.fresh("parts", DType.INT64), loc=loc)
        each = Var(self.names.fresh("each", DType.INT64), loc=loc)
        counts = [_count(loop) for loop in nest.chain]
        count = trip_count(nest.loop.lo, nest.loop.hi, 1)
        free = binary("//", integer(LANES // nest.threads, loc), larger(_product(counts), integer(1, loc)))
        full = binary("//", count, integer(LEAST * nest.threads, loc))
        shares = {
            r.symbol: self.names.fresh(f"{r.symbol.name}_parts", ArrayType(r.symbol.dtype, len(counts) + 1))
            for r in nest.loop.reductions
        }
        made = [Alloc(array, (*counts, parts), zero=False, loc=loc) for array in shares.values()]
        stages = (
            self._stage_of_shares(nest, shares, parts, each),
            self._stage_of_results(nest, shares, parts),
        )
        renamed = [rename(stage, fresh_variables(stage, self.names)) for stage in stages]
        several = Compare(">=", parts, integer(FEWEST, loc), loc=loc)
        length = Assign(each.symbol, ceiling_quotient(count, parts), loc=loc)
        self.ctx.remark(
            loc,
            f"{named(nest.loop)}: its sums are split over programs of the GPU, where there are few of them",
        )
        return (
            Assign(parts.symbol, smaller(free, full), loc=loc),
            If(several, (length, *made, *renamed), (whole,), loc=loc),
        )

    def _stage_of_shares(self, nest: _Nest, shares: dict[Symbol, Symbol], parts: Var, each: Expr) -> For:
        """The nest over parts of the reduction, which stores the partial result of each."""
        loop, loc = nest.loop, nest.loop.loc
        part = Var(self.names.fresh("part", DType.INT64), loc=loc)
        first = iteration(loop.lo, 1, binary("*", part, each))
        last = smaller(binary("+", first, each), loop.hi)
        read = scalars_read((*nest.before, loop.lo, loop.hi)) | _read_beside_reductions(loop)
        body: tuple[Stmt, ...] = (
            *(
                s
                for s in nest.before
                if not (isinstance(s, Assign) and s.target in shares and s.target not in read)
            ),
            *(Assign(r.symbol, identity(r.op, r.symbol.dtype, loc), loc=loc) for r in loop.reductions),
            replace(loop, lo=first, hi=last, clauses=None),
            *(
                Store(array, _place(nest, part), Var(symbol, loc=loc), checked=False, loc=loc)
                for symbol, array in shares.items()
            ),
        )
        private = tuple(sorted(scalars_written(body), key=lambda s: s.uid))
        over_parts = For(
            part.symbol, integer(0, loc), parts, 1, body, LoopMode.PARALLEL, private=private, loc=loc
        )
        return nest.around((over_parts,))

    def _stage_of_results(self, nest: _Nest, shares: dict[Symbol, Symbol], parts: Var) -> For:
        """The nest with the reduction replaced by one over the partial results."""
        loop, loc = nest.loop, nest.loop.loc
        part = Var(self.names.fresh("part", DType.INT64), loc=loc)
        updates = tuple(
            Update(
                r.symbol,
                (),
                r.op,
                Load(shares[r.symbol], _place(nest, part), checked=False, loc=loc),
                loc=loc,
            )
            for r in loop.reductions
        )
        over_parts = For(
            part.symbol,
            integer(0, loc),
            parts,
            1,
            updates,
            LoopMode.SIMD,
            reductions=loop.reductions,
            loc=loc,
        )
        return nest.around((*nest.before, over_parts, *nest.after))


def _is_reduction(loop: For) -> bool:
    """Whether a loop has results that are reductions of scalars, and no other effect."""
    if not may_be_lanes(loop) or not loop.reductions or loop.last or loop.scans or loop.step != 1:
        return False
    if loop.product is not None or any(r.symbol.is_array for r in loop.reductions):
        return False
    return not any(
        isinstance(n, Store | While | Alloc) or (isinstance(n, Update) and n.index) for n in walk(loop.body)
    )


def _is_of_scalar(stmt: Stmt) -> bool:
    return isinstance(stmt, Update) and not stmt.index


def _read_beside_reductions(loop: For) -> set[Symbol]:
    """Scalars that the reduction reads, those left out that it only adds to."""
    return scalars_read(loop.body) - {r.symbol for r in loop.reductions}


def _count(loop: For) -> Expr:
    """How many iterations a loop has."""
    count = trip_count(loop.lo, loop.hi, 1)
    return (
        count
        if isinstance(count, Extent) or is_never_negative(count)
        else larger(count, integer(0, loop.loc))
    )


def _place(nest: _Nest, part: Expr) -> tuple[Expr, ...]:
    """Where the share of a part is."""
    return (*(trip_count(loop.lo, Var(loop.var, loc=loop.loc), 1) for loop in nest.chain), part)


def _product(factors: Sequence[Expr]) -> Expr:
    return reduce(lambda a, b: binary("*", a, b), factors)
