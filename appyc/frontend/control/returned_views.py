"""Views that a function returns, described by numbers: offset, shape and strides.

    return a[1:-1, k]         ->      first (1, k), shape (a.shape[0] - 2,), steps (1, 0)

The caller constructs the view from the array and these numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from appyc.errors import Loc
from appyc.frontend.arrays.slice_bounds import out_of_bounds, tested_position
from appyc.frontend.expressions.arithmetic import integer
from appyc.frontend.scope import Scope
from appyc.frontend.types.values import ArrayRef, Number, ReturnedView, Tensor
from appyc.ir.nodes import Binary, Const, Expr, Extent, Load, Symbol, Var
from appyc.ir.types import DType
from appyc.ir.visit import scalars_read, substitute


def returned_view(scope: Scope, tensor: Tensor, loc: Loc) -> ReturnedView | None:
    """The view's offset, shape and strides; None where its elements have no constant strides (a reshaped array)."""
    element = tensor.element
    assert isinstance(element, Load), "a view loads what it shows"
    if not all(_is_linear(index, frozenset(tensor.axes)) for index in element.index):
        return None
    element = _inside(scope, element, frozenset(tensor.axes), loc)
    zero = integer(0, loc)
    origin: dict[Symbol, Expr] = dict.fromkeys(tensor.axes, zero)
    first = [_simple(substitute(index, origin)) for index in element.index]
    steps = [
        _difference(_simple(substitute(index, {**origin, axis: integer(1, loc)})), start)
        for axis in tensor.axes
        for index, start in zip(element.index, first, strict=True)
    ]
    numbers: list[int | None] = []
    later: list[Number] = []
    for expr in (*first, *tensor.extents, *steps):
        known = expr.value if isinstance(expr, Const) else None
        numbers.append(int(known.real) if known is not None else None)
        if known is None:
            later.append(Number(scope.temp("view", expr), python=True))
    return ReturnedView(ArrayRef(element.array), tensor.ndim, tuple(numbers), tuple(later))


def _inside(scope: Scope, element: Load, axes: frozenset[Symbol], loc: Loc) -> Load:
    """The element with its single indices normalised (negative ones too); one out of bounds raises IndexError."""
    if not element.checked:
        return element
    index = tuple(
        index
        if scalars_read(index) & axes
        else tested_position(
            scope, Number(index, python=True), Extent(element.array, k, loc=loc), loc, out_of_bounds(k)
        )
        for k, index in enumerate(element.index)
    )
    return replace(element, index=index)


def _is_linear(expr: Expr, axes: frozenset[Symbol]) -> bool:
    """Whether the index expression is linear in the axes."""
    if not scalars_read(expr) & axes:
        return True
    match expr:
        case Var():
            return True
        case Binary(op="+" | "-", lhs=lhs, rhs=rhs):
            return _is_linear(lhs, axes) and _is_linear(rhs, axes)
        case Binary(op="*", lhs=lhs, rhs=rhs):
            one_side = not scalars_read(lhs) & axes or not scalars_read(rhs) & axes
            return one_side and _is_linear(lhs, axes) and _is_linear(rhs, axes)
        case _:
            return False


def _simple(expr: Expr) -> Expr:
    """The expression after constant folding of sums, differences and products."""
    if not isinstance(expr, Binary) or expr.op not in ("+", "-", "*"):
        return expr
    lhs, rhs = _simple(expr.lhs), _simple(expr.rhs)
    a, b = (side.value if isinstance(side, Const) else None for side in (lhs, rhs))
    if isinstance(a, int) and isinstance(b, int):
        value = {"+": a + b, "-": a - b, "*": a * b}[expr.op]
        return Const(value, DType.INT64, loc=expr.loc)
    if b == 0 and expr.op != "*":
        return lhs
    if a == 0 and expr.op == "+":
        return rhs
    if 0 in (a, b) and expr.op == "*":
        return Const(0, DType.INT64, loc=expr.loc)
    if expr.op == "*" and 1 in (a, b):
        return lhs if b == 1 else rhs
    return Binary(expr.op, lhs, rhs, loc=expr.loc)


def _difference(moved: Expr, start: Expr) -> Expr:
    """The simplified difference of two index expressions, in which equal terms cancel: a stride."""
    if moved == start:
        return Const(0, DType.INT64, loc=moved.loc)
    terms = {+1: list(_terms(moved, 1)), -1: list(_terms(start, 1))}
    left = list(terms[+1])
    for sign, term in terms[-1]:
        if (sign, term) in left:
            left.remove((sign, term))
        else:
            left.append((-sign, term))
    out: Expr = integer(0, moved.loc)
    for sign, term in left:
        out = Binary("+" if sign > 0 else "-", out, term, loc=moved.loc)
    return _simple(out)


def _terms(expr: Expr, sign: int) -> Iterator[tuple[int, Expr]]:
    if isinstance(expr, Binary) and expr.op in ("+", "-"):
        yield from _terms(expr.lhs, sign)
        yield from _terms(expr.rhs, sign if expr.op == "+" else -sign)
    else:
        yield sign, expr
