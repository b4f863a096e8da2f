"""Induction-variable substitution: closed forms for counters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from appyc.errors import Loc
from appyc.ir.affine import distance
from appyc.ir.blocks import has_own, own_statements
from appyc.ir.nodes import Assign, Binary, Break, Continue, Expr, For, Function, If, Stmt, Symbol, Var
from appyc.ir.types import DType
from appyc.ir.visit import map_loops, scalars_written, substitute
from appyc.passes.node_builders import integer, iterations_of, scaled, shifted, trip_count
from appyc.passes.parallelise.plain_loops import has_fixed_bounds
from appyc.passes.pass_context import PassContext

Closed: TypeAlias = Callable[[int], Expr]
"""The counter's value in the current iteration, after the given part of its step."""


def substitute_induction(fn: Function, ctx: PassContext) -> Function:
    """Counters that every iteration moves by the same constant get a closed form.

    Before:                                   After:
        k = -1                                    k = -1
        for i in range(n):                        for i in range(n):
            k += 2                                    a[k + i * 2 + 2] = b[i]
            a[k] = b[i]                           k = k + max(n, 0) * 2

    A counter is a basic induction variable: a 64-bit integer that the body changes only by constant steps, in
    statements that every iteration executes. Both branches of an `if` may change it, by the same amount. Inner loops
    must not change it, but by a constant that is left behind them. The loop bounds must be loop-invariant.

    Runs before `check_bounds`, which could not bound the index of `a[k]`.

    Does not handle: steps that are not constant (a counter moved by an inner loop of varying length keeps its own
    assignment in the outer one), products, counters moved under a condition, loops with `break` or `continue`, and
    variables that a pragma's clause names.
    """
    if not ctx.may_change_loops(fn):
        return fn
    return map_loops(fn, lambda loop: _without_counters(loop, ctx))


def _without_counters(loop: For, ctx: PassContext) -> For | tuple[Stmt, ...]:
    if loop.request == "sequential":
        return loop
    after: list[Stmt] = []
    for symbol, step, loc in _counters(loop):
        first = Var(symbol, loc=loc)
        here = Binary("+", first, scaled(_number_of_iteration(loop), step), loc=loc)
        body, _ = _replaced(loop.body, symbol, partial(shifted, here), 0)
        end = Binary("+", first, scaled(iterations_of(loop), step), loc=loc)
        after.append(Assign(symbol, end, loc=loc))
        loop = replace(loop, body=body)
        ctx.freed(loop.var, f"giving the induction variable '{symbol.name}' a closed form")
        ctx.remark(loc, f"'{symbol.name}' moves by {step} in every iteration: has a closed form")
    return (loop, *after) if after else loop


def _counters(loop: For) -> list[tuple[Symbol, int, Loc]]:
    """The counters of a loop, in the order in which they are first moved, with their steps."""
    if has_own(loop.body, Break | Continue) or not has_fixed_bounds(loop):
        return []
    own = own_statements(loop.body)
    named: set[Symbol] = set()
    if loop.clauses is not None:
        named = {r.symbol for r in loop.clauses.reductions} | {*loop.clauses.private, *loop.clauses.shared}
    moved = [s.target for s in own if isinstance(s, Assign) and _shift_of(s) is not None]
    out: list[tuple[Symbol, int, Loc]] = []
    for symbol in dict.fromkeys(moved):
        step = None if symbol in named else _step_of(loop.body, symbol)
        if step:
            loc = next(s.loc for s in own if isinstance(s, Assign) and s.target == symbol)
            out.append((symbol, step, loc))
    return out


def _shift_of(stmt: Assign) -> int | None:
    """The constant of `k = k + 2`, `k = 2 + k`, `k = k - 2`."""
    return distance(stmt.value, stmt.target) if stmt.target.dtype is DType.INT64 else None


def _step_of(body: tuple[Stmt, ...], symbol: Symbol) -> int | None:
    """The constant that every execution of a block adds to a scalar; None where executions differ."""
    total = 0
    for stmt in body:
        if symbol not in scalars_written(stmt):
            continue
        match stmt:
            case Assign():
                shift = _shift_of(stmt)
            case If():
                then, orelse = _step_of(stmt.then, symbol), _step_of(stmt.orelse, symbol)
                shift = then if then == orelse else None
            case _:
                shift = None
        if shift is None:
            return None
        total += shift
    return total


def _replaced(
    body: tuple[Stmt, ...], symbol: Symbol, closed: Closed, part: int
) -> tuple[tuple[Stmt, ...], int]:
    """The block without the counter, and the part of its step that is done at the end."""
    out: list[Stmt] = []
    for stmt in body:
        if isinstance(stmt, Assign) and stmt.target == symbol:
            part += _shift_of(stmt) or 0
        elif isinstance(stmt, If):
            cond = substitute(stmt.cond, {symbol: closed(part)})
            then, end = _replaced(stmt.then, symbol, closed, part)
            orelse, _ = _replaced(stmt.orelse, symbol, closed, part)
            part = end
            out.append(replace(stmt, cond=cond, then=then, orelse=orelse))
        else:
            out.append(substitute(stmt, {symbol: closed(part)}))
    return tuple(out), part


def _number_of_iteration(loop: For) -> Expr:
    """The number of iterations before the current one, in terms of the loop's variable."""
    size = abs(loop.step)
    done = trip_count(loop.lo, Var(loop.var, loc=loop.loc), loop.step // size)
    return done if size == 1 else Binary("//", done, integer(size, loop.loc), loc=loop.loc)
