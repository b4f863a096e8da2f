"""SIMD loops with non-temporal stores: whole cache lines are written to memory past the caches.

    for (i = lo; i < first; i += 1) r[i] = a * x[i];            peeled, up to a line's start
    for (line = first; line < done; line += 32) {
        for (lane = 0; lane < 32; lane += 1) r_line[lane] = a * x[line + lane];
        stream_lines(&r[line], r_line, sizeof r_line);
    }
    for (i = done; i < hi; i += 1) r[i] = a * x[i];             the remainder

An ordinary store first reads the line (write-allocate), which is a quarter of the traffic of `a * x + y`, and
evicts lines that may be used again. Non-temporal stores pay where the loop touches more than the caches hold,
and has LEAST_STREAMED bytes or more to store, which is decided when the loop runs. Otherwise the first of these loops
does all iterations.

The schedule says which arrays may be stored so (`LoopSchedule.nontemporal`). Arrays of one loop that do not reach the
start of a line in the same iteration get ordinary stores.
"""

from __future__ import annotations

from dataclasses import replace

from appyc.c_gen.c_module import Body, FunctionContext
from appyc.c_gen.lanes.simd import declare_scalars, emit_simd, simd_directive, simd_private
from appyc.c_gen.text.c_expressions import element_at
from appyc.c_gen.text.c_headers import LINE_BYTES
from appyc.c_gen.text.c_types import storage_type
from appyc.ir.machine_model import LEAST_LANES
from appyc.ir.nodes import For, Store
from appyc.ir.visit import loops_of, walk

LEAST_STREAMED = 1 << 14
"""Bytes. Rows of 2 kB took twice as long with non-temporal stores, of 8 kB 1.1 times, of 32 kB .9 times."""


def has_streams(ctx: FunctionContext, nest: tuple[For, ...]) -> bool:
    """Whether the nest chooses between the kinds of stores when it runs, by the cost of its outermost loop."""
    return ctx.schedule[nest[0].var].cost is not None and any(
        ctx.schedule[loop.var].nontemporal for loop in loops_of(nest)
    )


def emit_choice(ctx: FunctionContext, cost: str) -> None:
    """Declares `streams`. cost: as `threads_pay` takes it."""
    ctx.writer.line(f"const bool streams = {ctx.module.helpers.plain('writes_past')}({cost});")


def emit_streams(ctx: FunctionContext, loop: For, lo: str, hi: str, body: Body) -> None:
    """Writes a SIMD loop from `lo` to `hi` in a function that declares `streams`."""
    writer, fresh = ctx.writer, ctx.module.names.fresh
    stores = [
        n for n in walk(loop.body) if isinstance(n, Store) and n.array in ctx.schedule[loop.var].nontemporal
    ]
    lanes = max(LEAST_LANES, *(LINE_BYTES // store.array.dtype.itemsize for store in stores))
    first, done, part, line, var = (fresh(n) for n in ("first", "done", "part", "line", loop.var.name))
    writer.line(f"int64_t {first} = {hi}, {done} = {hi};")
    with writer.block("if (streams)"):
        _emit_start(ctx, loop, stores, (lo, hi, first, done), lanes)
    with writer.block(f"for (int64_t {part} = 0; {part} < 2; {part} += 1)"):
        writer.line(f"const int64_t {var} = {part} ? {done} : {lo};")
        writer.line(f"const int64_t {var}_end = {part} ? {hi} : {first};")
        emit_simd(ctx, loop, var, f"{var}_end", body)
        writer.line(f"if ({part} || {first} == {hi}) break;")
        with writer.block(f"for (int64_t {line} = {first}; {line} < {done}; {line} += {lanes})"):
            _emit_lines(ctx, loop, stores, line, lanes, body)


def _emit_start(
    ctx: FunctionContext, loop: For, stores: list[Store], names: tuple[str, str, str, str], lanes: int
) -> None:
    """Sets the first iteration of the whole lines, and the one after their last, if there are any."""
    lo, hi, first, done = names
    writer, before_line = ctx.writer, ctx.module.helpers.plain("before_line")
    ahead = [f"{before_line}({_address(ctx, loop, s, lo)}, {s.array.dtype.itemsize})" for s in stores]
    writer.line(f"const int64_t ahead = {ahead[0]};")
    together = "".join(f" && {text} == ahead" for text in ahead[1:])
    least = max(lanes, LEAST_STREAMED // min(s.array.dtype.itemsize for s in stores))
    with writer.block(f"if (ahead >= 0 && {lo} + ahead + {least} <= {hi}{together})"):
        writer.line(f"{first} = {lo} + ahead;")
        writer.line(f"{done} = {first} + ({hi} - {first}) / {lanes} * {lanes};")


def _emit_lines(
    ctx: FunctionContext, loop: For, stores: list[Store], line: str, lanes: int, body: Body
) -> None:
    writer, fresh = ctx.writer, ctx.module.names.fresh
    lane, buffers = fresh("lane"), {store.array: fresh(f"{store.array.name}_line") for store in stores}
    for array, buffer in buffers.items():
        kind = storage_type(array.dtype)
        writer.line(f"{kind} {buffer}[{lanes}] __attribute__((aligned({LINE_BYTES})));")
    lines = {array: f"{buffer}[{lane}]" for array, buffer in buffers.items()}
    inside = replace(ctx, lines=lines, in_lanes=True)
    writer.line(simd_directive(ctx, loop))
    with writer.block(f"for (int64_t {lane} = 0; {lane} < {lanes}; {lane} += 1)"):
        writer.line(f"const int64_t {ctx.name(loop.var)} = {line} + {lane};")
        declare_scalars(inside, simd_private(loop))
        body(inside, loop.body)
    for store in stores:
        to = _address(ctx, loop, store, line)
        stream_lines = ctx.module.helpers.plain("stream_lines")
        writer.line(f"{stream_lines}({to}, {buffers[store.array]}, sizeof {buffers[store.array]});")


def _address(ctx: FunctionContext, loop: For, store: Store, at: str) -> str:
    """The address that iteration `at` stores to."""
    there = ctx.spelling({loop.var: at})
    return f"&{element_at(there, store.array, store.index)}"
