"""Chooses the form of a counted loop on one thread: plain, vectorised (`omp simd` or as an outer loop), with
non-temporal stores, unrolled and jammed, interleaved, or strip-mined."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from appyc.c_gen.c_module import FunctionContext
from appyc.c_gen.lanes.compaction import emit_packing, plan_packing
from appyc.c_gen.lanes.dot_loops import emit_dots
from appyc.c_gen.lanes.dot_plan import plan_dots
from appyc.c_gen.lanes.early_exit_reductions import emit_decided, plan_decided
from appyc.c_gen.lanes.interleaved_scans import emit_chains, plan_chains
from appyc.c_gen.lanes.lane_loops import emit_lanes
from appyc.c_gen.lanes.lane_plan import plan_lanes
from appyc.c_gen.lanes.multiple_accumulators import emit_strands, has_strands
from appyc.c_gen.lanes.nontemporal_stores import emit_streams
from appyc.c_gen.lanes.simd import declare_scalars, simd_directive, simd_private, why_not_simd
from appyc.c_gen.loops.unlikely_faults import emit_fast_loop, plan_fast_loop
from appyc.ir.nodes import For, Stmt

Body: TypeAlias = Callable[[FunctionContext, tuple[Stmt, ...]], None]


def emit_counted(ctx: FunctionContext, loop: For, lo: str, hi: str, body: Body) -> None:
    """The loop from `lo` to `hi`, which are terms that do not change while it runs."""
    chains = None if ctx.module.sequential else plan_chains(loop)
    if chains is not None:
        with ctx.writer.block():
            emit_chains(ctx, chains, lo, hi, body)
        return
    packing = None
    if not ctx.module.sequential:
        packing = plan_packing(loop, boundscheck=ctx.module.options.boundscheck)
    if packing is not None:
        with ctx.writer.block():
            emit_packing(ctx, loop, packing, lo, hi, body)
        return
    plan = None if ctx.module.sequential else plan_lanes(loop)
    if plan is not None:
        with ctx.writer.block():
            emit_lanes(ctx, plan, lo, hi, body)
        return
    dots = None if ctx.module.sequential else plan_dots(loop)
    if dots is not None:
        with ctx.writer.block():
            emit_dots(ctx, dots, lo, hi, body)
        return
    fast = None if ctx.module.sequential else plan_fast_loop(loop)
    if fast is not None:
        with ctx.writer.block():
            emit_fast_loop(ctx, loop, fast, lo, hi, body)
        return
    decided = None if ctx.module.sequential else plan_decided(loop)
    if decided is not None:
        with ctx.writer.block():
            emit_decided(ctx, loop, decided, lo, hi, body)
        return
    if not ctx.module.sequential and has_strands(loop):
        with ctx.writer.block():
            emit_strands(ctx, loop, lo, hi, body)
        return
    simd = not ctx.module.sequential and why_not_simd(loop) is None
    if simd and ctx.schedule[loop.var].nontemporal and ctx.may_stream:
        with ctx.writer.block():
            emit_streams(ctx, loop, lo, hi, body)
        return
    if simd:
        ctx.writer.line(simd_directive(ctx, loop))
    var = ctx.name(loop.var)
    relation = "<" if loop.step > 0 else ">"
    with ctx.writer.block(f"for (int64_t {var} = {lo}; {var} {relation} {hi}; {var} += {loop.step})"):
        if simd:
            declare_scalars(ctx, simd_private(loop))
        body(ctx, loop.body)
