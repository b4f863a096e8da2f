"""Elides the zero fill of arrays that a loop overwrites before any read.

    out = zeros((n,))                               out = empty((n,))
    for i in range(0, n):                 ->        for i in range(0, n):
        out[i] = a * x[i]                               out[i] = a * x[i]

Programs usually allocate output arrays with zeros. The zero fill takes a third of the time of a memory-bound loop such
as this one.

The first statement that accesses the array must be a nest that stores each element once, unconditionally, and before
the same iteration reads it.

Runs after fusion, which creates more such loops, and before `overlapped_tiling`, whose private arrays inherit the zero
fill of the original array. Requires: `check_bounds` has run.

Does not handle: arrays that several loops fill together, or that a loop fills except for its edges.
"""

from __future__ import annotations

from dataclasses import replace

from appyc.analysis.dependences.fusion_legality import EqualExtents, has_effects
from appyc.analysis.patterns.fill_pattern import is_whole
from appyc.ir.array_accesses import is_access_to
from appyc.ir.nodes import Alloc, For, Function, Load, Stmt, Store, Symbol, Var
from appyc.ir.visit import arrays_read, map_blocks, walk
from appyc.passes.pass_context import PassContext


def elide_zero_fill(fn: Function, ctx: PassContext) -> Function:
    """The function with such arrays allocated without the zero fill."""
    if not any(isinstance(n, Alloc) and n.zero for n in walk(fn)):
        return fn
    equal = EqualExtents.of(fn.guards)

    def block(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        out = [map_blocks(stmt, block) for stmt in body]
        for at, stmt in enumerate(out):
            if isinstance(stmt, Alloc) and stmt.zero:
                first = next(
                    (s for s in out[at + 1 :] if any(is_access_to(n, stmt.array) for n in walk(s))), None
                )
                if isinstance(first, For) and _fills(first, stmt, equal):
                    out[at] = replace(stmt, zero=False)
        return tuple(out)

    body = block(fn.body)
    return fn if body == fn.body else replace(fn, body=body)


def _fills(nest: For, alloc: Alloc, equal: EqualExtents) -> bool:
    """Whether each iteration stores one element before reading it, reads no other, and all elements are stored."""
    array = alloc.array
    if has_effects(nest.body):
        return False
    axes: dict[Symbol, For] = {}
    body: tuple[Stmt, ...] = (nest,)
    while True:
        users = [at for at, stmt in enumerate(body) if any(is_access_to(n, array) for n in walk(stmt))]
        first = body[users[0]]
        if not isinstance(first, For):
            break
        if len(users) > 1:
            return False
        axes[first.var] = first
        body = first.body
    if not isinstance(first, Store) or array in arrays_read(first):
        return False
    named = [index.symbol for index in first.index if isinstance(index, Var)]
    if len(named) < len(first.index) or set(named) != axes.keys() or len(axes) < len(named):
        return False
    if not all(is_whole(axes[var], size, equal) for var, size in zip(named, alloc.shape, strict=True)):
        return False
    loads = (n for n in walk(nest) if isinstance(n, Load) and n.array == array)
    return all(load.index == first.index for load in loads)
