"""Translation of loop bounds to C text."""

from __future__ import annotations

from appyc.c_gen.c_module import FunctionContext
from appyc.c_gen.text.c_expressions import expression
from appyc.ir.invariance import is_invariant
from appyc.ir.nodes import Expr, For
from appyc.ir.raising import can_fault
from appyc.ir.visit import scalars_written


def bound_text(ctx: FunctionContext, loop: For, bound: Expr, which: str) -> str:
    """A term for a bound, which Python evaluates once.

    Written inline where it is invariant in the loop, else held in a variable that is declared before the loop.
    """
    text = expression(ctx, bound)
    if is_invariant(bound, scalars_written(loop.body)):
        return text
    name = ctx.module.names.fresh(f"{loop.var.name}_{which}")
    ctx.writer.line(f"const int64_t {name} = {text};")
    if can_fault(bound):
        ctx.leave_if_failed()
    return name
