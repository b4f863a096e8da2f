"""Holds array elements that a loop only accumulates into in scalars for the loop.

    for k in range(n):                      if 0 < n:
        C[i, j] += A[i, k] * x[p[k]]   ->       c = C[i, j]
                                                for k in range(n):
                                                    c += A[i, k] * x[p[k]]
                                                C[i, j] = c

For a GPU, where a lane keeps its sum in a register, and where the writes of a kernel before an exception
are unspecified. `scalar_replacement` has done the same wherever it makes a loop parallel, and nothing in the loop
can raise. The order of the operations is preserved. Updates of that one element must be the loop's only accesses
to the array. An update that is atomic or conditional (under an `if`, in an inner loop) is not changed.
"""

from __future__ import annotations

from appyc.analysis.accesses.elements import fixed_elements
from appyc.ir.names import NameSupply
from appyc.ir.nodes import For, Function, LoopMode, Stmt, Symbol
from appyc.ir.visit import map_loops
from appyc.passes.node_builders import with_private
from appyc.passes.pass_context import PassContext
from appyc.passes.storage.element_scalars import Held, held_in_scalars


def promote_accumulators(fn: Function, ctx: PassContext) -> Function:
    """The function with accumulators in scalars, in loops that are not parallel."""
    names = NameSupply.after(fn)
    made: set[Symbol] = set()

    def rule(loop: For) -> Stmt | tuple[Stmt, ...]:
        loop = with_private(loop, made)
        if loop.mode is LoopMode.PARALLEL:
            return loop
        held = tuple(
            Held(e, names.fresh(f"{e.array.name}_element", e.array.dtype))
            for e in fixed_elements(loop)
            if e.op is not None and not e.others and len(e.nest) == 1
        )
        made.update(h.scalar for h in held)
        return held_in_scalars(loop, held, guarded=True) if held else loop

    return map_loops(fn, rule)
