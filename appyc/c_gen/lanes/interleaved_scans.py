"""Interleaves the chunks of a scan, so that the latency of one chain of operations is hidden by the others.

    for chunk in range(...):                for chunk, four at a time:
        t = starts[chunk]                       t0, t1, t2, t3 = starts[chunk], ...
        for i in chunk:          ->             for k in range(length of the shortest):
            t += x[i]                               t0 += x[i0 + k]; s[i0 + k] = t0
            s[i] = t                                t1 += x[i1 + k]; s[i1 + k] = t1; ...
                                                the remainder of each, in order

An addition of floats has a latency of four cycles, in which a processor could start eight. The iterations of
one chunk are a dependence chain; those of different chunks are independent.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from appyc.c_gen.c_module import Body, FunctionContext
from appyc.c_gen.text.c_expressions import emit_combined, expression
from appyc.c_gen.text.c_types import c_type, constant, partial_start
from appyc.ir.nodes import For, Stmt
from appyc.ir.types import DType
from appyc.ir.visit import scalars_written

_LEAST = {DType.FLOAT64: 2.0**-1022, DType.FLOAT32: 2.0**-126}
"""The least normal numbers."""


@dataclass(frozen=True, slots=True)
class _Chunks:
    """chunks: the loop over chunks. before, inner, after: its body."""

    chunks: For
    before: tuple[Stmt, ...]
    inner: For
    after: tuple[Stmt, ...]


def emit_chains(ctx: FunctionContext, loop: For, together: int, lo: str, hi: str, body: Body) -> None:
    """Writes the loop over the chunks from `lo` to `hi`, so many chunks together."""
    (at,) = (number for number, stmt in enumerate(loop.body) if isinstance(stmt, For))
    inner = loop.body[at]
    assert isinstance(inner, For)
    plan = _Chunks(loop, loop.body[:at], inner, loop.body[at + 1 :])
    writer, chunk = ctx.writer, ctx.module.names.fresh(plan.chunks.var.name)
    writer.line(f"int64_t {chunk} = {lo};")
    for count in (together, 1):
        with writer.block(f"for (; {chunk} + {count} <= {hi}; {chunk} += {count})"):
            copies = [_copy(ctx, plan, chunk, number) for number in range(count)]
            _emit_group(ctx, plan, copies, body)
            ctx.leaves |= any(copy.leaves for copy in copies)


def _copy(ctx: FunctionContext, plan: _Chunks, chunk: str, number: int) -> FunctionContext:
    """The context of one chunk of a group, with scalars of its own."""
    fresh = ctx.module.names.fresh
    renamed = {plan.chunks.var: f"({chunk} + {number})"}
    reductions = {r.symbol: r.op for r in plan.chunks.reductions}
    for symbol in sorted(scalars_written(plan.chunks.body), key=lambda s: s.uid):
        name = renamed[symbol] = fresh(symbol.name)
        start = constant(0, symbol.dtype)
        if symbol in reductions:
            start = partial_start(reductions[symbol], symbol.dtype, ctx.name(symbol))
        ctx.writer.line(f"{c_type(symbol.dtype)} {name} = {start};")
    return replace(ctx.spelling(renamed), leaves=False)


def _emit_group(ctx: FunctionContext, plan: _Chunks, copies: list[FunctionContext], body: Body) -> None:
    writer, fresh, step = ctx.writer, ctx.module.names.fresh, plan.inner.step
    trip_count = ctx.module.helpers.plain("trip_count")
    lows, trips = [], []
    for copy in copies:
        body(copy, plan.before)
        lows.append(fresh(f"{plan.inner.var.name}_lo"))
        trips.append(fresh(f"{plan.inner.var.name}_trips"))
        writer.line(f"const int64_t {lows[-1]} = {expression(copy, plan.inner.lo)};")
        writer.line(
            f"const int64_t {trips[-1]} = {trip_count}({lows[-1]}, {expression(copy, plan.inner.hi)}, {step});"
        )
    common = fresh("common")
    writer.line(f"int64_t {common} = {trips[0]};")
    for name in trips[1:]:
        writer.line(f"if ({name} < {common}) {common} = {name};")
    number = fresh("number")
    with writer.block(f"for (int64_t {number} = 0; {number} < {common}; {number} += 1)"):
        for copy, low in zip(copies, lows, strict=True):
            _emit_iteration(copy, plan, f"{low} + {number} * {step}", body)
    for copy, low, count in zip(copies, lows, trips, strict=True):
        if len(copies) > 1:
            with writer.block(f"for (int64_t {number} = {common}; {number} < {count}; {number} += 1)"):
                _emit_iteration(copy, plan, f"{low} + {number} * {step}", body)
        body(copy, plan.after)
    _emit_results(ctx, plan, copies)


def _emit_iteration(copy: FunctionContext, plan: _Chunks, value: str, body: Body) -> None:
    with copy.writer.block():
        name = copy.module.names.fresh(plan.inner.var.name)
        copy.writer.line(f"const int64_t {name} = {value};")
        inside = copy.spelling({plan.inner.var: name})
        body(inside, plan.inner.body)
        for scan in plan.inner.scans:
            if scan.fades and scan.symbol.dtype.is_float:
                factor, least = copy.name(scan.symbol), constant(_LEAST[scan.symbol.dtype], scan.symbol.dtype)
                copy.writer.line(f"if (__builtin_fabs({factor}) < {least}) {factor} = 0;")
        copy.leaves |= inside.leaves


def _emit_results(ctx: FunctionContext, plan: _Chunks, copies: list[FunctionContext]) -> None:
    """Combines the copies' partial results in order, and assigns the last values from the last copy."""
    for reduction in plan.chunks.reductions:
        for copy in copies:
            emit_combined(ctx, reduction, copy.name(reduction.symbol), plan.chunks)
    for symbol in plan.chunks.last:
        ctx.writer.line(f"{ctx.name(symbol)} = {copies[-1].name(symbol)};")
