"""Vectorisation of innermost loops by `#pragma omp simd`: its clauses, and the scalars of its lanes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from appyc.c_gen.c_module import Body, FunctionContext
from appyc.c_gen.text.c_types import c_type, constant
from appyc.ir.nodes import For, If, Load, Node, Reduction, Stmt, Symbol, While
from appyc.ir.schedule import Schedule
from appyc.ir.visit import symbols_of, walk

_CLAUSE_OPS = {"and": "&&", "or": "||", "minimum": "min", "maximum": "max"}

KEEP_IN_ORDER = '__asm__ volatile ("");'
"""A statement that keeps the C compiler from vectorising a loop, and from making a branch a select."""


def simd_private(loop: For) -> list[Symbol]:
    """The scalars that each lane declares for itself, in the order of the loop's own list."""
    return [symbol for symbol in loop.private if symbol not in loop.last]


def flag_bits(nodes: Node | Iterable[Node]) -> int:
    """The width of a flag in bits, that of the widest element that is loaded: the C compiler does not vectorise a
    logical operator on operands of other widths."""
    return 8 * min(max((n.dtype.itemsize for n in walk(nodes) if isinstance(n, Load)), default=1), 8)


def simd_directive(ctx: FunctionContext, loop: For, strands: Sequence[FunctionContext] = ()) -> str:
    """strands: contexts that have names of their own for what the loop reduces into."""
    clauses = []
    for r in loop.reductions:
        names = ", ".join(one.name(r.symbol) for one in (ctx, *strands))
        clauses.append(f"reduction({_clause_op(ctx, r)} : {names})")
    clauses += [f"lastprivate({ctx.name(symbol)})" for symbol in loop.last]
    if loop.safelen is not None:
        clauses.append(f"safelen({loop.safelen})")
    return " ".join(["#pragma omp simd", *clauses])


def loop_head(ctx: FunctionContext, loop: For, lo: str, hi: str) -> str:
    var, relation = ctx.name(loop.var), "<" if loop.step > 0 else ">"
    return f"for (int64_t {var} = {lo}; {var} {relation} {hi}; {var} += {loop.step})"


def emit_simd(ctx: FunctionContext, loop: For, lo: str, hi: str, body: Body) -> None:
    """The loop from `lo` to `hi` in lanes."""
    ctx.writer.line(simd_directive(ctx, loop))
    with ctx.writer.block(loop_head(ctx, loop, lo, hi)):
        declare_scalars(ctx, simd_private(loop))
        body(replace(ctx, in_lanes=True), loop.body)


def _clause_op(ctx: FunctionContext, reduction: Reduction) -> str:
    """OpenMP's own min and max say nothing of NaN; for floats ours are declared."""
    if reduction.symbol.dtype.is_float and reduction.op in ("min", "max", "minimum", "maximum"):
        return ctx.module.helpers.declared_reduction(reduction.op, reduction.symbol.dtype)
    return _CLAUSE_OPS.get(reduction.op, reduction.op)


def declare_scalars(ctx: FunctionContext, symbols: Iterable[Symbol]) -> None:
    """Declarations, with a value: what the program leaves unassigned must not be undefined in C."""
    for symbol in symbols:
        zero = constant(0, symbol.dtype)
        ctx.writer.line(f"{c_type(symbol.dtype)} {ctx.module.names.of(symbol)} = {zero};")


def named_outside_lanes(body: Iterable[Stmt], schedule: Schedule) -> set[Symbol]:
    """The symbols that are used by some statement outside of the SIMD loops that declare them privately."""
    out: set[Symbol] = set()
    for stmt in body:
        match stmt:
            case For():
                inside = named_outside_lanes(stmt.body, schedule)
                if schedule[stmt.var].is_simd:
                    inside.difference_update(simd_private(stmt))
                out |= inside
                out.update(symbols_of(stmt.bounds))
            case While():
                out |= named_outside_lanes(stmt.body, schedule)
                out.update(symbols_of(stmt.cond))
            case If():
                out |= named_outside_lanes((*stmt.then, *stmt.orelse), schedule)
                out.update(symbols_of(stmt.cond))
            case _:
                out.update(symbols_of(stmt))
    return out
