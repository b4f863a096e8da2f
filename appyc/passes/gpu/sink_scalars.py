"""Moves scalars into the loops of free iterations that alone read them, where a GPU runs those.

    for j in range(1, n):                             for j in range(1, n):
        factor = a / pivot[j]                             for i in range(m):         # free
        for i in range(m):         # free       ->            factor = a / pivot[j]
            q[j, i] -= factor * q[j - 1, i]                   q[j, i] -= factor * q[j - 1, i]

The host would launch a kernel for an element that it needs, and wait for it. Here each lane reads it. A nest with
nothing between its loops may be interchanged: with `i` outside, all iterations of `j` are one launch.

Requires: each scalar is assigned once. A loop that is free without the elements must be so with them. Outside of loops
only what reads arrays is moved. Does not handle: functions of scalars, which all lanes would compute.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial

from appyc.analysis.dependences.legality import Legality
from appyc.ir import nodes as ir
from appyc.ir import visit
from appyc.ir.blocks import map_blocks, nested, perfect_nest
from appyc.ir.raising import may_raise
from appyc.passes.pass_context import PassContext


def sink_scalars(fn: ir.Function, ctx: PassContext) -> ir.Function:
    """The function with such scalars in the loops that read them."""
    if not ctx.options.on_gpu or not ctx.options.auto or not any(visit.loops_of(fn.body)):
        return fn
    sinking = _Sinking(fn, ctx.legality(fn))
    sunk = replace(fn, body=sinking.block(fn.body, in_loop=False))
    if not sinking.nests:
        return fn
    changed = Legality.of(sunk)
    loops = {loop.var: loop for loop in visit.loops_of(sunk.body)}
    stay = {
        nest: written for nest, (free, written) in sinking.nests.items()
        if not all(changed.judge(loops[var]).may_run_in_any_order for var in free)
    }  # fmt: skip
    return visit.with_loops(sunk, stay)


class _Sinking:
    """nests: the free loops of each nest that scalars were moved into, and what was there before."""

    def __init__(self, fn: ir.Function, legality: Legality) -> None:
        self.legality = legality
        self.reads = Counter(visit.scalar_reads(fn))
        self.reads.update(r.value for r in fn.results if isinstance(r.value, ir.Symbol))
        self.writes = Counter([*visit.scalar_writes(fn.body), *fn.params])
        self.nests: dict[ir.Symbol, tuple[tuple[ir.Symbol, ...], tuple[ir.Stmt, ...]]] = {}

    def block(self, body: tuple[ir.Stmt, ...], *, in_loop: bool) -> tuple[ir.Stmt, ...]:
        out: list[ir.Stmt] = []
        for stmt in body:
            free = self._free(stmt) if isinstance(stmt, ir.For) else ()
            if not isinstance(stmt, ir.For) or not free:
                deeper = in_loop or isinstance(stmt, ir.For | ir.While)
                out.append(map_blocks(stmt, partial(self.block, in_loop=deeper)))
                continue
            moved: list[ir.Stmt] = []
            while out and self._may_move(out[-1], stmt, moved, in_loop=in_loop):
                moved.insert(0, out.pop())
            around = perfect_nest(stmt)[: len(free)]
            out.append(nested(around, (*moved, *around[-1].body)))
            if moved:
                self.nests[stmt.var] = free, (*moved, stmt)
        return tuple(out)

    def _free(self, nest: ir.For) -> tuple[ir.Symbol, ...]:
        """The loops of a nest, from outside, whose iterations may run in any order."""
        found: list[ir.Symbol] = []
        for loop in perfect_nest(nest):
            if not self.legality.judge(loop).may_run_in_any_order:
                break
            found.append(loop.var)
        return tuple(found)

    def _may_move(self, stmt: ir.Stmt, nest: ir.For, moved: list[ir.Stmt], *, in_loop: bool) -> bool:
        """Whether a statement right before the nest, and before what is moved already, may be moved too."""
        if not isinstance(stmt, ir.Assign) or self.writes[stmt.target] != 1 or may_raise(stmt):
            return False
        inside = Counter(visit.scalar_reads((nest, *moved)))[stmt.target]
        reads_arrays = visit.contains(stmt.value, ir.Load)
        bounds = [bound for loop in perfect_nest(nest) for bound in loop.bounds]
        return (
            0 < inside == self.reads[stmt.target]
            and (in_loop or reads_arrays)
            and _is_cheap(stmt.value)
            and stmt.target not in visit.scalars_read(bounds)
            and not visit.scalars_read(stmt.value) & visit.scalars_written(nest)
        )


def _is_cheap(value: ir.Expr) -> bool:
    """Whether it takes all lanes little to compute what one value serves."""
    return all(
        isinstance(n, ir.Var | ir.Const | ir.Load | ir.Unary | ir.Binary | ir.Cast | ir.Extent)
        for n in visit.walk(value)
    )
