"""Removes tests that cannot fail: of divisors that are never zero, and of values that are always in range."""

from __future__ import annotations

from dataclasses import replace

from appyc.analysis.algebra.value_bounds import Facts, ValueBounds
from appyc.ir import nodes as ir
from appyc.ir.blocks import never_completes
from appyc.ir.invariance import evaluated_always
from appyc.ir.raising import divisor_may_be_zero, may_raise
from appyc.ir.visit import map_operands, walk
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
    values = ValueBounds(fn)

    def expression(e: ir.Expr, facts: Facts) -> ir.Expr:
        match e:
            case ir.Select(cond=cond, then=then, orelse=orelse):
                on_then, on_else = (
                    values.under(cond, holds, _behind(cond, facts)) for holds in (True, False)
                )
                return replace(e, cond=expression(cond, facts), then=expression(then, on_then),
                               orelse=expression(orelse, on_else))  # fmt: skip
            case ir.Logical(op=op, lhs=lhs, rhs=rhs):
                on_right = values.under(lhs, op == "and", _behind(lhs, facts))
                return replace(e, lhs=expression(lhs, facts), rhs=expression(rhs, on_right))
            case ir.Binary() if divisor_may_be_zero(e) and values.excludes_zero(e.rhs, facts):
                e = replace(e, trap=False)
        return map_operands(e, lambda operand: expression(operand, facts))

    def block(body: tuple[ir.Stmt, ...], facts: Facts) -> tuple[ir.Stmt, ...]:
        out = list[ir.Stmt]()
        for stmt in body:
            if (known := decided(stmt, facts)) is not None:
                out += block(known, facts)
                continue
            out.append(statement(stmt, facts))
            facts = _behind(stmt, facts)
            if isinstance(stmt, ir.If) and never_completes(stmt.then):
                facts = values.under(stmt.cond, False, facts).kept_in(stmt.orelse)
            else:
                facts = facts.kept_in(stmt)
        return tuple(out)

    def decided(stmt: ir.Stmt, facts: Facts) -> tuple[ir.Stmt, ...] | None:
        """The branch that a statement which may raise always takes."""
        if (
            not isinstance(stmt, ir.If)
            or may_raise(stmt.cond)
            or not any(isinstance(n, ir.Fail) for n in walk(stmt))
        ):
            return None
        low, high = values.of(stmt.cond, facts)
        return None if low < high else stmt.then if low else stmt.orelse

    def statement(stmt: ir.Stmt, facts: Facts) -> ir.Stmt:
        in_all_iterations = facts.kept_in(stmt) if isinstance(stmt, ir.For | ir.While) else facts
        known = in_all_iterations if isinstance(stmt, ir.While) else facts
        stmt = map_operands(stmt, lambda e: expression(e, known))
        match stmt:
            case ir.If(cond=cond, then=then, orelse=orelse):
                behind, ways = _behind(cond, facts), ((then, True), (orelse, False))
                new = [block(body, values.under(cond, holds, behind)) for body, holds in ways]
                return replace(stmt, then=new[0], orelse=new[1])
            case ir.While(cond=cond, body=body):
                return replace(stmt, body=block(body, values.under(cond, True, in_all_iterations)))
            case ir.For(body=body):
                return replace(stmt, body=block(body, in_all_iterations))
            case _:
                return stmt

    return replace(fn, body=block(fn.body, Facts()))


def _behind(node: ir.Node, facts: Facts) -> Facts:
    """The facts once a node has been evaluated: what it has divided by, and would have raised for, is not zero."""
    tested = (n.rhs for n in evaluated_always(node) if isinstance(n, ir.Binary) and divisor_may_be_zero(n))
    return Facts(facts.bounds, facts.nonzero.union(tested))
