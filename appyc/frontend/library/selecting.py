"""Functions that choose elements, by where a condition holds or by index, and the `at` methods of ufuncs, which combine
into elements."""

from __future__ import annotations

import numpy as np

from appyc.errors import LengthError, Loc, TypeInferenceError, UnsupportedError
from appyc.frontend.arrays import slices
from appyc.frontend.arrays.masks import nonzero
from appyc.frontend.arrays.reshaping import ravelled
from appyc.frontend.arrays.tensors import as_tensor, as_value, element_type, permuted
from appyc.frontend.expressions.arithmetic import cast
from appyc.frontend.expressions.stores import assign
from appyc.frontend.library.array_reductions import reduced_axes
from appyc.frontend.library.axis_arguments import Arguments, Entry, Maker, one_axis
from appyc.frontend.scope import Scope
from appyc.frontend.types.descriptions import describe
from appyc.frontend.types.numbers import NumberType, holds, promote
from appyc.frontend.types.values import ArrayRef, Number, Opaque, Tensor, TupleValue, Value
from appyc.ir.types import DType


def _nonzero(scope: Scope, given: Arguments, loc: Loc) -> Value:
    tensor = as_tensor(scope, given["a"], loc)
    if not tensor.ndim:
        raise LengthError("Calling nonzero on 0d arrays is not allowed.", loc)
    return TupleValue(tuple(nonzero(scope, tensor, loc)))


def _taken(scope: Scope, owner: Value, indices: Value, axis: int, loc: Loc) -> Value:
    """`owner[..., indices, ...]`, with indices along one axis."""
    if isinstance(owner, ArrayRef) and axis == 0:
        out = slices.subscript(scope, owner, [indices], loc)
        return out.copied() if isinstance(out, Tensor) else out
    tensor = as_tensor(scope, owner, loc)
    front = permuted(tensor, [axis, *(k for k in range(tensor.ndim) if k != axis)])
    out = slices.subscript(scope, front, [indices], loc)
    if isinstance(out, Number):
        return out
    chosen = as_tensor(scope, out, loc).copied()
    more = chosen.ndim - (tensor.ndim - 1)
    order = [*range(more, more + axis), *range(more), *range(more + axis, chosen.ndim)]
    return as_value(permuted(chosen, order))


def _take(scope: Scope, given: Arguments, loc: Loc) -> Value:
    axis = one_axis(given, loc)
    owner = given["a"]
    tensor = as_tensor(scope, owner, loc)
    if axis is None:
        axis = 0
        if tensor.ndim != 1:
            owner = tensor = ravelled(scope, tensor.copied(), loc)
    (axis,) = reduced_axes(tensor, (axis,), loc)
    return _taken(scope, owner, given["indices"], axis, loc)


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
        if joined.dtype is not kind:
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


_COMBINING = {
    np.add: "+", np.subtract: "-", np.multiply: "*", np.minimum: "minimum", np.maximum: "maximum",
    np.bitwise_and: "&", np.bitwise_or: "|", np.bitwise_xor: "^",
}  # fmt: skip

FUNCTIONS: dict[object, Entry] = {
    np.nonzero: (("a",), _nonzero), np.take: (("a", "indices", "axis"), _take),
    **{ufunc.at: (("a", "indices", "b"), _at(op)) for ufunc, op in _COMBINING.items()},
}  # fmt: skip

METHODS: dict[str, Entry] = {"nonzero": FUNCTIONS[np.nonzero], "take": FUNCTIONS[np.take]}
