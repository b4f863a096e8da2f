"""Removes tests that cannot fail: of divisors that are never zero, and of values that are always in range."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from appyc.analysis.algebra.value_bounds import Facts
from appyc.analysis.algebra.values_before import ValuesBefore
from appyc.ir import nodes as ir
from appyc.ir.integers import range_of
from appyc.ir.invariance import evaluated_always
from appyc.ir.raising import divisor_may_be_zero, may_raise
from appyc.ir.visit import contains, walk
from appyc.passes.checks.under_facts import UnderFacts
from appyc.passes.pass_context import PassContext


def prove_tests(fn: ir.Function, ctx: PassContext) -> ir.Function:
    """Divisions whose divisors bounds of values, conditions around them, or divisions before them keep from zero are
    not tested, and statements that raise under a condition that never holds go.

    Before:                                           After:
        for i in range(n):                                for i in range(n):
            s += 4.0 / (1.0 + x * x)  # may raise             s += 4.0 / (1.0 + x * x)
            if d > 0.0: a[i] = b / d  # may raise             if d > 0.0: a[i] = b / d
            c[i], e[i] = 1.0 / h, 2.0 / h                     c[i] = 1.0 / h; e[i] = 2.0 / h  # the first may raise
            v = int(0.5 * pixel[i])  # uint8                  v = int(0.5 * pixel[i])
            if v > 255: raise OverflowError

    Iterations that cannot raise may run in parallel and in lanes.

    Requires: `copy_propagation`, which shows what divisors are made of. Does not handle: products of floats, which may
    vanish.
    """
    if not any(
        isinstance(n, ir.Fail) or (isinstance(n, ir.Binary) and divisor_may_be_zero(n)) for n in walk(fn.body)
    ):
        return fn
    return _Tests(fn).rewritten(fn)


class _Tests(UnderFacts):
    def __init__(self, fn: ir.Function) -> None:
        super().__init__(fn)
        self.fn = fn

    @cached_property
    def flow(self) -> ValuesBefore:
        """Bounds of integers at each statement, where those of all that is assigned to them do not suffice."""
        return ValuesBefore(self.fn)

    def expression(self, e: ir.Expr, facts: Facts) -> ir.Expr:
        if isinstance(e, ir.Binary) and divisor_may_be_zero(e) and self.values.excludes_zero(e.rhs, facts):
            return replace(e, trap=False)
        return e

    def statement(self, stmt: ir.Stmt, facts: Facts) -> ir.Stmt | tuple[ir.Stmt, ...]:
        """The branch that a statement which may raise always takes."""
        if not isinstance(stmt, ir.If) or may_raise(stmt.cond) or not contains(stmt, ir.Fail):
            return stmt
        low, high = self.values.of(stmt.cond, facts)
        if low == high:
            return stmt.then if low else stmt.orelse
        if (box := self.flow.before.get(id(stmt))) is None:
            return stmt
        low, high = range_of(stmt.cond, box)
        taken = stmt.then if low else stmt.orelse
        return (
            taken if low == high and not contains(taken, ir.Fail) else stmt
        )  # what always raises is reported elsewhere

    def behind_operand(self, e: ir.Expr, facts: Facts) -> Facts:
        return self.behind(e, facts)  # a second division by zero does no harm

    def behind(self, node: ir.Node, facts: Facts) -> Facts:
        divided = (
            n.rhs for n in evaluated_always(node) if isinstance(n, ir.Binary) and divisor_may_be_zero(n)
        )
        return replace(facts, nonzero=facts.nonzero.union(divided))
