"""Array elements that a loop only accumulates into, in scalars for the time of the loop.

    for k in range(n):                      c = C[i, j]
        C[i, j] += A[i, k] * B[k, j]   ->   for k in range(n):
                                                c += A[i, k] * B[k, j]
                                            if n > 0:
                                                C[i, j] = c

The element is read once and written once instead of n times, and a loop that may run in any
order but for the accumulation carries a scalar reduction afterwards. The order of the
operations stays what it was. The loop has to touch the array by updates of that one element
alone; an update that is atomic or may not run (under an `if`, in a `while`) stays.
"""

from __future__ import annotations

from dataclasses import replace

from appyc.ir.names import NameSupply
from appyc.ir.nodes import (
    Assign,
    Compare,
    Expr,
    For,
    Function,
    If,
    Load,
    LoopMode,
    Node,
    Reduction,
    Stmt,
    Store,
    Symbol,
    Update,
    Var,
)
from appyc.ir.visit import map_loops, rewrite_all, scalars_written, walk
from appyc.passes.context import PassContext


def promote_accumulators(fn: Function, ctx: PassContext) -> Function:
    """The function with accumulators in scalars, in loops that are not parallel."""
    names = NameSupply.after(fn)
    return map_loops(fn, lambda loop: _promote(loop, names))


def _promote(loop: For, names: NameSupply) -> Stmt | tuple[Stmt, ...]:
    if loop.mode is LoopMode.PARALLEL:
        return loop
    before: list[Stmt] = []
    after: list[Stmt] = []
    for update in _candidates(loop):
        scalar = names.fresh(f"{update.target.name}_element", update.target.dtype)
        loc = update.loc
        element = Load(update.target, update.index, update.checked, loc=loc)
        before.append(Assign(scalar, element, loc=loc))
        after.append(Store(update.target, update.index, Var(scalar, loc=loc), update.checked, loc=loc))
        loop = _replaced(loop, update, scalar)
    if not before:
        return loop
    runs = Compare("<" if loop.step > 0 else ">", loop.lo, loop.hi, loc=loop.loc)
    # An element is touched only where the loop runs: it may not exist where it does not.
    return If(runs, (*before, loop, *after), loc=loop.loc)


def _candidates(loop: For) -> list[Update]:
    """Updates that run in every iteration, of elements that stay the same and that nothing else touches."""
    changing = {loop.var} | scalars_written(loop.body)
    touched = _touches(loop.body)
    found: list[Update] = []
    for update in _always_run(loop.body):
        alone = touched[update.target] == sum(_same(update, u) for u in _always_run(loop.body))
        known = any(_same(update, u) for u in found)
        if alone and not known and not update.atomic and all(_is_fixed(i, changing) for i in update.index):
            found.append(update)
    return found


def _always_run(body: tuple[Stmt, ...]) -> list[Update]:
    return [stmt for stmt in body if isinstance(stmt, Update) and stmt.index]


def _same(a: Update, b: Update) -> bool:
    return (a.target, a.index, a.op, a.atomic, a.checked) == (b.target, b.index, b.op, b.atomic, b.checked)


def _is_fixed(index: Expr, changing: set[Symbol]) -> bool:
    return not any(isinstance(n, Load) or (isinstance(n, Var) and n.symbol in changing) for n in walk(index))


def _touches(body: tuple[Stmt, ...]) -> dict[Symbol, int]:
    """How many accesses each array has."""
    found: dict[Symbol, int] = {}
    for node in walk(body):
        if isinstance(node, Load | Store):
            found[node.array] = found.get(node.array, 0) + 1
        elif isinstance(node, Update) and node.index:
            found[node.target] = found.get(node.target, 0) + 1
    return found


def _replaced(loop: For, update: Update, scalar: Symbol) -> For:
    """The loop with updates of the element as updates of the scalar."""

    def rule(node: Node) -> Node:
        if isinstance(node, Update) and _same(node, update):
            return Update(scalar, (), node.op, node.value, loc=node.loc)
        return node

    body = rewrite_all(loop.body, rule)
    if loop.mode is LoopMode.SIMD:
        return replace(loop, body=body, reductions=(*loop.reductions, Reduction(update.op, scalar)))
    return replace(loop, body=body)
