"""Evaluation of IR expressions for concrete arguments, to re-examine a call that was refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np

from appyc.analysis.cost.argument_sizes import Sized
from appyc.ir import nodes as ir
from appyc.ir.types import DType

Number: TypeAlias = Any
"""A Python or NumPy number, or an array of them: one for each iteration of a loop."""

NOWHERE = -(1 << 62)
"""The value that is read where an index is out of range: it is no valid index of any array either."""

_BINARY: dict[str, Callable[[Number, Number], Number]] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "//": np.floor_divide, "%": np.remainder,
    "min": np.minimum, "max": np.maximum, "minimum": np.minimum, "maximum": np.maximum,
    "&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor,
    "<<": np.left_shift, ">>": np.right_shift,
}  # fmt: skip

_COMPARE: dict[str, Callable[[Number, Number], Number]] = {
    "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal,
    "==": np.equal, "!=": np.not_equal,
}  # fmt: skip


def hold(guards: Iterable[ir.Guard], known: Mapping[ir.Symbol, Any]) -> bool:
    """Whether guards hold, as far as is known."""
    try:
        return all(evaluate(guard.holds, known) for guard in guards)
    except LookupError:
        return False


def evaluate(expr: ir.Expr, known: Mapping[ir.Symbol, Any]) -> Number:
    """The value of an expression over integers. Raises LookupError where it needs what is not known.

    A scalar that is known as an array has a value for each iteration, and so has the result.
    An element that does not exist reads as NOWHERE.
    """
    match expr:
        case ir.Const():
            return expr.value
        case ir.Var():
            return known[expr.symbol]
        case ir.Extent():
            return known[expr.array].shape[expr.axis]
        case ir.Load():
            array = known[expr.array]
            if isinstance(array, Sized):
                raise LookupError(f"the elements of {expr.array.name}")
            return element_of(array, [evaluate(part, known) for part in expr.index])
        case ir.Unary():
            arg = evaluate(expr.arg, known)
            if expr.op == "-":
                return np.negative(arg)
            return np.logical_not(arg) if expr.dtype is DType.BOOL else np.invert(arg)
        case ir.Binary():
            if expr.op not in _BINARY:
                raise LookupError(expr.op)
            return _BINARY[expr.op](evaluate(expr.lhs, known), evaluate(expr.rhs, known))
        case ir.Compare():
            return _COMPARE[expr.op](evaluate(expr.lhs, known), evaluate(expr.rhs, known))
        case ir.Logical():
            combine = np.logical_and if expr.op == "and" else np.logical_or
            return combine(evaluate(expr.lhs, known), evaluate(expr.rhs, known))
        case ir.Select():
            parts = (evaluate(part, known) for part in (expr.cond, expr.then, expr.orelse))
            return np.where(*parts)
        case ir.Cast():
            return np.asarray(evaluate(expr.arg, known)).astype(expr.dtype.numpy)[()]
        case ir.Likely():
            return evaluate(expr.arg, known)
        case _:
            raise LookupError(type(expr).__name__)


def indices_of(values: Number, extent: int) -> Number:
    """Indices of an axis, normalised: a negative one counts from the end, NOWHERE if it is out of range."""
    values = np.asarray(values)
    if values.dtype.kind == "u":
        values = np.where(values > np.iinfo(np.int64).max, NOWHERE, values.astype(np.int64))
    values = np.where(values < 0, values + extent, values)
    return np.where((values >= 0) & (values < extent), values, NOWHERE)


def element_of(array: Any, index: list[Number]) -> Number:
    """The elements of an array at these indices, NOWHERE for one that does not exist."""
    host = array.get() if hasattr(array, "get") else np.asarray(array)  # CuPy's arrays live on the GPU
    normalised = [indices_of(i, extent) for i, extent in zip(index, host.shape, strict=True)]
    missing = np.logical_or.reduce(np.broadcast_arrays(*(p == NOWHERE for p in normalised)))
    if host.size == 0:
        return np.full(missing.shape, NOWHERE)
    found = host[tuple(np.where(p == NOWHERE, 0, p) for p in normalised)]
    return np.where(missing, NOWHERE, found.astype(np.int64) if found.dtype.kind in "iu" else found)[()]
