"""Merges two reductions whose results are only combined with each other into one.

    total = 0.0                                     total = 0.0
    total_2 = 0.0                                   total_2 = 0.0
    for i in range(0, n):                           for i in range(0, n):
        total += x[i]                       ->          total += x[i]
        total_2 += x[i]                             total_2 = total

The mean and the standard deviation of one array both start with its sum, and `fuse_loops` brings the two sums
into one loop. C compilers do not merge them: they keep the sums of floats as two dependence chains.

Requires: `recognise_reductions` has run.

Does not handle: scalars that do not start from one constant; updates under a condition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from appyc.analysis.accesses.syntactic_effects import Touched
from appyc.ir.nodes import Assign, Const, Expr, For, Function, Stmt, Symbol, Update, Var
from appyc.ir.visit import map_blocks, scalars_written, symbols_of, walk
from appyc.passes.pass_context import PassContext


def merge_reductions(fn: Function, ctx: PassContext) -> Function:
    """The function with one scalar in loops that have two equal reductions."""
    if sum(isinstance(n, Update) for n in walk(fn)) < 2:
        return fn
    body = _block(fn.body, ctx)
    return fn if body == fn.body else replace(fn, body=body)


def _block(body: tuple[Stmt, ...], ctx: PassContext) -> tuple[Stmt, ...]:
    out: list[Stmt] = []
    for stmt in body:
        match stmt:
            case For():
                loop, copies = _with_shared(replace(stmt, body=_block(stmt.body, ctx)), out)
                out += [loop, *copies]
                for copy in copies:
                    text = f"'{copy.target.name}' is combined from what another one is, and once for both"
                    ctx.remark(copy.loc, text)
            case _:
                out.append(map_blocks(stmt, lambda block: _block(block, ctx)))
    return tuple(out)


def _with_shared(loop: For, before: Sequence[Stmt]) -> tuple[For, list[Assign]]:
    """The loop without duplicate reductions, and the copies behind it that set their scalars."""
    kept: list[Stmt] = []
    copies: list[Assign] = []
    for number, stmt in enumerate(loop.body):
        twin = _twin(stmt, loop, number, before) if isinstance(stmt, Update) else None
        if twin is None:
            kept.append(stmt)
        elif isinstance(stmt, Update):
            copies.append(Assign(stmt.target, Var(twin, loc=stmt.loc), loc=stmt.loc))
    return (replace(loop, body=tuple(kept)), copies) if copies else (loop, copies)


def _twin(update: Update, loop: For, number: int, before: Sequence[Stmt]) -> Symbol | None:
    """A scalar that an earlier update in the body gives the same sequence of values as the update's target."""
    if update.target.is_array or update.mask is not None or not _is_alone(update.target, loop):
        return None
    start = _start(update.target, before)
    needed = Touched.by(update.value)
    for other in reversed(loop.body[:number]):
        if isinstance(other, Update) and start is not None and _is_same(other, update):
            first = _start(other.target, before)
            if first is not None and _are_same(first, start) and _is_alone(other.target, loop):
                return other.target
        if Touched.by(other).writes & needed.reads:
            return None
    return None


def _is_same(one: Update, other: Update) -> bool:
    """Whether two updates of scalars do the same to equal values."""
    if one.target.is_array or one.mask is not None or one.op != other.op:
        return False
    return one.target.dtype is other.target.dtype and _are_same(one.value, other.value)


def _are_same(one: Expr, other: Expr) -> bool:
    """Whether two expressions are one, the signs of their zeros included."""
    constants = ([repr(n.value) for n in walk(e) if isinstance(n, Const)] for e in (one, other))
    return one == other and next(constants) == next(constants)


def _is_alone(symbol: Symbol, loop: For) -> bool:
    """Whether the only access of the loop to the scalar is one update, and no clause names the scalar."""
    if loop.clauses is not None and symbol in symbols_of(loop.clauses):
        return False
    writes = [n for n in walk(loop.body) if isinstance(n, Assign | Update) and n.target == symbol]
    reads = any(isinstance(n, Var) and n.symbol == symbol for n in walk(loop))
    return len(writes) == 1 and not reads


def _start(symbol: Symbol, before: Sequence[Stmt]) -> Const | None:
    """The constant that a scalar holds before the loop."""
    for stmt in reversed(before):
        if symbol not in scalars_written(stmt):
            continue
        if isinstance(stmt, Assign) and isinstance(stmt.value, Const):
            return stmt.value
        return None
    return None
