"""Lowers `break` and `continue` to flags.

    for i in range(n):                      i_next = 0
        if a[i] < 0.0:                      running = i_next < n
            break                           while running:
        s = s + a[i]                            i = i_next
                                    ->          left = False
                                                if a[i] < 0.0:
                                                    left = True
                                                if not left:
                                                    s = s + a[i]
                                                i_next = i + 1
                                                running = (i_next < n) & ~left

The statements behind one that may jump are predicated by the flag. A loop with only `continue` keeps
its form. Precondition: a loop left by `break` is sequential.
"""

from __future__ import annotations

from dataclasses import replace

from appyc.ir import nodes as ir
from appyc.ir.blocks import has_own, jumps
from appyc.ir.names import NameSupply, ordered
from appyc.ir.types import DType
from appyc.ir.visit import contains, scalars_written, substitute
from appyc.passes.node_builders import integer, negated, truth
from appyc.passes.pass_context import PassContext


def lower_jumps(fn: ir.Function, ctx: PassContext) -> ir.Function:
    """The function without `Break` and `Continue`."""
    if not contains(fn, ir.Break | ir.Continue):
        return fn
    return replace(fn, body=without_jumps(fn.body, NameSupply.after(fn)))


def without_jumps(body: tuple[ir.Stmt, ...], names: NameSupply) -> tuple[ir.Stmt, ...]:
    """Statements without `Break` and `Continue`; a `Continue` outside of the loops among them ends the statements."""
    if not has_own(body, ir.Continue):
        return _Lowering(names).guarded(body)
    skip, loc = names.fresh("skip", DType.BOOL), body[0].loc
    return (ir.Assign(skip, truth(False, loc), loc=loc), *_Lowering(names).guarded(body, skip=skip))


class _Lowering:
    def __init__(self, names: NameSupply) -> None:
        self.names = names

    def _loop(self, loop: ir.For | ir.While) -> list[ir.Stmt]:
        left = self.names.fresh("left", DType.BOOL) if has_own(loop.body, ir.Break) else None
        skip = self.names.fresh("skip", DType.BOOL) if has_own(loop.body, ir.Continue) else None
        flags = [flag for flag in (left, skip) if flag is not None]
        start = [ir.Assign(flag, truth(False, loop.loc), loc=loop.loc) for flag in flags]
        body = (*start, *self.guarded(loop.body, left, skip))
        if left is None:
            return [self._owning(replace(loop, body=body))]
        return self._as_while(loop, body, left)

    def guarded(
        self, body: tuple[ir.Stmt, ...], left: ir.Symbol | None = None, skip: ir.Symbol | None = None
    ) -> tuple[ir.Stmt, ...]:
        """Statements of a loop body: jumps set flags, which guard the statements behind them."""
        out: list[ir.Stmt] = []
        for number, stmt in enumerate(body):
            match stmt:
                case ir.Break() | ir.Continue():
                    flag = left if isinstance(stmt, ir.Break) else skip
                    assert flag is not None
                    return (*out, ir.Assign(flag, truth(True, stmt.loc), loc=stmt.loc))
                case ir.For() | ir.While():
                    out += self._loop(stmt)
                    continue
                case ir.If(_, then, orelse):
                    new = replace(
                        stmt, then=self.guarded(then, left, skip), orelse=self.guarded(orelse, left, skip)
                    )
                    out.append(new)
                    rest = body[number + 1 :]
                    if rest and jumps(stmt):
                        out.append(self._unless(rest, left, skip))
                        return tuple(out)
                case _:
                    out.append(stmt)
        return tuple(out)

    def _unless(self, rest: tuple[ir.Stmt, ...], left: ir.Symbol | None, skip: ir.Symbol | None) -> ir.If:
        loc = rest[0].loc
        goes_on = [negated(ir.Var(flag, loc=loc)) for flag in (left, skip) if flag is not None]
        cond = goes_on[0] if len(goes_on) == 1 else ir.Binary("&", goes_on[0], goes_on[1], loc=loc)
        return ir.If(cond, self.guarded(rest, left, skip), loc=loc)

    def _as_while(self, loop: ir.For | ir.While, body: tuple[ir.Stmt, ...], left: ir.Symbol) -> list[ir.Stmt]:
        """The loop with the flag in its condition; a `for` counts in a variable of its own."""
        loc = loop.loc
        running = self.names.fresh("running", DType.BOOL)
        state, on = ir.Var(running, loc=loc), negated(ir.Var(left, loc=loc))
        if isinstance(loop, ir.While):
            # The condition may read what the body changes, and is not evaluated after a break.
            again = ir.If(
                on,
                (ir.Assign(running, loop.cond, loc=loc),),
                (ir.Assign(running, truth(False, loc), loc=loc),),
                loc=loc,
            )
            return [ir.Assign(running, loop.cond, loc=loc), ir.While(state, (*body, again), loc=loc)]
        at, end = self.names.fresh(loop.var.name, DType.INT64), self.names.fresh("end", DType.INT64)
        inside = ir.Compare("<" if loop.step > 0 else ">", ir.Var(at, loc=loc), ir.Var(end, loc=loc), loc=loc)
        counted = substitute(body, {loop.var: ir.Var(at, loc=loc)})
        step = ir.Assign(at, ir.Binary("+", ir.Var(at, loc=loc), integer(loop.step, loc), loc=loc), loc=loc)
        again_for = ir.Assign(running, ir.Binary("&", inside, on, loc=loc), loc=loc)
        return [
            ir.Assign(at, loop.lo, loc=loc),
            ir.Assign(end, loop.hi, loc=loc),
            ir.Assign(running, inside, loc=loc),
            ir.While(state, (*counted, step, again_for), loc=loc),
        ]

    def _owning(self, loop: ir.For | ir.While) -> ir.For | ir.While:
        """The loop with the flags of its body among its private scalars, without those that only statements behind a
        jump had written."""
        if isinstance(loop, ir.While):
            return loop
        written = scalars_written(loop.body)
        reductions = tuple(r for r in loop.reductions if r.symbol.is_array or r.symbol in written)
        kept = tuple(s for s in loop.private if s.is_array or s in written)
        known = {*kept, *loop.last, *(r.symbol for r in reductions)}
        new = ordered(written - known) if loop.mode is not ir.LoopMode.SEQUENTIAL else ()
        return replace(loop, private=(*kept, *new), reductions=reductions)
