"""Scans in the lanes of a program on a GPU.

A strip of iterations becomes lanes. A scan over lanes composes the steps of the lanes up to each. With the value that
the strip starts from, it is what holds after the steps of a lane's iteration, which most loops read:

    for i in range(n):          for strip in range(0, n, lanes):
        t += x[i]                   i = strip + lane
        s[i] = t                    step = x[i]
                        ->          through = scan of step over lanes (+)
                                    t_lane = t + through
                                    s[i] = t_lane
                                    t = t_lane of the last lane

A loop that reads a scalar before its step, as a compaction does, needs what holds where the iteration starts. Of
integers the lane's own step is subtracted again. Other operators cannot be undone: then the steps are those of the
iteration before, computed once more.

Needs: scans that are sound for any number of iterations in a row (`parallel_scan` leaves no others),
of no complex numbers.
"""

from __future__ import annotations

from dataclasses import replace

from appyc.analysis.patterns.scans import LINEAR
from appyc.ir.gpu_program import IN_ROWS, LaneReduce, LaneScan, ScheduledStmt
from appyc.ir.names import ordered
from appyc.ir.nodes import Assign, Binary, Compare, Expr, For, Node, Select, Stmt, Symbol, Update, Var
from appyc.ir.types import DType
from appyc.ir.visit import loops_of, rename, rewrite_all, scalars_read, scalars_written
from appyc.passes.gpu.lane_expressions import ExpressionLowering, Where
from appyc.passes.node_builders import combine, integer, less, shifted, start_of_sum
from appyc.passes.parallelise.scan_composition import Total, Totals
from appyc.passes.vectorise.divergence import divergence


def start_lanes(
    lower: ExpressionLowering,
    loop: For,
    kept: dict[Symbol, Symbol],
    where: Where,
    lane: Expr,
    out: list[ScheduledStmt],
) -> tuple[Stmt, ...]:
    """Sets the scalars that each lane keeps of the loop's scans to what it starts with; returns what it then runs."""
    loc = loop.loc
    rest = _after_steps(loop)
    undone = rest is None and all(scan.op == "+" and scan.symbol.dtype.is_integer for scan in loop.scans)
    totals = Totals(loop, lower.names, guarded=False)
    steps = totals.loop().body
    own = {s: lower.names.fresh(s.name, s.type) for s in ordered(scalars_written(steps))}
    own |= {n.var: lower.names.fresh(n.var.name, DType.INT64) for n in loops_of(steps)}
    mask = where.mask
    if rest is None and not undone:
        own[loop.var] = lower.names.fresh(loop.var.name, DType.INT64)
        lower.varying.add(own[loop.var])
        out.append(Assign(own[loop.var], shifted(Var(loop.var, loc=loc), -loop.step), loc=loc))
        mask = lower.temp("follows", where.at(less(integer(0, loc), lane)), out)
    steps = rename(steps, own)
    gathered = {own[t.value] for t in totals.totals} | {own[t.factor] for t in totals.totals if t.factor}
    lower.accumulators |= gathered
    lower.varying |= gathered
    lower.varying |= divergence(steps, lower.varying)
    out += [rename(stmt, own) for stmt in totals.first()]
    out += lower.block(steps, replace(where, mask=mask))
    for total in totals.totals:
        _scan(lower, total, own, kept[total.scan.symbol], undone, out)
    return rename(loop.body if rest is None else rest, kept)


def _after_steps(loop: For) -> tuple[Stmt, ...] | None:
    """The body without the steps of the loop's scans; None where one of their scalars is read before its last step."""
    carried = {scan.symbol for scan in loop.scans}

    def rule(node: Node) -> Node | tuple[Node, ...]:
        return () if isinstance(node, Assign | Update) and node.target in carried else node

    last = max(at for at, stmt in enumerate(loop.body) if scalars_written(stmt) & carried)
    through = loop.body[: last + 1]
    rest = rewrite_all(through, rule)
    has_loop = any(scalars_written(inner) & carried for inner in loops_of(through))
    return None if has_loop or scalars_read(rest) & carried else (*rest, *loop.body[last + 1 :])


def _scan(
    lower: ExpressionLowering,
    total: Total,
    own: dict[Symbol, Symbol],
    lane: Symbol,
    undone: bool,
    out: list[ScheduledStmt],
) -> None:
    """A lane's scalar, from the one that the strip starts with and the steps of the lanes up to it. undone: without
    those of its own."""
    loc = out[-1].loc
    parts = [own[total.value]] if total.factor is None else [own[total.factor], own[total.value]]
    scanned = tuple(lower.names.fresh(f"{part.name}_through", part.dtype) for part in parts)
    lower.varying |= set(scanned)
    out.append(LaneScan(scanned, total.scan.op, tuple(Var(part, loc=loc) for part in parts), loc=loc))
    start: Expr = Var(total.scan.symbol, loc=loc)
    through: list[Expr] = [Var(symbol, loc=loc) for symbol in scanned]
    if total.scan.op == LINEAR:
        grown = Binary("*", through[0], start, loc=loc)
        out.append(Assign(lane, Binary("+", grown, through[1], loc=loc), loc=loc))
        return
    composed = combine(total.scan.op, start, through[0])
    if undone:
        composed = Binary("-", composed, Var(parts[0], loc=loc), loc=loc)
    out.append(Assign(lane, composed, loc=loc))


def hand_on(
    lower: ExpressionLowering,
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
    width = lower.width if isinstance(lower.width, Var) else integer(lower.width, loc)
    end = Binary("min", Binary("+", strip, width, loc=loc), count, loc=loc)
    last = Compare("==", number, shifted(end, -1), loc=loc)
    is_last = lower.temp("is_last", last, out)
    out += [of_one_lane(scan.symbol, kept[scan.symbol], is_last) for scan in loop.scans]


def of_one_lane(symbol: Symbol, own: Symbol, is_it: Expr) -> LaneReduce:
    """The scalar gets what a scalar of the lanes holds in one lane of a row, the one in which `is_it` holds."""
    loc, op = is_it.loc, "or" if symbol.dtype is DType.BOOL else "+"
    value = Select(is_it, Var(own, loc=loc), start_of_sum(op, symbol.dtype, loc), loc=loc)
    return LaneReduce(symbol, op, value, IN_ROWS, loc=loc)
