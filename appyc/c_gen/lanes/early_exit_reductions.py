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

from appyc.c_gen.c_module import Body, FunctionContext
from appyc.c_gen.lanes.simd import KEEP_IN_ORDER, declare_scalars, flag_bits, simd_private
from appyc.c_gen.text.c_expressions import expression
from appyc.c_gen.text.c_operators import combine
from appyc.ir.nodes import For, Select, Stmt, Symbol, Update

PART = 1024
"""Iterations between two tests whether every result is decided."""


def emit_decided(ctx: FunctionContext, loop: For, lo: str, hi: str, body: Body) -> None:
    """Writes the loop from `lo` to `hi`."""
    updates = [stmt for stmt in loop.body if isinstance(stmt, Update)]
    searches = [(u, u.value.orelse) for u in updates if u.op == "min" and isinstance(u.value, Select)]
    writer, fresh = ctx.writer, ctx.module.names.fresh
    var, stop = fresh("start"), fresh("stop")
    decided = [ctx.name(u.target) if u.op == "or" else f"!{ctx.name(u.target)}" for u in _flags(loop)]
    for update, none in searches:
        total = ctx.name(update.target)
        decided.append(f"{total} <= {var} && {total} <= {expression(ctx, none)}")
    writer.line(f"int64_t {var} = {lo};")
    with writer.block(f"while ({var} < {hi} && !({' && '.join(decided)}))"):
        writer.line(f"const int64_t {stop} = {hi} - {var} < {PART} ? {hi} : {var} + {PART};")
        found = _declare_found(ctx, loop)
        clauses = [f"reduction(| : {name})" for name in found.values()]
        clauses += [f"reduction(min : {ctx.name(update.target)})" for update, _ in searches]
        writer.line(" ".join(["#pragma omp simd", *clauses]))
        k = ctx.name(loop.var)
        with writer.block(f"for (int64_t {k} = {var}; {k} < {stop}; {k} += 1)"):
            declare_scalars(ctx, simd_private(loop))
            for stmt in loop.body:
                if not _emit_flag(ctx, loop, stmt, found):
                    body(ctx, (stmt,))
        _combine_found(ctx, loop, found)
        writer.line(f"{var} = {stop};")


def emit_undecided(ctx: FunctionContext, loop: For, lo: str, hi: str, body: Body) -> None:
    """Writes the loop from `lo` to `hi` for few iterations, one by one, and without a branch: it would be mispredicted
    as often as not."""
    writer, k = ctx.writer, ctx.name(loop.var)
    found = _declare_found(ctx, loop)
    with writer.block(f"for (int64_t {k} = {lo}; {k} < {hi}; {k} += 1)"):
        writer.line(KEEP_IN_ORDER)
        declare_scalars(ctx, simd_private(loop))
        for stmt in loop.body:
            if _emit_flag(ctx, loop, stmt, found):
                continue
            if isinstance(stmt, Update) and isinstance(stmt.value, Select):
                total, none = ctx.name(stmt.target), expression(ctx, stmt.value.orelse)
                here = f"{none} - ({none} - {k}) * (int64_t)({expression(ctx, stmt.value.cond)})"
                writer.line(f"{total} = {combine(ctx, 'min', stmt.target.dtype, total, here)};")
            else:
                body(ctx, (stmt,))
    _combine_found(ctx, loop, found)


def _flags(loop: For) -> list[Update]:
    return [stmt for stmt in loop.body if isinstance(stmt, Update) and stmt.op != "min"]


def _declare_found(ctx: FunctionContext, loop: For) -> dict[Symbol, str]:
    """Declares, for each flag, whether one of the next iterations decides it, in an integer that has as many bits as
    the elements."""
    found = {update.target: ctx.module.names.fresh(f"{update.target.name}_found") for update in _flags(loop)}
    for name in found.values():
        ctx.writer.line(f"uint{flag_bits(loop.body)}_t {name} = 0;")
    return found


def _emit_flag(ctx: FunctionContext, loop: For, stmt: Stmt, found: dict[Symbol, str]) -> bool:
    """Writes an update of a flag; False for another statement."""
    if not isinstance(stmt, Update) or stmt.target not in found:
        return False
    sign = "!" if stmt.op == "and" else ""
    width = flag_bits(loop.body)
    ctx.writer.line(f"{found[stmt.target]} |= (uint{width}_t){sign}({expression(ctx, stmt.value)});")
    return True


def _combine_found(ctx: FunctionContext, loop: For, found: dict[Symbol, str]) -> None:
    for update in _flags(loop):
        name = ctx.name(update.target)
        op, sign = ("||", "") if update.op == "or" else ("&&", "!")
        ctx.writer.line(f"{name} = {name} {op} {sign}{found[update.target]};")
