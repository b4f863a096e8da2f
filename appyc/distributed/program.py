"""The walk over a program that writes its graph: loops around nests run, nests become tasks over blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from appyc.analysis.patterns.early_exits import leaves_early
from appyc.analysis.sets.evaluate import hold
from appyc.distributed.block_scans import SMALL, starts
from appyc.distributed.block_tasks import BlockTasks, Tile, refused
from appyc.distributed.blocking import blocked_loops, is_nest, until_break
from appyc.distributed.chunk_grids import Key, Task
from appyc.distributed.combining import LAST, Combination, arrays_reduced, combinations_of
from appyc.distributed.dask_arrays import zeros
from appyc.distributed.scattering import arrays_scattered
from appyc.distributed.shuffles import store_lists
from appyc.ir import nodes as ir
from appyc.ir.array_accesses import is_access
from appyc.ir.visit import loops_of, scalars_read, scalars_written, walk
from appyc.passes.node_builders import combine, integer

LEAST_BLOCKS = 3
"""The fewest blocks for a scan in two passes: two blocks in sequence take no longer."""


@dataclass(frozen=True, slots=True)
class NestPlan:
    """A nest, and what its tasks are made of. loops: those that are cut. bounds: scalars that say which elements the
    nest touches. has_ended: whether a block before has ended it. own: scalars that are dead behind it. scattered:
    stores that its blocks list."""

    stmt: ir.Stmt
    loops: Sequence[ir.For]
    combined: Sequence[Combination]
    reduced: Mapping[ir.Symbol, Combination]
    bounds: set[ir.Symbol]
    has_ended: ir.Symbol | None
    own: set[ir.Symbol]
    scattered: Mapping[ir.Symbol, Sequence[ir.Store | ir.Update]]


class Program(BlockTasks):
    """Runs the statements of a program."""

    def block(self, body: tuple[ir.Stmt, ...]) -> ir.Break | ir.Continue | None:
        """Runs statements. Gives the one by which they leave the loop around them."""
        for stmt in body:
            left = None
            match stmt:
                case ir.Assign(value=ir.Var(symbol=copied)) if not self.is_set(copied):
                    self.unset(stmt.target)  # which is not read either
                case ir.Assign():
                    self._set(stmt.target, self.scalar(stmt.value))
                case ir.Update() if not stmt.target.is_array:
                    new = combine(stmt.op, ir.Var(stmt.target, loc=stmt.loc), stmt.value)
                    if isinstance(new, ir.Binary):
                        new = replace(new, trap=stmt.trap, python=stmt.python)
                    self._set(stmt.target, self.scalar(self.prepared.values.setdefault(id(stmt), new)))
                case ir.For() if id(stmt) not in self.plans.nests and not is_nest(stmt, self.grids):
                    self.repeat(stmt, range(self._number(stmt.lo), self._number(stmt.hi), stmt.step))
                case ir.While():
                    while self._number(stmt.cond) and not isinstance(self.block(stmt.body), ir.Break):
                        pass
                case ir.If() if self._decides(stmt):
                    left = self.block(stmt.then if self._number(stmt.cond) else stmt.orelse)
                case ir.Break() | ir.Continue():
                    left = stmt
                case ir.For() | ir.Store() | ir.Update() | ir.If():
                    self._nest(stmt)
                case ir.Alloc(array=symbol, kept=None):
                    shape = tuple(max(self._number(length), 0) for length in stmt.shape)
                    array = zeros(self.fn.body, symbol, shape, self.grids, self.graph)
                    self.values[symbol] = self.grids[symbol] = array
                case ir.Fail(values=words):
                    known = tuple(integer(self._number(word), word.loc) for word in words)
                    self._known(replace(stmt, values=known))
                case ir.BoundsCheck():
                    index, extent = self._number(stmt.index), self._number(stmt.extent)
                    if not -extent <= index < extent:
                        raise IndexError(stmt.site.message.format(value=index, extent=extent))
                case _:
                    raise refused(stmt, f"{type(stmt).__name__}: this statement has no form over blocks")
            if left is not None:
                return left
        return None

    def repeat(self, loop: ir.For, steps: range) -> None:
        """A loop around nests."""
        for step in steps:
            self._set(loop.var, step)
            if isinstance(self.block(loop.body), ir.Break):
                break

    def _decides(self, stmt: ir.If) -> bool:
        """Whether the program goes one way: the condition is known, or must be, since there are loops below it."""
        inside = walk((*stmt.then, *stmt.orelse))
        if any(isinstance(n, ir.For | ir.While | ir.Break | ir.Continue | ir.Fail) for n in inside):
            return True
        reads = any(isinstance(n, ir.Load) for n in walk(stmt.cond))
        return not reads and not scalars_read(stmt.cond) & self.computed.keys()

    def _nest(self, stmt: ir.Stmt) -> None:
        nest = self._plan(stmt)
        for symbol in nest.bounds & self.computed.keys():
            self._number(ir.Var(symbol, loc=stmt.loc))
        if nest.has_ended is not None:
            self._set(nest.has_ended, False)
        self._tasks(nest)
        for symbol in nest.own:
            self.values.pop(symbol, None)

    def _plan(self, stmt: ir.Stmt) -> NestPlan:
        """The plan by which a nest becomes tasks, the same in each iteration of a loop around it."""
        known: NestPlan | None = self.plans.nests.get(id(stmt))
        if known is not None:
            return known
        for node in walk(stmt):
            if isinstance(node, ir.View | ir.Call | ir.Draw) or (
                isinstance(node, ir.Fail) and node.error in ir.OWN_ERRORS
            ):
                raise refused(node, f"{type(node).__name__}: this has no form over blocks")
        loops = blocked_loops(stmt, self.grids)
        bounds = [e for n in walk(stmt) if is_access(n) for e in n.index]
        bounds += [e for loop in loops_of(stmt) for e in loop.bounds]
        combined, block, has_ended = combinations_of(stmt, self.prepared.flow), stmt, None
        if isinstance(stmt, ir.For) and leaves_early(stmt):
            has_ended, block = self.prepared.until.setdefault(
                id(stmt), until_break(stmt, self.prepared.names)
            )
            combined.append(Combination((has_ended,)))
        reduced = arrays_reduced(loops[0], self.grids) if loops else {}
        scattered = arrays_scattered(stmt, self.grids, reduced)
        loops = loops[:1] if reduced or scattered or any(c.has_order for c in combined) else loops
        own = scalars_written(block) - {s for c in combined for s in c.symbols}
        bounds_read = scalars_read(bounds)
        plan = NestPlan(block, loops, combined, reduced, bounds_read, has_ended, own, scattered)
        self.plans.nests[id(stmt)] = plan
        return plan

    def _tasks(self, nest: NestPlan) -> None:
        """The tasks of a nest, and of what its blocks combine into."""
        stmt, loops, combined = nest.stmt, nest.loops, nest.combined
        pairs = [(s, start) for c in combined for s, start in zip(c.symbols, c.starts, strict=False)]
        body = (*(ir.Assign(s, start, loc=stmt.loc) for s, start in pairs), stmt)
        results = tuple(s for c in combined for s in c.symbols)
        kernel = self.kernel(stmt, body, loops, results, nest.reduced, nest.scattered)
        if self.counting is not None:
            self.counting.begin(stmt.loc.line, self.graph)
        tiles = self._tiles(kernel, loops, stmt)
        begins = self._begins(stmt, loops, combined, tiles)
        of_block = (*kernel.reduced.values(), *combined)
        numbered = [(-sum(len(c.symbols) for c in of_block[k:]), c) for k, c in enumerate(of_block)]
        blocks = list[Key]()
        for block in self._blocks(kernel, tiles, stmt, begins):
            blocks.append(block)
            for number, c in numbered:
                if c.op is None and (c.symbols[0] not in begins or len(blocks) == len(tiles)):
                    self._set(c.symbols[0], self._result(block, number))
        for number, c in numbered:
            if c.op == LAST and blocks:
                self._set(c.symbols[0], self._result(blocks[-1], number))
            if c.op in (None, LAST):
                continue
            if (grid := self.grids.get(c.symbols[0])) is None:
                before = [self._argument(s, stmt, is_set=k > 0) for k, s in enumerate(c.symbols)]
                for symbol, key in zip(c.symbols, c.totals(blocks, number, before, self.graph), strict=True):
                    self._set(symbol, Task(key))
            elif blocks:
                (total,) = c.totals(blocks, number, [grid.held()], self.graph)
                grid.put(grid.chunk_parts(grid.whole), total, None)
        for number, stores in enumerate(kernel.listed):
            store_lists(stores, number, self.grids[stores.array], blocks, self.make, self.options)
        if self.unseen and self.counting is None:
            self._run(self.unseen)
        self.unseen = []

    def _begins(
        self, stmt: ir.Stmt, loops: Sequence[ir.For], combined: Sequence[Combination], tiles: Sequence[Tile]
    ) -> dict[ir.Symbol, Key]:
        """The tasks that have what scalars are where each block begins, where that can be had before the blocks run."""
        handed_on = [c.symbols[0] for c in combined if c.op is None]
        if not handed_on or not isinstance(stmt, ir.For) or len(tiles) < LEAST_BLOCKS:
            return {}
        scans = self.prepared.scans_of(stmt, handed_on)
        if scans is None or not hold(scans.guards, self.values):
            return {}
        if scalars_read(scans.factors) & self.computed.keys() or not all(
            SMALL[f.dtype] <= abs(self.scalar(f)) <= 1 for f in scans.factors
        ):
            return {}
        if self.counting is not None:
            self.counting.layers[-1].notes[f"{scans.reason}: in two passes"] = None
        kernel = self.kernel(scans.body[-1], scans.body, loops, scans.results)
        before = [self._argument(s, stmt, is_set=True) for s in scans.parts]
        blocks = list(self._blocks(kernel, tiles[:-1], stmt))
        return {
            symbol: self.graph.add("starts", starts, op, numbers, first, blocks)
            for (symbol, (op, numbers)), first in zip(scans.parts.items(), before, strict=True)
        }
