"""C text for a loop of the IR: multithreaded where its mode says so, else on the current thread; of a matrix product a
BLAS call where it pays, else the loops.

    const int64_t rows = m, columns = n, summed = l;
    if (!((double)rows * (double)columns * (double)summed >= 512
          && product_float64(threads, rows, columns, summed, shape_all, 0, 1, false, 0, &C[0], ...))) {
        ... the loops ...
    }

The function that calls the library is in `headers/library_products.h`.
"""

from __future__ import annotations

from appyc.c_gen.c_module import Body, FunctionContext
from appyc.c_gen.loops.counted_loops import emit_counted
from appyc.c_gen.loops.thread_loops import emit_threads, runs_in_threads
from appyc.c_gen.text.c_expressions import element_at, expression
from appyc.ir.invariance import is_invariant
from appyc.ir.machine_model import ENOUGH, ENOUGH_IN_STACK
from appyc.ir.nodes import Expr, For
from appyc.ir.product_call import Matrix, Side, product_call
from appyc.ir.raising import can_fault
from appyc.ir.visit import scalars_written


def emit_loop(ctx: FunctionContext, loop: For, body: Body) -> None:
    """Writes a loop in the fastest form that its mode and its body allow."""
    ctx.writer.line(f"/* {ctx.location(loop.loc)}: {loop.mode.value} */")
    if loop.product is not None and not ctx.in_piece and not ctx.module.sequential:
        with ctx.writer.block():
            called = _library_call(ctx, loop)
            with ctx.writer.block(f"if (!({called}))"):
                _emit_iterations(ctx, loop, body)
        return
    _emit_iterations(ctx, loop, body)


def _emit_iterations(ctx: FunctionContext, loop: For, body: Body) -> None:
    if runs_in_threads(ctx, loop):
        emit_threads(ctx, loop, body)
        return
    lo = _bound(ctx, loop, loop.lo, "lo")
    hi = _bound(ctx, loop, loop.hi, "hi")
    if not loop.last or ctx.module.sequential:
        emit_counted(ctx, loop, lo, hi, body)
        return
    # OpenMP leaves a last value undefined where there is no iteration.
    with ctx.writer.block(f"if ({lo} {'<' if loop.step > 0 else '>'} {hi})"):
        emit_counted(ctx, loop, lo, hi, body)


def _bound(ctx: FunctionContext, loop: For, bound: Expr, which: str) -> str:
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


# ---------------------------------------------------------------- products


def _library_call(ctx: FunctionContext, loop: For) -> str:
    """Declares the sides of the nest's product; returns the condition that a library has computed it."""
    product = loop.product
    assert product is not None
    call = product_call(product, loop)
    trip_count, fresh = ctx.module.helpers.plain("trip_count"), ctx.module.names.fresh

    def count(name: str, counted: Side) -> str:
        number, bounds = fresh(name), (expression(ctx, counted.lo), expression(ctx, counted.hi))
        ctx.writer.line(f"const int64_t {number} = {trip_count}({', '.join(bounds)}, {counted.step});")
        return number

    matrices = (call.target, call.left, call.right)
    stacked, tests = [], []
    if call.stack is not None:
        stacked = [count("count", call.stack), *(_distance(ctx, m, m.beyond) for m in matrices)]
        tests.append(f"{stacked[0]} >= 1")
    sides = [count(name, side) for name, side in zip(("rows", "columns", "summed"), call.sides, strict=True)]
    scale = "1" if product.scale is None else expression(ctx, product.scale)
    keep = "false, 0" if product.keep is None else f"true, {expression(ctx, product.keep)}"
    shape, exchanged = [], []
    if call.stack is None:
        ctx.module.helpers.plain("shapes")
        edge = "0" if call.edge is None else expression(ctx, call.edge)
        shape = [f"shape_{product.shape.value}", edge]
        exchanged = [_first(ctx, m) for m in call.exchanged] or ["0", "0"]
    elements = [
        part
        for m in matrices
        for part in (_first(ctx, m), *(_distance(ctx, m, to) for to in (m.below, m.beside)))
    ]
    threads = "1" if ctx.in_callee else "threads"
    arguments = [threads, *stacked, *sides, *shape, scale, keep, *elements, *exchanged]
    enough = ENOUGH if call.stack is None else ENOUGH_IN_STACK
    tests.append(f"(double){' * (double)'.join(sides)} >= {enough}")
    name = ctx.module.helpers.typed("product" if call.stack is None else "products", call.target.array.dtype)
    return " && ".join([*tests, f"{name}({', '.join(arguments)})"])


def _first(ctx: FunctionContext, matrix: Matrix) -> str:
    return f"&{element_at(ctx, matrix.array, matrix.first)}"


def _distance(ctx: FunctionContext, matrix: Matrix, index: tuple[Expr, ...]) -> str:
    """Bytes from a matrix's first element to another one."""
    return f"(const char *)&{element_at(ctx, matrix.array, index)} - (const char *){_first(ctx, matrix)}"
