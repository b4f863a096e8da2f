"""Scans in the lanes of a program on a GPU.

A strip of iterations becomes lanes. An exclusive scan over lanes composes the steps of all previous lanes. Its
result is the start value of the lane's own iteration:

    for i in range(n):          for strip in range(0, n, lanes):
        t += x[i]                   i = strip + lane
        s[i] = t                    step = x[i - 1] if lane > 0 else 0.0
                        ->          before = scan of step over lanes (+)
                                    t_lane = t + before
                                    t_lane += x[i]
                                    s[i] = t_lane
                                    t = t_lane of the last lane

The steps are those of the iteration before, computed once more, so that a lane gets what holds
where its own iteration starts whatever the operator is: not every one can be undone.

Needs: scans that are sound for any number of iterations in a row (`parallel_scan` leaves no others),
of no complex numbers.
"""

from __future__ import annotations

from typing import Protocol

from appyc.analysis.patterns.scans import LINEAR
from appyc.ir.gpu_program import LaneReduce, LaneScan, ScheduledStmt
from appyc.ir.names import NameSupply, ordered
from appyc.ir.nodes import Assign, Binary, Compare, Expr, For, Select, Stmt, Symbol, Var
from appyc.ir.types import DType
from appyc.ir.visit import loops_of, rename, scalars_written
from appyc.passes.gpu.lane_expressions import Where
from appyc.passes.node_builders import both, combine, integer, less, shifted, start_of_sum
from appyc.passes.parallelise.scan_composition import Total, Totals
from appyc.passes.vectorise.divergence import divergence


class Lowering(Protocol):
    """What is needed of the lowering of a kernel (`KernelLowering`)."""

    names: NameSupply
    lanes: int
    varying: set[Symbol]
    accumulators: set[Symbol]

    def temp(self, name: str, value: Expr, out: list[ScheduledStmt]) -> Var: ...

    def block(self, body: tuple[Stmt, ...], where: Where) -> list[ScheduledStmt]: ...


def start_lanes(
    lower: Lowering, loop: For, kept: dict[Symbol, Symbol], where: Where, lane: Expr, out: list[ScheduledStmt]
) -> None:
    """Sets the scalars that each lane keeps of the loop's scans to what holds where its iteration starts."""
    loc = loop.loc
    totals = Totals(loop, lower.names, guarded=False)
    steps = totals.loop().body
    own = {s: lower.names.fresh(s.name, s.type) for s in ordered(scalars_written(steps))}
    own |= {n.var: lower.names.fresh(n.var.name, DType.INT64) for n in (loop, *loops_of(steps))}
    steps = tuple(rename(stmt, own) for stmt in steps)
    gathered = {own[t.value] for t in totals.totals} | {own[t.factor] for t in totals.totals if t.factor}
    lower.accumulators |= gathered
    lower.varying |= gathered | {own[loop.var]}
    lower.varying |= divergence(steps, lower.varying)
    out.append(Assign(own[loop.var], shifted(Var(loop.var, loc=loc), -loop.step), loc=loc))
    behind = both(where.mask, less(integer(0, loc), lane))
    assert behind is not None
    mask = lower.temp("follows", behind, out)
    out += [rename(stmt, own) for stmt in totals.first()]
    out += lower.block(steps, Where(mask, lanes=True))
    for total in totals.totals:
        _scan(lower, total, own, kept[total.scan.symbol], out)


def _scan(
    lower: Lowering, total: Total, own: dict[Symbol, Symbol], lane: Symbol, out: list[ScheduledStmt]
) -> None:
    """A lane's scalar, from the one that the strip starts with and the steps of the lanes before."""
    loc = out[-1].loc
    parts = [own[total.value]] if total.factor is None else [own[total.factor], own[total.value]]
    scanned = tuple(lower.names.fresh(f"{part.name}_before", part.dtype) for part in parts)
    lower.varying |= set(scanned)
    out.append(LaneScan(scanned, total.scan.op, tuple(Var(part, loc=loc) for part in parts), loc=loc))
    start: Expr = Var(total.scan.symbol, loc=loc)
    before: list[Expr] = [Var(symbol, loc=loc) for symbol in scanned]
    if total.scan.op == LINEAR:
        grown = Binary("*", before[0], start, loc=loc)
        out.append(Assign(lane, Binary("+", grown, before[1], loc=loc), loc=loc))
    else:
        out.append(Assign(lane, combine(total.scan.op, start, before[0]), loc=loc))


def hand_on(
    lower: Lowering,
    loop: For,
    kept: dict[Symbol, Symbol],
    number: Expr,
    strip: Expr,
    count: Expr,
    out: list[ScheduledStmt],
) -> None:
    """Gives the strip that follows what the last lane of this one has. number: of a lane's iteration,
    strip: of the strip's first."""
    loc = loop.loc
    end = Binary("min", Binary("+", strip, integer(lower.lanes, loc), loc=loc), count, loc=loc)
    last = Compare("==", number, shifted(end, -1), loc=loc)
    is_last = lower.temp("is_last", last, out)
    for scan in loop.scans:
        held = Var(kept[scan.symbol], loc=loc)
        op = "or" if scan.symbol.dtype is DType.BOOL else "+"
        value = Select(is_last, held, start_of_sum(op, scan.symbol.dtype, loc), loc=loc)
        out.append(LaneReduce(scan.symbol, op, value, loc=loc))
