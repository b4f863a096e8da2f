"""Tiles reductions down the columns of an array by rows, with other loops over the same rows.

    for k in range(0, n):                           for b in range(blocks):
        r[k] = exp(x[k, 0])                             for i in range(0, m): s of block[b, i] = 0.0
    for i in range(0, m):                               for some rows of block b at a time:
        s = 0.0                                             for k in these rows:
        for k in range(0, n):              ->                   r[k] = exp(x[k, 0])
            s += r[k] * x[k, i]                             for i in range(0, m):
        out[i] = s / n                                          t = s of block[b, i]
                                                                for k in these rows:
                                                                    t += r[k] * x[k, i]
                                                                s of block[b, i] = t
                                                    for i in range(0, m):
                                                        s = 0.0
                                                        for b in range(blocks):
                                                            s += s of block[b, i]
                                                        out[i] = s / n

As written, threads share the columns, which may be few, and each thread strides through the whole array. The number of
blocks grows with the number of rows, and a block is read contiguously. A loop over columns is cut in front of a
reduction that needs another one's result, such as deviations from a mean (`x.var(axis=0)`). Reductions other than
arithmetic on floats, such as minima and maxima, run along the rows, in lanes. Loops over the same rows are fused into
the blocks if they fill an array that is read there, or if that reduces the memory traffic. This includes loops behind
the columns that do not depend on them. A product with a matrix and one with its transpose thus read the matrix once.

Fewer than `LEAST_ROWS` rows are reduced by the original loops: the number of rows is tested at the call.

Requires: `check_bounds`, `recognise_reductions`. Sums of floats may be reassociated.

Does not handle: loops over columns inside others; loops behind the columns that depend on their sums; pragmas that
request more than threads; GPUs, where programs have lanes of columns already.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeGuard

from appyc.analysis.accesses.syntactic_effects import Touched
from appyc.analysis.cost.costs import traffic_of
from appyc.analysis.cost.fusion_benefit import is_worthwhile
from appyc.analysis.dependences.free_loops import is_free
from appyc.analysis.dependences.fusion_legality import (
    EqualExtents,
    asks_for_no_more_than_threads,
    has_effects,
)
from appyc.analysis.patterns.column_sums import ColumnSum, column_sums, first_that_waits
from appyc.ir import nodes as ir
from appyc.ir.blocks import map_blocks
from appyc.ir.names import NameSupply
from appyc.ir.types import DType
from appyc.ir.visit import arrays_read, arrays_written, contains, walk, with_body
from appyc.passes.locality.column_blocks import ROWS, ColumnBlocks
from appyc.passes.loop_ops.expand_scalars import expand_scalars
from appyc.passes.node_builders import at_least, copy_of, counting, iterations_of, trip_count
from appyc.passes.pass_context import PassContext

LEAST_ROWS = 8 * ROWS
"""Fewer blocks do not keep all threads busy, where there are many columns."""

_Piece: TypeAlias = tuple[ir.For, tuple[ColumnSum, ...]]
"""A loop over columns, with its loops down the columns."""

REACH = 8
"""The number of preceding statements that are searched for loops over the same rows."""


def tile_column_reductions(fn: ir.Function, ctx: PassContext) -> ir.Function:
    """The function with two versions of such loops: in blocks for many rows, and the original loops."""
    if ctx.options.exact or not ctx.options.auto or ctx.options.on_gpu:
        return fn
    rewriting = _ColumnTiling(NameSupply.after(fn), EqualExtents.of(fn.guards), ctx)
    return with_body(fn, rewriting.block(fn.body))


@dataclass(frozen=True, slots=True)
class _ColumnTiling:
    names: NameSupply
    equal: EqualExtents
    ctx: PassContext

    def block(self, body: tuple[ir.Stmt, ...]) -> tuple[ir.Stmt, ...]:
        out: list[ir.Stmt] = []
        left = list(body)
        while left:
            stmt = left.pop(0)
            match stmt:
                case ir.For() if not self._in_blocks(out, stmt, left):
                    inner = any(isinstance(n, ir.For) for s in stmt.body for n in walk(s))
                    if inner and stmt.clauses is None and not is_free(stmt, self.ctx.trials):
                        stmt = map_blocks(stmt, self.block)
                    out.append(stmt)
                case ir.For():
                    pass
                case _:
                    out.append(map_blocks(stmt, self.block))
        return tuple(out)

    def _in_blocks(self, out: list[ir.Stmt], columns: ir.For, left: list[ir.Stmt]) -> bool:
        """Whether the loop was replaced, together with loops before and behind it; the replacement is in `out`.

        left: the statements that follow.
        """
        if not any(isinstance(stmt, ir.For) for stmt in columns.body):
            return False
        allocs, pieces = self._pieces(columns)
        found = [column_sums(piece) if contains(piece.body, ir.For) else () for piece in pieces]
        parts = [(piece, sums) for piece, sums in zip(pieces, found, strict=True) if sums is not None]
        if len(parts) < len(found) or not is_free(columns, self.ctx.trials):
            return False
        rows = next(sums[0].loop for _, sums in parts if sums)
        before = self._before(out, columns, rows)
        behind, made = self._behind(left, columns, rows)
        choices = [[*before, *behind], before, []]
        for loops in (loops for at, loops in enumerate(choices) if loops not in choices[:at]):
            versions = self._rewritten(columns, allocs, parts, loops)
            if versions is not None:
                moved = made if len(loops) > len(before) else []
                taken = {id(stmt) for stmt in (*loops, *moved)}
                out[:] = [*(stmt for stmt in out if id(stmt) not in taken), *moved, versions]
                left[:] = [stmt for stmt in left if id(stmt) not in taken]
                self._tell(columns, loops)
                return True
        return False

    def _pieces(self, columns: ir.For) -> tuple[list[ir.Alloc], list[ir.For]]:
        """The loop over columns, cut in front of each loop down a column that waits for another one, and the arrays
        that connect the pieces."""
        at = first_that_waits(columns)
        if at is None or not asks_for_no_more_than_threads(columns.clauses):
            return [], [columns]
        loc = columns.loc
        number = trip_count(columns.lo, ir.Var(columns.var, loc=loc), columns.step)
        groups = columns.body[:at], columns.body[at:]
        bodies, kept = expand_scalars(groups, (number,), self.names, as_elements=True)
        first, rest = replace(columns, body=bodies[0]), copy_of(replace(columns, body=bodies[1]), self.names)
        allocs = [ir.Alloc(a, (iterations_of(columns),), zero=False, loc=loc) for a in kept.values()]
        again = first_that_waits(rest)
        if again is not None and not any(isinstance(stmt, ir.For) for stmt in rest.body[:again]):
            return [], [columns]  # what it needs changes later on
        others, pieces = self._pieces(rest)
        return [*allocs, *others], [first, *pieces]

    def _before(self, out: list[ir.Stmt], columns: ir.For, rows: ir.For) -> list[ir.For]:
        """Loops over the same rows for which a move to just before the columns is legal and pays."""
        found: list[ir.For] = []
        passed: list[Touched] = []
        for stmt in reversed(out[-REACH:]):
            if self._may_pass(stmt, rows, passed) and self._pays(stmt, [*found, columns]):
                found.insert(0, stmt)
            elif not isinstance(stmt, ir.Alloc):
                passed.append(Touched.by(stmt))
        return found

    def _behind(
        self, left: list[ir.Stmt], columns: ir.For, rows: ir.For
    ) -> tuple[list[ir.For], list[ir.Alloc]]:
        """The loops behind the columns that may legally run before them, and the allocations of their arrays."""
        found: list[ir.For] = []
        ready: list[ir.Alloc] = []
        passed = [Touched.by(columns)]
        for stmt in left[:REACH]:
            if isinstance(stmt, ir.Alloc) and all(Touched.by(stmt).is_free_of(other) for other in passed):
                ready.append(stmt)
            elif self._may_pass(stmt, rows, passed) and self._pays(stmt, [columns]):
                found.append(stmt)
            else:
                passed.append(Touched.by(stmt))
        needed = {symbol for loop in found for symbol in arrays_written(loop)}
        return found, [alloc for alloc in ready if alloc.array in needed]

    def _may_pass(self, stmt: ir.Stmt, rows: ir.For, passed: Sequence[Touched]) -> TypeGuard[ir.For]:
        """Whether a statement is a loop over the same rows that may be moved past the statements in `passed`."""
        if not isinstance(stmt, ir.For) or not self._walks(stmt, rows):
            return False
        mine = Touched.by(stmt)
        return all(mine.is_free_of(other) for other in passed)

    def _walks(self, loop: ir.For, rows: ir.For) -> bool:
        ends = self.equal.same(loop.lo, rows.lo) and self.equal.same(loop.hi, rows.hi)
        asks = asks_for_no_more_than_threads(loop.clauses)
        is_plain = loop.step == 1 and asks and not has_effects(loop.body)
        return ends and is_plain and not contains(loop, ir.Alloc) and is_free(loop, self.ctx.trials)

    def _pays(self, loop: ir.For, others: Sequence[ir.For]) -> bool:
        if arrays_written(loop.body) & {a for other in others for a in arrays_read(other.body)}:
            return True
        one = traffic_of(loop)
        for other in others:
            two = traffic_of(other)
            if is_worthwhile(one, two, one.keys() & two.keys()):
                return True
        return False

    def _rewritten(
        self, columns: ir.For, allocs: list[ir.Alloc], pieces: Sequence[_Piece], loops: Sequence[ir.For]
    ) -> ir.If | None:
        """The blocked and the original loops, under a test of the number of rows; None where the loop over
        blocks would carry a dependence. The other loops run with the first piece."""
        if loops and not pieces[0][1]:
            return None
        inside = [replace(self.ctx.copied(loop, self.names), clauses=None) for loop in loops]
        then: list[ir.Stmt] = [*allocs]
        for piece, sums in pieces:
            together = piece
            if sums:
                parts = ColumnBlocks(piece, sums, self.names)
                block = self.names.fresh("block", DType.INT64)
                body = parts.in_steps(block, inside) if inside else parts.in_block(block)
                whole = counting(block, parts.blocks, tuple(body), loc=columns.loc)
                if not is_free(whole, self.ctx.trials):
                    return None
                inside, together = [], parts.together()
                then += [*parts.allocations(), whole]
            then.append(self.ctx.copied(together, self.names))
        rows = next(sums[0].loop for _, sums in pieces if sums)
        many = at_least(trip_count(rows.lo, rows.hi, 1), LEAST_ROWS)
        return ir.If(many, tuple(then), (*loops, columns), loc=columns.loc)

    def _tell(self, columns: ir.For, loops: Sequence[ir.For]) -> None:
        text = f"sums of columns are made in blocks of {ROWS} rows, where there are {LEAST_ROWS} or more"
        if loops:
            lines = ", ".join(str(line) for line in sorted({loop.loc.line for loop in loops}))
            text += f"; with each block, the loops at line {lines} read its rows"
        self.ctx.remark(columns.loc, text)
