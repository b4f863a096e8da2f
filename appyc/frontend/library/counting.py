"""Counts: np.bincount, and the `at` methods of ufuncs, which combine into elements."""

from __future__ import annotations

import numpy as np

from appyc.errors import Loc, TypeInferenceError, UnsupportedError
from appyc.frontend.arrays import array_creation, slices
from appyc.frontend.arrays.tensors import as_tensor, element_type, kept, pinned
from appyc.frontend.expressions import arithmetic, expressions
from appyc.frontend.expressions.arithmetic import cast, const, integer
from appyc.frontend.expressions.stores import assign
from appyc.frontend.library.axis_arguments import Arguments, Entry, Maker, is_none
from appyc.frontend.scope import Scope
from appyc.frontend.types.numbers import NumberType, holds, promote
from appyc.frontend.types.values import ArrayRef, Number, Opaque, Tensor, TupleValue, Value, describe
from appyc.ir.nodes import (
    Binary,
    Cast,
    Compare,
    Expr,
    Fail,
    ForAll,
    If,
    Likely,
    Reduce,
    Select,
    Unary,
    Var,
)
from appyc.ir.types import DType
from appyc.ir.visit import substitute


def fail_if(scope: Scope, wrong: Expr, error: str, message: str, loc: Loc) -> None:
    scope.emit(If(wrong, (Fail(error, message, loc=loc),), loc=loc))


def in_memory(scope: Scope, value: Value, loc: Loc) -> Tensor:
    """An array that is gone through several times."""
    return as_tensor(scope, kept(scope, as_tensor(scope, value, loc), "values", loc), loc)


# ---------------------------------------------------------------- ufunc.at


def _at(op: str) -> Maker:
    """np.add.at and its kin: `a[indices] op= b`, and what is named several times is combined as often."""

    def make(scope: Scope, given: Arguments, loc: Loc) -> Value:
        owner = given["a"]
        if not isinstance(owner, ArrayRef | Tensor):
            raise TypeInferenceError(f"{describe(owner)} has no elements to combine into", loc)
        items = given["indices"].items if isinstance(given["indices"], TupleValue) else (given["indices"],)
        target = slices.subscript(scope, owner, list(items), loc, stored=True)
        kind = element_type(owner)
        value = given["b"]
        python = isinstance(value, Number) and value.python
        joined = promote(NumberType(kind, python=False), NumberType(element_type(value), python))
        if joined is None or joined.dtype is not kind:
            raise UnsupportedError(
                f"elements of {kind} with values of {element_type(value)}", loc,
                hints=(f"convert the values: .astype(np.{kind})",),
            )  # fmt: skip
        kinds = "iu" if op in ("&", "|", "^") else "iuf" if op in ("minimum", "maximum") else "iufc"
        if kind.kind not in kinds:
            raise UnsupportedError(f"elements of {kind} are not combined here", loc,
                                   hints=("write it as a loop",))  # fmt: skip
        if op in ("minimum", "maximum") and isinstance(value, Number) and not _fits(value, kind):
            raise UnsupportedError(
                f"a Python number that elements of {kind} may not hold", loc,
                hints=(f"convert it: np.{kind}(...)",),
            )  # fmt: skip
        assign(scope, target, value, loc, op=op)
        return Opaque(None)

    return make


def _fits(value: Number, kind: DType) -> bool:
    """Whether a number is surely the same in an integer type: NumPy compares it in 64 bits here."""
    if not value.python or not kind.is_integer or kind is DType.INT64:
        return True
    return isinstance(value.constant, int) and holds(kind, value.constant)


# ---------------------------------------------------------------- bincount


def _bincount(scope: Scope, given: Arguments, loc: Loc) -> Value:
    """As many counts as the largest value asks for. Raises ValueError for a negative one."""
    x = as_tensor(scope, given["x"], loc)
    kind = x.element.dtype
    if x.ndim != 1 or not (kind.is_integer or kind is DType.BOOL) or kind is DType.UINT64:
        raise TypeInferenceError(
            f"np.bincount counts a vector of integers below 2**63, not {describe(x)}", loc,
            hints=("ravel it, or convert it with .astype(np.int64)",),
        )  # fmt: skip
    x = in_memory(scope, x, loc)
    least = expressions.as_index(
        expressions.number(given.get("minlength", arithmetic.python_number(0, loc)), loc, "minlength"), loc
    )
    least = pinned(scope, "minlength", least)
    zero = integer(0, loc)
    fail_if(scope, Compare("<", least, zero, loc=loc), "ValueError", "'minlength' must not be negative", loc)
    length = Binary("max", least, _one_more_than_largest(scope, x, loc), loc=loc)
    weights = None if is_none(given.get("weights")) else as_tensor(scope, given["weights"], loc)
    counts = array_creation.allocate(
        scope, (pinned(scope, "n", length),), DType.FLOAT64 if weights else DType.INT64, loc,
        zero=True, name="counts",
    )  # fmt: skip
    axis = scope.supply.fresh("i", DType.INT64)
    one: Expr = integer(1, loc)
    if weights is not None:
        if weights.ndim != 1 or weights.element.dtype.is_complex:
            raise TypeInferenceError(f"the weights are {describe(weights)}", loc,
                                     hints=("they must be a vector of real numbers",))  # fmt: skip
        if weights.extents[0] != x.extents[0]:
            same = Likely(Compare("==", weights.extents[0], x.extents[0], loc=loc), loc=loc)
            message = "The weights and list don't have the same length."
            fail_if(scope, Unary("~", same, loc=loc), "ValueError", message, loc)
        one = cast(substitute(weights.element, {weights.axes[0]: Var(axis, loc=loc)}), DType.FLOAT64)
    at = cast(substitute(x.element, {x.axes[0]: Var(axis, loc=loc)}), DType.INT64)
    scope.emit(ForAll((axis,), x.extents, counts.symbol, (at,), one, op="+", checked=False, loc=loc))
    return counts


def _one_more_than_largest(scope: Scope, x: Tensor, loc: Loc) -> Expr:
    """0 of an empty vector. A negative number is a very large one without its sign."""
    axis = scope.supply.fresh("k", DType.INT64)
    element = substitute(x.element, {x.axes[0]: Var(axis, loc=loc)})
    if element.dtype.kind == "i":
        element = Cast(cast(element, DType.INT64), DType.UINT64, loc=loc)
    else:
        element = cast(element, DType.UINT64)
    start = const(0, DType.UINT64, loc)
    largest = scope.temp("largest", Reduce("max", (axis,), x.extents, element, start, loc=loc))
    limit = const(2**63 - 1, DType.UINT64, loc)
    negative = Compare(">=", largest, limit, loc=loc)
    fail_if(scope, negative, "ValueError", "'list' argument must have no negative elements", loc)
    more = Binary("+", Cast(largest, DType.INT64, loc=loc), integer(1, loc), loc=loc)
    some = Compare(">", x.extents[0], integer(0, loc), loc=loc)
    return Select(some, more, integer(0, loc), loc=loc)


FUNCTIONS: dict[object, Entry] = {
    np.bincount: (("x", "weights", "minlength"), _bincount),
    np.add.at: (("a", "indices", "b"), _at("+")), np.subtract.at: (("a", "indices", "b"), _at("-")),
    np.multiply.at: (("a", "indices", "b"), _at("*")),
    np.minimum.at: (("a", "indices", "b"), _at("minimum")),
    np.maximum.at: (("a", "indices", "b"), _at("maximum")),
    np.bitwise_and.at: (("a", "indices", "b"), _at("&")), np.bitwise_or.at: (("a", "indices", "b"), _at("|")),
    np.bitwise_xor.at: (("a", "indices", "b"), _at("^")),
}  # fmt: skip
