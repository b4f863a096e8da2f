"""NumPy's functions and methods that arrange, compare, choose and multiply, by name; and the `at` methods of ufuncs,
which combine into elements."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from appyc.errors import LengthError, Loc, TypeInferenceError, UnsupportedError
from appyc.frontend.arrays import reshaping, slices
from appyc.frontend.arrays.masks import nonzero
from appyc.frontend.arrays.reshaping import ravelled
from appyc.frontend.arrays.tensors import as_tensor, as_value, element_type, elementwise, is_array, permuted
from appyc.frontend.expressions import expressions
from appyc.frontend.expressions.arithmetic import binary, cast, python_number
from appyc.frontend.expressions.selections import extremum, nearest, select
from appyc.frontend.expressions.stores import assign
from appyc.frontend.library import array_makers, linear_algebra, number_conversions, scalar_functions
from appyc.frontend.library.array_reductions import reduce_array
from appyc.frontend.library.axis_arguments import Arguments, Entry, one_axis
from appyc.frontend.library.scan_functions import given_back
from appyc.frontend.scope import Scope
from appyc.frontend.types.descriptions import describe
from appyc.frontend.types.numbers import NumberType, holds, promote
from appyc.frontend.types.values import (
    ArrayRef,
    Masked,
    Number,
    Opaque,
    Tensor,
    TupleValue,
    Value,
    is_listed,
    is_none,
)
from appyc.frontend.types.weak_ints import require_fit
from appyc.frontend.types.wide_ints import wide_operation
from appyc.ir.types import DType


def _python_sum(scope: Scope, given: Arguments, loc: Loc) -> Value:
    """Python's sum: of a tuple, or of a vector whose elements NumPy adds up in their own type."""
    items = given["iterable"]
    start = given.get("start", python_number(0, loc))
    if isinstance(items, TupleValue):
        total: Value = start
        for item in items.items:
            if (wide := wide_operation("+", total, item, loc)) is not None:
                total = wide
            elif isinstance(total, Number) and isinstance(item, Number):
                total = binary("+", total, item, loc)
            else:
                total = elementwise(scope, [total, item], lambda n: binary("+", n[0], n[1], loc), loc)
        return total
    if not is_array(items) or as_tensor(scope, items, loc).ndim != 1:
        raise UnsupportedError("sum is compiled for vectors and tuples", loc, "use np.sum")
    kind = element_type(items)
    if kind is not DType.BOOL and (kind.bits < 32 or kind in (DType.INT32, DType.UINT32)):
        raise UnsupportedError(f"sum of {kind} wraps where np.sum does not", loc, "use np.sum")
    is_start = isinstance(start, Number) and start.python  # the sum over nothing
    if kind is DType.UINT64 and is_start:
        raise UnsupportedError("sum of no uint64 is Python's 0, which is less after a subtraction than uint64 has",
                               loc, "use np.sum")  # fmt: skip
    total = reduce_array(scope, "sum", items, loc)
    described = items.tensor if isinstance(items, Masked) else items
    if is_listed(described):
        total = Number(expressions.number(total, loc).expr, python=True)
        return binary("+", expressions.number(start, loc, "start"), total, loc)
    out = elementwise(scope, [start, total], lambda n: binary("+", n[0], n[1], loc), loc)
    return replace(out, mixed=True) if is_start and isinstance(out, Number) else out


def _clip(scope: Scope, given: Arguments, loc: Loc) -> Value:
    """np.clip, of which each bound has two names, and may be None."""
    a = given["a"] if isinstance(given["a"], Number | Masked) else as_tensor(scope, given["a"], loc)
    named = {"a_min": "maximum", "min": "maximum", "a_max": "minimum", "max": "minimum"}
    bounds = [(op, given[name]) for name, op in named.items() if not is_none(given.get(name, Opaque(None)))]
    if len({op for op, _ in bounds}) < len(bounds):
        raise UnsupportedError("np.clip is given one bound by two names", loc)
    for op, bound in bounds:  # a bound that cuts nothing off need not fit
        if isinstance(bound, Number):
            require_fit(scope, bound, element_type(a), loc, "<=" if op == "maximum" else ">=")

    def make(numbers: list[Number]) -> Number:
        out = numbers[0]
        for (op, _), bound in zip(bounds, numbers[1:], strict=True):
            out = extremum(op, out, nearest(bound, out.type.dtype, loc), loc)
        return out

    return given_back(scope, given, elementwise(scope, [a, *(value for _, value in bounds)], make, loc), loc)


def _select(scope: Scope, given: Arguments, loc: Loc) -> Value:
    """np.select: of the choices whose condition holds for an element, the first."""
    conditions, choices = given["condlist"], given["choicelist"]
    if not isinstance(conditions, TupleValue) or not isinstance(choices, TupleValue):
        raise UnsupportedError("np.select takes its conditions and choices as tuples or lists here", loc)
    count = len(conditions.items)
    values = [*conditions.items, *choices.items, given.get("default", python_number(0, loc))]
    if count == 0 or len(choices.items) != count or not any(is_array(value) for value in values):
        raise UnsupportedError("np.select takes as many choices as conditions, about arrays", loc)
    if any(isinstance(c, TupleValue | Opaque) or element_type(c) is not DType.BOOL for c in conditions.items):
        raise UnsupportedError("np.select takes masks as conditions", loc)

    def make(numbers: list[Number]) -> Number:
        out = numbers[-1]
        for condition, choice in zip(reversed(numbers[:count]), reversed(numbers[count:-1]), strict=True):
            out = select(condition.expr, choice, out, loc)
        return out

    return elementwise(scope, values, make, loc)


def _elementwise(make: number_conversions.Maker, *names: str) -> Entry:
    """A function of numbers as a method, or with its arguments by name."""

    def method(scope: Scope, given: Arguments, loc: Loc) -> Value:
        values = [given[name] for name in names if name in given]
        return elementwise(scope, values, lambda numbers: make(numbers, loc), loc)

    return names, method


# ---------------------------------------------------------------- elements by condition or index


def _nonzero(scope: Scope, given: Arguments, loc: Loc) -> Value:
    tensor = as_tensor(scope, given["a"], loc)
    if not tensor.ndim:
        raise LengthError("Calling nonzero on 0d arrays is not allowed.", loc)
    return TupleValue(tuple(nonzero(scope, tensor, loc)))


def _take(scope: Scope, given: Arguments, loc: Loc) -> Value:
    """`a[..., indices, ...]`, with indices along one axis."""
    axis, owner, indices = one_axis(given, loc), given["a"], given["indices"]
    tensor = as_tensor(scope, owner, loc)
    if isinstance(indices, TupleValue):  # a list that is written out
        indices = as_tensor(scope, indices, loc)
    if axis is None:
        axis = 0
        if tensor.ndim != 1:
            owner = tensor = ravelled(scope, tensor.copied(), loc)
    axis = reshaping.normalised(axis, tensor.ndim, loc)
    if isinstance(owner, ArrayRef) and axis == 0:
        out = slices.subscript(scope, owner, [indices], loc)
        return out.copied() if isinstance(out, Tensor) else out
    front = permuted(tensor, [axis, *(k for k in range(tensor.ndim) if k != axis)])
    out = slices.subscript(scope, front, [indices], loc)
    if isinstance(out, Number):
        return out
    chosen = as_tensor(scope, out, loc).copied()
    more = chosen.ndim - (tensor.ndim - 1)
    order = [*range(more, more + axis), *range(more), *range(more + axis, chosen.ndim)]
    return as_value(permuted(chosen, order))


def _at(op: str, scope: Scope, given: Arguments, loc: Loc) -> Value:
    """np.add.at and its kin: `a[indices] op= b`, and what is named several times is combined as often."""
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
        raise UnsupportedError(f"elements of {kind} with values of {element_type(value)}", loc,
                               f"convert the values: .astype(np.{kind})")  # fmt: skip
    kinds = "iu" if op in ("&", "|", "^") else "iuf" if op in ("minimum", "maximum") else "iufc"
    if kind.kind not in kinds:
        raise UnsupportedError(f"elements of {kind} are not combined here", loc, "write it as a loop")
    if op in ("minimum", "maximum") and isinstance(value, Number) and not _fits(value, kind):
        raise UnsupportedError(
            f"a Python number that elements of {kind} may not hold", loc, f"convert it: np.{kind}(...)"
        )
    if python and isinstance(value, Number) and value.either is None and kind.is_integer:
        value = Number(cast(value.expr, kind), python=False)  # as NumPy has it, wrapped
    assign(scope, target, value, loc, op=op)
    return Opaque(None)


def _fits(value: Number, kind: DType) -> bool:
    """Whether a number is surely the same in an integer type: NumPy compares it in 64 bits here."""
    if not value.python or not kind.is_integer or kind is DType.INT64:
        return True
    return isinstance(value.constant, int) and holds(kind, value.constant)


_COMBINING = {
    np.add: "+", np.subtract: "-", np.multiply: "*", np.minimum: "minimum", np.maximum: "maximum",
    np.bitwise_and: "&", np.bitwise_or: "|", np.bitwise_xor: "^",
}  # fmt: skip

METHODS: dict[str, Entry] = {
    "diagonal": (("a", "offset", "axis1", "axis2"), reshaping.diagonal),
    "squeeze": (("a", "axis"), reshaping.squeeze),
    "clip": (("a", "min", "max", "out"), _clip),
    "conj": _elementwise(scalar_functions.FUNCTIONS[np.conjugate][1], "a"),
    "conjugate": _elementwise(scalar_functions.FUNCTIONS[np.conjugate][1], "a"),
    "nonzero": (("a",), _nonzero),
    "take": (("a", "indices", "axis"), _take),
}

FUNCTIONS: dict[object, Entry] = {
    np.einsum: (("subscripts", "*operands"), linear_algebra.einsum),
    np.tensordot: (("a", "b", "axes"), linear_algebra.tensordot),
    np.linalg.tensordot: (("a", "b", "axes"), linear_algebra.tensordot),
    np.diagonal: METHODS["diagonal"],
    np.moveaxis: (("a", "source", "destination"), partial(reshaping.reordered, np.moveaxis)),
    np.rollaxis: (("a", "axis", "start"), partial(reshaping.reordered, np.rollaxis)),
    np.squeeze: METHODS["squeeze"], np.clip: (("a", "a_min", "a_max", "out", "min", "max"), _clip),
    np.atleast_1d: (("a",), partial(reshaping.atleast, 1)), np.atleast_2d: (("a",), partial(reshaping.atleast, 2)),
    np.atleast_3d: (("a",), partial(reshaping.atleast, 3)),
    np.broadcast_to: (("a", "shape"), reshaping.broadcast_to),
    np.copyto: (("dst", "src"), array_makers.copyto),
    np.select: (("condlist", "choicelist", "default"), _select),
    sum: (("iterable", "start"), _python_sum),
    np.array: (("object", "dtype"), array_makers.array),
    np.asarray: (("object", "dtype"), array_makers.asarray),
    np.ascontiguousarray: (("object", "dtype"), array_makers.asarray),
    np.nonzero: METHODS["nonzero"], np.take: METHODS["take"],
    **{ufunc.at: (("a", "indices", "b"), partial(_at, op)) for ufunc, op in _COMBINING.items()},
}  # fmt: skip
