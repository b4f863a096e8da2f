"""C text for a loop of the IR: multithreaded where its mode says so, else on the current thread."""

from __future__ import annotations

from appyc.c_gen.c_module import FunctionContext
from appyc.c_gen.loops.counted_loops import Body, emit_counted
from appyc.c_gen.loops.thread_loops import emit_threads, runs_in_threads
from appyc.c_gen.products.product_loops import library_call
from appyc.c_gen.text.loop_bounds import bound_text
from appyc.ir.nodes import For


def emit_loop(ctx: FunctionContext, loop: For, body: Body) -> None:
    """Writes a loop in the fastest form that its mode and its body allow."""
    ctx.writer.line(f"/* {ctx.location(loop.loc)}: {loop.mode.value} */")
    if loop.product is not None and not ctx.in_piece and not ctx.module.sequential:
        with ctx.writer.block():
            called = library_call(ctx, loop)
            with ctx.writer.block(f"if (!({called}))"):
                _emit_iterations(ctx, loop, body)
        return
    _emit_iterations(ctx, loop, body)


def _emit_iterations(ctx: FunctionContext, loop: For, body: Body) -> None:
    if runs_in_threads(ctx, loop):
        emit_threads(ctx, loop, body)
        return
    lo = bound_text(ctx, loop, loop.lo, "lo")
    hi = bound_text(ctx, loop, loop.hi, "hi")
    if not loop.last or ctx.module.sequential:
        emit_counted(ctx, loop, lo, hi, body)
        return
    # OpenMP leaves a last value undefined where there is no iteration.
    with ctx.writer.block(f"if ({lo} {'<' if loop.step > 0 else '>'} {hi})"):
        emit_counted(ctx, loop, lo, hi, body)
