"""A parallel nest as a kernel, with the host's statements before and after it.

For the nest

    for i in range(n):        # parallel, reduction(+: s)
        for j in range(m):    # parallel
            s += a[i, j]

the host computes `count` and `blocks` of each axis: n * blocks blocks of iterations, each for one program. Where a
scalar is reduced, up to 2,048 programs run several blocks each, and store their shares (`KernelResults`).

Where the lanes are a tile (`GridMapping.rows`), a program has a block of each of two loops.

A program of straight-line code has a second version without masks, for programs whose lanes are all inside the loops:
a masked load costs an instruction more, and 64-bit comparisons cost two for each lane.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from appyc.ir.fault_words import FaultSites
from appyc.ir.gpu_program import (
    IN_ROWS,
    OF_ROWS,
    Branch,
    ChooseLanes,
    Kernel,
    Lanes,
    LaneUse,
    Launch,
    ProgramIndex,
    ScheduledStmt,
    Tile,
)
from appyc.ir.names import NameSupply
from appyc.ir.nodes import Assign, Binary, Compare, Expr, For, If, Reduction, Store, Symbol, Var
from appyc.ir.schedule import LoopSchedule
from appyc.ir.types import DType
from appyc.ir.visit import loops_of, walk
from appyc.passes.gpu.kernel_results import KernelResults
from appyc.passes.gpu.lane_expressions import Where
from appyc.passes.gpu.map_gpu import (
    FEWEST_LANES,
    GridMapping,
    choose_lane_loops,
    elements_each,
    lanes_of_strips,
    map_gpu,
    requested,
)
from appyc.passes.gpu.place_barriers import place_barriers
from appyc.passes.gpu.predicate_lanes import KernelLowering
from appyc.passes.gpu.row_lanes import RowLowering
from appyc.passes.gpu.tiles_of_lanes import SQUARE, length_of_strips, rows_of, tile_of
from appyc.passes.node_builders import (
    both,
    ceiling_quotient,
    integer,
    is_simple,
    iteration,
    iterations_of,
    less,
    let,
    product_of_all,
)

GRID_LANES = 1024
"""The most lanes where the grid's programs are blocks of a loop: eight for each thread of four warps."""
MOST_ROWS = 4
"""The number of rows, or of iterations in a batch, from which each thread has at most two elements of a row, which it
loads together."""
LANES_OF_A_WARP = 256
"""Lanes of a warp that holds a part of a row, or of a tile: a thread has eight elements of each array."""
SHARES = 2048
"""The most programs that store a share of a reduction: all that a GPU runs at once, and few for one to combine."""
VERSIONED_NODES = 400
"""The most nodes of a program that has a version without masks: it takes the compiler twice as long."""


@dataclass(frozen=True, slots=True)
class Axis:
    """One loop of the grid. count: of its iterations. number: its iteration, or block, in a program."""

    loop: For
    lo: Expr
    count: Var
    number: Symbol


class GridKernel:
    """Builds the kernel of one nest; `host` has the statements that replace the nest on the host.

    decided: about the nest.
    """

    def __init__(
        self, nest: For, decided: LoopSchedule, names: NameSupply, sites: FaultSites, name: str
    ) -> None:
        row_lanes, self.rows_each, self.batch = decided.row_lanes, decided.rows_each, decided.batch
        self.names, self.sites, self.name, self.loc = names, sites, name, nest.loc
        self.mapping: GridMapping = map_gpu(nest, row_lanes)
        self.host: list[ScheduledStmt] = []
        self.chosen: Symbol | None = None
        self.tile: Tile | None = None
        self.is_whole: Expr | None = None
        self.is_requested = any(
            loop.clauses is not None and loop.clauses.block for loop in self.mapping.chain
        )
        strips = frozenset[Symbol]() if self.mapping.lane else choose_lane_loops(self.mapping.body)
        usual = (
            GRID_LANES // min(max(self.rows_each, self.batch), MOST_ROWS) // 2 * elements_each(self.rows_each)
            if self.mapping.lane
            else lanes_of_strips(self.mapping.body, strips)
        )
        lanes, self.warps = requested(self.mapping.chain, usual)
        if not self.mapping.lane and not strips:
            lanes, self.warps = 1, 1
        self.lower = KernelLowering(names, sites, lanes, strips)
        self.fewest = min(lanes, FEWEST_LANES) if self.mapping.lane else lanes
        if row_lanes is not None:
            self.warps = row_lanes // LANES_OF_A_WARP
            self.lower, self.fewest = RowLowering(names, sites, nest, row_lanes), row_lanes
        self.use = LaneUse.BLOCK if self.mapping.lane else LaneUse.ROW if row_lanes else LaneUse.STRIP
        self.strip_length = length_of_strips(nest, self.mapping.body, self.lower.strips)

    def build(self) -> list[ScheduledStmt]:
        axes = [self._axis(loop) for loop in self.mapping.chain]
        self.lanes = self._lanes(axes)
        counts = [self._programs(axis) for axis in axes]
        programs = self._on_host("programs" if not self._reductions() else "blocks", product_of_all(counts))
        merged = replace(
            self.mapping.chain[-1], reductions=self._reductions(), last=self.mapping.chain[0].last
        )
        # A program has scalars of its own for what it reduces, as its lanes have.
        has_lanes = self.mapping.lane is not None or self.tile is not None
        lower = self.lower if has_lanes else KernelLowering(self.names, self.sites, 1)
        loop, kept = lower.as_lanes(merged)
        results = KernelResults(self.name, self.names, self.sites, self.host, self.loc)
        body: list[ScheduledStmt] = []
        blocks, number = programs, None
        if merged.reductions:
            programs = self._on_host(
                "programs", Binary("min", blocks, integer(SHARES, self.loc), loc=self.loc)
            )
            number = Var(self.names.fresh("number", DType.INT64), loc=self.loc)
        where = self._enter_grid(axes, counts, number, loop, body)
        body += self._masked_at_edges(loop, where)
        combined: list[ScheduledStmt] = []
        last: list[ScheduledStmt] = [
            results.last(symbol, kept[symbol], self._is_last(axes, where), body) for symbol in merged.last
        ]
        if number is not None:
            along = (OF_ROWS if self.tile else frozenset()) | (IN_ROWS if self.mapping.lane else frozenset())
            body, combined = results.with_shares(
                merged.reductions, kept, along, number, blocks, programs, body
            )
        kernel = Kernel(
            self.name,
            place_barriers(tuple(body), self.lower.varying),
            self.lower.lanes,
            self.fewest if self.chosen else self.lower.lanes,
            self.chosen,
            self.warps,
            frozenset(self.lower.varying),
            self.lower.indices,
            self.rows_each,
            self.batch,
            self.tile,
            self.use,
            loc=self.loc,
        )
        self.host.append(Launch(kernel, programs, loc=self.loc))
        self.host += combined  # without shares that is what the scalar had before
        if last:
            self.host.append(Branch(less(integer(0, self.loc), programs), tuple(last), loc=self.loc))
        return self.host

    def _axis(self, loop: For) -> Axis:
        lo = loop.lo if is_simple(loop.lo) else self._on_host(f"{loop.var.name}_start", loop.lo)
        count = self._on_host(f"{loop.var.name}_count", iterations_of(replace(loop, lo=lo)))
        return Axis(loop, lo, count, self.names.fresh(f"{loop.var.name}_number", DType.INT64))

    def _lanes(self, axes: list[Axis]) -> Expr:
        """The number of lanes of a row: the one that the user requested, else one that the host chooses from
        the trip count."""
        loc, var = self.loc, self.mapping.lane
        count = next((axis.count for axis in axes if axis.loop.var == var), self.strip_length)
        is_tiled = self.mapping.rows is not None and self.rows_each == 1 and self.batch == 1
        if self.is_requested or count is None or (var is None and not is_tiled):
            return integer(self.lower.lanes, loc)
        self.chosen = self.names.fresh("lanes", DType.INT64)
        lanes = Var(self.chosen, loc=loc)
        others = [axis.count for axis in axes if axis.loop.var != var]
        rows = product_of_all(others) if others else integer(1, loc)
        self.host.append(ChooseLanes(self.chosen, self.name, rows, count, loc=loc))
        self.lower.width = lanes
        if is_tiled:
            crossed = self.mapping.is_crossed
            size = self.names.fresh("rows", DType.INT64)
            tile = self.tile = tile_of(size, self.use, self.mapping, self.lower.strips)
            self.host.append(Assign(tile.rows, rows_of(tile, lanes), loc=loc))
            if crossed:
                self.warps = tile.lanes // LANES_OF_A_WARP
            if crossed and var is not None:
                self.lower.lanes = self.fewest = SQUARE
            elif self.use is LaneUse.STRIP:  # so that a launch may give a program one row
                self.lower.lanes = max(self.lower.lanes, tile.below)
        return lanes

    def _size(self, axis: Axis) -> Expr | None:
        """The number of iterations of an axis's loop that one program runs as lanes or rows; None where it
        runs one."""
        if axis.loop.var == self.mapping.lane:
            return self.lanes
        if self.tile is None or axis.loop.var != self.mapping.rows:
            return None
        return Var(self.tile.rows, loc=self.loc)

    def _programs(self, axis: Axis) -> Var:
        """The number of programs along an axis."""
        size = self._size(axis)
        if size is None:
            return axis.count
        return self._on_host(f"{axis.loop.var.name}_blocks", ceiling_quotient(axis.count, size))

    def _on_host(self, name: str, value: Expr) -> Var:
        return let(name, value, self.names, self.host)

    def _enter_grid(
        self, axes: list[Axis], counts: list[Var], number: Var | None, loop: For, body: list[ScheduledStmt]
    ) -> Where:
        """Sets every axis's variable; says which lanes act. number: of the block; None: that of the program."""
        body.append(
            ProgramIndex(tuple(axis.number for axis in axes), tuple(counts[1:]), number, loc=self.loc)
        )
        where = Where()
        if self.tile is not None:  # each row of a tile has its own results of the loops inside
            inner = [s for s in loops_of(loop.body) if s.var in self.lower.strips]
            self.lower.varying |= {r.symbol for s in inner for r in s.reductions}
            self.lower.varying |= {
                symbol for s in inner for symbol in (*(r.symbol for r in s.scans), *s.last)
            }
        for axis in sorted(axes, key=lambda axis: axis.loop.var == self.mapping.lane):
            here: Expr = Var(axis.number, loc=self.loc)
            size = self._size(axis)
            if size is None:
                body.append(Assign(axis.loop.var, iteration(axis.lo, axis.loop.step, here), loc=self.loc))
                continue
            of_tile = axis.loop.var != self.mapping.lane
            lane = self.names.fresh("row" if of_tile else "lane", DType.INT64)
            self.lower.varying.add(lane)
            if not of_tile:
                self.lower.in_row.add(lane)
            body.append(Lanes(lane, of_tile, loc=self.loc))
            first = self.lower.temp("first", Binary("*", here, size, loc=self.loc), body)
            own = replace(axis.loop, body=loop.body)
            where = self.lower.enter(own, axis.lo, first, lane, axis.count, body, where)
            rest = Binary("-", axis.count, first, loc=self.loc)
            if self.mapping.lane is not None:
                self.is_whole = both(self.is_whole, Compare(">=", rest, size, loc=self.loc))
        return where

    def _masked_at_edges(self, loop: For, where: Where) -> list[ScheduledStmt]:
        """The statements of a program, in two versions where they are few and straight-line code, or a tile of rows."""
        masked = self.lower.block(loop.body, where)
        main, lowered, cond = loop.body, tuple(masked), self.is_whole
        match loop.body, masked:
            case (If(_, then, _),), [Branch(is_tile, inner, _)] if cond is not None:
                main, lowered, cond = then, inner, Binary("&", cond, is_tile, loc=self.loc)
        straight = all(isinstance(stmt, Assign | Store) for stmt in lowered)
        size = sum(1 for _ in walk(lowered))
        if cond is None or not lowered or not straight or size > VERSIONED_NODES:
            return masked
        whole = self.lower.block(main, replace(where, mask=None, rows=None, columns=None))
        return [Branch(cond, tuple(whole), tuple(masked), loc=self.loc)]

    def _reductions(self) -> tuple[Reduction, ...]:
        found = {r.symbol: r for loop in self.mapping.chain for r in loop.reductions}
        return tuple(found.values())

    def _is_last(self, axes: list[Axis], where: Where) -> Expr | None:
        """Whether a program, or a lane, has the last iteration."""
        mask = where.mask
        for axis in axes:
            last = Binary("-", axis.count, integer(1, self.loc), loc=self.loc)
            final = iteration(axis.lo, axis.loop.step, last)
            mask = both(mask, Compare("==", Var(axis.loop.var, loc=self.loc), final, loc=self.loc))
        return mask
