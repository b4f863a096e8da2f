"""One-pass variance and covariance: sums of products of deviations in the loop that computes the means.

    s = 0.0                                     for b in range(blocks):
    for i in range(0, n):                           c = 0.0; r = 0.0; t = 0.0
        s += x[i]                                   for i in block b:
    m = s / n                           ->              c += x[i]
    q = 0.0                                         s += c
    for j in range(0, n):                           c = c / (length of block b)
        q += (x[j] - m) * (x[j] - m)                for j in block b:
                                                        r += x[j] - c
                                                        t += (x[j] - c) * (x[j] - c)
                                                    centre, rest, spread of b = c, r, t
                                                m = s / n
                                                for b in range(blocks):
                                                    d = centre of b - m
                                                    q += spread of b + 2 * d * rest of b
                                                                     + (length of block b) * d * d

The second loop depends on the result of the first, so `fuse_loops` leaves both, and an array larger than
the cache is read from memory twice. But deviations from any m can be computed from deviations from another
centre, and the mean of a block is known while the block is still in the cache. The mean of a block is close
enough to its elements that the deviations have no cancellation error. The rest, the sum of the deviations
from the rounded mean, is small but not 0, and is included. Products of two deviations, as in a covariance,
are computed in the same way.

A non-finite centre (the sum overflows, or the block has an infinity) contributes through the block's spread
alone, as the difference of two infinities would add a NaN.

Two nests over the same ranges qualify. The first has only reductions to scalars; a single loop may also fill
arrays. The second has only sums of products of deviations. A block of a nest is several rows, or a part of one.

Requires: `check_bounds`, `fuse_loops` and `recognise_reductions` have run. Sums of floats may be reassociated.

Does not handle: loops inside other loops, whose rows are usually in the cache both times; ranges that do not
start at 0; complex numbers; sums of several types.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from appyc.analysis.accesses.syntactic_effects import Touched
from appyc.analysis.cost.fusion_benefit import why_not_worthwhile
from appyc.analysis.dependences.fusion_legality import EqualExtents
from appyc.analysis.patterns.variance_pattern import (
    Nest,
    SumOfProducts,
    has_only_scalars,
    nest_of,
    sums_of_products,
)
from appyc.ir.names import NameSupply
from appyc.ir.nodes import Alloc, For, Function, If, Stmt, Store, Symbol, Var
from appyc.passes.fuse.block_moments import Blocks
from appyc.passes.pass_context import PassContext


def fuse_variance(fn: Function, ctx: PassContext) -> Function:
    """The function with such pairs of loops as one, in blocks."""
    if ctx.options.exact or not ctx.options.auto:
        return fn
    rewriting = _VarianceFusion(NameSupply.after(fn), EqualExtents.of(fn.guards), ctx)
    body = rewriting.block(fn.body)
    return fn if body == fn.body else replace(fn, body=body)


@dataclass(frozen=True, slots=True)
class _VarianceFusion:
    names: NameSupply
    equal: EqualExtents
    ctx: PassContext

    def block(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        out: list[Stmt] = []
        for stmt in body:
            if isinstance(stmt, If):
                stmt = replace(stmt, then=self.block(stmt.then), orelse=self.block(stmt.orelse))
            second = nest_of(stmt) if isinstance(stmt, For) else None
            sums = sums_of_products(second) if second is not None else None
            if second is None or not sums or not self._joined(out, second, sums):
                out.append(stmt)
        return tuple(out)

    def _joined(self, out: list[Stmt], second: Nest, sums: Sequence[SumOfProducts]) -> bool:
        """Whether a loop in `out` has taken the sums along; what puts them together is then behind it."""
        for at in range(len(out) - 1, -1, -1):
            loop = out[at]
            first = nest_of(loop) if isinstance(loop, For) else None
            if first is None or not self._may_take(first, second, sums, out[at + 1 :]):
                continue
            blocks = Blocks.of(first, sums, self.names)
            made = Alloc(blocks.moments, blocks.shape(), zero=False, loc=first.loc)
            out[at : at + 1] = [*blocks.before, made, blocks.partial(first, second)]
            out.append(blocks.together())
            self.ctx.remark(
                second.loc,
                f"in one pass over memory with the loop at line {first.loc.line}: deviations are taken from "
                f"the means of blocks, and combined",
            )
            return True
        return False

    def _may_take(
        self, first: Nest, second: Nest, sums: Sequence[SumOfProducts], between: Sequence[Stmt]
    ) -> bool:
        pairs = list(zip(first.loops, second.loops, strict=False))
        if len(first.loops) != len(second.loops) or not all(self.equal.same(a.hi, b.hi) for a, b in pairs):
            return False
        own = Touched.by(first.body)
        if own.made or not (has_only_scalars(first) or len(first.loops) == 1):
            return False
        ends = [loop.hi for loop in second.loops]
        needed = Touched.by([*ends, *(part.value for one in sums for part in one.parts)])
        later = Touched.by(between)
        if (later.writes & needed.reads) or (later.made & needed.sizes):
            return False
        if any(not _finds_its_own(symbol, first, second, sums) for symbol in own.writes & needed.reads):
            return False
        return why_not_worthwhile(first.loops[0], second.loops[0]) is None


def _finds_its_own(symbol: Symbol, first: Nest, second: Nest, sums: Sequence[SumOfProducts]) -> bool:
    """Whether the deviations read, of what the first loop writes, what the same iteration has written."""
    stores = [stmt for stmt in first.body if isinstance(stmt, Store) and stmt.array == symbol]
    writes = Touched.by([stmt for stmt in first.body if stmt not in stores]).writes
    if len(stores) != 1 or symbol in writes:
        return False
    target = (Var(first.loops[0].var, loc=first.loc),)
    there = (Var(second.loops[0].var, loc=second.loc),)
    loads = [load for one in sums for part in one.parts for load in part.loads(symbol)]
    return stores[0].index == target and all(load.index == there for load in loads)
