"""The lanes of a program as a tile of rows: how many rows there are, and how long the rows of a nest are.

    lanes = choose(rows of the nest, their length)
    rows = 512 // lanes if lanes < 128 else 1           a million rows of 3: 4 lanes, 128 rows, 7,813 programs

Which loop has the rows is `map_gpu`'s to say.
"""

from __future__ import annotations

from functools import reduce

from appyc.ir.gpu_program import LaneUse, Tile
from appyc.ir.invariance import changed_in, is_invariant
from appyc.ir.nodes import Binary, Expr, For, Load, Select, Stmt, Symbol, Var
from appyc.ir.visit import loops_of, walk
from appyc.passes.gpu.lane_expressions import mentions
from appyc.passes.gpu.map_gpu import FEWEST_LANES, GridMapping
from appyc.passes.node_builders import integer, larger, less, trip_count
from appyc.passes.vectorise.divergence import divergence

TILE_LANES = 512
"""Lanes of a tile of short rows: four for each thread of four warps."""
SQUARE = 32
"""Rows and lanes of a tile where some accesses are adjacent along its rows, and some along its lanes: so many elements
fill lines of memory."""
TILE_OF_WHOLE_ROWS = 4096
"""Lanes of a tile of whole rows where accesses are adjacent along the other axis: eight for each thread of 16 warps."""
SHARING_LANES = 1024
"""Lanes of a tile of long rows that load the same elements: eight for each thread of four warps. Two of them are in a
row, so that threads load 16 bytes."""
MOST_SUMS = 24
"""The most bytes that each lane of such a tile sums up in."""


def tile_of(rows: Symbol, use: LaneUse, mapping: GridMapping, strips: frozenset[Symbol]) -> Tile:
    """The tile of a program. rows: the scalar that is the number of its rows. strips: loops in strips of lanes."""
    if not mapping.is_crossed:
        is_shared = use is LaneUse.STRIP and _strips_share_loads(mapping, strips)
        return Tile(rows, SHARING_LANES, SHARING_LANES) if is_shared else Tile(rows, TILE_LANES, FEWEST_LANES)
    if use is LaneUse.ROW:
        return Tile(rows, TILE_OF_WHOLE_ROWS, TILE_OF_WHOLE_ROWS)
    return Tile(rows, SQUARE * SQUARE, FEWEST_LANES)


def rows_of(tile: Tile, lanes: Var) -> Expr:
    """The number of rows of a program: `Tile.count` as an IR expression."""
    loc = lanes.loc
    many = Binary("//", integer(tile.lanes, loc), lanes, loc=loc)
    return Select(less(lanes, integer(tile.below, loc)), many, integer(1, loc), loc=loc)


def length_of_strips(nest: For, body: tuple[Stmt, ...], strips: frozenset[Symbol]) -> Expr | None:
    """The largest trip count of these loops of a nest; None where a host cannot compute it before the nest runs."""
    inside = changed_in(nest)
    counts: dict[Expr, None] = {}
    for loop in loops_of(body):
        if loop.var in strips:
            if not is_invariant(loop.bounds, inside):
                return None
            counts.setdefault(trip_count(loop.lo, loop.hi, loop.step))
    return reduce(larger, counts) if counts else None


def _strips_share_loads(mapping: GridMapping, strips: frozenset[Symbol]) -> bool:
    """Whether strips load elements that are the same for each row, and threads have registers for the sums of several
    rows."""
    loops = [loop for loop in loops_of(mapping.body) if loop.var in strips]
    if mapping.rows is None or any(loop.scans or loop.last for loop in loops):
        return False
    if sum(r.symbol.dtype.itemsize for loop in loops for r in loop.reductions) > MOST_SUMS:
        return False
    by_row = divergence(mapping.body, {mapping.rows})
    return any(
        isinstance(n, Load) and mentions(n, {loop.var}) and not mentions(n, by_row)
        for loop in loops
        for n in walk(loop.body)
    )
