"""Time tiling: several steps of an iterated stencil run on a tile of the arrays while it is in the cache.

    for t in range(steps):                       if a and b are larger than the cache and there are steps enough:
        for i in range(1, n - 1):                    for wave in range(...):
            b[i] = a[i - 1] + a[i + 1]                   for tile in range(...):                       # parallel
        for i in range(1, n - 1):       ->                   start = ... wave - 2 * tile ...
            a[i] = b[i]                                      for t in range(16 * tile, min(16 * tile + 16, steps)):
                                                                 for i in range(max(1, start - 2 * t), min(...)):
                                                                     b[i] = a[i - 1] + a[i + 1]
                                                                 for i in range(max(1, start - 2 * t - 1), min(...)):
                                                                     a[i] = b[i]
                                                 else:
                                                     for t in range(steps): ...

Without tiles, each step moves all arrays between memory and the cores. The time loop is strip-mined; along one or more
axes of the arrays the coordinates are skewed (`analysis/dependences/time_skew.py`) and cut into windows. Tiles of
one wavefront (window + 2 * strip) are independent: all dependences lead to a later strip or window. Within a tile,
nests keep their order and their rows, so that vector lanes are as before, and every value is bitwise the same.

Requires: `check_bounds` (nothing raises), modes chosen (`choose_threads`). Runs before `nontemporal_results`, since
tiles read again what they store.

Does not handle: nests whose dependences are not uniform along any axis; time loops with anything but nests and private
scalars in them; bounds that depend on the step; clauses other than plain requests; time loops inside
parallel loops; GPUs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial, reduce
from math import prod

from appyc.analysis.algebra.amounts import NONE, as_amount, number, product, total
from appyc.analysis.dependences.time_skew import Axis, time_axes
from appyc.analysis.dependences.verdicts import named
from appyc.errors import Loc
from appyc.ir import nodes as ir
from appyc.ir.blocks import replace_outermost
from appyc.ir.names import NameSupply, ordered
from appyc.ir.types import ArrayType, DType
from appyc.ir.visit import arrays_written, loops_of, rewrite, scalars_written, substitute
from appyc.passes.loop_ops.cut import cut
from appyc.passes.node_builders import (
    binary,
    ceiling_quotient,
    counting,
    integer,
    larger,
    let,
    scaled,
    shifted,
    smaller,
    trip_count,
)
from appyc.passes.pass_context import PassContext

CACHE = 1 << 20
"""Bytes of a private cache. Arrays that fit in it gain nothing."""

STEPS = {0: 64, 1: 8, 2: 4}
"""The most time steps of a tile, by its axes other than that of the vector lanes. The tile of two arrays
of float64 then has about the size of a first-level cache."""

WINDOW = {0: 4096, 1: 128, 2: 128}
"""The fewest elements of a tile along the axis of the vector lanes, by the same."""


def tile_time(fn: ir.Function, ctx: PassContext) -> ir.Function:
    """The function with tiled versions of its time loops."""
    if ctx.options.on_gpu or not ctx.options.auto:
        return fn
    names = NameSupply.after(fn)
    parallel = [loop for loop in loops_of(fn) if loop.mode is not ir.LoopMode.SEQUENTIAL]
    shared = {inner.var for loop in parallel for inner in loops_of(loop)}

    def tiled_versions(stmt: ir.Stmt) -> tuple[ir.Stmt] | None:
        if not isinstance(stmt, ir.For) or stmt.var in shared or fn.schedule[stmt.var].skew is not None:
            return None
        axes = time_axes(fn, stmt)[: max(STEPS) + 1]
        return (_Tiling(stmt, axes, names, ctx).versions(),) if axes else None

    tiled = replace(fn, body=replace_outermost(fn.body, tiled_versions))
    skewed = {new: fn.schedule[old] for new, old in ctx.copies.items() if fn.schedule[old].skew is not None}
    return replace(tiled, schedule=fn.schedule.updated(skewed)) if tiled != fn else fn


@dataclass(frozen=True, slots=True)
class _Side:
    """The windows along an axis: the first coordinate, the elements of a window, and how many there are."""

    axis: Axis
    low: ir.Expr
    size: ir.Expr
    count: ir.Expr


@dataclass(frozen=True, slots=True)
class _Tiling:
    """Builds the tiled version of one time loop."""

    time: ir.For
    axes: list[Axis]
    names: NameSupply
    ctx: PassContext

    def versions(self) -> ir.Stmt:
        """The tiled and the original time loop, under the test that selects one."""
        loop, loc = self.time, self.time.loc
        trips = trip_count(loop.lo, loop.hi, 1)
        tests = [ir.Compare(">=", trips, scaled(_threads(loc), 2), loc=loc),
                 ir.Compare(">", self._bytes(), number(CACHE), loc=loc)]  # fmt: skip
        size = " x ".join(str(self._window(axis)) for axis in self.axes)
        self.ctx.remark(
            loop.loc,
            f"{named(loop)} runs in time tiles where the arrays exceed the cache: up to {self._height} steps on {size} "
            "elements",
        )
        return ir.If(
            ir.Logical("and", tests[0], tests[1], loc=loc), tuple(self._tiled(trips)), (loop,), loc=loc
        )

    @property
    def _rows(self) -> list[Axis]:
        """The axes other than that of the vector lanes."""
        return [axis for axis in self.axes if not self._is_lanes(axis)]

    def _is_lanes(self, axis: Axis) -> bool:
        return any(line.loop is not None and not loops_of(line.loop.body) for line in axis.lines)

    @property
    def _height(self) -> int:
        return STEPS[len(self._rows)]

    def _window(self, axis: Axis) -> int:
        least = self._height * max(axis.factor, 1)
        return max(WINDOW[len(self._rows)], least) if self._is_lanes(axis) else least

    def _bytes(self) -> ir.Expr:
        """The bytes of the arrays that the time loop changes."""
        out: ir.Expr = NONE
        for array in ordered(arrays_written(self.time.body)):
            assert isinstance(array.type, ArrayType)
            extents = [
                as_amount(ir.Extent(array, axis, loc=self.time.loc)) for axis in range(array.type.ndim)
            ]
            size: ir.Expr = number(array.dtype.bits // 8)
            out = total(out, reduce(product, extents, size))
        return out

    def _tiled(self, trips: ir.Expr) -> list[ir.Stmt]:
        loc, out = self.time.loc, list[ir.Stmt]()
        first, last = let("first", self.time.lo, self.names, out), let("last", self.time.hi, self.names, out)
        most = larger(binary("//", trips, _threads(loc)), integer(1, loc))
        height = let("height", smaller(most, integer(self._height, loc)), self.names, out)
        strips = let("strips", ceiling_quotient(trips, height), self.names, out)
        sides = self._sides(height, out)
        wave, strip = self._variable("wave"), self._variable("strip")
        now, own = ir.Var(wave, loc=loc), ir.Var(strip, loc=loc)
        inner = [self._variable("window") for _ in sides[1:]]
        windows: list[ir.Expr] = [binary("-", now, scaled(own, 2)), *(ir.Var(var, loc=loc) for var in inner)]
        body: list[ir.Stmt] = []
        begin = let("begin", binary("+", first, binary("*", own, height)), self.names, body)
        end = smaller(binary("+", begin, height), last)
        body.append(self._steps(begin, end, sides, windows))
        for var, side in zip(reversed(inner), reversed(sides[1:]), strict=True):
            body = [counting(var, side.count, tuple(body), loc=loc)]
        behind = binary("//", shifted(binary("-", now, sides[0].count), 2), integer(2, loc))
        tiles = ir.For(strip, larger(behind, integer(0, loc)),
                    smaller(shifted(binary("//", now, integer(2, loc)), 1), strips), 1, tuple(body),
                    ir.LoopMode.PARALLEL, private=ordered(scalars_written(body)), loc=loc)  # fmt: skip
        waves = binary("+", sides[0].count, scaled(shifted(strips, -1), 2))
        out.append(counting(wave, waves, (tiles,), loc=loc))
        return out

    def _sides(self, height: ir.Expr, out: list[ir.Stmt]) -> list[_Side]:
        """The windows along each axis, along the first one larger where the other axes are short."""
        loc = self.time.loc
        sides: list[_Side] = []
        here: ir.Expr = integer(1, loc)
        for axis in reversed(self.axes):
            low, high = self._span(axis)
            start = let("low", low, self.names, out)
            skew = scaled(shifted(height, -1), axis.factor)
            span = let("span", binary("+", binary("-", high, start), skew), self.names, out)
            size: ir.Expr = integer(self._window(axis), loc)
            if axis is self.axes[0] and sides:
                usual = integer(prod(self._window(other) for other in self.axes[1:]), loc)
                more = larger(binary("//", usual, here), integer(1, loc))
                size = let("size", binary("*", size, more), self.names, out)
            here = binary("*", here, larger(smaller(size, span), integer(1, loc)))
            sides.append(
                _Side(axis, start, size, let("windows", ceiling_quotient(span, size), self.names, out))
            )
        return sides[::-1]

    def _span(self, axis: Axis) -> tuple[ir.Expr, ir.Expr]:
        """The least shifted coordinate of all nests, and one more than the greatest."""
        lows, highs = [], []
        for line, shift in zip(axis.lines, axis.shifts, strict=True):
            low, high = (line.at, shifted(line.at, 1)) if line.loop is None else (line.loop.lo, line.loop.hi)
            lows.append(shifted(low, shift))
            highs.append(shifted(high, shift))
        return reduce(smaller, lows), reduce(larger, highs)

    def _steps(self, begin: ir.Expr, end: ir.Expr, sides: list[_Side], windows: list[ir.Expr]) -> ir.For:
        """The time steps of a tile, each with the parts of its nests in the tile's windows."""
        time, loc = self.time, self.time.loc
        step = self._variable(time.var.name)
        elapsed = binary("-", ir.Var(step, loc=loc), begin)
        body: list[ir.Stmt] = []
        edges: list[ir.Expr] = []
        for side, window in zip(sides, windows, strict=True):
            edge = binary("+", side.low, binary("*", window, side.size))
            edges.append(let("edge", binary("-", edge, scaled(elapsed, side.axis.factor)), self.names, body))
        nests = 0
        for stmt in time.body:
            part = stmt
            if isinstance(stmt, ir.For):
                part = self._cut(stmt, nests, sides, edges)
                nests += 1
            body.append(substitute(part, {time.var: ir.Var(step, loc=loc)}))
        return ir.For(step, begin, end, 1, tuple(body), loc=loc)

    def _cut(self, nest: ir.Stmt, position: int, sides: list[_Side], edges: list[ir.Expr]) -> ir.Stmt:
        """The iterations of a nest in the windows that start at the edges."""
        for side, edge in zip(sides, edges, strict=True):
            line, start = side.axis.lines[position], shifted(edge, -side.axis.shifts[position])
            end = binary("+", start, side.size)
            if line.loop is None:
                here = self._variable("here")
                low, high = larger(line.at, start), smaller(shifted(line.at, 1), end)
                nest = ir.For(here, low, high, 1, (nest,), loc=nest.loc)
                continue
            nest = rewrite(nest, partial(_cut_loop, line.loop.var, start, end))
        return self.ctx.copied(nest, self.names)

    def _variable(self, name: str) -> ir.Symbol:
        symbol = self.names.fresh(name, DType.INT64)
        self.ctx.copies[symbol] = self.time.var
        return symbol


def _threads(loc: Loc) -> ir.Expr:
    return binary("//", ir.Workers(loc=loc), integer(ir.CHAINS, loc))


def _cut_loop(var: ir.Symbol, start: ir.Expr, end: ir.Expr, node: ir.Node) -> ir.Node:
    return cut(node, start, end) if isinstance(node, ir.For) and node.var == var else node
