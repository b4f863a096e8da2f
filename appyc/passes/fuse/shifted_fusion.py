"""Shifted fusion: two loops run block by block where the second reads neighbours of what the first writes.

    for i in range(0, n):                           for b in range(blocks):
        y[i] = x[i] * 2.0                               for i in range(32 b, min(32 b + 32, n)):
    for i in range(0, n - 1):                               y[i] = x[i] * 2.0
        z[i] = y[i + 1] - y[i]              ->          for i in range(32 b, min(32 b + 31, n - 1)):
                                                            z[i] = y[i + 1] - y[i]
                                                    for b in range(blocks):
                                                        for i in range(32 b + 31, min(32 b + 32, n - 1)):
                                                            z[i] = y[i + 1] - y[i]

The loops cannot be fused directly: an iteration of the second depends on other iterations of the first. Within a
block, these dependences are satisfied, except those of the iterations at its ends. The iterations at the ends are
peeled off, and run after all blocks. In a block, the data of the first loop is still in the cache for the second loop,
also where their ranges differ.

The number of peeled iterations is derived from the dependence distances between accesses to the same element, of
which one is a store. In the example, `y[i + 1]` requires that the first loop is one iteration ahead. All distances must
be constants along one axis.

For arrays that must be stored; `overlapped_tiling` handles the others first. Requires: `check_bounds` has run.
Runs after `interchange_loops`, whose cost model would move a loop over blocks inwards.

Does not handle: more than two loops, which `overlapped_tiling` does; nests that write an element more than once;
a second loop that sets live-out scalars, where iterations are peeled; loops with loop-carried dependences, or that
were distributed from one loop; nests of a time loop that `tile_time` tiles; GPUs, where a second launch is the
cheaper barrier.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from appyc.analysis.accesses.scalar_flow import scalars_of
from appyc.analysis.accesses.syntactic_effects import Touched
from appyc.analysis.cost.costs import traffic_of
from appyc.analysis.cost.fusion_benefit import is_worthwhile
from appyc.analysis.dependences.free_loops import is_free
from appyc.analysis.dependences.fusion_legality import EqualExtents, alone, has_effects, placed
from appyc.analysis.dependences.legality import Legality
from appyc.analysis.dependences.time_skew import time_axes
from appyc.analysis.patterns.block_chains import share_scalars
from appyc.ir.affine import distance
from appyc.ir.array_accesses import accesses_in
from appyc.ir.blocks import map_blocks, perfect_nest
from appyc.ir.names import NameSupply
from appyc.ir.nodes import Alloc, Expr, For, Function, Stmt, Symbol, While
from appyc.ir.types import DType
from appyc.ir.visit import contains, loops_of, scalars_read, with_body
from appyc.passes.checks.check_parallel import rounds_differently
from appyc.passes.loop_ops.cut import cut
from appyc.passes.loop_ops.strip_mine import Strips
from appyc.passes.node_builders import copy_of, larger, shifted, smaller
from appyc.passes.parallelise.recognise_reductions import with_updates
from appyc.passes.pass_context import PassContext

ROWS = {1: 4096, 2: 32, 3: 8}
"""Iterations of a block, for nests of so many loops, or arrays of so many axes: usually some hundred KiB. Constants and
not variables, so that the dependence analysis of blocks is exact."""

MOST_PEELED = 1 / 4
"""The largest fraction of a block that may be peeled: peeled iterations miss the cache."""


def shifted_fusion(fn: Function, ctx: PassContext) -> Function:
    """The function with such pairs of loops in blocks."""
    if ctx.options.on_gpu or not ctx.options.auto:
        return fn
    tiled = frozenset(loop.var for loop in loops_of(fn) if time_axes(fn, loop))
    ordered = frozenset(var for var, found in scalars_of(fn).items() if found.last or found.carried)
    names = NameSupply.after(fn)
    fusion = _ShiftedFusion(names, EqualExtents.of(fn.guards), ctx, tiled, ordered)
    return with_body(fn, fusion.block(fn.body))


@dataclass(frozen=True, slots=True)
class _ShiftedFusion:
    names: NameSupply
    equal: EqualExtents
    ctx: PassContext
    tiled: frozenset[Symbol]
    """The time loops that `tile_time` tiles, which serves the nests inside better."""

    ordered: frozenset[Symbol]
    """The loops whose last iteration sets a live-out scalar: none of theirs may run after the blocks."""

    def block(self, body: tuple[Stmt, ...], loops: tuple[For, ...] = ()) -> tuple[Stmt, ...]:
        """loops: those around, none of which may be cut where anything inside is changed."""
        out: list[Stmt] = []
        for stmt in body:
            match stmt:
                case For() if stmt.var in self.tiled:
                    out.append(stmt)
                case For() if sum(isinstance(s, For) for s in stmt.body) < 2:
                    self._append(out, stmt, loops)
                case _:
                    inner = (*loops, stmt) if isinstance(stmt, For) else loops
                    out.append(map_blocks(stmt, partial(self.block, loops=inner)))
        return tuple(out)

    def _append(self, out: list[Stmt], second: For, loops: tuple[For, ...]) -> None:
        """Appends a loop, in blocks with the preceding loop where that is legal and pays. loops: those around."""
        at = next((k for k in range(len(out) - 1, -1, -1) if isinstance(out[k], For)), None)
        first = None if at is None else out[at]
        if (
            at is None or not isinstance(first, For) or first.loc == second.loc
        ):  # one loop, which was distributed
            out.append(second)
            return
        around = placed(first, second, out[at + 1 :], self.ctx.facts.texts)
        reach = _reach(first, second)
        if (
            around is None or reach is None or not self._may_be_cut(first, second, reach)
            or any(self.ctx.answer(may_be_cut, loop) for loop in loops)
        ):  # fmt: skip
            out.append(second)
            return
        blocks = self._in_blocks(first, second, reach)
        if not may_be_cut(blocks[0], self.ctx):
            out.append(second)
            return
        before, behind = around
        out[at:] = [*before, *blocks, *behind]
        peeled = reach[1] - reach[0]
        self.ctx.remark(
            second.loc,
            f"runs in blocks of {_rows(first)} iterations with the loop at line {first.loc.line}"
            + (f"; of each, {peeled} at its ends wait for its neighbours" if peeled else ""),
        )

    def _may_be_cut(self, first: For, second: For, reach: tuple[int, int]) -> bool:
        peeled = reach[1] - reach[0]
        if peeled > MOST_PEELED * _rows(first) or (peeled and second.var in self.ordered):
            return False
        if share_scalars([first], second) or not _pays(first, second):
            return False
        bounds = Touched.by(second.bounds)
        return Touched.by(first.body).is_free_of(bounds) and all(
            self.ctx.answer(may_be_cut, loop) for loop in (first, second)
        )

    def _in_blocks(self, first: For, second: For, reach: tuple[int, int]) -> list[For]:
        """The loop over blocks, and the loop over the iterations that are peeled from them."""
        if self.equal.same(first.hi, second.hi):
            second = replace(second, hi=first.hi)  # one name for one length: fewer cases to tell apart
        strips = self._strips(first, second)
        start, end = strips.start, strips.end
        whole = replace(first, lo=start, hi=smaller(end, first.hi)) if first.lo == strips.lo else None
        inside = cut(second, shifted(start, -reach[0]), shifted(end, -reach[1]))
        out = [strips.loop([whole or cut(first, start, end), inside])]
        if reach[0] < reach[1]:
            strips = self._strips(first, second)
            start, end = strips.start, strips.end
            parts = [(start, shifted(start, -reach[0]))] if reach[0] < 0 else []
            parts += [(shifted(end, -reach[1]), end)] if reach[1] > 0 else []
            out.append(strips.loop([copy_of(cut(second, *part), self.names) for part in parts]))
        return out

    def _strips(self, first: For, second: For) -> Strips:
        """The blocks of the hull of both ranges."""
        low, high = smaller(first.lo, second.lo), larger(first.hi, second.hi)
        return Strips(low, high, _rows(first), self.names.fresh("block", DType.INT64), second.loc)


def may_be_cut(loop: For, ctx: PassContext) -> bool:
    """Whether the iterations of a loop may run in any order, its reductions included."""
    (combining,) = with_updates((loop,), ctx)
    assert isinstance(combining, For)
    if not is_free(combining, ctx.trials):
        return False
    return not ctx.options.exact or not rounds_differently(
        Legality.of(alone(combining), ctx.trials).judge(combining)
    )


def _rows(loop: For) -> int:
    return ROWS[min(len(perfect_nest(loop)), max(ROWS))]


def _reach(first: For, second: For) -> tuple[int, int] | None:
    """The least and the greatest dependence distance from the first loop to the second, at most and at least 0.
    None where a distance is not constant, no accesses conflict, or the loops cannot be cut into blocks."""
    for loop in (first, second):
        if loop.step != 1 or loop.clauses is not None or has_effects(loop.body) or not _is_flat(loop):
            return None
    found = {0}
    accesses = list(accesses_in(second.body))
    meets = False
    for array, index, writes in accesses_in(first.body):
        for other, subscript, also in accesses:
            if array == other and (writes or also):
                apart = _apart(first, index, second, subscript)
                if apart is None:
                    return None
                meets = True
                found.add(apart)
    return (min(found), max(found)) if meets else None


def _pays(first: For, second: For) -> bool:
    """Whether arrays that both loops access with the same stride make up much of the memory traffic."""
    one, two = traffic_of(first), traffic_of(second)
    around = [(array, index) for array, index, _ in accesses_in(second.body)]
    alike = {
        array
        for array, index, _ in accesses_in(first.body)
        for other, subscript in around
        if array == other and _apart(first, index, second, subscript) is not None
    }
    return is_worthwhile(one, two, alike)


def _is_flat(loop: For) -> bool:
    """Whether a nest writes each element at most once. Other nests, such as products of matrices, have better
    ways to use the cache."""
    nest = perfect_nest(loop)
    body, variables = nest[-1].body, {inner.var for inner in nest}
    if contains(body, For | While | Alloc):
        return False
    written = [index for _, index, writes in accesses_in(body) if writes]
    return all(variables <= scalars_read(index) for index in written)


def _apart(first: For, index: tuple[Expr, ...], second: For, subscript: tuple[Expr, ...]) -> int | None:
    """The dependence distance: the first loop's variable minus the second's, where both access one element."""
    for mine, other in zip(index, subscript, strict=True):
        here, there = distance(mine, first.var), distance(other, second.var)
        if here is not None and there is not None:
            return there - here
    return None
