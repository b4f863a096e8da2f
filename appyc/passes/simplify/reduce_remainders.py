"""Strength reduction of remainders: an operand less than one period outside needs a comparison, and no division.

    for j in range(0, m):                             for j in range(0, m):
        b[j] = a[(j + 1) % m]            ->               b[j] = a[j + 1 - m if j + 1 >= m else j + 1]

Such indices come from periodic boundaries. A remainder is opaque to the dependence analysis, its divisor is tested in
every iteration, and the load is a gather. The select has bounds that `check_bounds` proves, and `split_at_conditions`
cuts the loop where it changes, so that all but the first and the last iterations load neighbours.

The operand is a sum of a variable that counts from a constant below the divisor, and of terms within constant bounds:
constants, and variables of loops with constant bounds. Where the loop runs, the divisor is at least 1. A larger
offset, as of `(j + 2) % m`, is less than one period if `m` is at least that: this is a guard, if `m` is a parameter.

Requires: `copy_propagation` has run; the function's guards hold.

Does not handle: quotients; offsets that are parameters.
"""

from __future__ import annotations

from dataclasses import replace

from appyc.ir import nodes as ir
from appyc.ir.affine import excess, linear_form
from appyc.ir.raising import divisor_may_be_zero
from appyc.ir.types import DType
from appyc.ir.visit import scalars_written, symbols_of, walk
from appyc.passes.checks.guards import asked_in_order
from appyc.passes.node_builders import at_least, counted_from_end, integer, shifted, truth
from appyc.passes.pass_context import PassContext
from appyc.passes.simplify.counted_variables import Ranges, rewrite_in_ranges

_WHY = "an index is less than one period out of range"


def reduce_remainders(fn: ir.Function, ctx: PassContext) -> ir.Function:
    """The function with such remainders as selects, and the guards that they need."""
    if not any(isinstance(n, ir.Binary) and n.op == "%" for n in walk(fn.body)):
        return fn
    fixed = frozenset(fn.params) - scalars_written(fn.body)
    guards: dict[ir.Guard, None] = {}

    def rule(node: ir.Node, ranges: Ranges) -> ir.Node:
        match node:
            case ir.Binary(op="%") if node.dtype is DType.INT64:
                return _reduced(node, ranges, fixed, guards)
            case ir.Compare(op=">=", lhs=ir.Var(symbol=counter), rhs=ir.Const(value=int(least))) if (
                counter in ranges and ranges[counter].lo >= least
            ):
                return truth(True, node.loc)
            case ir.Select(cond=ir.Const(value=holds)):
                return node.then if holds else node.orelse
            case _:
                return node

    body = rewrite_in_ranges(fn.body, rule, {})
    return fn if body == fn.body else replace(fn, body=body, guards=asked_in_order((*fn.guards, *guards)))


def _reduced(
    node: ir.Binary, ranges: Ranges, fixed: frozenset[ir.Symbol], guards: dict[ir.Guard, None]
) -> ir.Expr:
    """The remainder without the division, if its operand is less than one period outside.

    fixed: parameters that keep their values. guards: gets new ones.
    """
    base, loc, form = node.rhs, node.loc, linear_form(node.lhs)
    if not form.terms:
        return _of_constant(node, form.constant, fixed, guards)
    if not isinstance(base, ir.Extent | ir.Var):
        return node
    for counter, factor in form.terms.items():
        if factor == 1 and (found := _room(counter, ranges, base)) is not None:
            break
    else:
        return node
    first, room = found
    low = high = form.constant
    for term, factor in form.terms.items():
        if term == counter:
            continue
        known = ranges.get(term.symbol) if isinstance(term, ir.Var) else None
        if known is None or not isinstance(known.hi, ir.Const):
            return node
        ends = (factor * known.lo, factor * (int(known.hi.value.real) - 1))
        low, high = low + min(ends), high + max(ends)
    # The operand is at least first + low, and less than base - room + high.
    least = max(-(first + low), high - room)
    if least > first + room + 1:  # base is at least this in every iteration
        if not fixed.issuperset(symbols_of(base)):
            return node
        guards[ir.Guard(at_least(base, least), _WHY, loc=loc)] = None
    value = node.lhs
    if high > room:
        outside = ir.Compare(">=", node.lhs, base, loc=loc)
        value = ir.Select(outside, ir.Binary("-", node.lhs, base, loc=loc), value, loc=loc)
    if first + low < 0:
        value = replace(counted_from_end(node.lhs, base), orelse=value)
    return value


def _of_constant(
    node: ir.Binary, value: int, fixed: frozenset[ir.Symbol], guards: dict[ir.Guard, None]
) -> ir.Expr:
    """The remainder of a constant by a length, or by the greater of a length and 1."""
    base, loc = node.rhs, node.loc
    match base:
        case ir.Binary(op="max", lhs=length, rhs=ir.Const(value=1)):
            base = length
    if not isinstance(base, ir.Extent | ir.Var) or not fixed.issuperset(symbols_of(base)):
        return node
    if value or divisor_may_be_zero(node):
        guards[ir.Guard(at_least(base, max(value + 1, -value)), _WHY, loc=loc)] = None
    return shifted(base, value) if value < 0 else integer(value, loc)


def _room(term: ir.Expr, ranges: Ranges, base: ir.Expr) -> tuple[int, int] | None:
    """The first value of a loop variable, and how far its end is below the base; None if it may leave [0, base)."""
    known = ranges.get(term.symbol) if isinstance(term, ir.Var) else None
    if known is None or known.lo < 0:
        return None
    beyond = excess(known.hi, base)
    return None if beyond is None or beyond > 0 else (known.lo, -beyond)
