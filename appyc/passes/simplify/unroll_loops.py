"""Full unrolling of short loops with constant trip counts inside other loops.

    for j in range(1, m - 1):                   for j in range(1, m - 1):
        s = 0.0                                     s = 0.0
        for d in range(-1, 2):           ->         s += a[i, j - 1]
            s += a[i, j + d]                        s += a[i, j]
        b[i, j] = s / 3.0                           s += a[i, j + 1]
                                                    b[i, j] = s / 3.0

The enclosing loop is then innermost and can be vectorised; a loop of three iterations is too short for lanes. Sums keep
their order. Conditions on the loop variable are folded, and dead branches (`if d == 0: continue`) are removed.

Requires: `check_bounds` has run, which analyses the bounds once for all iterations.

Does not handle: loops with a pragma, or with data-dependent jumps; loops that contain other loops which cannot be
unrolled, or that are adjacent to one; bodies that would become too long.
"""

from __future__ import annotations

from dataclasses import replace

from appyc.analysis.dependences.verdicts import named
from appyc.ir.blocks import constant_range, perfect_nest, replace_outermost
from appyc.ir.nodes import Alloc, Break, Continue, For, Function, Stmt, Symbol, While
from appyc.ir.visit import contains, loops_of, map_loops, scalars_written, walk
from appyc.passes.loop_ops.unroll import written_out
from appyc.passes.pass_context import PassContext

MOST_TRIPS = 9
"""The greatest trip count for unrolling; a longer loop can be vectorised itself."""

MOST_NODES = 800
"""The most IR nodes of the enclosing loop's body after unrolling."""


def unroll_loops(fn: Function, ctx: PassContext) -> Function:
    asked = _asked_for(fn)

    def rule(loop: For) -> For:
        inner = loops_of(loop.body)
        if not inner or contains(loop.body, While):
            return loop
        if not all(n.var not in asked and _may_be_written_out(n) for n in inner):
            return loop
        body = _written_out(loop.body)
        jumps = contains(body, Break | Continue)
        if jumps or sum(1 for _ in walk(body)) > MOST_NODES:
            return loop
        for short in inner:
            ctx.remark(
                short.loc,
                f"{named(short)}: its {len(constant_range(short) or ())} iterations are written out",
            )
        return replace(loop, body=body)

    return map_loops(fn, rule)


def _asked_for(fn: Function) -> set[Symbol]:
    """The variables of loops that a pragma is about, by `collapse` from outside too."""
    marked = [(loop, loop.clauses.collapse) for loop in loops_of(fn.body) if loop.clauses is not None]
    return {n.var for loop, depth in marked for n in perfect_nest(loop)[:depth]}


def _may_be_written_out(loop: For) -> bool:
    values = constant_range(loop)
    small = values is not None and len(values) <= MOST_TRIPS
    if not values and scalars_written(loop.body):
        return False  # without the assignments, later reads would be of undefined scalars
    return small and not contains(loop.body, Alloc)


def _written_out(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    return replace_outermost(
        body, lambda s: written_out(s, _written_out(s.body)) if isinstance(s, For) else None
    )
