"""Work division of a parallel loop: the number of pieces, and whether threads share them."""

from __future__ import annotations

from appyc.c_gen.c_module import FunctionContext
from appyc.c_gen.text.c_expressions import expression
from appyc.ir.invariance import is_invariant
from appyc.ir.nodes import Binary, For, Intrinsic, Load, Stmt, Symbol, Update, While
from appyc.ir.schedule import OuterLanes
from appyc.ir.visit import scalars_written, walk

CUT_WORK = 20_000
"""Operations above which a sum that rounds is cut into pieces, on one thread too. No measurement takes
part in that, so that two runs, and two days, give the same bits."""

MAX_PIECES = 4096
PIECES_PER_THREAD = 16
"""Pieces of a loop with iterations of unequal length: enough of them that the threads finish together."""

ATOMIC_WORK = 50
"""Operations for each update that make up for its being atomic: some four times as long as a plain one
where no two threads meet, and longer where they do."""


def emit_pieces(ctx: FunctionContext, nest: tuple[For, ...]) -> str:
    """Declares the number of `pieces`, and whether they are `shared`; returns OpenMP's word for how."""
    writer = ctx.writer
    clauses = nest[0].clauses
    worth = ["threads > 1", "pieces > 1"]
    if nest[0].condition is not None:
        worth.append(expression(ctx, nest[0].condition))
    schedule = clauses.schedule if clauses is not None else None
    chunk = clauses.chunk if clauses is not None else None
    few = any(r.symbol.is_array for loop in nest for r in loop.reductions)  # each piece has copies of arrays
    if (schedule == "dynamic" or chunk is not None) and not few:
        wanted = f"(trips - 1) / {chunk or 1} + 1"
        writer.line(f"int64_t pieces = {wanted} < {MAX_PIECES} ? {wanted} : {MAX_PIECES};")
        schedule = schedule or "static"
    elif schedule is None and _is_uneven(nest) and not few:
        writer.line(f"int64_t pieces = threads * {PIECES_PER_THREAD};")
        schedule = "dynamic"
    else:
        writer.line("int64_t pieces = threads;")
        schedule = "static"
    writer.line("if (pieces > trips) pieces = trips;")
    _keep_vectors_whole(ctx, nest)
    if rounds(nest):
        work = work_text(ctx, nest)
        if work is not None:
            worth.append(f"{work} > {CUT_WORK}.0")
        writer.line(f"if (!({' && '.join(worth)})) pieces = 1;")
        worth = ["pieces > 1"]
    if ctx.schedule[nest[0].var].cost is not None:
        share, may_pay = "pieces < threads ? pieces : threads", ctx.module.helpers.plain("threads_may_pay")
        worth.append(f"{may_pay}({share}, {cost_text(ctx, nest)})")
    writer.line(f"const bool shared = {' && '.join(worth)};")
    if not rounds(nest):
        writer.line("if (!shared) pieces = 1;")
    return schedule


def _keep_vectors_whole(ctx: FunctionContext, nest: tuple[For, ...]) -> None:
    """Limits the pieces of a vectorised loop, so that each has a whole vector of iterations: half a vector would be
    done by scalar code."""
    plan = ctx.schedule[nest[0].var].form if len(nest) == 1 else None
    if not isinstance(plan, OuterLanes) or plan.rows is not None:
        return
    lanes = f"(int64_t)(sizeof({ctx.module.helpers.typed('vector', plan.dtype)}) / {plan.dtype.itemsize})"
    ctx.writer.line(f"if (trips >= {lanes} && pieces > trips / {lanes}) pieces = trips / {lanes};")


def cost_text(ctx: FunctionContext, nest: tuple[For, ...]) -> str:
    """The trip count of the loop that its cost is of, and that cost, as arguments of `threads_may_pay`."""
    cost = ctx.schedule[nest[0].var].cost
    assert cost is not None
    parts = (cost.vector, cost.scalar, cost.gathers, cost.bytes, cost.bytes_each)
    return ", ".join([_outer_trips(ctx, nest), *(expression(ctx, part) for part in parts)])


def work_text(ctx: FunctionContext, nest: tuple[For, ...]) -> str | None:
    """The operations of the whole nest as C text, a double; None where the loop has no cost estimate."""
    cost = ctx.schedule[nest[0].var].cost
    if cost is None:
        return None
    operations = f"{expression(ctx, cost.vector)} + {expression(ctx, cost.scalar)}"
    return f"(double){_outer_trips(ctx, nest)} * ({operations})"


def _outer_trips(ctx: FunctionContext, nest: tuple[For, ...]) -> str:
    return "trips" if len(nest) == 1 else f"{ctx.name(nest[0].var)}_trips"


def rounds(nest: tuple[For, ...]) -> bool:
    """Whether the result depends on how the iterations are cut, in its last bits."""
    return any(r.op in ("+", "*") and not r.symbol.dtype.is_integer for loop in nest for r in loop.reductions)


def _is_uneven(nest: tuple[For, ...]) -> bool:
    """True where iterations take different times: an inner loop's bounds or end vary with them."""
    body = nest[-1].body
    variable = {loop.var for loop in nest} | scalars_written(body)
    return any(
        isinstance(n, While) or (isinstance(n, For) and not is_invariant(n.bounds, variable))
        for n in walk(body)
    )


def atomics_pay(ctx: FunctionContext, nest: tuple[For, ...], arrays: set[Symbol]) -> str:
    """Whether there is enough other work for each atomic update of the arrays, as a C condition."""
    body = nest[-1].body
    around = [loop for loop in walk(body) if isinstance(loop, For) and _updates(loop.body, arrays)]
    cost = ctx.schedule[nest[0].var].cost
    if not around and cost is not None and len(nest) == 1:
        return f"({expression(ctx, cost.vector)} + {expression(ctx, cost.scalar)}) >= {ATOMIC_WORK}.0"
    innermost = min((loop.body for loop in around), key=lambda b: sum(1 for _ in walk(b)), default=body)
    has_loop = any(isinstance(n, For | While) for n in walk(innermost))
    operations = sum(isinstance(n, Binary | Intrinsic | Load) for n in walk(innermost))
    return "true" if has_loop or operations >= ATOMIC_WORK else "false"


def _updates(body: tuple[Stmt, ...], arrays: set[Symbol]) -> bool:
    return any(isinstance(n, Update) and n.target in arrays for n in walk(body))
