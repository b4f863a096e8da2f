"""Loop versioning for bounds checks that seldom fail: which loops have a form without most of them.

Both loops stand in `c_gen/loops/unlikely_faults.py`. The one without checks must exit before an iteration has a side
effect.

Does not handle: loops that may raise for another reason, or exit early; tests after a side effect
in the same iteration; negative steps.
"""

from __future__ import annotations

from dataclasses import replace

from appyc.ir import nodes as ir
from appyc.ir.affine import linear_form, slope
from appyc.ir.array_accesses import bounds_tests, in_bounds, may_wrap, without_check, without_traps
from appyc.ir.invariance import is_invariant
from appyc.ir.raising import can_fault
from appyc.ir.schedule import Guarded
from appyc.ir.visit import contains, rewrite_all, scalars_read, scalars_written, walk
from appyc.passes.vectorise.simd_forms import why_not_simd

MOST_PRODUCTS = 3
"""Products of two numbers of 64 bits whose sum 128 bits tell from an index in range."""


def plan_guarded(loop: ir.For) -> Guarded | None:
    """The fast loop; None where it gains nothing, or could not exit before a side effect."""
    if loop.step < 1 or not can_fault(loop.body):
        return None
    if contains(loop.body, ir.For | ir.While | ir.Break | ir.Alloc | ir.Fail):
        return None
    written = scalars_written(loop.body)
    ends: dict[tuple[ir.Expr, ir.Expr], None] = {}

    def tested_by_ends(node: ir.Node) -> ir.Node | tuple[ir.Node, ...]:
        tests = bounds_tests(node)
        if not tests or not all(_is_between_its_ends(index, loop.var, written) for index, _ in tests):
            return node
        ends.update(dict.fromkeys(tests))
        return in_bounds(node)

    body = rewrite_all(loop.body, tested_by_ends)
    bare = rewrite_all(body, without_check)
    if can_fault(bare) or not _Order(loop).is_kept(body):
        return None
    lanes = not can_fault(body) and why_not_simd(replace(loop, body=body)) is None
    return Guarded(tuple(ends), lanes)


def _is_between_its_ends(index: ir.Expr, var: ir.Symbol, written: set[ir.Symbol]) -> bool:
    """Whether an index is the loop variable, times an invariant, plus an invariant, and 128 bits hold it."""
    products = [n for n in walk(index) if isinstance(n, ir.Binary) and n.op == "*" and may_wrap(n, var)]
    if len(products) > MOST_PRODUCTS or any(may_wrap(e, var) for n in products for e in (n.lhs, n.rhs)):
        return False
    exact = without_traps(index)
    factor = slope(exact, var)
    others = [t for t in linear_form(exact).terms if var not in scalars_read(t)]
    return factor is not None and is_invariant((factor, *others), written | {var})


class _Order:
    """Whether all tests of an iteration precede its side effects: stores, and assignments to scalars that live on."""

    def __init__(self, loop: ir.For) -> None:
        self.own = set(loop.private)
        self.lasts = False

    def is_kept(self, body: tuple[ir.Stmt, ...]) -> bool:
        return all(self._statement(stmt) for stmt in body)

    def _statement(self, stmt: ir.Stmt) -> bool:
        if isinstance(stmt, ir.If):
            if self.lasts and can_fault(stmt.cond):
                return False
            return self.is_kept(stmt.then) and self.is_kept(stmt.orelse)
        if self.lasts and can_fault(stmt):
            return False
        written = stmt.target if isinstance(stmt, ir.Assign | ir.Update) else None
        self.lasts |= isinstance(stmt, ir.Store) or (written is not None and written not in self.own)
        return True
