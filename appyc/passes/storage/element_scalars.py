"""Rewrites loops for elements held in scalars, which `scalar_replacement` and `promote_accumulators` choose."""

from __future__ import annotations

from dataclasses import dataclass, replace

from appyc.analysis.accesses.elements import FixedElement
from appyc.ir import nodes as ir
from appyc.ir.blocks import perfect_nest
from appyc.ir.visit import rewrite_all
from appyc.passes.loop_ops.contract import contracted
from appyc.passes.node_builders import conjunction, has_iterations, start_of_sum


@dataclass(frozen=True, slots=True)
class Held:
    """An element and the scalar that holds it while a loop runs.

    combined: the scalar starts from the operator's neutral element, and is combined into the
    element after the loop. read: the loop needs the value from before it.
    """

    element: FixedElement
    scalar: ir.Symbol
    combined: bool = False
    read: bool = True

    def before(self) -> ir.Stmt:
        at, loc = self.element.at, self.element.at.loc
        if self.combined:
            assert self.element.op is not None
            return ir.Assign(self.scalar, start_of_sum(self.element.op, self.scalar.dtype, loc), loc=loc)
        value = ir.Load(self.element.array, self.element.index, at.checked, loc=loc)
        return ir.Assign(self.scalar, value, loc=loc)

    def after(self) -> ir.Stmt:
        at, loc = self.element.at, self.element.at.loc
        value = ir.Var(self.scalar, loc=loc)
        if self.combined:
            assert self.element.op is not None
            return ir.Update(self.element.array, self.element.index, self.element.op, value,
                          checked=at.checked, loc=loc)  # fmt: skip
        return ir.Store(self.element.array, self.element.index, value, at.checked, loc=loc)


def held_in_scalars(loop: ir.For, held: tuple[Held, ...], *, guarded: bool) -> tuple[ir.Stmt, ...]:
    """The loop with its elements in scalars, and what fetches and stores them.

    guarded: they are only touched where the loop does so. Elements in a perfect nest may not exist where one of its
    loops has no iteration; nothing else runs then, either.
    """
    before = tuple(h.before() for h in held if h.read or not guarded)
    body = (*before, in_scalars(loop, held), *(h.after() for h in held))
    if not guarded:
        return body
    nest = perfect_nest(loop)[: max(len(h.element.nest) for h in held)]
    return (ir.If(conjunction([has_iterations(each) for each in nest]), body, loc=loop.loc),)


def in_scalars(loop: ir.For, held: tuple[Held, ...]) -> ir.For:
    """The loop with every access of the elements as one of their scalars."""

    def rule(node: ir.Node) -> ir.Node:
        for h in held:
            if h.element.is_touched_by(node):
                return contracted(node, h.element.array, h.scalar)
        return node

    loop = replace(loop, body=rewrite_all(loop.body, rule), clauses=_renamed(loop.clauses, held))
    if loop.mode is ir.LoopMode.SEQUENTIAL:
        return loop
    combined = tuple(ir.Reduction(h.element.op, h.scalar) for h in held if h.element.op is not None)
    return replace(loop, reductions=(*loop.reductions, *combined))


def _renamed(clauses: ir.Clauses | None, held: tuple[Held, ...]) -> ir.Clauses | None:
    """Clauses that name the scalar where the user named the array with the element."""
    if clauses is None or not any(r.symbol.is_array for r in clauses.reductions):
        return clauses
    scalars = {h.element.array: h.scalar for h in held if not h.element.others}
    named = tuple(ir.Reduction(r.op, scalars.get(r.symbol, r.symbol)) for r in clauses.reductions)
    return replace(clauses, reductions=named)
