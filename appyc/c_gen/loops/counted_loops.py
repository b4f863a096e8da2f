"""C text for a counted loop on one thread, in the form that the schedule says: plain, in lanes (`omp simd` or around
other loops), with non-temporal stores, unrolled and jammed, interleaved, or strip-mined."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from appyc.c_gen.c_module import Body, FunctionContext
from appyc.c_gen.lanes.compaction import emit_packing
from appyc.c_gen.lanes.dot_loops import emit_dot, emit_dots
from appyc.c_gen.lanes.early_exit_reductions import emit_decided, emit_undecided
from appyc.c_gen.lanes.interleaved_scans import emit_chains
from appyc.c_gen.lanes.lane_loops import emit_lanes
from appyc.c_gen.lanes.multiple_accumulators import emit_strands
from appyc.c_gen.lanes.narrow_reductions import emit_narrow
from appyc.c_gen.lanes.nontemporal_stores import emit_streams
from appyc.c_gen.lanes.simd import KEEP_IN_ORDER, declare_scalars, emit_simd, loop_head, simd_private
from appyc.c_gen.loops.unlikely_faults import emit_fast_loop
from appyc.c_gen.text.c_expressions import expression
from appyc.ir import schedule as forms
from appyc.ir.nodes import Extent, For, Stmt
from appyc.ir.single_iterations import flat_counts, flattened


def emit_counted(ctx: FunctionContext, loop: For, lo: str, hi: str, body: Body) -> None:
    """The loop from `lo` to `hi`, which are terms that do not change while it runs."""
    schedule = ctx.schedule[loop.var]
    if schedule.flat_at_one:
        _emit_flat_or(ctx, loop, schedule, lo, hi, body)
        return
    if schedule.in_order_below:
        with ctx.writer.block(f"if ({hi} - {lo} < {schedule.in_order_below})"):
            emit_in_order(ctx, loop, lo, hi, body)
        with ctx.writer.block("else"):
            _emit_chosen(ctx, loop, schedule, lo, hi, body)
        return
    _emit_chosen(ctx, loop, schedule, lo, hi, body)


def _emit_flat_or(
    ctx: FunctionContext, loop: For, schedule: forms.LoopSchedule, lo: str, hi: str, body: Body
) -> None:
    """The loop in lanes where those inside it run over an axis of length 1, else in its form."""
    counted = [
        (f"{expression(ctx, inner.hi)} - {expression(ctx, inner.lo)}", count)
        for inner, count in flat_counts(loop)
    ]
    is_one = " && ".join(dict.fromkeys(f"{trips} == {count}" for trips, count in counted))
    with ctx.writer.block(f"if ({is_one})"):
        flat = flattened(loop)
        emit_simd(ctx, flat, lo, hi, body)
    is_some = f" if ({counted[0][0]} > 0)" if len(loop.body) == 1 else ""  # rows of nothing are not run over
    with ctx.writer.block(f"else{is_some}"):
        _emit_chosen(ctx, loop, schedule, lo, hi, body)


def _emit_chosen(
    ctx: FunctionContext, loop: For, schedule: forms.LoopSchedule, lo: str, hi: str, body: Body
) -> None:
    if schedule.packed:
        lengths = (
            f"{expression(ctx, Extent(a, a.array.ndim - 1, loc=loop.loc))} == {n}" for a, n in schedule.packed
        )
        unpacked = replace(schedule, packed=())
        for head in (f"if ({' && '.join(lengths)})", "else"):
            with ctx.writer.block(head):
                _emit_chosen(ctx, loop, unpacked, lo, hi, body)
        return
    match schedule.form:
        case None:
            _emit_for(ctx, loop, lo, hi, body)
        case forms.Simd() if schedule.narrow is not None:
            emit_narrow(ctx, loop, schedule.narrow, lo, hi, body)
        case forms.Simd() if not (schedule.nontemporal and ctx.may_stream):
            emit_simd(ctx, loop, lo, hi, body)
        case form:
            with ctx.writer.block():
                _emit_form(ctx, loop, form, lo, hi, body)


def emit_in_order(ctx: FunctionContext, loop: For, lo: str, hi: str, body: Body) -> None:
    if isinstance(ctx.schedule[loop.var].form, forms.EarlyExitLanes):
        emit_undecided(ctx, loop, lo, hi, body)
        return

    def each(inside: FunctionContext, statements: tuple[Stmt, ...]) -> None:
        inside.writer.line(KEEP_IN_ORDER)
        body(inside, statements)

    _emit_for(ctx, loop, lo, hi, each)


def _emit_for(ctx: FunctionContext, loop: For, lo: str, hi: str, body: Body) -> None:
    with ctx.writer.block(loop_head(ctx, loop, lo, hi)):
        if ctx.schedule[loop.var].is_simd:
            declare_scalars(ctx, simd_private(loop))
        body(ctx, loop.body)


def _emit_form(ctx: FunctionContext, loop: For, form: forms.Form, lo: str, hi: str, body: Body) -> None:
    match form:
        case forms.Interleaved(count):
            emit_chains(ctx, loop, count, lo, hi, body)
        case forms.Compaction():
            emit_packing(ctx, loop, lo, hi, body)
        case forms.OuterLanes():
            emit_lanes(ctx, loop, form, lo, hi, body)
        case forms.Dots():
            emit_dots(ctx, loop, form, lo, hi, body)
        case forms.Guarded():
            emit_fast_loop(ctx, loop, form, lo, hi, body)
        case forms.EarlyExitLanes():
            emit_decided(ctx, loop, lo, hi, body)
        case forms.Accumulators(count) if loop.reductions[0].op == "+":
            emit_dot(ctx, loop, count, lo, hi, body)
        case forms.Accumulators(count):
            emit_strands(ctx, loop, count, lo, hi, body)
        case forms.Simd():
            emit_streams(ctx, loop, lo, hi, body)
        case _:
            assert_never(form)
