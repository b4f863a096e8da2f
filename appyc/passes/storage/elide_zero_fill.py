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

from appyc.analysis.dependences.fusion_legality import EqualExtents
from appyc.analysis.patterns.fill_pattern import fills
from appyc.ir.array_accesses import touches
from appyc.ir.blocks import map_blocks
from appyc.ir.nodes import Alloc, For, Function, Stmt
from appyc.ir.visit import walk, with_body
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
                first = next((s for s in out[at + 1 :] if any(touches(n, stmt.array) for n in walk(s))), None)
                if isinstance(first, For) and fills(first, stmt, equal):
                    out[at] = replace(stmt, zero=False)
        return tuple(out)

    return with_body(fn, block(fn.body))
