"""Redundant check elimination: an index that an access has been checked for is not checked again."""

from __future__ import annotations

from dataclasses import replace

from appyc.analysis.algebra.value_bounds import Facts
from appyc.ir import nodes as ir
from appyc.ir.array_accesses import AccessNode, array_of, is_access
from appyc.ir.invariance import evaluated_always
from appyc.ir.raising import traps_overflow
from appyc.ir.visit import walk
from appyc.passes.checks.under_facts import UnderFacts
from appyc.passes.pass_context import PassContext


def redundant_checks(fn: ir.Function, ctx: PassContext) -> ir.Function:
    """Accesses with the index of a checked access before them, and sums that have been computed before, are unchecked.

    Before:                                           After:
        t = a[i + k]                # checked             t = a[i + k]            # checked
        a[i + k] = a[i + k] * 2     # checked             a[i + k] = a[i + k] * 2

    The source is R. Gupta, Optimizing array bound checks using flow analysis (1993).

    Requires: C, where nothing behind a statement that has raised runs. Runs last but for `choose_forms`: no pass may
    move an access before the one that was checked. Does not handle: indices that may be negative, which count from the
    end; accesses in one statement, whose parts are all evaluated.
    """
    if not any(_is_checked(n) or traps_overflow(n) for n in walk(fn.body)):
        return fn
    return _Checks(fn).rewritten(fn)


def _is_checked(node: ir.Node) -> bool:
    return is_access(node) and node.checked and bool(node.index)


class _Checks(UnderFacts):
    def expression(self, e: ir.Expr, facts: Facts) -> ir.Expr:
        if traps_overflow(e) and e in facts.evaluated:
            return replace(e, trap=False)
        return replace(e, checked=False) if isinstance(e, ir.Load) and self._is_valid(e, facts) else e

    def statement(self, stmt: ir.Stmt, facts: Facts) -> ir.Stmt:
        if isinstance(stmt, ir.Store | ir.Update) and self._is_valid(stmt, facts):
            return replace(stmt, checked=False)
        return stmt

    def behind(self, node: ir.Node, facts: Facts) -> Facts:
        nodes = list(evaluated_always(node))
        accesses = [n for n in nodes if is_access(n) and _is_checked(n)]
        indices = {(array_of(n), axis, e) for n in accesses for axis, e in enumerate(n.index)}
        evaluated = facts.evaluated.union(n for n in nodes if traps_overflow(n))
        return replace(facts, evaluated=evaluated, indices=facts.indices | indices)

    def _is_valid(self, node: AccessNode, facts: Facts) -> bool:
        return _is_checked(node) and all(
            (array_of(node), axis, e) in facts.indices and self.values.of(e, facts)[0] >= 0
            for axis, e in enumerate(node.index)
        )
