"""Fusion of stream compactions: loops that select by one condition become one loop with one counter.

    k = 0                                       k = 0
    for i in range(n):                          for i in range(n):
        if keep[i]:                                 if keep[i]:
            x[k] = a[i]                                 x[k] = a[i]
            k = k + 1                                   y[k] = b[i]
    m = 0                                ->             k = k + 1
    for j in range(n):
        if keep[j]:
            y[m] = b[j]
            m = m + 1

`x, y = a[keep], b[keep]` reads the mask twice, and counts twice where threads share the loops (`parallel_scan`).
`fuse_loops` leaves such loops: each iteration depends on the one before through the counter. Here both counters have
the same value in each iteration, so that nothing depends across the two loops but what their arrays say.

Requires: `check_bounds` and `recognise_reductions` have run.

Does not handle: loops of other forms than `compaction_form` knows; counters that do not start from the same constant;
statements between the loops that may raise, or that need the first loop and are needed by the second.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

from appyc.analysis.dependences.fusion_legality import EqualExtents, placed, why_not_joined
from appyc.ir import nodes as ir
from appyc.ir.blocks import map_blocks
from appyc.ir.packing_loops import selection_of
from appyc.ir.visit import rename, scalar_reads, scalars_written, with_body
from appyc.passes.pass_context import PassContext
from appyc.passes.vectorise.compaction_form import is_compaction

REACH = 8
"""The number of preceding compactions that are searched for one with the same condition."""


def merge_compactions(fn: ir.Function, ctx: PassContext) -> ir.Function:
    """The function with compactions under one condition in one loop."""
    merging = _Merging(EqualExtents.of(fn.guards), Counter(scalar_reads(fn.body)), ctx)
    return with_body(fn, merging.block(fn.body))


@dataclass(frozen=True, slots=True)
class _Merging:
    """equal: lengths. reads: how often the function reads each scalar."""

    equal: EqualExtents
    reads: Counter[ir.Symbol]
    ctx: PassContext

    def block(self, body: tuple[ir.Stmt, ...]) -> tuple[ir.Stmt, ...]:
        out: list[ir.Stmt] = []
        for stmt in body:
            if isinstance(stmt, ir.For) and is_compaction(stmt, boundscheck=self.ctx.options.boundscheck):
                tried = (at for at in range(len(out) - 1, -1, -1) if isinstance(out[at], ir.For))
                found = (self._merged(out, at, stmt) for at in islice(tried, REACH))
                out = next((new for new in found if new is not None), [*out, stmt])
            else:
                out.append(map_blocks(stmt, self.block))
        return tuple(out)

    def _merged(self, out: list[ir.Stmt], at: int, second: ir.For) -> list[ir.Stmt] | None:
        """The statements with the second compaction in an earlier loop; None if that is not possible."""
        first, between = out[at], out[at + 1 :]
        one, two = selection_of(first), selection_of(second)
        if not isinstance(first, ir.For) or one is None or two is None or one.counter == two.counter:
            return None
        start, texts = _start(out[:at], one.counter), self.ctx.facts.texts
        if start is None or start != _start(between, two.counter):
            return None
        names = {second.var: first.var, two.counter: one.counter}
        if (
            rename(two.cond, names) != one.cond
            or why_not_joined(first, second, self.equal, texts) is not None
        ):
            return None
        step = ir.If(one.cond, (*one.stores, *rename(two.stores, names), one.step), loc=first.body[0].loc)
        loop, around = replace(first, body=(step,)), placed(first, second, between, texts)
        arrays, others = (texts.of(part).touched for part in (first, second))
        is_apart = replace(arrays, writes=arrays.writes - {one.counter}).is_free_of(others)
        boundscheck = self.ctx.options.boundscheck
        if around is None or not is_apart or not is_compaction(loop, boundscheck=boundscheck):
            return None
        before, behind = around
        is_read = self.reads[two.counter] > Counter(scalar_reads(second))[two.counter]
        copy = (
            [ir.Assign(two.counter, ir.Var(one.counter, loc=second.loc), loc=second.loc)] if is_read else []
        )
        return [*out[:at], *before, loop, *copy, *behind]


def _start(before: Sequence[ir.Stmt], counter: ir.Symbol) -> ir.Const | None:
    """The constant that these statements leave in a counter."""
    match next((stmt for stmt in reversed(before) if counter in scalars_written(stmt)), None):
        case ir.Assign(value=ir.Const() as value):
            return value
        case _:
            return None
