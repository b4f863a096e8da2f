"""Nests that are products of matrices: a call of a library where it pays, or else the loops.

    const int64_t rows = m, columns = n, summed = l;
    if (!(rows >= 8 && ... && product_float64(threads, rows, columns, summed, 1, false, 0, &C[0], ...))) {
        ... the loops ...
    }

The function that calls the library is in `library_products`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from appyc.c_gen.context import FunctionContext
from appyc.c_gen.expressions import element, expression
from appyc.ir.machine import ENOUGH, FEWEST
from appyc.ir.nodes import For, Operand, Symbol
from appyc.ir.visit import loops_of


def product_call(ctx: FunctionContext, loop: For) -> str:
    """Declares the sides of the nest's product; returns the condition that a library has computed it."""
    product = loop.product
    assert product is not None
    nest = {n.var: n for n in loops_of(loop)}
    dtype, fresh = product.target.array.dtype, ctx.module.names.fresh
    sides: dict[Symbol, str] = {}
    for symbol, name in ((product.rows, "rows"), (product.columns, "columns"), (product.summed, "summed")):
        along, sides[symbol] = nest[symbol], fresh(name)
        count = ctx.module.helpers.plain("trip_count")
        bounds = f"{expression(ctx, along.lo)}, {expression(ctx, along.hi)}, {along.step}"
        ctx.writer.line(f"const int64_t {sides[symbol]} = {count}({bounds});")
    scale = "1" if product.scale is None else expression(ctx, product.scale)
    keep = "false, 0" if product.keep is None else f"true, {expression(ctx, product.keep)}"
    arguments = [
        "threads",
        *sides.values(),
        scale,
        keep,
        *_matrix(ctx, product.target, product.rows, product.columns, nest),
        *_matrix(ctx, product.left, product.rows, product.summed, nest),
        *_matrix(ctx, product.right, product.summed, product.columns, nest),
    ]
    tests = [f"{side} >= {FEWEST}" for side in sides.values()]
    tests.append(f"(double){' * (double)'.join(sides.values())} >= {ENOUGH}")
    call = f"{ctx.module.helpers.typed('product', dtype)}({', '.join(arguments)})"
    return " && ".join([*tests, call])


def _matrix(
    ctx: FunctionContext, operand: Operand, slow: Symbol, fast: Symbol, nest: Mapping[Symbol, For]
) -> tuple[str, str, str]:
    """A matrix's first element, and how many bytes away the next ones along two loops are."""
    first = {symbol: f"({expression(ctx, nest[symbol].lo)})" for symbol in (slow, fast)}

    def place(at: Mapping[Symbol, str]) -> str:
        there = replace(ctx, renamed={**ctx.renamed, **at})
        return f"&{element(there, operand.array, [expression(there, i) for i in operand.index])}"

    start = place(first)
    steps = (place({**first, symbol: f"({first[symbol]} + {nest[symbol].step})"}) for symbol in (slow, fast))
    one, other = (f"(const char *){step} - (const char *){start}" for step in steps)
    return start, one, other
