"""Scheduled programs for a GPU: a host part, and the kernels that it launches.

`passes.split_kernels` makes these out of a `Function`; a generator only prints them.
Expressions and the leaf statements (`Assign`, `Store`, `Update`, `Alloc`, `Fail`, `Break`,
`Continue`) are those of `ir.nodes`; what holds other statements has a node of its own here,
because its body may hold the statements of a schedule too.

Inside a kernel a scalar is either uniform (one value for the whole program) or has one
value a lane; `Kernel.lane_scalars` says which. Control flow is always uniform: a branch or a
loop that lanes take differently has become masks and `AnyLane`. Every access is unchecked;
its `mask` keeps it inside the array.

The lanes of a program are a row, or a tile of rows (`Kernel.tile`): `ROWS` by `LANES` iterations of two loops. A scalar
of a tile may have one value a row, one a column, or one a lane.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from appyc.ir import nodes as ir
from appyc.ir.fault_words import FaultSite
from appyc.ir.product_call import ProductCall
from appyc.ir.schedule import ProductShape, ProductTiles


@dataclass(frozen=True, slots=True)
class Loop(ir.Node):
    """`for var in range(lo, hi, step)` with uniform bounds, one iteration after the other.

    step: a number, or a uniform scalar. repeats: on the host, whether every iteration makes the same launches, with the
    same arguments, and nothing else.
    """

    var: ir.Symbol
    lo: ir.Expr
    hi: ir.Expr
    step: int | ir.Var
    body: tuple[ScheduledStmt, ...]
    repeats: bool = False


@dataclass(frozen=True, slots=True)
class Repeat(ir.Node):
    """`while cond`, with a uniform condition."""

    cond: ir.Expr
    body: tuple[ScheduledStmt, ...]


@dataclass(frozen=True, slots=True)
class Branch(ir.Node):
    """`if cond`, with a uniform condition."""

    cond: ir.Expr
    then: tuple[ScheduledStmt, ...]
    orelse: tuple[ScheduledStmt, ...] = ()


# ---------------------------------------------------------------- in kernels only


@dataclass(frozen=True, slots=True)
class ProgramIndex(ir.Node):
    """A program's index in its grid, the last axis running fastest; `counts` has the number of
    programs on each axis but the first. number: the one whose index it is; None: the program's own."""

    targets: tuple[ir.Symbol, ...]
    counts: tuple[ir.Expr, ...]
    number: ir.Expr | None = None


@dataclass(frozen=True, slots=True)
class Lanes(ir.Node):
    """`target` = 0, 1, … in the lanes of a row; of_tile: in the rows of the tile."""

    target: ir.Symbol
    of_tile: bool = False


IN_ROWS = frozenset({1})
"""The axis of the lanes of a row."""

OF_ROWS = frozenset({0})
"""The axis of the rows of a tile."""


@dataclass(frozen=True, slots=True)
class LaneReduce(ir.Node):
    """`target` = the values of lanes, combined with an op of REDUCTION_OPS along these axes of the tile."""

    target: ir.Symbol
    op: str
    value: ir.Expr
    axes: frozenset[int] = frozenset({0, 1})


@dataclass(frozen=True, slots=True)
class LaneScan(ir.Node):
    """`targets` in each lane = the values of all lanes of its row up to it, combined in order.

    op: of REDUCTION_OPS, with one value; "linear" with two, the factor and the value of
    `x -> factor * x + value`, where those of a lane come after those of the lanes before.
    """

    targets: tuple[ir.Symbol, ...]
    op: str
    values: tuple[ir.Expr, ...]


@dataclass(frozen=True, slots=True)
class Barrier(ir.Node):
    """All threads of the program see each other's stores from before it."""


@dataclass(frozen=True, slots=True)
class Fault(ir.Node):
    """Notes a fault where `cond` holds, on the host raises it; `site` indexes the fault table."""

    site: int
    cond: ir.Expr
    words: tuple[ir.Expr, ...]


# ---------------------------------------------------------------- on the host only


@dataclass(frozen=True, slots=True)
class LaneIndex:
    """A loop variable in lanes: base + step * lane, with a uniform base."""

    base: ir.Symbol
    step: int
    lane: ir.Symbol


class LaneUse(Enum):
    """The use of the lanes of a row. BLOCK: a block of the iterations of a loop; other programs have the
    others. STRIP: the next iterations of a loop inside the program. ROW: all iterations of a loop inside the
    program."""

    BLOCK = "block"
    STRIP = "strip"
    ROW = "row"


@dataclass(frozen=True, slots=True)
class Tile:
    """The number of rows of a program: as many as have `lanes` lanes in all where a row has fewer than
    `below`, else one.

    rows: the scalar that is their number. lanes, below: powers of two.
    """

    rows: ir.Symbol
    lanes: int
    below: int

    def count(self, lanes: int) -> int:
        """The rows, where each has so many lanes."""
        return self.lanes // lanes if lanes < self.below else 1


@dataclass(frozen=True, slots=True)
class Kernel(ir.Node):
    """One kernel. What it takes follows from what its body reads.

    lanes, fewest_lanes: how many lanes a row has, at most, and at least where it is not shorter (powers of two).
    chosen: the scalar that is the number of lanes, where `ChooseLanes` sets it. lane_scalars: the scalars with one
    value a lane, row or column. num_warps: how many warps run them. indices: loop variables in lanes. rows_each: as in
    `LoopSchedule`. tile: None where the lanes are one row.
    """

    name: str
    body: tuple[ScheduledStmt, ...]
    lanes: int
    fewest_lanes: int
    chosen: ir.Symbol | None
    num_warps: int
    lane_scalars: frozenset[ir.Symbol]
    indices: Mapping[ir.Symbol, LaneIndex]
    rows_each: int = 1
    batch: int = 1
    tile: Tile | None = None
    use: LaneUse = LaneUse.BLOCK

    @property
    def rows(self) -> ir.Symbol | None:
        """The scalar that is the number of rows of a tile."""
        return None if self.tile is None else self.tile.rows


@dataclass(frozen=True, slots=True)
class ChooseLanes(ir.Node):
    """`target` = how many lanes a row gets in a kernel, for `rows` rows of `count` iterations."""

    target: ir.Symbol
    kernel: str
    rows: ir.Expr
    count: ir.Expr


@dataclass(frozen=True, slots=True)
class Launch(ir.Node):
    """Runs a kernel in `programs` programs; nothing happens where that is 0."""

    kernel: Kernel
    programs: ir.Expr


@dataclass(frozen=True, slots=True)
class Recorded(ir.Node):
    """Launches that are the same whenever the host gets here: a device may record them and run them again. number: of
    the recording, in its program."""

    number: int
    body: tuple[ScheduledStmt, ...]


@dataclass(frozen=True, slots=True)
class ReadBack(ir.Node):
    """`target = cell[0]`: copies a scalar that a kernel left in memory to the host."""

    target: ir.Symbol
    cell: ir.Symbol


@dataclass(frozen=True, slots=True)
class Multiply(ir.Node):
    """`target = keep * target + scale * left @ right`, by a library where that is large, else by a kernel of tiles.

    kernel: its name. tiles: those of its variants. sides: rows and columns of the target, and the length that is
    summed over. count: of the products in a stack. scale: None for 1. keep: None where the target is not read.
    shape: which elements are computed.
    """

    kernel: str
    tiles: tuple[ProductTiles, ...]
    sides: tuple[ir.Expr, ir.Expr, ir.Expr]
    count: ir.Expr | None
    call: ProductCall
    scale: ir.Expr | None
    keep: ir.Expr | None
    shape: ProductShape


@dataclass(frozen=True, slots=True)
class CheckFaults(ir.Node):
    """Raises what kernels have noted so far; the end of a program does so in any case.

    guards: whether kernels behind it may access memory that only exists where nothing was noted.
    """

    guards: bool = False


ScheduledStmt: TypeAlias = (
    ir.Assign
    | ir.Store
    | ir.Update
    | ir.Alloc
    | ir.Fail
    | ir.Break
    | ir.Continue
    | Loop
    | Repeat
    | Branch
    | ProgramIndex
    | Lanes
    | LaneReduce
    | LaneScan
    | Barrier
    | Fault
    | ChooseLanes
    | Launch
    | Recorded
    | ReadBack
    | Multiply
    | CheckFaults
)


@dataclass(frozen=True, slots=True)
class GpuProgram(ir.Node):
    """A function as a host program. `sites` is the fault table; `guards` are tested first.

    overwritten: parameters whose elements are all stored before any is read, and before anything can raise.
    """

    name: str
    params: tuple[ir.Symbol, ...]
    body: tuple[ScheduledStmt, ...]
    results: tuple[ir.Result, ...]
    sites: tuple[FaultSite, ...]
    guards: tuple[ir.Guard, ...] = ()
    overwritten: frozenset[ir.Symbol] = frozenset()
