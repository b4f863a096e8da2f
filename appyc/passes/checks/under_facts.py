"""Rewrites a function with what is known at each point: conditions that hold, and what has been evaluated and has not
raised."""

from __future__ import annotations

from dataclasses import replace

from appyc.analysis.algebra.value_bounds import Facts, ValueBounds
from appyc.ir import nodes as ir
from appyc.ir.blocks import never_completes
from appyc.ir.visit import map_operands


class UnderFacts:
    """Walks a function with the facts that hold at each point. Subclasses define the rewrites, and the facts that
    follow from an evaluation."""

    def __init__(self, fn: ir.Function) -> None:
        self.values = ValueBounds(fn)

    def expression(self, e: ir.Expr, facts: Facts) -> ir.Expr:
        """The expression that replaces `e` under the given facts; its operands are rewritten afterwards."""
        raise NotImplementedError

    def statement(self, stmt: ir.Stmt, facts: Facts) -> ir.Stmt | tuple[ir.Stmt, ...]:
        """The statement that replaces `stmt` under the given facts, or the statements that do; these are
        rewritten in turn."""
        return stmt

    def behind_operand(self, e: ir.Expr, facts: Facts) -> Facts:
        """The facts that hold in the rest of a statement once its subexpression `e` has been evaluated, even
        if that has raised."""
        return facts

    def behind(self, node: ir.Node, facts: Facts) -> Facts:
        """The facts that hold after a statement, or after the condition of one, has been evaluated without
        raising."""
        return facts

    def rewritten(self, fn: ir.Function) -> ir.Function:
        return replace(fn, body=self._block(fn.body, Facts()))

    def _expression(self, e: ir.Expr, facts: Facts) -> ir.Expr:
        match e := self.expression(e, facts):
            case ir.Select(cond=cond, then=then, orelse=orelse):
                behind = self.behind_operand(cond, facts)
                on_then, on_else = (self.values.under(cond, holds, behind) for holds in (True, False))
                return replace(e, cond=self._expression(cond, facts), then=self._expression(then, on_then),
                               orelse=self._expression(orelse, on_else))  # fmt: skip
            case ir.Logical(op=op, lhs=lhs, rhs=rhs):
                on_right = self.values.under(lhs, op == "and", self.behind_operand(lhs, facts))
                return replace(e, lhs=self._expression(lhs, facts), rhs=self._expression(rhs, on_right))
        return map_operands(e, lambda operand: self._expression(operand, facts))

    def _block(self, body: tuple[ir.Stmt, ...], facts: Facts) -> tuple[ir.Stmt, ...]:
        out = list[ir.Stmt]()
        for stmt in body:
            new = self.statement(stmt, facts)
            if isinstance(new, tuple):
                out += self._block(new, facts)
                continue
            out.append(self._inside(new, facts))
            facts = self.behind(stmt, facts)
            if isinstance(stmt, ir.If) and never_completes(stmt.then):
                facts = self.values.under(stmt.cond, False, facts).kept_in(stmt.orelse)
            else:
                facts = facts.kept_in(stmt)
        return tuple(out)

    def _inside(self, stmt: ir.Stmt, facts: Facts) -> ir.Stmt:
        always = facts.kept_in(stmt) if isinstance(stmt, ir.For | ir.While) else facts
        known = always if isinstance(stmt, ir.While) else facts
        new = map_operands(stmt, lambda e: self._expression(e, known))
        match stmt, new:
            case ir.If(cond=cond), ir.If(then=then, orelse=orelse):
                behind, ways = self.behind(cond, facts), ((then, True), (orelse, False))
                arms = [self._block(body, self.values.under(cond, holds, behind)) for body, holds in ways]
                return replace(new, then=arms[0], orelse=arms[1])
            case ir.While(cond=cond), ir.While(body=body):
                behind = self.behind(cond, always)
                return replace(new, body=self._block(body, self.values.under(cond, True, behind)))
            case ir.For(), ir.For(body=body):
                return replace(new, body=self._block(body, always))
            case _:
                return new
