"""Minimum and maximum reductions of floats with four accumulators, one for each quarter of the loop.

    quarter = (hi - lo) / 4;
    #pragma omp simd reduction(reduce_minimum_float64 : low, low_2, low_3, low_4)
    for (k = lo; k < lo + quarter; k += 1) {
        low = minimum_float64(low, a[k]);
        low_2 = minimum_float64(low_2, a[k + quarter]);
        ...
    }
    low = minimum_float64(low, low_2); ...
    for (k = lo + 4 * quarter; k < hi; k += 1) low = minimum_float64(low, a[k]);

With one accumulator each step waits for the one before it, several times as long as a vector takes to load from
a cache. The accumulators are independent dependence chains.

Does not handle: loops with other statements; sums, whose rounding depends on the order.
"""

from __future__ import annotations

from appyc.c_gen.c_module import Body, FunctionContext
from appyc.c_gen.lanes.simd import declare_scalars, emit_simd, simd_directive, simd_private
from appyc.c_gen.text.c_operators import combine
from appyc.c_gen.text.c_types import c_type
from appyc.ir.nodes import For

SHORT = 512
"""Iterations below which several accumulators gain nothing."""


def emit_strands(ctx: FunctionContext, loop: For, count: int, lo: str, hi: str, body: Body) -> None:
    """Writes the loop from `lo` to `hi`."""
    writer, fresh = ctx.writer, ctx.module.names.fresh
    start, quarter, var = fresh("start"), fresh("quarter"), ctx.name(loop.var)
    writer.line(f"int64_t {start} = {lo};")
    with writer.block(f"if ({hi} - {start} >= {SHORT})"):
        writer.line(f"const int64_t {quarter} = ({hi} - {start}) / {count};")
        strands = [ctx]
        for number in range(1, count):
            renamed = {loop.var: f"({var} + {number} * {quarter})"}
            for reduction in loop.reductions:
                renamed[reduction.symbol] = name = fresh(reduction.symbol.name)
                kind, first = c_type(reduction.symbol.dtype), ctx.name(reduction.symbol)
                writer.line(f"{kind} {name} = {first};")
            strands.append(ctx.spelling(renamed))
        writer.line(simd_directive(ctx, loop, strands[1:]))
        with writer.block(f"for (int64_t {var} = {start}; {var} < {start} + {quarter}; {var} += 1)"):
            declare_scalars(ctx, simd_private(loop))
            for strand in strands:
                body(strand, loop.body)
        for reduction in loop.reductions:
            first = ctx.name(reduction.symbol)
            for strand in strands[1:]:
                both = combine(
                    ctx, reduction.op, reduction.symbol.dtype, first, strand.name(reduction.symbol)
                )
                writer.line(f"{first} = {both};")
        writer.line(f"{start} += {count} * {quarter};")
    emit_simd(ctx, loop, start, hi, body)
