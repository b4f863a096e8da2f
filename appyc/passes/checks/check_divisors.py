"""Hoisting of tests for division by zero: divisors made of the parameters are tested once, by guards."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import replace

from appyc.ir import nodes as ir
from appyc.ir.invariance import changed_in, is_invariant
from appyc.ir.raising import divisor_may_be_zero
from appyc.ir.visit import children, rewrite, scalars_read
from appyc.passes.checks.guards import asked_in_order
from appyc.passes.node_builders import zero
from appyc.passes.pass_context import PassContext

MAX_DIVISORS = 8
"""The most divisors in a function that get a guard."""


def check_divisors(fn: ir.Function, ctx: PassContext) -> ir.Function:
    """Divisions in loops by what the function is given do not raise: a guard tests the divisor before the loop.

    Before:                                   After:
        for i in range(n):                        guard h != 0
            b[i] = a[i] / h  # may raise          for i in range(n):
                                                      b[i] = a[i] / h

    Iterations that cannot raise may run in parallel and in lanes. A guard may fail where the program would not divide;
    then the version runs that tests each divisor.

    Requires: `check_integer_overflow`, since a divisor that may overflow raises itself. Runs before `check_bounds`:
    quotients that may raise stand in no guard of an index.

    Does not handle: divisors computed in the function; those that a condition around the division reads
    (`if h != 0`), since calls with 0 may be usual there.
    """
    changed = changed_in(fn.body)
    divisors: dict[ir.Expr, None] = {}
    for node in _divisions_in_loops(fn.body, frozenset()):
        if is_invariant(node.rhs, changed):
            divisors[node.rhs] = None
    tested = tuple(divisors)[:MAX_DIVISORS]
    if not tested:
        return fn

    def rule(node: ir.Node) -> ir.Node:
        if isinstance(node, ir.Binary) and divisor_may_be_zero(node) and node.rhs in tested:
            return replace(node, trap=False)
        return node

    guards = (
        ir.Guard(ir.Compare("!=", d, zero(d.dtype, d.loc), loc=d.loc), "a divisor is not zero", loc=d.loc)
        for d in tested
    )
    return replace(rewrite(fn, rule), guards=asked_in_order((*fn.guards, *guards)))


def _divisions_in_loops(
    body: tuple[ir.Node, ...], tested: Set[ir.Symbol], inside: bool = False
) -> Iterator[ir.Binary]:
    """Divisions that may raise, whose divisors have no scalar that a condition around them reads."""
    for node in body:
        if (
            inside
            and isinstance(node, ir.Binary)
            and divisor_may_be_zero(node)
            and not tested & scalars_read(node.rhs)
        ):
            yield node
        around = inside or isinstance(node, ir.For | ir.While)
        match node:
            case ir.If(cond=first) | ir.Select(cond=first) | ir.Logical(lhs=first):
                yield from _divisions_in_loops((first,), tested, around)
                rest = tuple(part for part in children(node) if part is not first)
                yield from _divisions_in_loops(rest, tested | scalars_read(first), around)
            case _:
                yield from _divisions_in_loops(tuple(children(node)), tested, around)
