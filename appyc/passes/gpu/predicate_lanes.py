"""Predication: the body of a kernel with loops as lanes, and divergent control flow as masks.

In the lanes of a loop an `If` on a lane's value

    if x > 0.0:                         positive = x > 0.0
        y = x                 ->        y = x if mask & positive else y
        a[i] = x                        store(a[i], x, mask & positive)

a `while` runs as long as any lane is in it, and a loop whose end differs between lanes runs
to the furthest one. Outside of lanes (`Where.lanes` is False) one value serves the whole
program and control flow stays what it is.

A loop that becomes lanes inside a program is cut into strips; what it reduces is gathered
in a scalar of every lane and combined when the loop is done. Where the program is a tile of rows, each row has
the strips for itself, and combines its own lanes.

Needs: no `Break` or `Continue` (`lower_jumps`), no complex arithmetic (`split_complex`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never, cast

from appyc.errors import InternalError, UnsupportedError
from appyc.ir import nodes as ir
from appyc.ir.blocks import never_completes
from appyc.ir.fault_words import FaultSites
from appyc.ir.gpu_program import IN_ROWS, Branch, LaneIndex, LaneReduce, Lanes, Loop, Repeat, ScheduledStmt
from appyc.ir.names import NameSupply
from appyc.ir.raising import may_raise
from appyc.ir.types import DType
from appyc.ir.visit import rename, scalar_writes, scalars_read, scalars_written
from appyc.passes import node_builders as build
from appyc.passes.gpu.lane_expressions import ExpressionLowering, Where, is_in_subscript
from appyc.passes.gpu.map_gpu import has_atomic
from appyc.passes.gpu.scan_lanes import hand_on, of_one_lane, start_lanes
from appyc.passes.vectorise.divergence import divergence


class KernelLowering(ExpressionLowering):
    """Lowers the statements of one kernel. strips: the loops, named by their variables, that
    become lanes inside the program."""

    def __init__(
        self, names: NameSupply, sites: FaultSites, lanes: int, strips: frozenset[ir.Symbol] = frozenset()
    ) -> None:
        super().__init__(names, sites, lanes)
        self.strips = strips
        self.counts_alone = False
        """Whether each lane counts its own iterations of a divergent loop, unless its variable is in a subscript."""
        self.indices: dict[ir.Symbol, LaneIndex] = {}
        self.unmasked: set[ir.Symbol] = set()
        """Scalars that inactive lanes may overwrite, as their previous values are dead."""

    def block(self, body: tuple[ir.Stmt, ...], where: Where) -> list[ScheduledStmt]:
        """The statements. Behind one that has raised no memory is accessed: its test may be what makes that safe."""
        out: list[ScheduledStmt] = []
        for stmt in body:
            match stmt:
                case ir.If() if (ends := never_completes(stmt.then)) or never_completes(stmt.orelse):
                    cond = self.held("raises" if ends else "goes_on", self.expr(stmt.cond, where, out), out)
                    self._if(replace(stmt, cond=cond), where, out)
                    where = replace(where, safe=build.both(where.safe, build.negated(cond) if ends else cond))
                case _:
                    self.stmt(stmt, where, out)
        return out

    def stmt(self, s: ir.Stmt, where: Where, out: list[ScheduledStmt]) -> None:
        match s:
            case ir.Assign():
                self.assign(s.target, self.expr(s.value, where, out), where, out)
            case ir.Store():
                self.store(s, where, out)
            case ir.Update():
                self._update(s, where, out)
            case ir.For() if not where.in_row and s.var in self.strips:
                self.strip(s, where, out)
            case ir.For():
                self._for(s, where, out)
            case ir.While():
                self._while(s, where, out)
            case ir.If():
                self._if(s, where, out)
            case ir.Fail():
                words = tuple(self.expr(word, where, out) for word in s.values)
                self.fault(self.sites.number(s.site), where.mask or build.truth(True, s.loc), words, out)
            case ir.BoundsCheck():
                extent = self.expr(s.extent, where, out)
                self.in_range(self.expr(s.index, where, out), extent, s.site, where, out)
            case ir.Alloc():
                self.allocate(s, out)
            case ir.ForAll() | ir.Break() | ir.Continue():
                raise InternalError("predicate_lanes", "a tensor statement or a jump is left")
            case _:
                assert_never(s)

    def allocate(self, s: ir.Alloc, out: list[ScheduledStmt]) -> None:
        raise UnsupportedError(f"'{s.array.name}' is allocated inside a loop that runs on the GPU", s.loc,
                               "allocate it before the loop, with one more axis for the index")  # fmt: skip

    def assign(self, target: ir.Symbol, value: ir.Expr, where: Where, out: list[ScheduledStmt]) -> None:
        partial = where.narrow or target in self.accumulators
        if partial and where.mask is not None and target in self.varying and target not in self.unmasked:
            value = ir.Select(where.mask, value, ir.Var(target, loc=value.loc), loc=value.loc)
        out.append(ir.Assign(target, value, loc=value.loc))

    def store(self, s: ir.Store, where: Where, out: list[ScheduledStmt]) -> None:
        value = self.expr(s.value, where, out)
        index, here = self.index(s.array, s.index, s.checked, s.loc, where, out)
        out.append(ir.Store(s.array, index, value, checked=False, mask=here.access, loc=s.loc))

    def _update(self, s: ir.Update, where: Where, out: list[ScheduledStmt]) -> None:
        s = replace(s, value=self.expr(s.value, where, out))
        if not s.target.is_array:
            self.assign(s.target, build.result_of(s), where, out)
            return
        index, here = self.index(s.target, s.index, s.checked, s.loc, where, out)
        if s.atomic and has_atomic(s):  # no loop around another one is parallel
            out.append(replace(s, index=index, checked=False, mask=here.access))
            return
        old = ir.Load(s.target, index, checked=False, mask=self.access_mask(index, here), loc=s.loc)
        new = build.combine(s.op, old, s.value)
        out.append(ir.Store(s.target, index, new, checked=False, mask=here.access, loc=s.loc))

    def _if(self, s: ir.If, where: Where, out: list[ScheduledStmt]) -> None:
        cond = self.expr(s.cond, where, out)
        if not self.is_varying(cond):
            then, orelse = (tuple(self.block(body, where)) for body in (s.then, s.orelse))
            out.append(Branch(cond, then, orelse, loc=s.loc))
            return
        taken = self.temp("taken", cond, out)
        out += self.block(s.then, where.only(taken))
        out += self.block(s.orelse, where.only(build.negated(taken)))

    def _for(self, s: ir.For, where: Where, out: list[ScheduledStmt]) -> None:
        lo, hi = self.expr(s.lo, where, out), self.expr(s.hi, where, out)
        if not self.is_varying(lo) and not self.is_varying(hi):
            out.append(Loop(s.var, lo, hi, s.step, tuple(self.block(s.body, where)), loc=s.loc))
            return
        is_changed = bool(scalars_read(hi) & scalars_written(s.body))
        end = self.held("end", hi, out) if is_changed else self.temp("end", hi, out)
        inside = ir.Compare("<" if s.step > 0 else ">", ir.Var(s.var, loc=s.loc), end, loc=s.loc)
        if not self.is_varying(lo) and not (self.counts_alone and not is_in_subscript(s)):
            self._for_to_furthest(s, lo, end, where, inside, out)
        else:
            self._for_in_step(s, lo, where, inside, out)

    def _for_to_furthest(
        self, s: ir.For, lo: ir.Expr, end: ir.Var, where: Where, inside: ir.Expr, out: list[ScheduledStmt]
    ) -> None:
        reached: ir.Expr = end if where.mask is None else ir.Select(where.mask, end, lo, loc=s.loc)
        furthest = self.names.fresh("furthest", DType.INT64)
        out.append(LaneReduce(furthest, "max" if s.step > 0 else "min", reached, loc=s.loc))
        body = tuple(self.block(s.body, where.while_any(inside)))
        out.append(Loop(s.var, lo, ir.Var(furthest, loc=s.loc), s.step, body, loc=s.loc))

    def _for_in_step(
        self, s: ir.For, lo: ir.Expr, where: Where, inside: ir.Expr, out: list[ScheduledStmt]
    ) -> None:
        var, loc = ir.Var(s.var, loc=s.loc), s.loc
        self.varying.add(s.var)
        out.append(ir.Assign(s.var, lo, loc=loc))
        body = self.block(s.body, where.while_any(inside))
        body.append(ir.Assign(s.var, ir.Binary("+", var, build.integer(s.step, loc), loc=loc), loc=loc))
        out.append(Repeat(ir.AnyLane(where.at(inside), loc=loc), tuple(body), loc=loc))

    def _while(self, s: ir.While, where: Where, out: list[ScheduledStmt]) -> None:
        outermost = self.alive is None
        if outermost and may_raise(s):
            self.alive = self.names.fresh("alive", DType.BOOL)
            out.append(ir.Assign(self.alive, build.truth(True, s.loc), loc=s.loc))
            if where.lanes:
                self.varying.add(self.alive)
        cond = self._still_running(self.expr(s.cond, where, out))
        live = self.names.fresh("live", DType.BOOL)
        running = ir.Var(live, loc=s.loc)
        inner, test, first = where, cast(ir.Expr, running), cond
        if where.lanes and (where.narrow or self.is_varying(cond)):
            self.varying.add(live)
            inner = replace(where, mask=running, narrow=True, busy=True)
            test = ir.AnyLane(running, loc=s.loc)
            first = where.at(cond)
        out.append(ir.Assign(live, first, loc=s.loc))
        body = self.block(s.body, inner)
        again = self._still_running(self.expr(s.cond, inner, body))
        body.append(ir.Assign(live, ir.Binary("&", running, again, loc=s.loc), loc=s.loc))
        out.append(Repeat(test, tuple(body), loc=s.loc))
        if outermost:
            self.alive = None

    def _still_running(self, cond: ir.Expr) -> ir.Expr:
        """The condition of a `while`, which a fault ends too."""
        return (
            cond
            if self.alive is None
            else ir.Binary("&", cond, ir.Var(self.alive, loc=cond.loc), loc=cond.loc)
        )

    def strip(self, s: ir.For, around: Where, out: list[ScheduledStmt]) -> None:
        loc = s.loc
        lo = self.expr(s.lo, around, out)
        if not build.is_simple(lo):
            lo = self.temp("start", lo, out)
        count = self.temp("count", build.trip_count(lo, self.expr(s.hi, around, out), s.step), out)
        loop, kept = self.as_lanes(s)
        out += [build.begun(kept[r.symbol], r.op, loc) for r in s.reductions]
        base, lane = self.names.fresh("base", DType.INT64), self.names.fresh("lane", DType.INT64)
        self.varying.add(lane)
        number = ir.Binary("+", ir.Var(base, loc=loc), ir.Var(lane, loc=loc), loc=loc)
        body: list[ScheduledStmt] = [Lanes(lane, loc=loc)]
        self.in_row.add(lane)
        where = self.enter(loop, lo, ir.Var(base, loc=loc), lane, count, body, around)
        inside = loop.body
        if s.scans:  # `in_row` lacks the scalars of their steps
            where = replace(where, rows=None, columns=None)
            inside = start_lanes(self, s, kept, where, ir.Var(lane, loc=loc), body)
        body += self.block(inside, where)
        if s.scans:
            hand_on(self, s, kept, number, ir.Var(base, loc=loc), count, body)
        out.append(Loop(base, build.integer(0, loc), count, self.width, tuple(body), loc=loc))
        self.combine_lanes(s, kept, around, out)
        if s.last:  # the last iteration lies in the last strip
            final = build.iteration(lo, s.step, ir.Binary("-", count, build.integer(1, loc), loc=loc))
            end = list[ScheduledStmt]()
            is_last = self.temp("is_last", ir.Compare("==", ir.Var(s.var, loc=loc), final, loc=loc), end)
            end += [of_one_lane(symbol, kept[symbol], is_last) for symbol in s.last]
            out.append(Branch(build.less(build.integer(0, loc), count), tuple(end), loc=loc))

    def combine_lanes(
        self, s: ir.For, kept: dict[ir.Symbol, ir.Symbol], around: Where, out: list[ScheduledStmt]
    ) -> None:
        """Combines the partial results of a loop's lanes, those of each row."""
        loc = s.loc
        for reduction in s.reductions:
            total = self.names.fresh(reduction.symbol.name, reduction.symbol.dtype)
            own = ir.Var(kept[reduction.symbol], loc=loc)
            out.append(LaneReduce(total, reduction.op, own, IN_ROWS, loc=loc))
            value = build.combine(reduction.op, ir.Var(reduction.symbol, loc=loc), ir.Var(total, loc=loc))
            self.assign(reduction.symbol, value, around, out)

    def enter(
        self,
        loop: ir.For,
        lo: ir.Expr,
        first: ir.Expr,
        lane: ir.Symbol,
        count: ir.Expr,
        out: list[ScheduledStmt],
        around: Where,
    ) -> Where:
        """Sets the loop's variable in each lane to that of the iteration `first + lane`, counted from 0. lane: of a row
        where it is in `in_row`, else the number of a row of a tile."""
        here = ir.Var(lane, loc=loop.loc)
        self.varying.add(loop.var)
        base = self.temp(f"{loop.var.name}_base", build.iteration(lo, loop.step, first), out)
        out.append(ir.Assign(loop.var, build.iteration(base, loop.step, here), loc=loop.loc))
        self.indices[loop.var] = LaneIndex(base.symbol, loop.step, lane)
        rest = count if first == build.integer(0, loop.loc) else ir.Binary("-", count, first, loc=loop.loc)
        is_one = build.less(here, rest)
        inside = self.temp("inside", around.at(is_one), out)
        self.varying |= divergence(loop.body, self.varying)
        in_row = lane in self.in_row
        if in_row:
            self.in_row |= divergence(loop.body, self.in_row | {loop.var})
        in_tile = (
            in_row and around.mask is not None and not self.is_varying(base) and not self.is_varying(rest)
        )
        if in_tile:
            self.columns |= {lane, loop.var}
        active = replace(around, mask=inside, lanes=True, in_row=in_row, busy=False)
        return replace(active, rows=around.mask, columns=is_one if in_tile else None)

    def as_lanes(self, loop: ir.For) -> tuple[ir.For, dict[ir.Symbol, ir.Symbol]]:
        """The loop with scalars of its own for all that it writes or combines, and which stands for which."""
        combined = (*(r.symbol for r in loop.reductions), *(scan.symbol for scan in loop.scans), *loop.last)
        written = dict.fromkeys((*scalar_writes(loop.body), *combined))
        kept = {s: self.names.fresh(s.name, s.type) for s in written}
        self.accumulators |= {kept[r.symbol] for r in loop.reductions}
        gathered = {kept[s] for s in combined}
        self.varying |= gathered
        self.in_row |= gathered
        return replace(loop, body=rename(loop.body, kept)), kept
