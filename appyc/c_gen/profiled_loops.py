"""Instrumentation of a profiled kernel: the predicted and the measured time of each loop that threads may share.

The numbers add up in a table, one row of `Row`'s fields for each such loop in program order, that
whoever loaded the kernel reads and clears.
"""

from __future__ import annotations

from dataclasses import dataclass

from appyc.c_gen.c_module import FunctionContext
from appyc.c_gen.loops.loop_pieces import cost_text
from appyc.ir.nodes import For

TABLE = "appyc_profile"


@dataclass(frozen=True, slots=True)
class Row:
    """Totals over all runs of a loop. alone, together, took: nanoseconds; the first two are predictions.

    shared: the runs in which threads shared the loop.
    """

    runs: float = 0
    iterations: float = 0
    vector: float = 0
    scalar: float = 0
    gathers: float = 0
    bytes: float = 0
    alone: float = 0
    together: float = 0
    shared: float = 0
    took: float = 0


def emit_start(ctx: FunctionContext) -> None:
    """Writes the code that runs before a loop's pieces: it takes the time."""
    ctx.module.helpers.plain("appyc_machine")
    ctx.module.helpers.plain("nanoseconds")
    ctx.writer.line("const double began = nanoseconds();")


def emit_end(ctx: FunctionContext, nest: tuple[For, ...]) -> None:
    """Writes the code that runs after a loop's pieces: it adds to the table."""
    rows = ctx.module.profiled
    assert rows is not None
    rows.append(nest[0])
    add = ctx.module.helpers.plain("profile_add")
    row = f"{TABLE} + {len(rows) - 1} * profile_width"
    known = ctx.schedule[nest[0].var].cost is not None
    cost = cost_text(ctx, nest) if known else "0, 0, 0, 0, 0, 0"
    ctx.writer.line(f"{add}({row}, trips, shared, nanoseconds() - began, threads, {cost});")
