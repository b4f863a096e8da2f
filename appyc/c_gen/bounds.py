"""Loop bounds as C text, and the work that a loop is."""

from __future__ import annotations

from appyc.c_gen.context import FunctionContext, can_fault
from appyc.c_gen.cost import substituted, work_of
from appyc.c_gen.expressions import expression
from appyc.ir.nodes import Expr, For, Load, Symbol, Var
from appyc.ir.visit import scalars_written, walk


def bound_text(ctx: FunctionContext, loop: For, bound: Expr, which: str) -> str:
    """A term for a bound, which Python evaluates once.

    Written in place where nothing in the loop can change it, else declared before the loop.
    """
    text = expression(ctx, bound)
    if is_invariant(bound, scalars_written(loop.body)):
        return text
    name = ctx.module.names.fresh(f"{loop.var.name}_{which}")
    ctx.writer.line(f"const int64_t {name} = {text};")
    if can_fault(bound):
        ctx.leave_if_failed()
    return name


def is_invariant(expr: Expr, written: set[Symbol]) -> bool:
    """True for an expression of scalars and extents that `written` does not change."""
    return not can_fault(expr) and not any(
        isinstance(n, Load) or (isinstance(n, Var) and n.symbol in written) for n in walk(expr)
    )


def work_text(ctx: FunctionContext, loops: tuple[For, ...]) -> str:
    """The operations of one iteration of a perfect nest, as a double, before the nest runs."""
    innermost = loops[-1]
    body = innermost.body
    for loop in reversed(loops):
        body = substituted(For(loop.var, loop.lo, loop.hi, loop.step, body, loc=loop.loc))
    inside = scalars_written(innermost.body) | {n.var for n in walk(loops) if isinstance(n, For)}

    def trips(inner: For) -> str:
        helper = ctx.module.helpers.plain("trips_between")
        return f"{helper}({expression(ctx, inner.lo)}, {expression(ctx, inner.hi)}, {inner.step}.0)"

    return work_of(body, lambda expr: is_invariant(expr, inside), trips)
