"""Iterations that are lowered one by one: all of a loop over a tuple, and the first ones of a loop whose names change
their types in them.

Full unrolling of loops over tuples: a copy of the body for each item, whose type and constant value it may use.

    for d in (-1, 1):                   if 0 <= i - 1:
        if i + d < 0:                       s += a[i - 1]
            continue             ->     if 0 <= i + 1:
        s += a[i + d]                       s += a[i + 1]

Statements that a `break` or `continue` skips are predicated (`desugar/predicated_jumps.py`), and so are the
iterations after a return.

Does not handle: more than MAX_UNROLLED items.

Loop peeling: the first iterations are emitted before the loop where a name has another type in them.

    total = 0                               total = 0
    for i in range(n):                      if not likely(0 < n): leave the call to Python
        total = total + rows[i]    ->       total = total + rows[0]            (a vector)
    return total                            for i in range(1, n):
                                                total = total + rows[i]
                                            return total

A loop-carried name must have one type at the top of every iteration of a compiled loop. `LoopBody` finds the
loops that violate this; their first iteration is peeled, and up to `facts.MAX_PEELED` iterations. For a trip
count of zero the code behind the loop would see the type from before the loop. The whole call is then left to
Python (`LeftToPython`), which is correct as long as no visible store has been made. If no name of changed type
is live behind the loop, a branch is emitted instead.

Not peeled: loops that a pragma makes parallel, loops with an else clause, and loops with a break, continue or
return that does not end an `if` at the body's own level.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from appyc.errors import UnsupportedError
from appyc.frontend.control.conditionals import known_as_numbers, lower_condition, proven
from appyc.frontend.control.iterables import MAX_UNROLLED
from appyc.frontend.control.joins import lower_arms, merge_branches
from appyc.frontend.control.loop_bodies import LoopBody, needed_in_loop
from appyc.frontend.desugar.predicated_jumps import Unrolled
from appyc.frontend.expressions.arithmetic import constant_truth
from appyc.frontend.expressions.assignments import assign_to
from appyc.frontend.expressions.left_calls import leave_unless
from appyc.frontend.facts import Env, Fork, Restart
from appyc.frontend.scope import Scope
from appyc.frontend.syntax.tree import may_return, own_jumps, statements_in
from appyc.frontend.types.numbers import joined
from appyc.frontend.types.values import ArrayRef, Binding, Number, Slot, Tensor, TupleValue, Value, dtype_of
from appyc.ir.nodes import Binary, Expr, If, Stmt, Unary, Var


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
                               "use an array")  # fmt: skip
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


# ---------------------------------------------------------------- peeling

_JUMPS = (ast.Break, ast.Continue, ast.Return)


@dataclass(frozen=True, slots=True)
class Peeled:
    """A loop to be peeled. runs: the condition under which the iteration of this number is executed. start: lowers
    the code ahead of its body. rest: lowers the residual loop over the other iterations."""

    body: LoopBody
    runs: Callable[[int], Expr]
    start: Callable[[int], None]
    rest: Callable[[], None]


def can_peel(node: ast.For | ast.While) -> bool:
    """Whether iterations of the loop may be peeled."""
    return not node.orelse and _exits_fit(node.body)


def lower_peeled(scope: Scope, loop: Peeled, times: int, number: int = 0) -> None:
    """Lowers the peeled iterations from this number on, and the residual loop behind them."""
    if number == times:
        loop.rest()
        return
    cond = loop.runs(number)
    known = constant_truth(cond)
    if known is False:
        return
    fork = scope.fork(scope.names_behind.get(loop.body.node, scope.locals))
    with scope.collect() as block:
        loop.start(number)
        _iteration(scope, loop, loop.body.node.body, lambda: lower_peeled(scope, loop, times, number + 1))
    scope.env = {name: binding for name, binding in scope.env.items() if name not in loop.body.hidden}
    if known:
        scope.block += block
    elif scope.live and (scope.exchanged is not None or not _agree(fork, scope.env)):
        leave_unless(scope, cond, "a loop that gives a name another type does not run", loop.body.loc)
        scope.block += block
    else:
        other: list[Stmt] = []
        ends = [(scope.env, block, scope.live), (fork.env, other, True)]
        scope.live = True
        merge_branches(scope, ends, fork, loop.body.loc)
        scope.emit(If(cond, tuple(block), tuple(other), loc=loop.body.loc))


def _iteration(scope: Scope, loop: Peeled, body: list[ast.stmt], then: Callable[[], None]) -> None:
    """Lowers one peeled iteration, and the continuation `then` on each path that does not leave the loop."""
    at = next((k for k, stmt in enumerate(body) if _own_exits(stmt)), len(body))
    scope.lower_block(body[:at])
    if not scope.live:
        return
    if at == len(body):
        then()
        return
    exit_, rest = body[at], body[at + 1 :]
    if not isinstance(exit_, ast.If):
        _leave(scope, exit_, then)
        return
    cond = lower_condition(scope, exit_.test)

    def leaving() -> None:
        known_as_numbers(scope, proven(exit_.test, True))
        scope.lower_block(exit_.body[:-1])
        if scope.live:
            _leave(scope, exit_.body[-1], then)

    def staying() -> None:
        known_as_numbers(scope, proven(exit_.test, False))
        scope.lower_block(exit_.orelse)
        if scope.live:
            _iteration(scope, loop, rest, then)

    known = constant_truth(cond)
    if known is not None:
        (leaving if known else staying)()
        return
    needed = scope.names_behind.get(loop.body.node, scope.locals)
    lower_arms(scope, cond, (leaving, staying), needed, scope.loc(exit_))
    if scope.exchanged is not None:
        # Only one of the two arms ends with a rotation of the buffers, so the join cannot represent it.
        scope.facts.copies_exchanged = True
        raise Restart


def _leave(scope: Scope, stmt: ast.stmt, then: Callable[[], None]) -> None:
    """The end of a peeled iteration by a jump: continue, break or return."""
    if isinstance(stmt, ast.Continue):
        then()
    elif isinstance(stmt, ast.Return):
        scope.lower_statement(stmt)


def _own_exits(stmt: ast.stmt) -> bool:
    """Whether the statement contains a return, or a break or continue of the enclosing loop."""
    return may_return(stmt) or own_jumps(stmt, _JUMPS)


def _exits_fit(body: list[ast.stmt]) -> bool:
    """Whether each jump out of an iteration is one of these statements, or the last in the body of such an `if`."""
    for stmt in body:
        if not _own_exits(stmt) or isinstance(stmt, _JUMPS):
            continue
        if not isinstance(stmt, ast.If) or not isinstance(stmt.body[-1], _JUMPS):
            return False
        if any(_own_exits(inner) for inner in (*stmt.body[:-1], *stmt.orelse)):
            return False
    return True


# ---------------------------------------------------------------- loops with a trip count of zero


def _agree(fork: Fork, after: Env) -> bool:
    """Whether the names that are live behind the loop have the types that they had before it."""
    return all(
        name in fork.env and _alike(fork.env[name], after[name]) for name in fork.needed & after.keys()
    )


def _alike(a: Binding, b: Binding) -> bool:
    if a == b:
        return True
    match a, b:
        case ((ArrayRef() | Tensor()), (ArrayRef() | Tensor())):
            return (dtype_of(a), a.ndim) == (dtype_of(b), b.ndim)
        case ((Slot() | Number()), (Slot() | Number())):
            t = joined(a.type, b.type)
            return t is not None and t.either is None
        case _:
            return False
