"""Numbers of which only the run tells whether they are ints of Python's or float64: they are float64, beside a flag.

    xs = [0] * n                   xs = zeros(n); xs_is_int = ones(n, bool)
    xs[i] = 0.5             ->     xs[i] = 0.5; xs_is_int[i] = False
    y = xs[j] + 1                  y = xs[j] + 1.0; y_is_int = xs_is_int[j]

A float64 holds the ints up to 2**53, and sums, products and remainders of them; a list gets no larger one
(`list_storage.leave_large`). An int is never kept as -0.0.
"""

from __future__ import annotations

from dataclasses import replace

from appyc.errors import Loc
from appyc.frontend.types.numbers import PY_INT
from appyc.frontend.types.values import Number, Slot
from appyc.ir.nodes import Binary, Const, Expr, Select, Var
from appyc.ir.types import DType


def is_int(number: Number | Slot, loc: Loc) -> Expr:
    """Whether an int or a float of Python's is an int."""
    if number.is_int is None:
        return Const(number.type == PY_INT, DType.BOOL, loc=loc)
    return number.is_int if isinstance(number, Number) else Var(number.is_int, loc=loc)


def are_ints_or_floats(*numbers: Number | Slot) -> bool:
    """Whether each of the numbers is an int of Python's or a float64, and of one of them only the run tells which."""
    return any(n.is_int is not None for n in numbers) and all(is_int_or_float(n) for n in numbers)


def is_int_or_float(number: Number | Slot) -> bool:
    """Whether the number is an int of Python's or a float64."""
    return number.type == PY_INT or number.type.dtype is DType.FLOAT64


def without_negative_zero(a: Number, loc: Loc) -> Number:
    """The number, which is 0.0 where it is the int 0."""
    assert a.is_int is not None
    positive = Binary("+", a.expr, Const(0.0, DType.FLOAT64, loc=loc), loc=loc)
    return replace(a, expr=Select(a.is_int, positive, a.expr, loc=loc))
