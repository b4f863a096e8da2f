"""Reductions into array elements as atomic updates, or as reductions of scalars, on a GPU.

    for i in range(n):                # parallel, reduction(+: hist)
        hist[key[i]] += 1             # integers: atomic updates, whose order does not show

    for i in range(n):                         for j in range(m):        # parallel
        for j in range(m):              ->         for i in range(n):
            out[j] += a[i, j]                          out[j] += a[i, j]

If an inner loop is parallel after interchange, each of its iterations does all additions to its elements. A sum of
floats must be deterministic, so its additions keep an order otherwise: the loop is sequential, unless a clause
`reduction(+: hist)` permits any order. `private_copies` has made other versions before, for arrays with few elements.

Before `promote_accumulators`, which then holds the elements in scalars. After this pass no
loop names an array among its reductions.
"""

from __future__ import annotations

from dataclasses import replace

from appyc.analysis.dependences.legality import Legality
from appyc.ir.invariance import is_invariant
from appyc.ir.nodes import For, Function, LoopMode, Node, Reduction, Symbol, Update
from appyc.ir.visit import map_loops, rewrite_all, scalars_written, walk, with_loops
from appyc.passes.gpu.map_gpu import ANOTHER_LOOP, has_atomic
from appyc.passes.node_builders import in_order
from appyc.passes.pass_context import PassContext


def atomic_updates(fn: Function, ctx: PassContext) -> Function:
    """The function without reductions of arrays."""

    def rule(loop: For) -> For:
        combined = tuple(r for r in loop.reductions if r.symbol.is_array)
        if not combined:
            return loop
        other = turned(fn, loop)
        if other is not None:
            return other
        reason = next((why for r in combined if (why := why_not_atomic(loop, r)) is not None), None)
        if reason is None:
            return _with_atomics(loop, {r.symbol for r in combined})
        ctx.missed(loop.loc, f"the loop does not run in parallel on the GPU: {reason}", ANOTHER_LOOP)
        return replace(loop, mode=LoopMode.SEQUENTIAL, private=(), last=(), reductions=())

    return map_loops(fn, rule)


def why_not_atomic(loop: For, reduction: Reduction) -> str | None:
    """The reason why the updates of an array cannot be atomic updates in any order; None where they can."""
    array, op = reduction.symbol, reduction.op
    updates = [n for n in walk(loop.body) if isinstance(n, Update) and n.target == array]
    if not all(has_atomic(update) for update in updates):
        return f"a GPU has no atomic '{op}' on {array.dtype}"
    if array.dtype.is_integer or all(update.atomic for update in updates):
        return None
    if loop.clauses is not None and reduction in loop.clauses.reductions:
        return None
    return (
        f"sums in '{array.name}' would differ from run to run; "
        f"the clause reduction({op}: {array.name}) allows that"
    )


def _with_atomics(loop: For, arrays: set[Symbol]) -> For:
    def rule(node: Node) -> Node:
        return replace(node, atomic=True) if isinstance(node, Update) and node.target in arrays else node

    rest = tuple(r for r in loop.reductions if r.symbol not in arrays)
    return replace(loop, body=rewrite_all(loop.body, rule), reductions=rest)


def turned(fn: Function, loop: For) -> For | None:
    """The loop interchanged with its inner loop, if that one may then run in parallel."""
    if len(loop.body) != 1 or not isinstance(loop.body[0], For) or loop.last:
        return None
    inner = loop.body[0]
    changing = {loop.var} | scalars_written(inner.body)
    if inner.last or not is_invariant(inner.bounds, changing):
        return None
    turned = replace(
        inner,
        body=(replace(in_order(loop), body=inner.body),),
        clauses=loop.clauses,
        mode=LoopMode.SEQUENTIAL,
    )
    found = Legality.of(with_loops(fn, {loop.var: turned})).judge(turned)
    if not found.may_run_in_any_order or found.reductions or found.last:
        return None
    return replace(turned, mode=LoopMode.PARALLEL, private=found.private, last=(), reductions=())
