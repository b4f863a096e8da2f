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
from dataclasses import dataclass

from appyc.analysis.accesses.access_boxes import Box, joined
from appyc.analysis.patterns.early_exits import leaves_early
from appyc.distributed.block_tasks import Bounds
from appyc.distributed.blocking import are_apart, blocked_loops, is_nest
from appyc.distributed.chunk_grids import inside
from appyc.distributed.combining import arrays_reduced
from appyc.distributed.kernels import Kernel
from appyc.distributed.program import Program
from appyc.ir.array_accesses import array_of, is_access
from appyc.ir.nodes import Call, Draw, Fail, For, Load, Symbol, Var, View, While
from appyc.ir.visit import scalars_read, walk

MOST_STEPS = 8
"""Steps of one task."""

SECONDS_OF_TASKS, SECONDS_OF_COPY, SECONDS_OF_ELEMENT = 1e-3, 5e-9, 1e-9
"""The cost in seconds of the tasks for one chunk, of an element copied into a window and out of it, and of
one iteration."""


@dataclass(frozen=True, slots=True)
class Nest:
    """A nest of which each iteration touches elements of its own of what it writes. axes: for each of these arrays the
    axis along which each blocked loop moves."""

    stmt: For
    kernel: Kernel
    axes: Mapping[Symbol, tuple[int, ...]]


@dataclass(slots=True)
class Tile:
    """The work of one task. windows: the elements that it has of each array. needs: those of them whose
    values from before matter. launches: the nests that it runs, last first, each with its iterations and its
    step."""

    windows: dict[Symbol, Box]
    needs: dict[Symbol, Box]
    launches: list[tuple[Nest, Bounds, int]]


class TimeTiled(Program):
    """A program whose loops around nests become tasks of several steps where that is possible and pays."""

    def repeat(self, loop: For, steps: range) -> None:
        nests = self._nests(loop) if len(steps) > 1 else None
        width = self._width(nests, loop.var, steps) if nests else 1
        if nests is None or width < 2:
            super().repeat(loop, steps)
            return
        for first in range(0, len(steps), width):
            self._advance(nests, loop, steps[first : first + width])

    def _nests(self, loop: For) -> list[Nest] | None:
        """The nests that the loop consists of; None where it has other statements, or blocks depend on each other."""
        out = []
        for stmt in loop.body:
            loops = blocked_loops(stmt, self.grids)
            if not isinstance(stmt, For) or not loops or not self._is_simple(stmt, loops):
                return None
            kernel = self.kernel(stmt, (stmt,), loops)
            axes = {}
            for node in walk(stmt):
                if is_access(node) and array_of(node) in kernel.written:
                    of = {e.symbol: axis for axis, e in enumerate(node.index) if isinstance(e, Var)}
                    axes[array_of(node)] = tuple(of[inner.var] for inner in loops)
            out.append(Nest(stmt, kernel, axes))
        chunks = {self.grids[array].chunks for nest in out for array in nest.kernel.written}
        return out if len(chunks) == 1 else None

    def _is_simple(self, stmt: For, loops: Sequence[For]) -> bool:
        flow = self.prepared.flow[stmt.var]
        accesses = [n for n in walk(stmt) if is_access(n)]
        return (
            is_nest(stmt, self.grids)
            and are_apart(loops, self.grids)
            and not (flow.reductions or flow.carried or flow.last or leaves_early(stmt))
            and not arrays_reduced(stmt, self.grids)
            and not any(isinstance(n, View | Call | Draw | Fail | While) for n in walk(stmt))
            and not any(isinstance(n, Load) for node in accesses for e in node.index for n in walk(e))
            and not scalars_read(stmt) & self.computed.keys()
        )

    def _tile(self, nests: Sequence[Nest], var: Symbol, steps: Sequence[int], chunk: Box) -> Tile:
        written = {array for nest in nests for array in nest.kernel.written}
        out = Tile(dict.fromkeys(written, chunk), dict.fromkeys(written, chunk), [])
        for step, nest in itertools.product(reversed(steps), reversed(nests)):
            self._set(var, step)
            boxes = [(array, out.needs[array]) for array in nest.axes if array in out.needs]
            if not boxes:
                continue
            hulls = [
                [box[nest.axes[array][k]] for array, box in boxes] for k in range(len(nest.kernel.bounds))
            ]
            bounds = [(min(low for low, _ in sides), max(high for _, high in sides)) for sides in hulls]
            regions = self._regions(nest.kernel, bounds)
            if not any(meet(box, regions[a].written) for a, box in boxes if a in regions):
                continue
            for array, region in regions.items():
                assert region.touched is not None, "it has an access"
                out.windows[array] = _around(out.windows.get(array), region.touched)
                if not region.is_overwritten:
                    out.needs[array] = joined(out.needs.get(array), region.touched)
                elif array in out.needs and joined(region.touched, out.needs[array]) == region.touched:
                    del out.needs[array]
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

    def _advance(self, nests: Sequence[Nest], loop: For, steps: Sequence[int]) -> None:
        """One task for each chunk, and all of these steps."""
        if self.counting is not None:
            self.counting.begin(loop.loc.line, self.graph)
        written = sorted({a for nest in nests for a in nest.kernel.written}, key=lambda s: s.uid)
        of = self.grids[written[0]]
        done = []
        for at in of.keys:
            tile = self._tile(nests, loop.var, steps, of.box(at))
            windows = {
                a: self.grids[a].read(box, self._part(tile, a), self.graph) for a, box in tile.windows.items()
            }
            order = list(windows)
            launches = []
            for nest, bounds, step in reversed(tile.launches):
                self._set(loop.var, step)
                arrays = nest.kernel.arrays
                boxes = [tile.windows[a] for a in arrays]
                numbers = self._numbers(nest.kernel, boxes, bounds, nest.stmt)
                launches.append((nest.kernel.text, [order.index(a) for a in arrays], numbers))
            results = [(order.index(a), inside(of.box(at), tile.windows[a])) for a in written]
            key = self._add_block(loop.loc.line, [*windows.values()], launches, results)
            if self.counting is not None:
                parts = [(a.name, self.grids[a], self._part(tile, a)) for a in order]
                self.counting.block(
                    [(*part, part[-1]) for part in parts],
                    [(a.name, self.grids[a], of.box(at)) for a in written],
                )
            done.append((at, key))
        for (at, key), (number, array) in itertools.product(done, enumerate(written)):
            self.grids[array].write(of.box(at), key, number, self.graph)

    @staticmethod
    def _part(tile: Tile, array: Symbol) -> list[Box]:
        return [tile.needs[array]] if array in tile.needs else []


def _around(one: Box | None, other: Box) -> Box:
    """The smallest box around two, the first of which may be empty."""
    return other if one is None or any(low >= high for low, high in one) else joined(one, other)


def meet(one: Box, other: Box | None) -> bool:
    """Whether two boxes have an element in common."""
    return other is not None and all(max(a, c) < min(b, d) for (a, b), (c, d) in zip(one, other, strict=True))
