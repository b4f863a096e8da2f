"""Where the extremes of an array are, and reductions that leave NaN out.

np.argmax is the largest element first, and then the first index of it: two reductions,
which lanes and threads share, where one loop would wait for every comparison.
"""

from __future__ import annotations

import numpy as np

from appyc.errors import Loc, TypeInferenceError
from appyc.frontend.arrays.tensors import as_tensor, as_value, elementwise, kept, product
from appyc.frontend.expressions import arithmetic
from appyc.frontend.expressions.arithmetic import cast, const, integer
from appyc.frontend.library.array_reductions import (
    Along,
    combined,
    extreme,
    reduce_array,
    reduced_axes,
    test_not_empty,
)
from appyc.frontend.library.axis_arguments import Arguments, Entry, Maker, along, given_dtype
from appyc.frontend.scope import Scope
from appyc.frontend.types.values import Number, Tensor, Value
from appyc.ir.nodes import Binary, Compare, Expr, Load, Select, Symbol, Unary, Var
from appyc.ir.types import DType
from appyc.ir.visit import substitute


def _first_extreme(name: str) -> Maker:
    """np.argmin ("min"), np.argmax ("max"): the first NaN, or else the first of the extreme elements."""

    def make(scope: Scope, given: Arguments, loc: Loc) -> Value:
        source = as_tensor(scope, given["a"], loc)
        if source.element.dtype.is_complex:
            raise TypeInferenceError("complex numbers have no order here", loc, hints=("compare abs(z)",))
        # The two reductions must see the same values, which arithmetic may round differently.
        tensor = source if isinstance(source.element, Load) else _stored(scope, source, loc)
        return _first(scope, name, tensor, along(given, loc), loc)

    return make


def _stored(scope: Scope, tensor: Tensor, loc: Loc) -> Tensor:
    return as_tensor(scope, kept(scope, tensor, "values", loc), loc)


def _first(scope: Scope, name: str, tensor: Tensor, over: Along, loc: Loc) -> Value:
    reduced = reduced_axes(tensor, over.axes, loc)
    for k in reduced:
        test_not_empty(scope, tensor.extents[k], f"attempt to get arg{name} of an empty sequence", loc)
    best = as_tensor(scope, reduce_array(scope, name, tensor, Along(reduced), None, loc), loc)
    left = [axis for k, axis in enumerate(tensor.axes) if k not in reduced]
    here: dict[Symbol, Expr] = {old: Var(new, loc=loc) for old, new in zip(best.axes, left, strict=True)}
    wanted = substitute(best.element, here)
    found: Expr = Compare("==", tensor.element, wanted, loc=loc)
    if tensor.element.dtype.is_float:
        # Both sides always: lanes have no use for the branch that `or` would be.
        found = Binary("|", found, _is_nan(tensor.element, loc), loc=loc)
    position: Expr = integer(0, loc)
    for k in reduced:
        at = Var(tensor.axes[k], loc=loc)
        if position == integer(0, loc):
            position = at
        else:
            position = Binary("+", Binary("*", position, tensor.extents[k], loc=loc), at, loc=loc)
    behind = product([tensor.extents[k] for k in reduced], loc)
    chosen = Tensor(tensor.axes, tensor.extents, Select(found, position, behind, loc=loc))
    return combined(scope, chosen, reduced, over.keepdims, "min", behind, loc)


def _is_nan(element: Expr, loc: Loc) -> Expr:
    return Compare("!=", element, element, loc=loc)


# ---------------------------------------------------------------- without NaN


def _without_nan(name: str) -> Maker:
    """np.nansum and its kin."""

    def make(scope: Scope, given: Arguments, loc: Loc) -> Value:
        tensor = as_tensor(scope, given["a"], loc)
        dtype, over = given_dtype(given.get("dtype"), loc), along(given, loc)
        kind = tensor.element.dtype
        if not (kind.is_float or kind.is_complex):
            return reduce_array(scope, name, as_value(tensor), over, dtype, loc)
        if not isinstance(tensor.element, Load):
            tensor = _stored(scope, tensor, loc)
        if name in ("min", "max"):
            return _extreme_without_nan(scope, name, tensor, over, loc)
        neutral = cast(const(1 if name == "prod" else 0, DType.INT64, loc), kind)
        numbers = _replaced(tensor, neutral, loc)
        total = reduce_array(scope, "sum" if name == "mean" else name, numbers, over, dtype, loc)
        if name != "mean":
            return total
        is_number = Unary("~", _is_nan(tensor.element, loc), loc=loc)
        counted = Tensor(tensor.axes, tensor.extents, cast(is_number, DType.INT64))
        count = reduce_array(scope, "sum", counted, over, None, loc)
        return elementwise(scope, [total, count], lambda n: _quotient(n, loc), loc)

    return make


def _quotient(numbers: list[Number], loc: Loc) -> Number:
    total, count = numbers
    return Number(Binary("/", total.expr, cast(count.expr, total.type.dtype), loc=loc), python=False)


def _replaced(tensor: Tensor, neutral: Expr, loc: Loc) -> Tensor:
    element = Select(_is_nan(tensor.element, loc), neutral, tensor.element, loc=loc)
    return Tensor(tensor.axes, tensor.extents, element)


def _extreme_without_nan(scope: Scope, name: str, tensor: Tensor, over: Along, loc: Loc) -> Value:
    """NaN where there is nothing else."""
    if tensor.element.dtype.is_complex:
        raise TypeInferenceError("complex numbers have no order here", loc, hints=("compare abs(z)",))
    kind = tensor.element.dtype
    numbers = _replaced(tensor, extreme(name, kind, loc), loc)
    best = reduce_array(scope, name, numbers, over, None, loc)
    nowhere = Tensor(tensor.axes, tensor.extents, _is_nan(tensor.element, loc))
    alone = reduce_array(scope, "all", nowhere, over, None, loc)
    nan = const(float("nan"), kind, loc)
    return elementwise(
        scope, [alone, best], lambda n: Number(Select(n[0].expr, nan, n[1].expr, loc=loc), False), loc
    )


def _spread(scope: Scope, given: Arguments, loc: Loc) -> Value:
    """np.ptp: from the smallest to the largest."""
    tensor = as_tensor(scope, given["a"], loc)
    over = along(given, loc)
    ends = [reduce_array(scope, name, tensor, over, None, loc) for name in ("max", "min")]
    return elementwise(scope, ends, lambda n: arithmetic.binary("-", n[0], n[1], loc), loc)


_ARGUMENTS = ("a", "axis", "out", "keepdims")
_NAN = ("a", "axis", "dtype", "out", "keepdims")

METHODS: dict[str, Entry] = {
    "argmin": (_ARGUMENTS, _first_extreme("min")),
    "argmax": (_ARGUMENTS, _first_extreme("max")),
}

FUNCTIONS: dict[object, Entry] = {
    np.argmin: METHODS["argmin"], np.argmax: METHODS["argmax"], np.ptp: (_ARGUMENTS, _spread),
    np.nansum: (_NAN, _without_nan("sum")), np.nanprod: (_NAN, _without_nan("prod")),
    np.nanmean: (_NAN, _without_nan("mean")),
    np.nanmin: (_ARGUMENTS, _without_nan("min")), np.nanmax: (_ARGUMENTS, _without_nan("max")),
}  # fmt: skip
