"""A program of a GPU with a row in its lanes: each loop over the row is executed once, by all lanes.

    t = -inf                                    lane = 0, 1, ...
    for j in range(0, m):                       inside = lane < m
        t = max(t, x[i, j])                     x_1 = load(x[i, lane], inside)
    e = empty((m,))                   ->        t = reduce(max, x_1 if inside else -inf)
    for j in range(0, m):                       e = exp(x_1 - t)
        e[j] = exp(x[i, j] - t)                 store(y[i, lane], e * 2.0, inside)
    for j in range(0, m):
        y[i, j] = e[j] * 2.0

What one loop has read or stored, or put into an array of the iteration's own, the next ones find in the lane. A store
is left out where a later one is to the same elements, and nothing loads from the array in between. Which loops may be
lowered so is `keep_rows_on_chip`'s to say (`LoopSchedule.row_lanes`).
"""

from __future__ import annotations

from dataclasses import replace

from appyc.ir.fault_words import FaultSites
from appyc.ir.gpu_program import Lanes, ScheduledStmt
from appyc.ir.names import NameSupply
from appyc.ir.nodes import Alloc, Assign, Expr, For, If, Load, Stmt, Store, Symbol, Update, Var
from appyc.ir.types import DType
from appyc.ir.visit import arrays_read, arrays_written, loops_of, rename, scalars_read, walk
from appyc.passes.gpu.lane_expressions import Where
from appyc.passes.gpu.predicate_lanes import KernelLowering
from appyc.passes.node_builders import begun, both, combine, integer, less, trip_count, zero
from appyc.passes.vectorise.divergence import divergence


class RowLowering(KernelLowering):
    """Lowers the body of a nest with `row_lanes`."""

    def __init__(self, names: NameSupply, sites: FaultSites, nest: For, row_lanes: int) -> None:
        super().__init__(names, sites, row_lanes, frozenset(loop.var for loop in loops_of(nest.body)))
        made = [n.array for n in walk(nest) if isinstance(n, Alloc)]
        self.rows = {array: names.fresh(array.name, array.dtype) for array in made}
        self.written = arrays_written(nest)
        self.moving: set[Symbol] = set()
        """Scalars that the program has assigned: they may have other values when a load is met again."""
        self.position: tuple[Symbol, Where] | None = None
        """The variable of the first loop, which serves all of them, and the lanes that act."""
        self.has_elements: Expr | None = None
        """Whether the row has any; programs run where it has none, too."""
        self.loaded: dict[Load, Var] = {}
        self.stored: dict[tuple[Symbol, tuple[Expr, ...]], Store] = {}
        """The last store in all lanes to elements that no other store may have changed, by array and subscripts."""
        self.unread: list[Store] = []
        """The stores of `stored`, and earlier ones, whose arrays have not been loaded from since."""
        self.dead: list[Store] = []
        self.in_branch = False
        """Whether the statement at hand may be one that the program does not run."""

    def allocate(self, s: Alloc, out: list[ScheduledStmt]) -> None:
        symbol = self.rows[s.array]
        self.varying.add(symbol)
        self.in_row.add(symbol)
        out.append(Assign(symbol, zero(symbol.dtype, s.loc), loc=s.loc))

    def strip(self, s: For, around: Where, out: list[ScheduledStmt]) -> None:
        loop, kept = self.as_lanes(s)
        if self.position is None:
            lo, lane = self.expr(s.lo, around, out), self.names.fresh("lane", DType.INT64)
            self.varying.add(lane)
            self.in_row.add(lane)
            out.append(Lanes(lane, loc=s.loc))
            count = self.temp("count", trip_count(lo, self.expr(s.hi, around, out), s.step), out)
            self.has_elements = less(integer(0, s.loc), count)
            self.position = s.var, self.enter(loop, lo, integer(0, s.loc), lane, count, out, around)
        var, where = self.position
        body = rename(loop.body, {s.var: var})
        self.varying |= divergence(body, self.varying)
        self.in_row |= divergence(body, self.in_row)
        out += [begun(kept[r.symbol], r.op, s.loc) for r in s.reductions]
        out += self.block(body, replace(where, safe=around.safe))
        self.combine_lanes(s, kept, around, out)

    def assign(self, target: Symbol, value: Expr, where: Where, out: list[ScheduledStmt]) -> None:
        self.moving.add(target)
        super().assign(target, value, where, out)

    def _if(self, s: If, where: Where, out: list[ScheduledStmt]) -> None:
        cond = self.temp("taken", self.expr(s.cond, where, out), out)
        before, self.in_branch = self.in_branch, True
        super()._if(replace(s, cond=cond), where, out)
        self.in_branch = before

    def store(self, s: Store, where: Where, out: list[ScheduledStmt]) -> None:
        if s.array in self.rows:
            self.assign(self.rows[s.array], self.expr(s.value, where, out), where, out)
            return
        super().store(s, where, out)
        made = out.pop()
        assert isinstance(made, Store)
        self.stored = {key: other for key, other in self.stored.items() if s.array not in key}
        if (
            self._is_fixed(made)
            and not (where.narrow or self.in_branch)
            and made.value.dtype == s.array.dtype
        ):
            made = replace(made, value=self.held(s.array.name, made.value, out))
            where_to = made.array, made.index, made.mask
            self.dead += [one for one in self.unread if (one.array, one.index, one.mask) == where_to]
            self.unread.append(made)
            self.stored[made.array, made.index] = made
        out.append(made)

    def _update(self, s: Update, where: Where, out: list[ScheduledStmt]) -> None:
        if not s.target.is_array or s.atomic or s.checked:
            if s.target.is_array:
                self.stored, self.unread = {}, []
            super()._update(s, where, out)
            return
        old = Load(s.target, s.index, checked=False, loc=s.loc)
        value = combine(s.op, old, s.value)
        self.store(Store(s.target, s.index, value, checked=False, loc=s.loc), where, out)

    def block(self, body: tuple[Stmt, ...], where: Where) -> list[ScheduledStmt]:
        out = super().block(body, where)
        return [stmt for stmt in out if not any(stmt is dead for dead in self.dead)]

    def access_mask(self, index: tuple[Expr, ...], where: Where) -> Expr | None:
        mask = super().access_mask(index, where)
        return both(self.has_elements, mask) if where.lanes and mask is where.safe else mask

    def load(self, e: Load, where: Where, out: list[ScheduledStmt]) -> Expr:
        if e.array in self.rows:
            return Var(self.rows[e.array], loc=e.loc)
        found = super().load(e, where, out)
        if not isinstance(found, Load) or not self._is_fixed(found):
            self.unread = [store for store in self.unread if store.array != e.array]
            return found
        if e.array in self.written:
            store = self.stored.get((e.array, found.index))
            if store is not None:
                return store.value
            self.unread = [store for store in self.unread if store.array != e.array]
            return found  # not for long
        if where.narrow:
            return found
        if found not in self.loaded:
            if self.in_branch:
                return found
            self.loaded[found] = self.temp(e.array.name, found, out)
        return self.loaded[found]

    def _is_fixed(self, e: Load | Store) -> bool:
        """Whether the lanes access elements of their own, the same ones at each execution of it."""
        if e.array.dtype.is_complex or not any(self.is_varying(index) for index in e.index):
            return False
        return not (scalars_read(e.index) & self.moving or arrays_read(e.index) & self.written)
