"""Tiles nests that go through arrays against each other's order in memory, such as transpositions.

    for i in range(n):                        for i_tile in range(0, n, 32):
        for j in range(m):           ->           for j_tile in range(0, m, 128):
            b[i, j] = a[j, i]                         for i in range(i_tile, min(i_tile + 32, n)):
                                                          for j in range(j_tile, min(j_tile + 128, m)):
                                                              b[i, j] = a[j, i]

Whichever loop is inside, one of the arrays is read or written with the stride of a row: each access takes a cache line,
of which the next iteration of the loop outside uses the next element. Between these two are as many lines as the loop
inside has iterations, which the caches do not hold where it is long. The lines of a tile stay in the cache next to the
core. Loops between the two are moved outside of them. A loop with a pragma stays outside, but not in a tile.

Requires: `check_bounds`, `interchange_loops`. Runs before verdicts,
which the new loops need, and after all passes that match nests or reorder their loops.

Does not handle: nests with reductions; triangles; loops with a pragma other than `parallel for`; GPUs, where `map_gpu`
has blocks.
"""

from __future__ import annotations

from dataclasses import replace

from appyc.analysis.algebra.strides import Pace, Strides
from appyc.analysis.dependences.fusion_legality import asks_for_no_more_than_threads
from appyc.analysis.dependences.verdicts import Verdict
from appyc.ir.array_accesses import AccessNode, array_of, is_access
from appyc.ir.blocks import nested, perfect_nest, perfect_nests
from appyc.ir.names import NameSupply
from appyc.ir.nodes import For, Function, Store, Symbol, Update
from appyc.ir.transforms import Transform
from appyc.ir.visit import scalars_read, walk, with_loops
from appyc.passes.loop_ops.interchange import interchange, why_not_interchange
from appyc.passes.loop_ops.tile import tile, why_not_tile
from appyc.passes.node_builders import most_trips
from appyc.passes.parallelise.plain_loops import is_plain
from appyc.passes.pass_context import PassContext

SIZES = (32, 128)
"""Iterations of a tile, of the loop with the large strides in the arrays that the innermost one goes through along
their rows, and of the innermost one: whole cache lines of every type, and lanes for long enough."""


def tile_transpositions(fn: Function, ctx: PassContext) -> Function:
    """The function with such nests in tiles."""
    if ctx.options.on_gpu or not ctx.options.auto:
        return fn
    names = NameSupply.after(fn)
    changed: dict[Symbol, For] = {}
    for nest in perfect_nests(fn):
        across = _across(nest)
        if across is not None and (tiled := _tiled(fn, nest[across:], names, ctx)) is not None:
            changed[nest[across].var] = tiled
    return with_loops(fn, changed)


def _across(nest: tuple[For, ...]) -> int | None:
    """The loop of the nest along which arrays are contiguous that the innermost loop goes through by rows, and the
    other way round."""
    *around, last = nest
    if not around or not is_plain(last):
        return None
    strides = Strides.of(nest[0])
    accesses = [node for node in walk(last.body) if is_access(node) and node.index]

    def paces(access: AccessNode, loop: For) -> tuple[Pace, Pace]:
        return tuple(strides.pace(array_of(access), access.index, n) for n in (loop, last))  # type: ignore[return-value]

    for number, loop in enumerate(around):
        met = {paces(access, loop) for access in accesses}
        if {(Pace.STEADY, Pace.FAR), (Pace.FAR, Pace.STEADY)} <= met:
            return number
    return None


def _tiled(fn: Function, loops: tuple[For, ...], names: NameSupply, ctx: PassContext) -> For | None:
    """The loops, of which the first and the last are to be tiled; None where that is not legal, or does not pay."""
    outer: list[For] = []
    across, *between, along = loops
    if across.var in scalars_read(along.bounds):
        return None  # a triangle, for whose corner tiles no gain was measured
    short = [most_trips(loop) for loop in (across, along)]
    if any(loop.step != 1 or not asks_for_no_more_than_threads(loop.clauses) for loop in loops) or any(
        trips is not None and trips <= size for trips, size in zip(short, SIZES, strict=True)
    ):
        return None
    legality, exact = ctx.legality(fn), ctx.options.exact
    verdicts = [legality.judge(loop) for loop in loops]
    if any(found.verdict is not Verdict.INDEPENDENT or found.combined for found in verdicts):
        return None
    if between:
        order = (*range(1, len(loops) - 1), 0, len(loops) - 1)
        if any(n.clauses for n in loops) or why_not_interchange(loops, order, legality, exact=exact):
            return None
        moved = interchange(fn, loops, order, legality)
        if moved is None:
            return None
        *outer, across, along = perfect_nest(moved)
    if why_not_tile((across, along), legality, exact=exact) is not None:
        return None
    turn = _may_turn(across, along)
    sizes = SIZES[::-1] if turn else SIZES
    tiled = tile((across, along), sizes, names)
    if tiled is None:
        return None
    if turn:
        *tiles, first, last = perfect_nest(tiled)
        outer += tiles
        tiled = replace(last, body=(replace(first, body=last.body),))
    ctx.transforms[across.var] = (Transform("tile", sizes, loc=across.loc),)
    ctx.remark(
        across.loc,
        f"the loops over '{across.var.name}' and '{along.var.name}' run in tiles of {sizes[0]} by {sizes[1]} "
        "iterations: they go through arrays against each other's order in memory",
    )
    return nested(outer, (tiled,))


def _may_turn(across: For, along: For) -> bool:
    """Whether the inner loop goes outside in a tile, since stores are contiguous along the other one."""
    strides = Strides.of(across)
    stores = [node for node in walk(along.body) if isinstance(node, Store | Update) and is_access(node)]
    contiguous = [
        sum(strides.pace(array_of(n), n.index, loop) is Pace.STEADY for n in stores)
        for loop in (across, along)
    ]
    return contiguous[0] > contiguous[1]
