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
from dataclasses import dataclass
from typing import TypeAlias

from appyc.c_gen.c_module import FunctionContext
from appyc.c_gen.lanes.simd import declare_scalars, flag_bits, simd_private, why_not_simd
from appyc.c_gen.text.c_expressions import expression
from appyc.ir.nodes import Assign, Expr, For, Load, Select, Stmt, Symbol, Update, Var
from appyc.ir.types import DType
from appyc.ir.visit import scalars_read, scalars_written, walk

Statements: TypeAlias = Callable[[FunctionContext, tuple[Stmt, ...]], None]

PART = 1024
"""Iterations between two tests whether every result is decided."""


@dataclass(frozen=True, slots=True)
class DecidedPlan:
    """flags: updates of `any` and `all`. places: minima of a matching index, each with its value where none matches."""

    flags: tuple[Update, ...]
    places: tuple[tuple[Update, Expr], ...]
    width: int
    """The width of a flag in bits."""


def plan_decided(loop: For) -> DecidedPlan | None:
    """The plan for a SIMD loop of such reductions alone; None for a loop with anything else."""
    if not loop.reductions or loop.step != 1 or loop.last or why_not_simd(loop) is not None:
        return None
    flags: list[Update] = []
    places: list[tuple[Update, Expr]] = []
    for stmt in loop.body:
        match stmt:
            case Update(target=target, op="and" | "or") if not target.is_array and stmt.mask is None:
                flags.append(stmt)
            case Update(target=target, op="min", value=Select(then=Var(symbol=symbol), orelse=none)) if (
                symbol == loop.var and not target.is_array and _is_fixed(none, loop)
            ):
                places.append((stmt, none))
            case Assign():
                pass
            case _:
                return None
    totals = {update.target for update in (*flags, *(update for update, _ in places))}
    if totals != {r.symbol for r in loop.reductions} or len(totals) < len(flags) + len(places):
        return None
    if any(totals & scalars_read(_value(stmt)) for stmt in loop.body):
        return None
    return DecidedPlan(tuple(flags), tuple(places), flag_bits(loop.body))


def _value(stmt: Stmt) -> Expr:
    assert isinstance(stmt, Assign | Update)
    return stmt.value


def _is_fixed(expr: Expr, loop: For) -> bool:
    changed: set[Symbol] = {loop.var, *scalars_written(loop.body)}
    return expr.dtype is DType.INT64 and not any(
        isinstance(n, Load) or (isinstance(n, Var) and n.symbol in changed) for n in walk(expr)
    )


def emit_decided(
    ctx: FunctionContext, loop: For, plan: DecidedPlan, lo: str, hi: str, body: Statements
) -> None:
    """Writes the loop from `lo` to `hi`."""
    writer, fresh = ctx.writer, ctx.module.names.fresh
    var, stop = fresh("start"), fresh("stop")
    found = {update.target: fresh(f"{update.target.name}_found") for update in plan.flags}
    decided = [ctx.name(u.target) if u.op == "or" else f"!{ctx.name(u.target)}" for u in plan.flags]
    for update, none in plan.places:
        total = ctx.name(update.target)
        decided.append(f"{total} <= {var} && {total} <= {expression(ctx, none)}")
    writer.line(f"int64_t {var} = {lo};")
    with writer.block(f"while ({var} < {hi} && !({' && '.join(decided)}))"):
        writer.line(f"const int64_t {stop} = {hi} - {var} < {PART} ? {hi} : {var} + {PART};")
        for name in found.values():
            writer.line(f"uint{plan.width}_t {name} = 0;")
        clauses = [f"reduction(| : {name})" for name in found.values()]
        clauses += [f"reduction(min : {ctx.name(update.target)})" for update, _ in plan.places]
        writer.line(" ".join(["#pragma omp simd", *clauses]))
        k = ctx.name(loop.var)
        with writer.block(f"for (int64_t {k} = {var}; {k} < {stop}; {k} += 1)"):
            declare_scalars(ctx, simd_private(loop))
            for stmt in loop.body:
                if isinstance(stmt, Update) and stmt.target in found:
                    sign = "!" if stmt.op == "and" else ""
                    truth = f"{sign}({expression(ctx, stmt.value)})"
                    writer.line(f"{found[stmt.target]} |= (uint{plan.width}_t){truth};")
                else:
                    body(ctx, (stmt,))
        for update in plan.flags:
            name = ctx.name(update.target)
            op, sign = ("||", "") if update.op == "or" else ("&&", "!")
            writer.line(f"{name} = {name} {op} {sign}{found[update.target]};")
        writer.line(f"{var} = {stop};")
