"""Arithmetic on estimates: float64 expressions with constant folding."""

from __future__ import annotations

from appyc.errors import GENERATED
from appyc.ir.nodes import Binary, Cast, Const, Expr
from appyc.ir.types import DType


def number(value: float) -> Const:
    return Const(float(value), DType.FLOAT64, loc=GENERATED)


NONE = number(0)


def value_of(expr: Expr) -> float | None:
    """The value of an estimate that is a constant; None for any other."""
    return expr.value if isinstance(expr, Const) and isinstance(expr.value, float) else None


def total(lhs: Expr, rhs: Expr) -> Expr:
    left, right = value_of(lhs), value_of(rhs)
    if left is not None and right is not None:
        return number(left + right)
    if left == 0:
        return rhs
    return lhs if right == 0 else Binary("+", lhs, rhs, loc=GENERATED)


def product(lhs: Expr, rhs: Expr) -> Expr:
    left, right = value_of(lhs), value_of(rhs)
    if left is not None and right is not None:
        return number(left * right)
    if left == 0 or right == 0:
        return number(0)
    if left == 1:
        return rhs
    return lhs if right == 1 else Binary("*", lhs, rhs, loc=GENERATED)


def as_amount(expr: Expr) -> Expr:
    """An integer expression as an estimate."""
    if isinstance(expr, Const):
        return number(expr.value.real)
    return Cast(expr, DType.FLOAT64, loc=GENERATED)


def trips_between(lo: Expr, hi: Expr, step: int) -> Expr:
    """The trip count of `range(lo, hi, step)`, not rounded."""
    first, last = as_amount(lo), as_amount(hi)
    if (left := value_of(first)) is not None and (right := value_of(last)) is not None:
        return number(max(0.0, (right - left) / step))
    distance = last if value_of(first) == 0 else Binary("-", last, first, loc=GENERATED)
    scaled = product(distance, number(1 / step))
    return Binary("max", number(0), scaled, loc=GENERATED)
