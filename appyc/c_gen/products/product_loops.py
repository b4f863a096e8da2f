"""Loop nests that are matrix products: a BLAS call where it pays, else the loops.

    const int64_t rows = m, columns = n, summed = l;
    if (!((double)rows * (double)columns * (double)summed >= 512
          && product_float64(threads, rows, columns, summed, shape_all, 0, 1, false, 0, &C[0], ...))) {
        ... the loops ...
    }

The function that calls the library is in `headers/library_products.h`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from appyc.c_gen.c_module import FunctionContext
from appyc.c_gen.text.c_expressions import element_at, expression
from appyc.ir.machine_model import ENOUGH, ENOUGH_IN_STACK
from appyc.ir.nodes import Binary, Expr, For, Symbol, Var
from appyc.ir.schedule import Operand, Product, ProductShape
from appyc.ir.visit import loops_of, walk


def product_call(ctx: FunctionContext, loop: For) -> str:
    """Declares the sides of the nest's product; returns the condition that a library has computed it."""
    product = loop.product
    assert product is not None
    nest = {n.var: n for n in loops_of(loop)}
    dtype, fresh = product.target.array.dtype, ctx.module.names.fresh
    operands = (
        (product.target, product.rows, product.columns),
        (product.left, product.rows, product.summed),
        (product.right, product.summed, product.columns),
    )
    first = ctx
    stacked: list[str] = []
    tests: list[str] = []
    if product.stack is not None:
        stack, count = nest[product.stack], fresh("count")
        low = expression(ctx, stack.lo)
        ctx.writer.line(
            f"const int64_t {count} = {ctx.module.helpers.plain('trip_count')}({low}, {expression(ctx, stack.hi)}, 1);"
        )
        first, second = (
            replace(ctx, renamed={**ctx.renamed, stack.var: at}) for at in (f"({low})", f"({low} + 1)")
        )
        starts = [
            [_matrix(here, *operand, _Edges(here, product, nest))[0] for operand in operands]
            for here in (first, second)
        ]
        stacked = [
            count,
            *(f"(const char *){two} - (const char *){one}" for one, two in zip(*starts, strict=True)),
        ]
        tests.append(f"{count} >= 1")
    edges = _Edges(first, product, nest)
    sides = {
        symbol: fresh(name)
        for symbol, name in ((product.rows, "rows"), (product.columns, "columns"), (product.summed, "summed"))
    }
    for symbol, side in sides.items():
        ctx.writer.line(f"const int64_t {side} = {edges.count(symbol)};")
    scale = "1" if product.scale is None else expression(ctx, product.scale)
    keep = "false, 0" if product.keep is None else f"true, {expression(ctx, product.keep)}"
    shape = edges.shape() if product.stack is None else ()
    matrices = [part for operand in operands for part in _matrix(first, *operand, edges)]
    if product.stack is None:
        matrices += _exchanged(first, product, edges) if product.exchanged else ("0", "0")
    arguments = ["threads", *stacked, *sides.values(), *shape, scale, keep, *matrices]
    enough = ENOUGH if product.stack is None else ENOUGH_IN_STACK
    tests.append(f"(double){' * (double)'.join(sides.values())} >= {enough}")
    name = "product" if product.stack is None else "products"
    call = f"{ctx.module.helpers.typed(name, dtype)}({', '.join(arguments)})"
    return " && ".join([*tests, call])


@dataclass(frozen=True, slots=True)
class _Edges:
    """Where the loops of a product begin and end. Columns whose bounds move with the row are as many as the row
    with the most of them has, and begin where the first row's do."""

    ctx: FunctionContext
    product: Product
    nest: Mapping[Symbol, For]

    def first(self, symbol: Symbol) -> str:
        """The first iteration of a loop; in the first row, where rows differ."""
        return f"({expression(self._in_row(last=False), self.nest[symbol].lo)})"

    def count(self, symbol: Symbol) -> str:
        loop = self.nest[symbol]
        last = self.product.shape is ProductShape.BEFORE and symbol == self.product.columns
        end = expression(self._in_row(last=last), loop.hi)
        return f"{self.ctx.module.helpers.plain('trip_count')}({self.first(symbol)}, {end}, {loop.step})"

    def shape(self) -> tuple[str, str]:
        """Which elements are wanted, as the function that calls the library takes it."""
        self.ctx.module.helpers.plain("shapes")
        match self.product.shape:
            case ProductShape.ALL:
                return "shape_all", "0"
            case ProductShape.BEFORE:
                columns = self.product.columns
                end = expression(self._in_row(last=False), self.nest[columns].hi)
                return "shape_before", f"{end} - {self.first(columns)}"
            case ProductShape.FROM:
                columns = self.product.columns
                edge = _moving(self.nest[columns].lo, self.product.rows)
                return "shape_from", f"{expression(self._in_row(last=False), edge)} - {self.first(columns)}"

    def _in_row(self, *, last: bool) -> FunctionContext:
        rows = self.nest[self.product.rows]
        row = f"({expression(self.ctx, rows.hi)} - 1)" if last else f"({expression(self.ctx, rows.lo)})"
        return replace(self.ctx, renamed={**self.ctx.renamed, rows.var: row})


def _moving(bound: Expr, rows: Symbol) -> Expr:
    """The part of a bound that depends on the row, without its limit."""
    match bound:
        case Binary(op="max", lhs=lhs, rhs=rhs):
            return lhs if any(isinstance(n, Var) and n.symbol == rows for n in walk(lhs)) else rhs
        case _:
            return bound


def _exchanged(ctx: FunctionContext, product: Product, edges: _Edges) -> tuple[str, str]:
    """The first elements of the factors of the product's transpose."""
    first = {symbol: edges.first(symbol) for symbol in (product.rows, product.columns, product.summed)}
    first[product.rows], first[product.columns] = first[product.columns], first[product.rows]
    there = replace(ctx, renamed={**ctx.renamed, **first})
    left, right = (f"&{element_at(there, o.array, o.index)}" for o in (product.left, product.right))
    return right, left


def _matrix(
    ctx: FunctionContext, operand: Operand, slow: Symbol, fast: Symbol, edges: _Edges
) -> tuple[str, str, str]:
    """A matrix's first element, and how many bytes away the next ones along two loops are."""
    first = {symbol: edges.first(symbol) for symbol in (slow, fast)}

    def address(at: Mapping[Symbol, str]) -> str:
        there = replace(ctx, renamed={**ctx.renamed, **at})
        return f"&{element_at(there, operand.array, operand.index)}"

    start = address(first)
    steps = (
        address({**first, symbol: f"({first[symbol]} + {edges.nest[symbol].step})"})
        for symbol in (slow, fast)
    )
    one, other = (f"(const char *){step} - (const char *){start}" for step in steps)
    return start, one, other
