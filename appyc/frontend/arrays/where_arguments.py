"""`out=`, `where=` and `initial=`: the destination of results, and the elements that take part.

    np.divide(a, b, out=c, where=b != 0)      if b[i] != 0: c[i] = a[i] / b[i]
    np.sum(a, axis=1, where=m)                total += a[i, j] if m[i, j] else 0

Without `out` NumPy leaves the other elements uninitialised; here they are 0.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from appyc.errors import Loc, TypeInferenceError, UnsupportedError
from appyc.frontend.arrays.tensors import (
    Maker,
    as_tensor,
    as_value,
    broadcast,
    elementwise,
    held,
    numbers_of_elements,
)
from appyc.frontend.expressions import expressions
from appyc.frontend.expressions.arithmetic import cast, const
from appyc.frontend.expressions.stores import index_in, stored
from appyc.frontend.scope import Scope
from appyc.frontend.types.descriptions import describe
from appyc.frontend.types.numbers import holds
from appyc.frontend.types.values import Number, Tensor, Value
from appyc.ir.nodes import Expr, Select
from appyc.ir.types import DType
from appyc.ir.visit import substitute

_KINDS = "biufc"


@dataclass(frozen=True, slots=True)
class Destination:
    """The destination of a ufunc's result: an array, and a mask of its elements."""

    out: ast.expr | None = None
    where: ast.expr | None = None


def given_destination(obj: object, node: ast.Call, counts: range) -> tuple[Destination, ast.Call]:
    """The destination that a call of a ufunc names, and the call without it.

    counts: how many operands it may have.
    """
    keywords = {k.arg: k.value for k in node.keywords}
    if not isinstance(obj, np.ufunc) or not keywords.keys() <= {"out", "where"}:
        return Destination(), node
    args, out = node.args, keywords.get("out")
    if isinstance(out, ast.Tuple):
        return Destination(), node
    if out is None and len(args) == counts.stop:
        *args, out = args
    return Destination(out, keywords.get("where")), ast.copy_location(ast.Call(node.func, args, []), node)


def put(
    scope: Scope, destination: Destination, values: Sequence[Value], make: Maker, loc: Loc, what: str
) -> Value:
    """`make` of the elements, in the array that is given for them, where a mask holds."""
    out = None
    if destination.out is not None:
        out = held(scope, expressions.lower_expression(scope, destination.out), "out", loc)
    mask = expressions.lower_expression(scope, destination.where) if destination.where is not None else None
    if (mask := given_mask(mask)) is not None:
        return _under_mask(scope, values, mask, out, make, loc, what)
    found = elementwise(scope, values, make, loc, what)
    return found if out is None else stored(scope, out, found, loc)


def given_mask(value: Value | None) -> Value | None:
    """The mask; None where it was left out, or is a plain True."""
    return None if isinstance(value, Number) and value.constant is True else value


def _under_mask(
    scope: Scope, values: Sequence[Value], mask: Value, out: Value | None, make: Maker, loc: Loc, what: str
) -> Value:
    tensors = [_mask(scope, mask, loc), *(as_tensor(scope, value, loc, what) for value in values)]
    shape = broadcast(scope, tensors, loc)
    chosen, *elements = shape.elements
    result = make(numbers_of_elements(elements, values)).expr
    if out is not None:
        return stored(scope, out, Tensor(shape.axes, shape.extents, result), loc, where=chosen)
    zero = cast(const(0, DType.INT64, loc), result.dtype)
    return as_value(Tensor(shape.axes, shape.extents, Select(chosen, result, zero, loc=loc)))


def _mask(scope: Scope, value: Value, loc: Loc) -> Tensor:
    tensor = as_tensor(scope, value, loc, "the mask")
    if tensor.element.dtype is not DType.BOOL:
        raise TypeInferenceError(f"where is {describe(value)}, and has to be of bools", loc)
    return tensor


def mask_over(scope: Scope, value: Value, tensor: Tensor, loc: Loc) -> Expr:
    """The mask at the indices of a tensor, to which it is broadcast."""
    mask = _mask(scope, value, loc)
    if mask.ndim > tensor.ndim:
        raise UnsupportedError("a mask with more axes than the array cannot be compiled here", loc)
    return substitute(mask.element, index_in(scope, mask, tensor, loc))


def initial_value(value: Value, kind: DType, loc: Loc) -> Expr:
    """The `initial` of a reduction in the type of its elements."""
    if not isinstance(value, Number):
        raise TypeInferenceError(f"initial is {describe(value)}, where a number is needed", loc)
    given = value.type.dtype
    wider = _KINDS.index(given.kind) > _KINDS.index(kind.kind)
    if kind.is_integer and value.python:
        # Of a number that only the run shows, NumPy asks then whether the type holds it.
        known = value.constant
        is_held = kind is DType.INT64 if known is None else isinstance(known, int) and holds(kind, known)
        wider = wider or not is_held
    elif kind.is_integer and kind is not given:
        wider = True
    if wider:
        raise UnsupportedError(f"an initial value of {given} cannot be compiled for elements of {kind}", loc)
    return cast(value.expr, kind)
