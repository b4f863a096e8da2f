"""Full unrolling of loops over tuples: a copy of the body for each item, whose type and constant value it may use.

    for d in (-1, 1):                   if 0 <= i - 1:
        if i + d < 0:                       s += a[i - 1]
            continue             ->     if 0 <= i + 1:
        s += a[i + d]                       s += a[i + 1]

Statements that a `break` or `continue` skips are predicated (`desugar/unrolled_jumps.py`), and so are the
iterations after a return.

Does not handle: more than MAX_UNROLLED items.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable
from functools import partial

from appyc.errors import UnsupportedError
from appyc.frontend.control.conditionals import lower_condition
from appyc.frontend.control.joins import lower_arms
from appyc.frontend.control.loop_bodies import needed_in_loop
from appyc.frontend.desugar.unrolled_jumps import Unrolled
from appyc.frontend.expressions.arithmetic import constant_truth
from appyc.frontend.expressions.assignments import assign_to
from appyc.frontend.scope import Scope
from appyc.frontend.syntax.tree import may_return, statements_in
from appyc.frontend.types.values import Number, TupleValue, Value
from appyc.ir.nodes import Binary, Expr, Unary, Var

MAX_UNROLLED = 64
"""The most items of a tuple that a loop is unrolled over; a longer tuple is refused."""


def progression_of(node: ast.For, items: TupleValue) -> range | None:
    """The range that equals a tuple of integers, for a loop that is better rolled; None for other loops.

    Such a loop contains a `while`, and uses its items in arithmetic only. Copies of its body would be slow to
    compile without running faster.
    """
    values = [item.constant if isinstance(item, Number) and item.python else None for item in items.items]
    numbers = [value for value in values if type(value) is int]
    if len(numbers) < max(2, len(values)) or not any(
        isinstance(s, ast.While) for s in statements_in(*node.body)
    ):
        return None
    steps = {b - a for a, b in itertools.pairwise(numbers)}
    if len(steps) != 1 or 0 in steps or not _only_computed_with(node):
        return None
    step = steps.pop()
    return range(numbers[0], numbers[-1] + step, step)


def _only_computed_with(node: ast.For) -> bool:
    """Whether the target is a name that the body only reads in arithmetic and comparisons."""
    operands = {
        operand
        for n in ast.walk(node)
        if isinstance(n, ast.BinOp | ast.UnaryOp | ast.Compare)
        for operand in ast.iter_child_nodes(n)
    }
    return isinstance(node.target, ast.Name) and all(
        n in operands
        for stmt in (*node.body, *node.orelse)
        for n in ast.walk(stmt)
        if isinstance(n, ast.Name) and n.id == node.target.id
    )


def unroll(scope: Scope, node: ast.For, items: TupleValue) -> None:
    """Lowers the loop's body once for each item, and its else clause."""
    if len(items.items) > MAX_UNROLLED:
        raise UnsupportedError(f"a loop over a tuple of {len(items.items)} is not compiled", scope.loc(node),
                               hints=("use an array",))  # fmt: skip
    unrolled = Unrolled(node, scope.loc)
    scope.locals |= unrolled.flags
    for new, old in unrolled.replaced.items():
        scope.names_behind[new] = scope.names_behind.get(old, scope.locals) | unrolled.flags
    scope.lower_block(unrolled.start)

    def iteration(value: Value) -> None:
        assign_to(scope, node.target, value, scope.loc(node.target))
        scope.lower_block(unrolled.body)

    steps = [partial(iteration, value) for value in items.items]
    if node.orelse:
        steps.append(partial(scope.lower_block, node.orelse))
    for k, step in enumerate(steps):
        if not scope.live:
            return
        if k:
            _unless_left(scope, node, unrolled.goes_on, step)
        else:
            step()


def _unless_left(scope: Scope, node: ast.For, goes_on: ast.expr | None, step: Callable[[], None]) -> None:
    """Lowers the next iteration, predicated on the earlier ones not having left the loop."""
    loc = scope.loc(node)
    cond = lower_condition(scope, goes_on) if goes_on is not None else None
    # A return inside an enclosing loop has left that loop already.
    if scope.returned is not None and may_return(node) and not scope.loops:
        stays: Expr = Unary("~", Var(scope.returned, loc=loc), loc=loc)
        cond = Binary("&", cond, stays, loc=loc) if cond is not None else stays
    known = constant_truth(cond) if cond is not None else True
    if known is None and cond is not None:
        lower_arms(scope, cond, (step, lambda: None), needed_in_loop(scope, node), loc)
    elif known:
        step()
