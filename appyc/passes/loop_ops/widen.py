"""Widening: a nest that fills a part of an array of zeros runs over the whole array.

    t = zeros((n,))                           t = zeros((n,))
    for i in range(1, n - 1):                 for i in range(0, n):
        t[i] = f(i)                  ->           if (i >= 1) & (i < n - 1):
                                                      t[i] = f(i)
                                                  else:
                                                      t[i] = 0.0

Fusion needs equal ranges; `split_at_conditions` cuts the fused loop at the edges of the part.

Legal where nothing stores into the array before the nest, whose ranges do not depend on its own variables.

Does not handle: stores under conditions; nests that fill the columns of an array before its rows.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from appyc.analysis.dependences.fusion_legality import EqualExtents
from appyc.analysis.patterns.fill_pattern import is_whole
from appyc.analysis.patterns.product_terms import is_fixed
from appyc.ir.array_accesses import touches
from appyc.ir.blocks import perfect_nest
from appyc.ir.nodes import Alloc, Compare, Expr, For, If, Stmt, Store, Symbol, Var, While
from appyc.ir.visit import contains, walk
from appyc.passes.node_builders import both, integer, zero


def zeros_before(arrays: Collection[Symbol], before: Sequence[Stmt]) -> Alloc | None:
    """The last allocation, among the statements before a loop, that makes one of some arrays of zeros; None
    where there is none, or where a statement after it accesses the array."""
    for at, stmt in reversed(list(enumerate(before))):
        if isinstance(stmt, Alloc) and stmt.zero and stmt.array in arrays:
            return None if any(touches(n, stmt.array) for n in walk(before[at + 1 :])) else stmt
    return None


def widen(loop: For, alloc: Alloc, equal: EqualExtents) -> For | None:
    """The nest over all elements of an array; None where it does not fill a part of it."""
    nest = perfect_nest(loop)
    body = nest[-1].body
    accesses = [n for n in walk(body) if touches(n, alloc.array)]
    store = next((s for s in body if isinstance(s, Store) and s.array == alloc.array), None)
    if store is None or accesses != [store] or store.checked or contains(body, For | While):
        return None
    if store.index != tuple(Var(n.var, loc=n.loc) for n in nest) or any(n.step != 1 for n in nest):
        return None
    if not is_fixed([bound for n in nest for bound in (n.lo, n.hi)], nest):
        return None
    inside: Expr | None = None
    for n, extent in zip(nest, alloc.shape, strict=True):
        if not is_whole(n, extent, equal):
            var = Var(n.var, loc=n.loc)
            inside = both(inside, Compare(">=", var, n.lo, loc=n.loc))
            inside = both(inside, Compare("<", var, n.hi, loc=n.loc))
    if inside is None:
        return loop
    rest = replace(store, value=zero(alloc.array.dtype, store.loc))
    chosen: tuple[Stmt, ...] = (If(inside, body, (rest,), loc=loop.loc),)
    for n, extent in zip(reversed(nest), reversed(alloc.shape), strict=True):
        chosen = (replace(n, lo=integer(0, n.loc), hi=extent, body=chosen),)
    (whole,) = chosen
    assert isinstance(whole, For)
    return whole
