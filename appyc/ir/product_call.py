"""A matrix product as what a library or a kernel is called with: the sides, and where each matrix lies in its array.

for i in range(n):
    for j in range(i + 1):                  sides   n, n, m; in row r the columns before edge + r = 1 + r
        for k in range(m):          ->      target  C[0, 0], below it C[1, 0], beside it C[0, 1]
            C[i, j] += A[i, k] * B[k, j]    left    A[0, 0], A[1, 0], A[0, 1]; right  B[0, 0], B[1, 0], B[0, 1]
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from appyc.ir.expression_nodes import Binary, Const, Expr, Var
from appyc.ir.nodes import For
from appyc.ir.schedule import Operand, Product, ProductShape
from appyc.ir.symbols import Node, Symbol
from appyc.ir.types import DType
from appyc.ir.visit import loops_of, substitute, walk


@dataclass(frozen=True, slots=True)
class Matrix(Node):
    """A matrix in an array: the indices of its first element, of the one below that, and of the one beside it.

    beyond: in a stack, the index of the next matrix's first element.
    """

    array: Symbol
    first: tuple[Expr, ...]
    below: tuple[Expr, ...]
    beside: tuple[Expr, ...]
    beyond: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class Side(Node):
    """The bounds of a loop."""

    lo: Expr
    hi: Expr
    step: int


@dataclass(frozen=True, slots=True)
class ProductCall(Node):
    """sides: rows and columns of the target, and the sum, as a rectangle. exchanged: two more factors, left and right,
    whose product is added. edge: of a triangle, the column, counted from the first, before which the first row's
    elements are computed, or from which on; one further on in each row. Of sums, the iteration of these. stack: of a
    loop over many such products."""

    sides: tuple[Side, Side, Side]
    target: Matrix
    left: Matrix
    right: Matrix
    exchanged: tuple[Matrix, ...] = ()
    edge: Expr | None = None
    stack: Side | None = None


def product_call(product: Product, nest: For) -> ProductCall:
    """The arguments with which a kernel computes the product of a nest."""
    rows, columns, summed = widest(product, nest)
    stack = next((n for n in loops_of(nest) if n.var == product.stack), None)
    swapped: dict[Symbol, Expr] = {
        one.var: Var(other.var, loc=nest.loc) for one, other in ((rows, columns), (columns, rows))
    }

    def exchanged(operand: Operand) -> Operand:
        return replace(operand, index=tuple(substitute(index, swapped) for index in operand.index))

    return ProductCall(
        (_side(rows), _side(columns), _side(summed)),
        _matrix(product.target, rows, columns, stack),
        _matrix(product.left, rows, summed, stack),
        _matrix(product.right, summed, columns, stack),
        (
            _matrix(exchanged(product.right), rows, summed, stack),
            _matrix(exchanged(product.left), summed, columns, stack),
        )
        if product.exchanged
        else (),
        _edge(product, nest),
        None if stack is None else _side(stack),
        loc=nest.loc,
    )


def _side(loop: For) -> Side:
    return Side(loop.lo, loop.hi, loop.step, loc=loop.loc)


def widest(product: Product, nest: For) -> tuple[For, For, For]:
    """The loops over rows, columns and the sum. Columns, or elements of the sum, are those of the row that has the most
    of them, from where the first row's begin."""
    loops = {n.var: n for n in loops_of(nest)}
    rows, columns, summed = (loops[symbol] for symbol in (product.rows, product.columns, product.summed))
    last = Binary("-", rows.hi, Const(1, DType.INT64, loc=rows.loc), loc=rows.loc)
    is_last = product.shape in (ProductShape.BEFORE, ProductShape.SUM_BEFORE)
    first, widest_row = {rows.var: rows.lo}, {rows.var: last if is_last else rows.lo}

    def wide(loop: For) -> For:
        return replace(loop, lo=substitute(loop.lo, first), hi=substitute(loop.hi, widest_row))

    return rows, wide(columns), wide(summed)


def _edge(product: Product, nest: For) -> Expr | None:
    loops = {n.var: n for n in loops_of(nest)}
    rows, cut = loops[product.rows], loops[product.summed if product.shape.of_sums else product.columns]
    match product.shape:
        case ProductShape.ALL:
            return None
        case ProductShape.BEFORE | ProductShape.SUM_BEFORE:
            edge = cut.hi
        case ProductShape.FROM | ProductShape.SUM_FROM:
            edge = _moving(cut.lo, rows)
    first = substitute(cut.lo, {rows.var: rows.lo})
    return Binary("-", substitute(edge, {rows.var: rows.lo}), first, loc=cut.loc)


def _moving(bound: Expr, rows: For) -> Expr:
    """The part of a bound that depends on the row, without its limit."""
    match bound:
        case Binary(op="max", lhs=lhs, rhs=rhs):
            return lhs if any(isinstance(n, Var) and n.symbol == rows.var for n in walk(lhs)) else rhs
        case _:
            return bound


def _matrix(operand: Operand, slow: For, fast: For, stack: For | None) -> Matrix:
    """The operand as a matrix whose rows follow one loop, and whose columns the other."""
    loops = [loop for loop in (slow, fast, stack) if loop is not None]
    first = {loop.var: loop.lo for loop in loops}

    def index_at(at: dict[Symbol, Expr]) -> tuple[Expr, ...]:
        return tuple(substitute(index, at) for index in operand.index)

    def after(loop: For) -> Expr:
        if isinstance(loop.lo, Const):
            return Const(int(loop.lo.value.real) + loop.step, DType.INT64, loc=loop.loc)
        return Binary("+", loop.lo, Const(loop.step, DType.INT64, loc=loop.loc), loc=loop.loc)

    corners = [index_at({**first, loop.var: after(loop)}) for loop in loops]
    return Matrix(operand.array, index_at(first), *corners, loc=operand.loc)
