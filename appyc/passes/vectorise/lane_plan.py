"""Outer-loop vectorisation: which loops become lanes around their inner loops, and which are jammed with them.

Before, one element of C at a time, the inner loop striding through B:

    for i: for j: s = 0; for k: s += A[i, k] * B[k, j]; C[i, j] = s

After, a block of rows by a strip of lanes, with the block's sums in registers:

    for i in blocks of rows: for j in strips of vectors: for k: s[rows] += A[i + rows, k] * B[k, j lanes]

The lanes' loop must be independent, and its varying accesses stride one (stores may have any
stride). Where no loop is jammed, sums in scalars are added up for each lane, and the lanes are reduced
at the end of a strip. The loop around is jammed where it is independent too. Of inner loops whose bounds
differ between rows (`for k in range(i + 1)`), the common part is jammed. Other statements of a row are done
for each row of the block by itself, before the lanes or after them; they may pass the lanes no scalars.
Where all rows load the same vectors (B above), the lanes are tiled for the cache: a tile is done for every
row before the next one, so that what it loads comes from memory once, and not once for each block of rows.

Does not handle: sums too long for one strip of lanes to fit a cache; conditions or indices that
vary with the lane, functions other than arithmetic, more than one element type, atomics,
checked accesses.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from appyc.ir import nodes as ir
from appyc.ir.array_accesses import step_along_rows
from appyc.ir.invariance import is_invariant
from appyc.ir.raising import can_fault
from appyc.ir.schedule import OuterLanes
from appyc.ir.types import DType, Layout
from appyc.ir.visit import arrays_written, loops_of, scalars_read, scalars_written, walk
from appyc.passes.vectorise.simd_forms import why_not_simd

WIDE_ROWS = 8
"""Rows in a block where the machine has 32 vector registers: each vector that is loaded is used for all."""

ROWS = 4
"""Rows in a block where there may be no more than 16."""

GROUPS = 3
"""Vectors in a strip: with ROWS, as many sums as 16 registers hold, and enough that none waits."""

LONE_GROUPS = (8, 4, 2)
"""Vectors in a strip where there are no rows: a long strip, because each row of memory is visited only once,
and shorter ones for the remainder. A last vector alone is written as one of which a part is used."""

_OPS = ("+", "-", "*", "/")
MAX_STATEMENTS = 12


def plan_lanes(loop: ir.For) -> OuterLanes | None:
    """The plan for a loop whose iterations become lanes (or rows around lanes); None where they do not."""
    found = [(at, s, plan) for at, s in enumerate(loop.body) if isinstance(s, ir.For) and (plan := _plan(s))]
    if not found or not is_independent(loop):
        return _plan(loop)
    at, lanes, plan = found[0]
    if len(found) > 1 or plan.totals or not _can_be_jammed(loop, lanes) or not _stand_apart(loop, at):
        # A single inner loop is planned by itself, which is better.
        return None if len(loop.body) == 1 else _plan(loop)
    # What is not common to rows of different bounds is written for each.
    is_uneven = any(_has_bounds_of(inner, loop.var) for inner in loops_of(lanes.body))
    counts = (ROWS if is_uneven else WIDE_ROWS, ROWS)
    shared = _shared_loads(loop, lanes)
    return replace(plan, rows=loop.var, counts=counts, groups=(GROUPS,), shared=shared)


def is_independent(loop: ir.For) -> bool:
    """True where the iterations may be done in any order or in lanes, without a reduction or a last value."""
    return not loop.reductions and _may_stand_side_by_side(loop)


def _may_stand_side_by_side(loop: ir.For) -> bool:
    """True where the iterations may run in any order or in lanes, without a last value. Reductions are
    allowed."""
    if loop.mode is ir.LoopMode.SEQUENTIAL or loop.safelen is not None or loop.in_step:
        return False
    return loop.step == 1 and not loop.last


def _can_be_jammed(rows: ir.For, lanes: ir.For) -> bool:
    """True where the rows of a block can run the inner loops together, at least over a common part."""
    if not is_invariant(lanes.bounds, scalars_written(lanes.body)) or is_block_of(lanes, rows.var):
        return False
    for node in walk(lanes.body):
        if isinstance(node, ir.If):
            return False
        if not isinstance(node, ir.For) or not _has_bounds_of(node, rows.var):
            continue
        if node.step != 1 or is_block_of(node, rows.var):
            return False
    return True


def is_block_of(loop: ir.For, rows: ir.Symbol) -> bool:
    """True for a loop over a part that is each row's own, as `range(128 * row, min(128 * row + 128, n))`: no two rows
    have anything in common."""
    return all(
        any(isinstance(n, ir.Binary) and n.op == "*" and rows in scalars_read(n) for n in walk(bound))
        for bound in loop.bounds
    )


def _shared_loads(rows: ir.For, lanes: ir.For) -> int:
    """The number of vectors that an iteration of the loop inside the lanes loads and that are the same for
    all rows; 0 where there is not exactly one such loop, or where its bounds differ between rows."""
    inner = loops_of(lanes.body)
    if len(inner) != 1 or inner[0].step != 1:
        return 0
    loop = inner[0]
    changing = {rows.var, lanes.var, *scalars_written(rows.body)}
    if not is_invariant((*lanes.bounds, *loop.bounds), changing):
        return 0
    loads = {n: scalars_read(n.index) for n in walk(loop.body) if isinstance(n, ir.Load)}
    return sum({lanes.var, loop.var} <= named and rows.var not in named for named in loads.values())


def _stand_apart(rows: ir.For, at: int) -> bool:
    """True where the statements around the lanes, number `at`, may be done for all rows of a block at a time."""
    parts = (rows.body[:at], rows.body[at : at + 1], rows.body[at + 1 :])
    if any(can_fault(part) for part in parts):
        return False
    written = [scalars_written(part) for part in parts]
    read = [scalars_read(part) for part in parts]
    if not set().union(*written) <= set(rows.private):
        return False
    return all(not written[one] & read[other] for one in range(3) for other in range(3) if one != other)


def _has_bounds_of(loop: ir.For, symbol: ir.Symbol) -> bool:
    return symbol in scalars_read(loop.bounds)


def _plan(loop: ir.For) -> OuterLanes | None:
    inner = loops_of(loop.body)
    if not inner or not _may_stand_side_by_side(loop) or can_fault(loop.body):
        return None
    totals = _totals(loop)
    written = scalars_written(loop.body)
    if totals is None or not written <= {*loop.private, *totals} or not _gains(inner):
        return None
    dtypes = {symbol.dtype for symbol in written | arrays_written(loop.body)}
    if len(dtypes) != 1 or not (dtype := next(iter(dtypes))).is_float:
        return None
    if sum(isinstance(n, ir.Stmt) and not isinstance(n, ir.If) for n in walk(loop.body)) > MAX_STATEMENTS:
        return None
    check = LaneCheck(loop.var, written, dtype)
    if not all(check.statement(stmt) for stmt in loop.body):
        return None
    scattered = tuple(
        (n.array, n.index)
        for n in walk(loop.body)
        if isinstance(n, ir.Store) and check.step(n.array, n.index) != 1
    )
    scalars = tuple(s for s in loop.private if s in written)
    return OuterLanes(loop.var, dtype, scalars, totals, LONE_GROUPS, scattered)


def _totals(loop: ir.For) -> tuple[ir.Symbol, ...] | None:
    """The scalars that the loop's iterations add to, and do not read; None where they combine otherwise."""
    symbols = tuple(r.symbol for r in loop.reductions)
    if any(r.op != "+" or r.symbol.is_array for r in loop.reductions):
        return None
    return None if any(isinstance(n, ir.Var) and n.symbol in symbols for n in walk(loop.body)) else symbols


def _gains(inner: list[ir.For]) -> bool:
    """False where the innermost loops are themselves lanes, with nothing to add up at the end."""
    innermost = [loop for loop in inner if not loops_of(loop.body)]
    return any(why_not_simd(loop) is not None or loop.reductions for loop in innermost)


@dataclass(frozen=True, slots=True)
class LaneCheck:
    """Tests that statements can be written for vectors of `var`'s iterations.

    scalars: those with a value for each lane. steps: by how many elements the loads of two lanes may be apart.
    """

    var: ir.Symbol
    scalars: set[ir.Symbol]
    dtype: DType
    steps: tuple[int, ...] = (1,)

    def statement(self, stmt: ir.Stmt) -> bool:
        match stmt:
            case ir.Assign():
                return self.expression(stmt.value)
            case ir.Update():
                if stmt.atomic or stmt.mask is not None or stmt.op not in _OPS:
                    return False
                element = not stmt.target.is_array or self.step(stmt.target, stmt.index) == 1
                return element and self.expression(stmt.value)
            case ir.Store():
                varies = any(not self.uniform(i) for i in stmt.index)
                plain = stmt.mask is None and is_invariant(stmt.index, self.scalars)
                return varies and plain and self.expression(stmt.value)
            case ir.For():
                is_same = all(map(self.uniform, stmt.bounds)) and is_invariant(stmt.bounds, self.scalars)
                return is_same and all(self.statement(s) for s in stmt.body)
            case ir.If():
                return self.uniform(stmt.cond) and all(self.statement(s) for s in (*stmt.then, *stmt.orelse))
            case _:
                return False

    def uniform(self, expr: ir.Expr) -> bool:
        """True for a value that is the same in all lanes."""
        return scalars_read(expr).isdisjoint({self.var, *self.scalars})

    def step(self, array: ir.Symbol, index: tuple[ir.Expr, ...]) -> int:
        """The distance in elements between the accesses of adjacent lanes, 1 or -1; 0 for any other or a
        varying distance."""
        along = len(index) - 1 if array.array.layout is Layout.C else 0
        is_same = all(self.uniform(i) for axis, i in enumerate(index) if axis != along)
        return (
            step_along_rows(array, index, self.var)
            if is_same and not self.scalars & scalars_read(index)
            else 0
        )

    def expression(self, expr: ir.Expr) -> bool:
        if expr.dtype is not self.dtype:
            return False
        if self.uniform(expr):
            return True
        match expr:
            case ir.Var():
                return expr.symbol in self.scalars
            case ir.Load():
                return expr.mask is None and self.step(expr.array, expr.index) in self.steps
            case ir.Unary():
                return expr.op == "-" and self.expression(expr.arg)
            case ir.Binary(op="**", lhs=base, rhs=ir.Const(value=2)):
                return self.expression(base)
            case ir.Binary():
                return expr.op in _OPS and self.expression(expr.lhs) and self.expression(expr.rhs)
            case _:
                return False
