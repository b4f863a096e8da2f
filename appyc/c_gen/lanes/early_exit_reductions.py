"""SIMD loops with an early exit: `any`, `all` and the index of the first match.

    for (i = lo; i < hi && !total; ) {
        const int64_t stop = smaller(hi - i, 1024) + i;
        uint64_t found = 0;
        #pragma omp simd reduction(| : found)
        for (k = i; k < stop; k += 1) found |= a[k] > 0;
        total = total || found;
        i = stop;
    }

The loop is strip-mined: the result is tested after each part of 1024 iterations. The flags of a part are as wide as
the elements that are compared, since the C compiler does not vectorise a logical operator on operands of other widths.

The smallest index of a match (`total = min(total, k if a[k] == x else n)`) is decided once it lies before the next
part.

Does not handle: loops with other statements; updates under an `if`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from appyc.c_gen.c_module import FunctionContext
from appyc.c_gen.lanes.simd import declare_scalars, flag_bits, simd_private
from appyc.c_gen.text.c_expressions import expression
from appyc.ir.nodes import For, Select, Stmt, Update

Statements: TypeAlias = Callable[[FunctionContext, tuple[Stmt, ...]], None]

PART = 1024
"""Iterations between two tests whether every result is decided."""


def emit_decided(ctx: FunctionContext, loop: For, lo: str, hi: str, body: Statements) -> None:
    """Writes the loop from `lo` to `hi`."""
    updates = [stmt for stmt in loop.body if isinstance(stmt, Update)]
    flags = [update for update in updates if update.op != "min"]
    searches = [(u, u.value.orelse) for u in updates if u.op == "min" and isinstance(u.value, Select)]
    width = flag_bits(loop.body)
    writer, fresh = ctx.writer, ctx.module.names.fresh
    var, stop = fresh("start"), fresh("stop")
    found = {update.target: fresh(f"{update.target.name}_found") for update in flags}
    decided = [ctx.name(u.target) if u.op == "or" else f"!{ctx.name(u.target)}" for u in flags]
    for update, none in searches:
        total = ctx.name(update.target)
        decided.append(f"{total} <= {var} && {total} <= {expression(ctx, none)}")
    writer.line(f"int64_t {var} = {lo};")
    with writer.block(f"while ({var} < {hi} && !({' && '.join(decided)}))"):
        writer.line(f"const int64_t {stop} = {hi} - {var} < {PART} ? {hi} : {var} + {PART};")
        for name in found.values():
            writer.line(f"uint{width}_t {name} = 0;")
        clauses = [f"reduction(| : {name})" for name in found.values()]
        clauses += [f"reduction(min : {ctx.name(update.target)})" for update, _ in searches]
        writer.line(" ".join(["#pragma omp simd", *clauses]))
        k = ctx.name(loop.var)
        with writer.block(f"for (int64_t {k} = {var}; {k} < {stop}; {k} += 1)"):
            declare_scalars(ctx, simd_private(loop))
            for stmt in loop.body:
                if isinstance(stmt, Update) and stmt.target in found:
                    sign = "!" if stmt.op == "and" else ""
                    truth = f"{sign}({expression(ctx, stmt.value)})"
                    writer.line(f"{found[stmt.target]} |= (uint{width}_t){truth};")
                else:
                    body(ctx, (stmt,))
        for update in flags:
            name = ctx.name(update.target)
            op, sign = ("||", "") if update.op == "or" else ("&&", "!")
            writer.line(f"{name} = {name} {op} {sign}{found[update.target]};")
        writer.line(f"{var} = {stop};")
