"""Several time steps in one task: each block recomputes the neighbours' elements that its later steps read.

    for t in range(steps):                      a task has k steps of both nests for one chunk,
        for i: b[i] = a[i - 1] + a[i + 1]       from a window of `a` that is wider by k steps' halo
        for i: a[i] = b[i]

The steps are gone through backwards: what is needed of the arrays behind a nest says which of its iterations must run,
and these say what is needed before it. So k steps exchange one halo, k times as wide, instead of k. How many, the costs
of tasks and of what is computed twice decide.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce

from appyc.analysis.accesses.access_boxes import Box, Region, joined, meet, overlap, volume, without
from appyc.analysis.patterns.early_exits import leaves_early
from appyc.distributed.block_layouts import numbers_of
from appyc.distributed.blocking import are_apart, blocked_loops
from appyc.distributed.chunk_grids import Pieces, inside
from appyc.distributed.combining import arrays_reduced
from appyc.distributed.kernels import Block, Bounds, Kernel, Launch
from appyc.distributed.program import Program
from appyc.distributed.scattering import accesses_by_array
from appyc.ir.array_accesses import is_access
from appyc.ir.nodes import Call, Draw, Fail, For, Load, Symbol, Var, View, While
from appyc.ir.visit import scalars_read, walk

MOST_STEPS = 8
"""Steps of one task."""

MOST_KNOWN = 64
"""Loops and numbers for which the work on chunks is kept."""

SECONDS_OF_TASKS, SECONDS_OF_COPY, SECONDS_OF_ELEMENT = 1e-3, 5e-9, 1e-9
"""The cost in seconds of the tasks for one chunk, of an element copied into a window and out of it, and of
one iteration."""


@dataclass(frozen=True, slots=True)
class Nest:
    """A nest of which each iteration touches elements of its own of what it writes. loops: those that are blocked.
    axes: for each of these arrays the axis along which each of them moves."""

    stmt: For
    loops: Sequence[For]
    kernel: Kernel
    axes: Mapping[Symbol, tuple[int, ...]]

    @property
    def scalars(self) -> set[Symbol]:
        """Those on which its tasks depend."""
        return {*self.kernel.scalars, *(s for loop in self.loops for s in scalars_read(loop.bounds))}


@dataclass(slots=True)
class Tile:
    """The work of one task. windows: the elements that it has of each array. needs: those of them whose values from
    before matter, but for those in `spared`, which it writes before it reads them. launches: the nests that it runs,
    last first, each with its iterations and its step."""

    windows: dict[Symbol, Box]
    needs: dict[Symbol, Box]
    launches: list[tuple[Nest, Bounds, int]] = field(default_factory=list)
    spared: dict[Symbol, Box] = field(default_factory=dict)

    def parts(self, array: Symbol) -> list[Box]:
        """Boxes of the elements whose values from before matter."""
        needs, spared = self.needs.get(array), self.spared.get(array)
        if needs is None:
            return []
        return [needs] if spared is None else without(needs, spared)

    def touch(self, array: Symbol, region: Region) -> None:
        """The launch before all that are known touches a region of an array."""
        touched = region.touched
        assert touched is not None, "it has an access"
        self.windows[array] = joined(self.windows.get(array), touched)
        if not region.is_overwritten:
            self.needs[array] = joined(self.needs.get(array), touched)
            self.spared.pop(array, None)
        elif array in self.needs and joined(touched, self.needs[array]) == touched:
            del self.needs[array]
            self.spared.pop(array, None)
        elif array not in self.spared or volume(touched) > volume(self.spared[array]):
            self.spared[array] = touched


@dataclass(frozen=True, slots=True)
class Work:
    """The function of a task, and of each array the pieces that it takes, and the boxes of elements that these are."""

    block: Block
    pieces: Pieces
    parts: Sequence[tuple[Symbol, Sequence[Box]]]


class TimeTiled(Program):
    """A program whose loops around nests become tasks of several steps where that is possible and pays."""

    def repeat(self, loop: For, steps: range) -> None:
        nests = self._nests_in(loop, steps) if len(steps) > 1 else None
        width = self._width(nests, loop.var, steps) if nests else 1
        if nests is None or width < 2:
            super().repeat(loop, steps)
            return
        for first in range(0, len(steps), width):
            self._advance(nests, loop, steps[first : first + width])

    def _nests_in(self, loop: For, steps: range) -> list[Nest] | None:
        """The nests that the loop consists of; None where it has other statements, or blocks depend on each other, or
        on what tasks compute."""
        known = id(loop), *(grid.chunks for grid in self.grids.values())
        if known not in self.plans.loops:
            self.plans.loops[known] = self._nests(loop)
        nests: list[Nest] | None = self.plans.loops[known]
        if nests is None or any(self.computed.keys() & nest.scalars for nest in nests):
            return None
        for step, nest in itertools.product(steps, nests):
            self._set(loop.var, step)
            if step == steps[0] or loop.var in nest.scalars:
                ranges = [self._range(inner, nest.loops) for inner in nest.loops]
                if any(low < 0 and low < high for low, high in ranges):
                    return None  # it may count from the end of an array
                self._regions(
                    nest.kernel, ranges
                )  # raises IndexError: tiles have no iterations outside of arrays
        return nests

    def _nests(self, loop: For) -> list[Nest] | None:
        out = []
        for stmt in loop.body:
            loops = blocked_loops(stmt, self.grids)
            if not isinstance(stmt, For) or not loops or not self._is_simple(stmt, loops):
                return None
            kernel = self.kernel(stmt, (stmt,), loops)
            axes = {}
            for array, (node, *_) in accesses_by_array(stmt, kernel.written).items():
                of = {e.symbol: axis for axis, e in enumerate(node.index) if isinstance(e, Var)}
                axes[array] = tuple(of[inner.var] for inner in loops)
            out.append(Nest(stmt, loops, kernel, axes))
        chunks = {self.grids[array].chunks for nest in out for array in nest.kernel.written}
        return out if len(chunks) == 1 else None

    def _is_simple(self, stmt: For, loops: Sequence[For]) -> bool:
        flow = self.prepared.flow[stmt.var]
        accesses = [n for n in walk(stmt) if is_access(n)]
        return (
            are_apart(loops, self.grids)
            and not (flow.reductions or flow.carried or flow.last or leaves_early(stmt))
            and not arrays_reduced(stmt, self.grids)
            and not any(isinstance(n, View | Call | Draw | Fail | While) for n in walk(stmt))
            and not any(isinstance(n, Load) for node in accesses for e in node.index for n in walk(e))
        )

    def _tile(self, nests: Sequence[Nest], var: Symbol, steps: Sequence[int], chunk: Box) -> Tile:
        written = {array for nest in nests for array in nest.kernel.written}
        out = Tile(dict.fromkeys(written, chunk), dict.fromkeys(written, chunk))
        for step, nest in itertools.product(reversed(steps), reversed(nests)):
            self._set(var, step)
            boxes = [(array, out.needs[array]) for array in nest.axes if array in out.needs]
            if not boxes:
                continue
            moved = (tuple(box[axis] for axis in nest.axes[array]) for array, box in boxes)
            ranges = (self._range(inner, nest.loops) for inner in nest.loops)
            bounds = overlap(reduce(joined, moved), ranges)
            regions = self._regions(nest.kernel, bounds)
            if not any(meet(box, regions[a].written) for a, box in boxes if a in regions):
                continue
            for array, region in regions.items():
                out.touch(array, region)
            for array in nest.kernel.arrays:
                out.windows.setdefault(array, ((0, 0),) * array.array.ndim)
            out.launches.append((nest, bounds, step))
        return out

    def _width(self, nests: Sequence[Nest], var: Symbol, steps: range) -> int:
        """The number of time steps of a task."""
        grid = self.grids[nests[0].kernel.written[0]]
        at = tuple(max(range(len(sizes)), key=sizes.__getitem__) for sizes in grid.chunks)
        chunk = grid.box(at)
        grown = self._tile(nests, var, steps[-1:], chunk).windows
        halo = max(max(a - c, d - b) for box in grown.values() if len(box) == len(chunk)
                   for (a, b), (c, d) in zip(chunk, box, strict=True))  # fmt: skip
        sizes = [high - low for low, high in chunk]

        def cost(width: int) -> float:
            computed = sum(math.prod(n + 2 * halo * k for n in sizes) for k in range(width)) * len(nests)
            copied = SECONDS_OF_COPY * math.prod(sizes)
            return (SECONDS_OF_TASKS + copied + SECONDS_OF_ELEMENT * computed) / width

        possible = [w for w in range(1, min(MOST_STEPS, len(steps)) + 1) if 2 * halo * (w - 1) <= min(sizes)]
        return min(possible, key=cost)

    def _works(self, nests: Sequence[Nest], loop: For, steps: Sequence[int]) -> dict[Box, Work]:
        """The work on each chunk so far, where it does not depend on the number of the step."""
        scalars = sorted({s for nest in nests for s in nest.scalars}, key=lambda s: s.uid)
        if loop.var in scalars:
            return {}
        if len(self.plans.loops) > MOST_KNOWN:
            self.plans.loops.clear()
        values = (repr(self.values.get(s)) for s in scalars)  # 0.0 is no -0.0
        chunks = (self.grids[a].chunks for nest in nests for a in nest.kernel.arrays)
        found: dict[Box, Work] = self.plans.loops.setdefault((id(loop), len(steps), *values, *chunks), {})
        return found

    def _launch(self, kernel: Kernel, at: For, bounds: Bounds, tile: Tile) -> Launch:
        order = [*tile.windows]
        boxes = [tile.windows[a] for a in kernel.arrays]
        numbers = [*self._scalars(kernel, at), *numbers_of(kernel, boxes, bounds, self.grids)]
        return kernel.text, [order.index(a) for a in kernel.arrays], numbers

    def _new_work(self, nests: Sequence[Nest], loop: For, steps: Sequence[int], chunk: Box) -> Work:
        tile = self._tile(nests, loop.var, steps, chunk)
        launches = list[Launch]()
        for nest, bounds, step in reversed(tile.launches):
            self._set(loop.var, step)
            launches.append(self._launch(nest.kernel, nest.stmt, bounds, tile))
        order = [*tile.windows]
        results = [(order.index(a), inside(chunk, tile.windows[a])) for a in _written(nests)]
        parts = [(a, tile.parts(a)) for a in order]
        found = [self.grids[a].window(tile.windows[a], boxes) for a, boxes in parts]
        block = Block(self.make, self.options, [window for window, _ in found], launches, results)
        return Work(block, [(a, pieces) for a, (_, pieces) in zip(order, found, strict=True)], parts)

    def _advance(self, nests: Sequence[Nest], loop: For, steps: Sequence[int]) -> None:
        """One task for each chunk, and all of these steps."""
        if self.counting is not None:
            self.counting.begin(loop.loc.line, self.graph)
        written = [self.grids[array] for array in _written(nests)]
        works, done = self._works(nests, loop, steps), []
        for chunk in map(written[0].box, written[0].keys):
            if chunk not in works:
                works[chunk] = self._new_work(nests, loop, steps, chunk)
            work = works[chunk]
            done.append((chunk, self.add_block(loop, work.block, work.pieces)))
            if self.counting is not None:
                self.counting.block([(self.grids[a], parts, parts) for a, parts in work.parts],
                                    [(grid, chunk) for grid in written])  # fmt: skip
        self._set(loop.var, steps[-1])
        for (chunk, key), (number, grid) in itertools.product(done, enumerate(written)):
            grid.put(grid.chunk_parts(chunk), key, number)


def _written(nests: Sequence[Nest]) -> list[Symbol]:
    return sorted({a for nest in nests for a in nest.kernel.written}, key=lambda s: s.uid)
