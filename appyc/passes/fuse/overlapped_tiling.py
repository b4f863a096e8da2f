"""Overlapped tiling: chains of stencil loops run block by block with a halo, and temporaries stay in the cache.

    t = empty((n, m))                               for b in range(blocks):
    for i in range(0, n):                               t = empty((32 + 2, m))
        for j in range(0, m):                           first = 32 * b, last = min(first + 32, n - 2)
            t[i, j] = sqrt(x[i, j])                     for i in range(first, last + 2):
    for i in range(0, n - 2):             ->                for j in range(0, m):
        for j in range(0, m):                                   t[i - first, j] = sqrt(x[i, j])
            y[i, j] = t[i, j] + t[i + 2, j]             for i in range(first, last):
                                                            for j in range(0, m):
                                                                y[i, j] = t[i - first, j] + t[i + 2 - first, j]

The loops cannot be fused, since an iteration of the second depends on several of the first. Recomputing an element
at each of its reads (`rematerialise`) may cost more than the memory traffic. With tiles, a block of rows is still in
the cache when it is read. The rows of a halo are computed redundantly by two blocks. This cost, with that of the
operands, is weighed against the memory traffic of the arrays. Blocks are independent of each other.

A chain may have any number of loops, with different ranges (`patterns/block_chains.py`). A block runs the iterations
of each loop that the later loops need. Of an array that is also read outside the chain, a block stores its own rows;
the rows of its halo are in a private array.

Runs after `contract_arrays`, whose arrays need no blocks. Requires: `check_bounds` has run.

Does not handle: arrays that exist before the chain and whose neighbouring elements are read, or that several loops
write; GPUs, where the loops stay separate kernels; operands of a product of matrices, whose tiles would be cut by
blocks: each block would read the other matrix from memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce

from appyc.analysis.accesses.scalar_flow import live_after
from appyc.analysis.algebra.amounts import total
from appyc.analysis.cost.costs import bytes_moved
from appyc.analysis.dependences.fusion_legality import EqualExtents
from appyc.analysis.patterns.block_chains import Member, is_fixed, only
from appyc.analysis.patterns.fill_pattern import filled_by
from appyc.ir.affine import apart
from appyc.ir.array_accesses import accesses_in
from appyc.ir.blocks import map_blocks
from appyc.ir.names import NameSupply, ordered
from appyc.ir.nodes import Alloc, Expr, Extent, For, Function, Stmt, Symbol
from appyc.ir.types import DType
from appyc.ir.visit import arrays_read, loops_of, walk, with_body
from appyc.passes.fuse.shifted_fusion import ROWS, may_be_cut
from appyc.passes.fuse.tiled_chains import Chain, ChainFinder
from appyc.passes.fuse.tiled_loops import Home, cut_to_rows, into_buffers, with_buffers
from appyc.passes.loop_ops.strip_mine import Strips
from appyc.passes.node_builders import binary, copy_of, filling, integer, shifted, zero
from appyc.passes.pass_context import FusionGroup, PassContext


def overlapped_tiling(fn: Function, ctx: PassContext) -> Function:
    """The function with such loops a block at a time."""
    if ctx.options.on_gpu or not ctx.options.auto:
        return fn
    allocs = [n.array for n in walk(fn) if isinstance(n, Alloc)]
    once = frozenset(array for array in allocs if allocs.count(array) == 1 and array.array.ndim in ROWS)
    taken = {r.value for r in fn.results} | {n.array for n in walk(fn) if isinstance(n, Extent)}
    rewriting = _OverlappedTiling(
        ChainFinder(
            Counter(array for array, _, _ in accesses_in(fn.body)), once, once - taken, live_after(fn), ctx
        ),
        NameSupply.after(fn),
        EqualExtents.of(fn.guards),
        ctx,
    )
    return with_body(fn, rewriting.block(fn.body))


@dataclass(frozen=True, slots=True)
class _OverlappedTiling:
    chains: ChainFinder
    names: NameSupply
    equal: EqualExtents
    ctx: PassContext

    def block(self, body: tuple[Stmt, ...], loops: tuple[For, ...] = ()) -> tuple[Stmt, ...]:
        """loops: those around, none of which may be cut where anything inside is changed."""
        out: list[Stmt] = []
        at = 0
        while at < len(body):
            stmt = body[at]
            chain = self.chains.chain(body, at) if isinstance(stmt, For) else None
            is_inside = chain is not None and any(self.ctx.answer(may_be_cut, loop) for loop in loops)
            new = None if chain is None or is_inside else self._in_blocks(chain, [*out, *body])
            if chain is not None and new is not None:
                stmts, cleared = new
                out = [
                    part for s in [*out, *stmts] for part in with_buffers(s, chain.fresh.temporary, cleared)
                ]
                at += chain.end
                continue
            if not isinstance(stmt, For) or len(loops_of(stmt.body)) > 1:
                around = (*loops, stmt) if isinstance(stmt, For) else loops
                stmt = map_blocks(stmt, partial(self.block, loops=around))
            out.append(stmt)
            at += 1
        return tuple(out)

    def _in_blocks(self, chain: Chain, around: Sequence[Stmt]) -> tuple[list[Stmt], frozenset[Symbol]] | None:
        """The replacement for the chain, and the arrays that it clears; None where its blocks would depend on each
        other, or its bounds are not fixed."""
        members, loc = chain.members, chain.members[-1].loop.loc
        allocs = {s.array: s for s in around if isinstance(s, Alloc)}
        held = {
            array: allocs[array]
            for one in members
            for array in one.writes
            if array in one.wanted or array in chain.fresh.temporary
        }
        shapes = [size for alloc in held.values() for size in alloc.shape[1:]]
        bounds = [bound for one in members for bound in (one.loop.lo, one.loop.hi)]
        if not is_fixed((*shapes, *bounds), members):
            return None
        stored = [one for one in members if not one.is_temporary(chain.fresh)]
        low = self._end("min", [shifted(one.loop.lo, one.row) for one in stored])
        high = self._end("max", [shifted(one.loop.hi, one.row) for one in stored])
        strips = Strips(low, high, chain.rows, self.names.fresh("block", DType.INT64), loc)
        block, first, last = strips.number, strips.start, strips.end
        body: list[Stmt] = []
        homes: dict[Symbol, Home] = {}
        cleared = self._cleared(chain, allocs, (low, high))
        for one in members:
            body += [self._clearing(allocs[array], first, last) for array in cleared if array in one.writes]
            for array in ordered(one.writes & held.keys()):
                near, far = (one.near, one.far) if array in one.wanted else (0, 0)
                home = Home(self.names.fresh(array.name, array.type), shifted(first, near),
                             array not in chain.fresh.temporary)  # fmt: skip
                alloc = held[array]
                size = integer(chain.rows + far - near, loc)
                is_whole = (
                    array not in arrays_read(one.loop) and filled_by(one.loop, alloc, self.equal) is not None
                )
                body.append(replace(alloc, array=home.array, shape=(size, *alloc.shape[1:]),
                                    zero=alloc.zero and not is_whole))  # fmt: skip
                homes[array] = home
                self.ctx.contracted[array] = block
            body += self._parts(one, chain, (first, last), homes)
        loop = strips.loop(body)
        if not may_be_cut(loop, self.ctx):
            for array in homes:
                del self.ctx.contracted[array]
            return None
        self._tell(chain, held, block)
        return [*chain.before, loop, *chain.behind], frozenset(cleared)

    def _cleared(self, chain: Chain, allocs: dict[Symbol, Alloc], rows: tuple[Expr, Expr]) -> list[Symbol]:
        """Stored arrays of zeros, which blocks clear: what they then store there is still in the cache."""
        low, high = rows
        written = [array for one in chain.members for array in one.writes - chain.fresh.temporary]
        return [
            array
            for array in ordered(written)
            if array in chain.fresh.made
            and allocs[array].zero
            and low == integer(0, low.loc)
            and self.equal.same(high, allocs[array].shape[0])
            and is_fixed(allocs[array].shape, chain.members)
        ]

    def _clearing(self, alloc: Alloc, first: Expr, last: Expr) -> For:
        """The loops that clear a block's rows."""
        rows = filling(alloc.array, alloc.shape, zero(alloc.array.dtype, alloc.loc), self.names)
        return replace(rows, lo=first, hi=binary("min", last, alloc.shape[0]))

    def _parts(
        self, one: Member, chain: Chain, rows: tuple[Expr, Expr], homes: dict[Symbol, Home]
    ) -> list[Stmt]:
        """The member's loops for one block."""
        first, last = rows
        if one.is_temporary(chain.fresh):
            return [
                into_buffers(
                    cut_to_rows(one, shifted(first, one.near), shifted(last, one.far)), homes, one.writes
                )
            ]
        out: list[Stmt] = [into_buffers(cut_to_rows(one, first, last), homes, one.writes)]
        unwanted = one.writes - one.wanted
        rest = only(one.loop.body, one.totals, unwanted)
        alone_there = {array: replace(home, is_copy=False) for array, home in homes.items()}
        for lo, hi in ((shifted(first, one.near), first), (last, shifted(last, one.far))):
            if lo != hi:
                part = cut_to_rows(replace(one, loop=replace(one.loop, body=rest)), lo, hi)
                out.append(into_buffers(copy_of(part, self.names), alone_there, one.writes))
        return out

    def _end(self, op: str, ends: Sequence[Expr]) -> Expr:
        """The smallest ("min") or largest of some expressions; constant differences are compared statically."""
        left: list[tuple[Expr | None, int, Expr]] = []
        for end in ends:
            base, offset = apart(end)
            for at, (other, most, _) in enumerate(left):
                if base == other or (base is not None and other is not None and self.equal.same(base, other)):
                    if (offset < most) == (op == "min"):
                        left[at] = base, offset, end
                    break
            else:
                left.append((base, offset, end))
        return reduce(partial(binary, op), [end for _, _, end in left])

    def _tell(self, chain: Chain, held: dict[Symbol, Alloc], block: Symbol) -> None:
        groups = [self._group(one.loop) for one in chain.members]
        parts = tuple(part for group in groups for part in group.parts)
        locs = tuple(loc for group in groups for loc in group.locs)
        before = reduce(total, (group.before for group in groups))
        self.ctx.fusions[block] = FusionGroup(block, parts, locs, before)
        for one in chain.members:
            for array in ordered(one.writes & chain.fresh.temporary):
                extra = one.extra if array in one.wanted else 0
                text = f"'{array.name}' is never stored whole: it is computed in blocks of {chain.rows} rows"
                self.ctx.remark(
                    held[array].loc,
                    text + (f", with {extra} more for each that others compute, too" if extra else ""),
                )
        lines = sorted({one.loop.loc.line for one in chain.members})
        if len(chain.members) > 2:
            where = ", ".join(map(str, lines))
            text = f"{len(chain.members)} loops at line {where} run together in blocks of {chain.rows} rows"
            self.ctx.remark(chain.members[-1].loop.loc, text)

    def _group(self, loop: For) -> FusionGroup:
        """The original loops of a fused loop, or the loop itself."""
        known = self.ctx.fusions.get(loop.var)
        return known or FusionGroup(loop.var, (loop.var,), (loop.loc,), bytes_moved(loop))
