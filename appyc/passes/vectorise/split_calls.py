"""Splits loops at calls of functions, so that functions of what an inner loop sums up are called in lanes."""

from __future__ import annotations

from dataclasses import replace

from appyc.analysis.accesses.scalar_flow import exposed
from appyc.ir import nodes as ir
from appyc.ir.intrinsics import VECTOR_FUNCTIONS
from appyc.ir.names import NameSupply, ordered
from appyc.ir.raising import can_fault
from appyc.ir.types import ArrayType, DType
from appyc.ir.visit import contains, loops_of, rename, scalars_written, walk
from appyc.passes.loop_ops.strip_mine import map_to_blocks
from appyc.passes.node_builders import integer, smaller
from appyc.passes.pass_context import PassContext
from appyc.passes.vectorise.simd_forms import why_not_simd

BLOCK = 64
"""Iterations of a block: several vectors of each type, and few enough that what is kept stays in the first cache."""

MOST_KEPT = 4
"""Scalars that are kept for each iteration of a block."""


def split_calls(fn: ir.Function, ctx: PassContext) -> ir.Function:
    """Strip-mining, scalar expansion and fission of loops whose last statements call functions of reduced values.

    Before:                                     After:
        for i in range(n):  # parallel              for at in range(0, n, 64):  # parallel
            z = 0.0                                     for i in range(at, min(at + 64, n)):
            for k in range(m):                              z = 0.0
                z += x[i, k] * w[k]                         for k in range(m): z += x[i, k] * w[k]
            y[i] = 1.0 / (1.0 + exp(-z))                    z_kept[i - at] = z
                                                        for i in range(at, min(at + 64, n)):  # simd
                                                            z = z_kept[i - at]
                                                            y[i] = 1.0 / (1.0 + exp(-z))

    The source is R. Allen and K. Kennedy, Automatic translation of Fortran programs to vector form (1987).

    Requires: modes are chosen, and independent iterations. Does not handle: loops that may raise; reductions; loops
    inside that are not lanes by themselves, around which lanes are better.
    """
    names = NameSupply.after(fn)

    def rule(loop: ir.For) -> ir.For | None:
        number = _number_of_sums(loop)
        if number is None:
            return None
        sums, calls = loop.body[:number], loop.body[number:]
        kept = ordered(scalars_written(sums) & exposed(calls).keys())
        own = scalars_written(calls) | set(kept)
        lanes = replace(loop, mode=ir.LoopMode.SIMD, body=calls, private=tuple(ordered(own)), clauses=None)
        if not 1 <= len(kept) <= MOST_KEPT or why_not_simd(lanes) is not None:
            return None
        return _in_blocks(loop, sums, lanes, kept, names)

    return map_to_blocks(fn, rule)


def _number_of_sums(loop: ir.For) -> int | None:
    """How many statements of an iteration come before those that call functions of what inner loops sum up; None where
    there are no such."""
    inner = [number for number, stmt in enumerate(loop.body) if loops_of(stmt)]
    if loop.mode is ir.LoopMode.SEQUENTIAL or loop.step != 1 or not inner or can_fault(loop.body):
        return None
    if loop.reductions or loop.last or loop.in_step or loop.safelen is not None:
        return None
    if loop.clauses is not None and loop.clauses.chunk:
        return None
    if contains(loop.body, ir.While | ir.Alloc | ir.Break | ir.Continue):
        return None
    innermost = [n for n in loops_of(loop.body) if not loops_of(n.body)]
    if not all(n.mode is not ir.LoopMode.SEQUENTIAL and n.reductions for n in innermost):
        return None
    number = inner[-1] + 1
    called = (n.name for n in walk(loop.body[number:]) if isinstance(n, ir.Intrinsic))
    return number if any(name in VECTOR_FUNCTIONS for name in called) else None


def _in_blocks(
    loop: ir.For, sums: tuple[ir.Stmt, ...], lanes: ir.For, kept: tuple[ir.Symbol, ...], names: NameSupply
) -> ir.For:
    """The loop over blocks. lanes: the loop of the calls."""
    loc = loop.loc
    at = ir.Var(names.fresh("at", DType.INT64), loc=loc)
    end = smaller(ir.Binary("+", at, integer(BLOCK, loc), loc=loc), loop.hi)
    arrays = {s: names.fresh(f"{s.name}_kept", ArrayType(s.dtype, 1)) for s in kept}
    size = integer(BLOCK, loc)
    index = (ir.Binary("-", ir.Var(loop.var, loc=loc), at, loc=loc),)
    stores = (ir.Store(arrays[s], index, ir.Var(s, loc=loc), checked=False, loc=loc) for s in kept)
    loads = (ir.Assign(s, ir.Load(arrays[s], index, checked=False, loc=loc), loc=loc) for s in kept)
    private = tuple(s for s in loop.private if s in scalars_written(sums))
    first = replace(loop, lo=at, hi=end, body=(*sums, *stores), private=private, clauses=None)
    second = replace(lanes, lo=at, hi=end, body=(*loads, *lanes.body))
    fresh = {loop.var: names.fresh(loop.var.name, loop.var.type)}
    body: tuple[ir.Stmt, ...] = (
        *(ir.Alloc(array, (size,), zero=False, in_frame=True, loc=loc) for array in arrays.values()),
        first,
        rename(second, fresh),
    )
    return replace(loop, var=at.symbol, step=BLOCK, body=body)
