"""Decisions of passes about loops, beside their modes: matrix products, scans, and the schedule of a
function.

A `Schedule` maps the variable of a loop, which names it, to what was decided about that loop. Passes make it, back ends
read it. It is data beside the statements: walks and rewrites of these leave it alone, and `rename` carries it along.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import TypeAlias

from appyc.ir.expression_nodes import Binary, Const, Expr
from appyc.ir.symbols import Node, Symbol
from appyc.ir.types import DType


@dataclass(frozen=True, slots=True)
class Scan:
    """A scan: a loop-carried scalar that each iteration changes by an associative step.

    op: of REDUCTION_OPS, where every step is `symbol = symbol op value`; "linear" where each is
    `symbol = factor * symbol + value`. Neither the values nor whether a step is made depend on
    what any scalar of a scan holds, so that the steps of several iterations together are known
    before the value they start from.

    fades: a number too small to be a normal one may be taken for 0. Products of factors below 1
    become that small, and processors take a hundred times as long for the numbers in between.
    """

    op: str
    symbol: Symbol
    fades: bool = False


@dataclass(frozen=True, slots=True)
class LoopCost:
    """An estimate of what a loop is to the machine, in float64 expressions that have a value before it.

    Of one iteration, with all loops inside it: vector, the operations done in lanes, in units of
    one on 8 bytes; scalar, those that are done one by one; gathers, accesses that each touch
    another line of memory. The memory footprint: `bytes`, and `bytes_each` for every
    iteration; an element counts once, however often it is used, and twice if it is written.
    """

    vector: Expr
    scalar: Expr
    gathers: Expr
    bytes: Expr
    bytes_each: Expr

    def of_blocks(self, size: int) -> LoopCost:
        """The cost of a loop over blocks of so many iterations."""

        def times(each: Expr) -> Expr:
            return Binary("*", each, Const(float(size), DType.FLOAT64, loc=each.loc), loc=each.loc)

        vector, scalar, gathers = times(self.vector), times(self.scalar), times(self.gathers)
        return LoopCost(vector, scalar, gathers, self.bytes, times(self.bytes_each))


@dataclass(frozen=True, slots=True)
class Operand(Node):
    """A matrix as some loops walk through an array: the element that an iteration touches."""

    array: Symbol
    index: tuple[Expr, ...]


class ProductShape(Enum):
    """Which elements of a product a nest computes: in each row all, those before one that is a column further on
    in each row (a lower triangle, say), or those from such a one on. SUM_BEFORE, SUM_FROM: all, but the sums of a row
    end before such an iteration, or begin with it, for a GPU: the left factor is a triangle."""

    ALL = "all"
    BEFORE = "before"
    FROM = "from"
    SUM_BEFORE = "sum before"
    SUM_FROM = "sum from"

    @property
    def of_sums(self) -> bool:
        return self in (ProductShape.SUM_BEFORE, ProductShape.SUM_FROM)


@dataclass(frozen=True, slots=True)
class Product(Node):
    """The matrix product that a nest of loops over `rows`, `columns` and `summed` computes, in any loop order:

        target = keep * target + scale * (the sum over `summed` of left * right)

    target depends on rows and columns, left on rows and summed, right on summed and columns, each
    index on one of them at most, by a constant factor; no two iterations of rows and columns share an element of
    the target, and the nest touches its array nowhere else. keep: None where the target is not read, scale: None
    for 1; both are the same in all iterations. shape: ALL where no bound moves with the row, else which bound of
    the columns' loop does, by one in each row: `row + c`, or `min(row + c, n)` for an upper bound, `max(row + c,
    n)` for a lower one; or of the loop that is summed over. stack: the loop around the others that repeats all that
    with other matrices of the same shapes, each index on one loop at most; what they add to are different elements.
    exchanged: a second product is in the sum, of the same matrices with rows and columns exchanged: `a[i, k] * b[j,
    k] + b[i, k] * a[j, k]`.
    """

    rows: Symbol
    columns: Symbol
    summed: Symbol
    target: Operand
    left: Operand
    right: Operand
    scale: Expr | None = None
    keep: Expr | None = None
    shape: ProductShape = ProductShape.ALL
    stack: Symbol | None = None
    exchanged: bool = False


@dataclass(frozen=True, slots=True)
class Simd:
    """Lanes of an innermost loop, which the C compiler makes (`omp simd`)."""


@dataclass(frozen=True, slots=True)
class NarrowTotals:
    """Reductions of small integers that are computed in fewer bits than they have.

    parts: the reduced scalars, with what is computed instead of each in a block. block: how many iterations that has.
    """

    parts: tuple[tuple[Symbol, Symbol], ...]
    block: int


@dataclass(frozen=True, slots=True)
class EarlyExitLanes:
    """Lanes in parts, with a test after each whether the results of `any`, `all` or a search are decided."""


@dataclass(frozen=True, slots=True)
class Accumulators:
    """Lanes with several accumulators for each reduction."""

    count: int


@dataclass(frozen=True, slots=True)
class Interleaved:
    """Iterations of a loop over chunks of a scan that run in turn: the chains of dependences of so many at once."""

    count: int


@dataclass(frozen=True, slots=True)
class Compaction:
    """Selected elements are stored to a buffer without a branch, and copied from there."""


@dataclass(frozen=True, slots=True)
class Guarded:
    """A loop without most of its bounds checks, then the checked loop from the iteration that would fail.

    ends: indices, each with its extent, that are in range throughout if they are so in the first iteration and in the
    last.
    lanes: no check is left, and the iterations are lanes.
    """

    ends: tuple[tuple[Expr, Expr], ...]
    lanes: bool


@dataclass(frozen=True, slots=True)
class OuterLanes:
    """Vectors along a loop that is not innermost.

    lanes: the loop whose iterations are lanes. rows: the loop around it that is jammed, if any. counts: rows in a block
    where the machine has 32 vector registers, and where it has fewer. groups: vectors in a strip, the longest strips
    first; the rest are vectors one by one, the last of which may not be full. scalars: those with a value for each
    lane; totals: what the lanes add up, each for itself. shared: vectors that an iteration of the one loop inside
    loads, the same for all rows; the lanes are tiled for the cache where there are any. scattered: elements that are
    stored with another stride than 1.
    """

    lanes: Symbol
    dtype: DType
    scalars: tuple[Symbol, ...]
    totals: tuple[Symbol, ...]
    groups: tuple[int, ...]
    scattered: tuple[tuple[Symbol, tuple[Expr, ...]], ...] = ()
    rows: Symbol | None = None
    counts: tuple[int, int] = (1, 1)
    shared: int = 0


@dataclass(frozen=True, slots=True)
class Dots:
    """Loops jammed around dot products, so that several sums share each vector that is loaded.

    columns: the loop whose iterations are jammed, and rows the one right around it, if any. dots: the loops that are
    sums in lanes. scalars: what an iteration of columns assigns; every copy has its own. block: columns in a block.
    counts: rows in a block where the machine has 32 vector registers, and where it has fewer.
    """

    columns: Symbol
    dots: tuple[Symbol, ...]
    scalars: tuple[Symbol, ...]
    block: int
    rows: Symbol | None = None
    counts: tuple[int, int] = (1, 1)


@dataclass(frozen=True, slots=True)
class ProductTiles:
    """The tiles in which GPU programs compute a matrix product: each has `rows` by `columns` elements of the
    target, as a sum of strips of `step` columns of the left factor and rows of the right one. warps: of a
    program. stages: strips that it has loaded, or is loading, at once."""

    rows: int
    columns: int
    step: int
    warps: int
    stages: int


Form: TypeAlias = (
    Simd | EarlyExitLanes | Accumulators | Interleaved | Compaction | Guarded | OuterLanes | Dots
)


@dataclass(frozen=True, slots=True)
class LoopSchedule:
    """The schedule of one loop.

    form: of the iterations that one thread runs, in C; None where they run in order, one by one. cost: of a loop that
    threads may share, for the choice between them and one. nontemporal: arrays that the iterations fill in order and
    that are not read in the function: where they exceed the caches, non-temporal stores may write them. skew: of a loop
    around one other: its iterations may overlap, each so many iterations of the inner loop behind the one before.

    narrow, of loops in lanes: what is reduced in fewer bits.

    in_order_below, of loops in lanes: fewer iterations than this run one by one, without lanes.

    flat_at_one, of a loop around others: where those run over an axis of length 1, iterations of this loop are lanes.

    packed, of loops in lanes: arrays of which an iteration has a whole row, if rows have this length: the loop is
    compiled for that constant stride, too.

    row_lanes, of parallel loops on a GPU: each loop inside has the same iterations, at most so many, and each of these
    has an element of its own of every array that the body allocates. One program runs them, a lane for each iteration,
    with those arrays in registers.

    rows_each, of parallel loops on a GPU: how many iterations around the lanes each program runs at once.

    batch, of parallel loops on a GPU: the most iterations of a sequential loop inside that load together.

    tiles, of the outermost loop of a product on a GPU: those that a launch chooses from, for the sizes it has.
    """

    cost: LoopCost | None = None
    nontemporal: tuple[Symbol, ...] = ()
    skew: int | None = None
    form: Form | None = None
    narrow: NarrowTotals | None = None
    in_order_below: int = 0
    flat_at_one: bool = False
    packed: tuple[tuple[Symbol, int], ...] = ()
    row_lanes: int | None = None
    rows_each: int = 1
    batch: int = 1
    tiles: tuple[ProductTiles, ...] = ()

    @property
    def is_simd(self) -> bool:
        """Whether the loop is an innermost one in lanes, each of which has its own private scalars."""
        return isinstance(self.form, Simd | EarlyExitLanes | Accumulators)


NOTHING = LoopSchedule()


@dataclass(frozen=True)
class Schedule:
    """The schedules of a function's loops, by loop variable; NOTHING for a loop without an entry."""

    loops: tuple[tuple[Symbol, LoopSchedule], ...] = ()

    @cached_property
    def _by_loop(self) -> Mapping[Symbol, LoopSchedule]:
        return dict(self.loops)

    def __getitem__(self, loop: Symbol) -> LoopSchedule:
        return self._by_loop.get(loop, NOTHING)

    def updated(self, new: Mapping[Symbol, LoopSchedule], gone: Collection[Symbol] = ()) -> Schedule:
        """With other entries for some loops, and none for those that are `gone`."""
        loops = {**self._by_loop, **new}
        return Schedule(
            tuple((loop, entry) for loop, entry in loops.items() if loop not in gone and entry != NOTHING)
        )


UNSCHEDULED = Schedule()
