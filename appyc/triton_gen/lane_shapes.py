"""Shapes of the values of a kernel: which axes of a tile each of them varies along.

    row = arange(0, ROWS)[:, None]              (ROWS, 1)
    lane = arange(0, LANES)[None, :]            (1, LANES)
    x = load(a + row * a_n1 + lane)             (ROWS, LANES)
    total = reduce(x, 1)                        (ROWS, 1)

Triton broadcasts operands, but a scalar must have one shape in all of the kernel. So the axes of a scalar are those of
all values that it is assigned. In a kernel without tiles all values of lanes have the shape (LANES,).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from appyc.ir.gpu_program import IN_ROWS, OF_ROWS, Kernel, LaneReduce, Lanes, LaneScan, ScheduledStmt
from appyc.ir.kernel_scalars import all_statements
from appyc.ir.nodes import Assign, Node, Symbol, Var
from appyc.ir.visit import walk

Axes: TypeAlias = frozenset[int]
"""A set of axes of a tile: 0 for its rows, 1 for its lanes."""

UNIFORM: Axes = frozenset()


@dataclass(frozen=True, slots=True)
class LaneShapes:
    """axes: of each scalar that varies. has_rows: whether lanes are a tile."""

    axes: Mapping[Symbol, Axes]
    has_rows: bool

    def of(self, node: Node) -> Axes:
        """The axes along which the values of an expression differ."""
        found = UNIFORM
        for part in walk(node):
            if isinstance(part, Var):
                found |= self.axes.get(part.symbol, UNIFORM)
        return found

    def of_all(self, nodes: Iterable[Node]) -> Axes:
        return UNIFORM.union(*map(self.of, nodes))

    def text(self, axes: Axes) -> str:
        if not axes:
            return "()"
        if not self.has_rows:
            return "(LANES,)"
        return f"({'ROWS' if 0 in axes else '1'}, {'LANES' if 1 in axes else '1'})"


def lane_shapes(kernel: Kernel) -> LaneShapes:
    axes: dict[Symbol, Axes] = {}
    shapes = LaneShapes(axes, kernel.tile is not None)
    stmts = list(all_statements(kernel.body))
    is_changed = True
    while is_changed:
        is_changed = False
        for stmt in stmts:
            for symbol, found in _assigned(stmt, shapes):
                if not found <= axes.get(symbol, UNIFORM):
                    axes[symbol] = axes.get(symbol, UNIFORM) | found
                    is_changed = True
    return shapes


def _assigned(stmt: ScheduledStmt, shapes: LaneShapes) -> Iterator[tuple[Symbol, Axes]]:
    """The scalars that a statement sets, with the axes of the values."""
    match stmt:
        case Assign(target, value):
            yield target, shapes.of(value)
        case Lanes(target, of_tile):
            yield target, OF_ROWS if of_tile else IN_ROWS
        case LaneReduce(target, _, value, axes):
            yield target, shapes.of(value) - axes
        case LaneScan(targets, _, values):
            found = IN_ROWS.union(*map(shapes.of, values))
            for target in targets:
                yield target, found
