"""Counts: np.bincount, and the `at` methods of ufuncs, which combine into elements."""

from __future__ import annotations

import numpy as np

from appyc.errors import Loc, TypeInferenceError, UnsupportedError
from appyc.frontend.arrays import slices
from appyc.frontend.arrays.tensors import element_type
from appyc.frontend.expressions.arithmetic import cast
from appyc.frontend.expressions.stores import assign
from appyc.frontend.library.axis_arguments import Arguments, Entry, Maker
from appyc.frontend.scope import Scope
from appyc.frontend.types.numbers import NumberType, holds, promote
from appyc.frontend.types.values import ArrayRef, Number, Opaque, Tensor, TupleValue, Value, describe
from appyc.ir.types import DType

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
        if python and isinstance(value, Number) and value.either is None and kind.is_integer:
            value = Number(cast(value.expr, kind), python=False)  # as NumPy has it, wrapped
        assign(scope, target, value, loc, op=op)
        return Opaque(None)

    return make


def _fits(value: Number, kind: DType) -> bool:
    """Whether a number is surely the same in an integer type: NumPy compares it in 64 bits here."""
    if not value.python or not kind.is_integer or kind is DType.INT64:
        return True
    return isinstance(value.constant, int) and holds(kind, value.constant)


FUNCTIONS: dict[object, Entry] = {
    np.add.at: (("a", "indices", "b"), _at("+")), np.subtract.at: (("a", "indices", "b"), _at("-")),
    np.multiply.at: (("a", "indices", "b"), _at("*")),
    np.minimum.at: (("a", "indices", "b"), _at("minimum")),
    np.maximum.at: (("a", "indices", "b"), _at("maximum")),
    np.bitwise_and.at: (("a", "indices", "b"), _at("&")), np.bitwise_or.at: (("a", "indices", "b"), _at("|")),
    np.bitwise_xor.at: (("a", "indices", "b"), _at("^")),
}  # fmt: skip
