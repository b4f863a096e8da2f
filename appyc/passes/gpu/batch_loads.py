"""Several iterations of a sequential loop in the lanes of a GPU load what they need before the first of them stores.

    for i in range(n):              # parallel, lanes      for i in range(n):
        for j in range(1, m):                                  for j in range(1, m - 1, 2):
            y[j, i] = y[j - 1, i] * c[j] + x[j, i]                 c_1 = c[j]; x_1 = x[j, i]
                                                  ->               c_2 = c[j + 1]; x_2 = x[j + 1, i]
                                                                   y_1 = y[j - 1, i] * c_1 + x_1
                                                                   y[j, i] = y_1
                                                                   y_2 = y_1 * c_2 + x_2
                                                                   y[j + 1, i] = y_2
                                                               for j in range(..., m):
                                                                   ...

A compiler moves no load before a store, which may be to the same element, so that each iteration waits for memory.
Here one wait serves all. What an iteration stores and a later one loads stays in a register. The iterations that are
left run in smaller batches.

Requires: all passes that change loops have run. Does not handle: bodies other than assignments and stores; bounds that
lanes differ in; tiles of rows; loops without stores, which the assembler unrolls itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from appyc.ir.affine import are_apart, linear_form
from appyc.ir.blocks import nested, replace_outermost
from appyc.ir.invariance import is_invariant
from appyc.ir.names import NameSupply
from appyc.ir.nodes import Assign, For, Function, LoopMode, Stmt, Store, Symbol, Update, Var
from appyc.ir.raising import may_raise
from appyc.ir.schedule import LoopSchedule
from appyc.ir.visit import arrays_written, scalars_read, scalars_written, walk
from appyc.passes.gpu.lane_expressions import mentions
from appyc.passes.gpu.loads_ahead import loads_in_advance, made_ahead, with_held
from appyc.passes.gpu.map_gpu import map_gpu, map_nests
from appyc.passes.loop_ops.unroll import unroll, why_not_unroll
from appyc.passes.pass_context import PassContext

FACTORS = (16, 8, 4, 2)
OF_THE_REST = 4
"""The iterations that fill no batch run in batches with so many times fewer."""
MOST_LOADS = 48
"""The most loads of a batch: with two registers each, two fifths of those that a thread can have."""
MOST_NODES = 800
"""The most IR nodes of a batch."""


def batch_loads(fn: Function, ctx: PassContext) -> Function:
    """The function with such loops in batches of iterations."""
    names = NameSupply.after(fn)
    decided: dict[Symbol, LoopSchedule] = {}

    def rule(s: For) -> tuple[Stmt, ...]:
        known = fn.schedule[s.var]
        if s.product is not None or known.row_lanes is not None or known.rows_each > 1:
            return (s,)
        mapping = map_gpu(s)
        if mapping.lane is None:
            return (s,)
        batches = _Batches(names, {mapping.lane} | scalars_written(mapping.body))
        body = batches.block(mapping.body)
        if not batches.own:
            return (s,)
        decided[s.var] = replace(known, batch=batches.factor)
        ctx.remark(s.loc, f"lanes of the GPU load for up to {batches.factor} iterations of a loop at once")
        chain = [replace(loop, private=(*loop.private, *batches.own)) for loop in mapping.chain]
        return (nested(chain, body),)

    body = map_nests(fn.body, rule)
    return replace(fn, body=body, schedule=fn.schedule.updated(decided)) if decided else fn


@dataclass(slots=True)
class _Batches:
    """varying: what lanes may have different values of. own: scalars that are made. factor: of the largest batch."""

    names: NameSupply
    varying: set[Symbol]
    own: list[Symbol] = field(default_factory=list)
    factor: int = 1

    def block(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        return replace_outermost(body, self._in_turn)

    def _in_turn(self, stmt: Stmt) -> list[For] | None:
        if not isinstance(stmt, For) or (factor := self._factor(stmt)) < 2:
            return None
        self.factor = max(self.factor, factor)
        return self._in_batches(stmt, factor)

    def _in_batches(self, loop: For, factor: int) -> list[For]:
        if factor <= 1:
            return [loop]
        main, rest = unroll(loop, factor, self.names)
        return [replace(main, body=self._batched(main.body)), *self._in_batches(rest, factor // OF_THE_REST)]

    def _factor(self, loop: For) -> int:
        """The number of iterations of a loop that make a batch; 1 where the loop is left unchanged."""
        body, bounds = loop.body, loop.bounds
        if (
            loop.mode is not LoopMode.SEQUENTIAL
            or loop.scans
            or may_raise(loop)
            or why_not_unroll(loop) is not None
        ):
            return 1
        if scalars_read(bounds) & self.varying or not arrays_written(body):
            return 1
        if not all(isinstance(s, Assign | Store) or (isinstance(s, Update) and not s.index) for s in body):
            return 1
        loads = sum(mentions(load, {loop.var}) for load in loads_in_advance(body))
        nodes = sum(1 for _ in walk(body))
        fits = (f for f in FACTORS if loads * f <= MOST_LOADS and nodes * f <= MOST_NODES)
        return next(fits, 1) if loads else 1

    def _batched(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        """The statements, after all that they load of arrays that they do not write."""
        out: list[Stmt] = []
        held = made_ahead(loads_in_advance(body), self.names, out)
        self.own += held.values()
        own = scalars_written(body)
        for stmt in body:
            new = with_held(stmt, held)
            if isinstance(new, Store) and is_invariant(new.index, own):
                stored = self.names.fresh(new.array.name, new.array.dtype)
                self.own.append(stored)
                out.append(Assign(stored, new.value, loc=new.loc))
                new = replace(new, value=Var(stored, loc=new.loc))
                location = new.array, tuple(map(linear_form, new.index))
                held = {
                    p: s for p, s in held.items() if p[0] != new.array or are_apart(p[1], location[1])
                } | {location: stored}
            elif isinstance(new, Store):
                held = {p: s for p, s in held.items() if p[0] != new.array}
            out.append(new)
        return tuple(out)
