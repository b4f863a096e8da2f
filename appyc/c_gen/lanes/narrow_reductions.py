"""Reductions of small integers in lanes of 32 bits or fewer, in blocks of iterations.

    for (int64_t start = lo; start < hi; start += 4096) {
        const int64_t stop = hi - start < 4096 ? hi : start + 4096;
        int32_t total_2 = 0;
        #pragma omp simd reduction(+ : total_2)
        for (int64_t i = start; i < stop; i += 1) total_2 += (int32_t)a[i];
        total += total_2;
    }

A vector holds twice as many sums of 32 bits as of 64, and processors add products and differences of bytes into these.

Requires: `narrow_totals`, which says what fits. A block is not empty, and each iteration is one more element of what
is least or greatest.
"""

from __future__ import annotations

from dataclasses import replace

from appyc.c_gen.c_module import Body, FunctionContext
from appyc.c_gen.lanes.simd import emit_simd
from appyc.c_gen.text.c_operators import combine
from appyc.c_gen.text.c_types import c_type, neutral
from appyc.ir.nodes import Cast, Const, For, If, Node, Select, Symbol, Update
from appyc.ir.schedule import NarrowTotals
from appyc.ir.visit import rename, rewrite


def emit_narrow(ctx: FunctionContext, loop: For, narrow: NarrowTotals, lo: str, hi: str, body: Body) -> None:
    """Writes the loop from `lo` to `hi`."""
    writer, fresh = ctx.writer, ctx.module.names.fresh
    start, stop = fresh("start"), fresh("stop")
    ops = {r.symbol: r.op for r in loop.reductions}
    names: dict[Symbol, str] = {part: fresh(part.name) for _, part in narrow.parts}
    with writer.block(f"for (int64_t {start} = {lo}; {start} < {hi}; {start} += {narrow.block})"):
        writer.line(
            f"const int64_t {stop} = {hi} - {start} < {narrow.block} ? {hi} : {start} + {narrow.block};"
        )
        for total, part in narrow.parts:
            writer.line(f"{c_type(part.dtype)} {names[part]} = {neutral(ops[total], part.dtype)};")
        emit_simd(ctx.spelling(names), _in_parts(loop, narrow), start, stop, body)
        for total, part in narrow.parts:
            name, wide = ctx.name(total), f"({c_type(total.dtype)}){names[part]}"
            writer.line(f"{name} = {combine(ctx, ops[total], total.dtype, name, wide)};")


def _in_parts(loop: For, narrow: NarrowTotals) -> For:
    """The loop with narrow scalars for what it reduces into."""
    parts = dict(narrow.parts)

    def cast(node: Node) -> Node | tuple[Node, ...]:
        match node:
            case Update(target=target, value=value) if target in parts:
                arg = value.arg if isinstance(value, Cast) and value.arg.dtype.is_integer else value
                dtype = parts[target].dtype
                return replace(node, value=arg if arg.dtype is dtype else Cast(arg, dtype, loc=node.loc))
            case If(cond=cond, then=(Update(target=target, op="+", value=Const()) as update,), orelse=()) if (
                target in parts
            ):
                nothing = Const(0, update.value.dtype, loc=node.loc)
                return replace(update, value=Select(cond, update.value, nothing, loc=node.loc))
            case _:
                return node

    return rename(rewrite(loop, cast), parts)
