"""Column loops in blocks of rows, and the loops that combine the blocks: for `tile_column_reductions`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from appyc.analysis.patterns.column_sums import ColumnSum
from appyc.ir import nodes as ir
from appyc.ir.names import NameSupply
from appyc.ir.types import ArrayType, DType
from appyc.ir.visit import rename, substitute
from appyc.passes.loop_ops.strip_mine import Strips
from appyc.passes.node_builders import counting, shifted, smaller, start_of_sum, trip_count

ROWS = 128
"""Rows of a block: enough that combining the blocks is little work. A constant and not a variable, so that the
dependence analysis of blocks is exact."""

STEP = 32
"""Rows of a step. Several loops access the rows of a step in order: rows of one or two thousand elements are then
still in the cache next to a core for the next loop. (Measured with a matrix and its transpose times a vector: from 8 to
32 rows there is no difference, with 128 rows it takes a third longer; narrow matrices lose a fifth with 16 rows, and
almost nothing with 32.)"""


class ColumnBlocks:
    """Builds the tiled loops. rows: a loop over all rows. partial: for each scalar that is reduced down the columns, an
    array of partial results, one for each block of rows and each column. bare: the loop over columns without its
    pragma, for use inside a block."""

    def __init__(self, columns: ir.For, sums: Sequence[ColumnSum], names: NameSupply) -> None:
        self.columns, self.sums, self.names, self.loc = columns, sums, names, columns.loc
        self.rows, self.bare = sums[0].loop, replace(columns, clauses=None)
        self.blocks = trip_count(self.rows.lo, self.rows.hi, ROWS)
        self.partial: dict[ir.Symbol, ir.Symbol] = {}

    def bounds(self, block: ir.Symbol) -> tuple[ir.Expr, ir.Expr]:
        """The first row of a block, and the one behind its last."""
        strips = Strips(self.rows.lo, self.rows.hi, ROWS, block, self.loc)
        return strips.start, smaller(strips.end, self.rows.hi)

    def in_steps(self, block: ir.Symbol, loops: Sequence[ir.For]) -> list[ir.Stmt]:
        """A block, with other loops over its rows, a few rows at a time."""
        first, end = self.bounds(block)
        step = self.names.fresh("step", DType.INT64)
        lo = ir.Var(step, loc=self.loc)
        hi = smaller(shifted(lo, STEP), end)
        body: list[ir.Stmt] = [replace(loop, lo=lo, hi=hi) for loop in loops]
        clear: list[ir.Stmt] = []
        for one in self.sums:
            always, down = self._added(one, block, lo, hi)
            clear.append(always)
            body.append(down)
        return [*clear, ir.For(step, first, end, STEP, tuple(body), loc=self.loc)]

    def in_block(self, block: ir.Symbol) -> list[ir.For]:
        """The loops that compute the partial results of a block of rows."""
        return [loop for one in self.sums for loop in self._added(one, block, *self.bounds(block))]

    def allocations(self) -> list[ir.Alloc]:
        width = trip_count(self.columns.lo, self.columns.hi, 1)
        shape = self.blocks, width
        return [ir.Alloc(array, shape, zero=False, loc=self.loc) for array in self.partial.values()]

    def _added(self, one: ColumnSum, block: ir.Symbol, lo: ir.Expr, hi: ir.Expr) -> tuple[ir.For, ir.For]:
        """The loop that clears a block's sums, and the loop that adds some rows to them."""
        arrays = self._arrays(one)
        column = self.names.fresh(self.columns.var.name, DType.INT64)
        clear = tuple(
            self._stored(arrays[u.target], block, column, start_of_sum(u.op, u.target.dtype, u.loc))
            for u in one.updates
        )
        always = replace(self.bare, var=column, body=clear)
        if one.is_arithmetic:
            return always, self._in_registers(one, block, lo, hi)
        # Along the rows, the accumulators are in the cache, and all operations may run in lanes.
        column, row, body = self._again(one)
        index = self._index(block, column)
        added = tuple(
            replace(s, target=arrays[s.target], index=index, checked=False) if isinstance(s, ir.Update) else s
            for s in body
        )
        inside = replace(self.bare, var=column, body=added)
        return always, replace(one.loop, var=row, lo=lo, hi=hi, body=(inside,))

    def _in_registers(self, one: ColumnSum, block: ir.Symbol, lo: ir.Expr, hi: ir.Expr) -> ir.For:
        """Some rows, added to the partial results in scalars, column by column."""
        arrays = self._arrays(one)
        column, row, body = self._again(one)
        totals = {target: self.names.fresh(target.name, target.dtype) for target in arrays}
        inner = replace(one.loop, var=row, lo=lo, hi=hi, body=rename(body, totals))
        before = [
            ir.Assign(totals[t], self._partial(array, block, column), loc=self.loc)
            for t, array in arrays.items()
        ]
        after = [
            self._stored(array, block, column, ir.Var(totals[t], loc=self.loc)) for t, array in arrays.items()
        ]
        return replace(self.bare, var=column, body=(*before, inner, *after))

    def _arrays(self, one: ColumnSum) -> dict[ir.Symbol, ir.Symbol]:
        """The arrays of partial results, which are made where they are first asked for."""
        for target in (update.target for update in one.updates):
            if target not in self.partial:
                type_ = ArrayType(target.dtype, 2)
                self.partial[target] = self.names.fresh(f"{target.name}_of_block", type_)
        return {update.target: self.partial[update.target] for update in one.updates}

    def _again(self, one: ColumnSum) -> tuple[ir.Symbol, ir.Symbol, tuple[ir.Stmt, ...]]:
        """Variables for columns and rows, and the body of a sum in terms of them."""
        column, row = (self.names.fresh(loop.var.name, DType.INT64) for loop in (self.columns, one.loop))
        there: dict[ir.Symbol, ir.Expr] = {
            self.columns.var: ir.Var(column, loc=self.loc),
            one.loop.var: ir.Var(row, loc=self.loc),
        }
        return column, row, substitute(one.loop.body, there)

    def together(self) -> ir.For:
        """The loop over columns, whose loops over rows become loops over blocks that combine partial results."""
        fresh = self.names.fresh(self.columns.var.name, DType.INT64)
        body: list[ir.Stmt] = list(self.columns.body)
        for one in self.sums:
            block = self.names.fresh("block", DType.INT64)
            body[one.at] = counting(block, self.blocks, tuple(self._combined(one, block)), loc=one.loop.loc)
        there: dict[ir.Symbol, ir.Expr] = {self.columns.var: ir.Var(fresh, loc=self.loc)}
        return replace(self.columns, var=fresh, body=substitute(tuple(body), there))

    def _combined(self, one: ColumnSum, block: ir.Symbol) -> list[ir.Update]:
        partial = {u: self._partial(self.partial[u.target], block, self.columns.var) for u in one.updates}
        return [ir.Update(u.target, (), u.op, value, loc=u.loc) for u, value in partial.items()]

    def _index(self, block: ir.Symbol, column: ir.Symbol) -> tuple[ir.Expr, ir.Expr]:
        return ir.Var(block, loc=self.loc), trip_count(self.columns.lo, ir.Var(column, loc=self.loc), 1)

    def _stored(self, array: ir.Symbol, block: ir.Symbol, column: ir.Symbol, value: ir.Expr) -> ir.Store:
        return ir.Store(array, self._index(block, column), value, checked=False, loc=self.loc)

    def _partial(self, array: ir.Symbol, block: ir.Symbol, column: ir.Symbol) -> ir.Load:
        return ir.Load(array, self._index(block, column), checked=False, loc=self.loc)
