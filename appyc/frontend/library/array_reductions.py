"""Reductions of arrays, over all axes or some: np.sum and its kin, and where extremes are.

np.argmax is the largest element first, and then the first index of it: two reductions, which lanes and threads share,
where one loop would wait for every comparison.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from appyc.errors import LengthError, Loc, TypeInferenceError, UnsupportedError
from appyc.frontend.arrays.masks import counted, repeatable
from appyc.frontend.arrays.reshaping import linear_position, normalised
from appyc.frontend.arrays.tensors import as_tensor, elementwise, equals, fail_unless, kept, product
from appyc.frontend.arrays.where_arguments import initial_value, mask_over
from appyc.frontend.expressions.arithmetic import cast, const, integer, truth_of
from appyc.frontend.library.axis_arguments import Along, Arguments, Entry, along
from appyc.frontend.library.linear_algebra import settled
from appyc.frontend.scope import Scope
from appyc.frontend.types.characters import refused_text
from appyc.frontend.types.values import Masked, Number, Tensor, Value
from appyc.ir.integers import neutral_element
from appyc.ir.nodes import Binary, Compare, Const, Expr, Load, Reduce, Select, Var
from appyc.ir.types import DType
from appyc.ir.visit import rename

_ALL = Along()


def reduce_array(
    scope: Scope,
    name: str,
    value: Value,
    loc: Loc,
    over: Along = _ALL,
    dtype: DType | None = None,
    where: Value | None = None,
    initial: Value | None = None,
) -> Value:
    """sum, prod, min, max, any, all, mean of an array, with NumPy's result types, of all elements or those that a mask
    chooses.

    Raises TypeInferenceError for an axis that is not there; emits the test that raises
    ValueError for the smallest of nothing.
    """
    chosen = count = None
    if (
        isinstance(value, Masked)
        and where is None
        and not over.keepdims
        and value.first in reduced_axes(value, over.axes, loc)
    ):  # what the mask chooses is reduced where it stands, and need not be put into an array
        if name in ("min", "max", "mean"):
            value = repeatable(scope, value, loc)
        own = range(value.first, value.first + value.rank)
        others = [k if k < value.first else k + value.rank - 1 for k in reduced_axes(value, over.axes, loc)
                  if k != value.first]  # fmt: skip
        tensor, reduced, chosen = value.tensor, sorted([*others, *own]), value.holds
        if name in ("min", "max", "mean"):
            rest = product([tensor.extents[k] for k in others], loc)
            count = Number(scope.temp("count", Binary("*", counted(scope, value, loc), rest, loc=loc)), False)
    else:
        tensor = as_tensor(scope, value, loc)
        reduced = list(reduced_axes(tensor, over.axes, loc))
    if where is not None:
        chosen = mask_over(scope, where, tensor, loc)
    given = tensor.element.dtype
    kind = dtype or (DType.FLOAT64 if given.kind in "biu" else given)  # of a mean
    added = DType.FLOAT32 if dtype is None and given is DType.FLOAT16 else kind
    is_mean = name == "mean"
    op, element, none = operation(
        "sum" if is_mean else name, tensor.element, added if is_mean else dtype, loc
    )
    if name in ("min", "max") and initial is None:
        if where is not None:
            raise UnsupportedError(f"np.{name} with where needs an initial value", loc)
        if count is not None:
            scope.fail_if(equals(count.expr, 0, loc), "ValueError", _of_nothing(name), loc)
        else:
            for k in reduced:
                some = Compare(">", tensor.extents[k], integer(0, loc), loc=loc)
                fail_unless(scope, some, None, _of_nothing(name), loc)
    if chosen is not None:
        element = Select(chosen, element, none, loc=loc)
    tensor = Tensor(tensor.axes, tensor.extents, element, python=tensor.python)
    if op == "+" and initial is None:
        total = summed(scope, tensor, reduced, over.keepdims, loc)
    else:
        start = none if initial is None else initial_value(initial, none.dtype, loc)
        total = combined(scope, tensor, reduced, over.keepdims, op, start, loc)
    if not is_mean:
        return total
    if where is not None and chosen is not None:
        ones = replace(tensor, element=cast(chosen, DType.INT64))
        number = combined(scope, ones, reduced, over.keepdims, "+", integer(0, loc), loc)
    else:
        number = count or Number(product([tensor.extents[k] for k in reduced], loc), python=False)
    return elementwise(scope, [total, number], lambda n: _quotient(n[0], n[1].expr, kind, loc), loc)


def _quotient(total: Number, count: Expr, kind: DType, loc: Loc) -> Number:
    """The mean: divided in float32 where it is of float16, which has few counts."""
    wide = DType.FLOAT32 if kind is DType.FLOAT16 else kind
    return Number(cast(Binary("/", cast(total.expr, wide), cast(count, wide), loc=loc), kind), python=False)


def operation(name: str, element: Expr, dtype: DType | None, loc: Loc) -> tuple[str, Expr, Expr]:
    """The operator, what is combined, and what it starts from."""
    kind = element.dtype
    match name:
        case "sum" | "prod" if kind.kind == "s":
            raise refused_text(loc)
        case "sum" | "prod":
            wide = dtype or DType(np.sum(np.empty(0, kind.numpy)).dtype.name)  # of small integers 64 bits
            start = cast(const(0 if name == "sum" else 1, DType.INT64, loc), wide)
            return ("+" if name == "sum" else "*"), cast(element, wide), start
        case "any" | "all":
            return (
                ("or" if name == "any" else "and"),
                truth_of(element),
                const(name == "all", DType.BOOL, loc),
            )
        case "min" | "max":
            if kind.is_complex:
                raise TypeInferenceError("complex numbers have no order here", loc, "compare abs(z)")
            if kind is DType.BOOL:
                return ("and" if name == "min" else "or"), element, const(name == "min", DType.BOOL, loc)
            return f"{name}imum", element, Const(neutral_element(name, kind), kind, loc=loc)
        case "&" | "|" | "^":
            if not (kind.is_integer or kind is DType.BOOL):
                raise TypeInferenceError(f"{name} takes integers, and this is {kind}", loc)
            if kind is DType.BOOL and name != "^":
                return ("and" if name == "&" else "or"), element, const(name == "&", DType.BOOL, loc)
            return name, element, cast(const(-1 if name == "&" else 0, DType.INT64, loc), kind)
        case _:
            raise AssertionError(name)


_WIDER = {DType.FLOAT16: DType.FLOAT64, DType.FLOAT32: DType.FLOAT64, DType.COMPLEX64: DType.COMPLEX128}


def summed(scope: Scope, tensor: Tensor, reduced: Sequence[int], keepdims: bool, loc: Loc) -> Value:
    """The elements added up along some axes. Along the last, single precision is added in double: a long sum, one
    after the other, would lose most of its digits, which NumPy keeps by adding in pairs. (Rows it adds one after the
    other, too.)"""
    kind = tensor.element.dtype
    wide = _WIDER.get(kind, kind) if tensor.ndim - 1 in reduced else kind
    zero = cast(const(0, DType.INT64, loc), wide)
    element = cast(tensor.element, wide)
    total = combined(scope, replace(tensor, element=element), reduced, keepdims, "+", zero, loc)
    if wide is kind:
        return total
    return elementwise(scope, [total], lambda n: Number(cast(n[0].expr, kind), python=False), loc)


def combined(
    scope: Scope, tensor: Tensor, reduced: Sequence[int], keepdims: bool, op: str, start: Expr, loc: Loc
) -> Value:
    """The elements reduced by an operator along some axes, those of float16 in float32, whose result is rounded."""
    if (kind := tensor.element.dtype) is DType.FLOAT16:
        wide = replace(tensor, element=cast(tensor.element, DType.FLOAT32))
        found = combined(scope, wide, reduced, keepdims, op, cast(start, DType.FLOAT32), loc)
        return elementwise(scope, [found], lambda n: Number(cast(n[0].expr, kind), python=False), loc)
    inner = [scope.supply.fresh("k", DType.INT64) for _ in reduced]
    own = {tensor.axes[k]: new for k, new in zip(reduced, inner, strict=True)}
    for old, new in own.items():
        scope.same_axis(old, new)
    total = Reduce(
        op, tuple(inner), tuple(tensor.extents[k] for k in reduced), rename(tensor.element, own), start,
        python=tensor.python, loc=loc,
    )  # fmt: skip
    axes, extents = [], []
    for k, (axis, extent) in enumerate(zip(tensor.axes, tensor.extents, strict=True)):
        if k not in reduced:
            axes.append(axis)
            extents.append(extent)
        elif keepdims:
            axes.append(scope.supply.fresh("i", DType.INT64))
            extents.append(integer(1, loc))
    return settled(scope, Tensor(tuple(axes), tuple(extents), total), "total", loc)


def reduced_axes(tensor: Tensor | Masked, axes: tuple[int, ...] | None, loc: Loc) -> tuple[int, ...]:
    """The axes counted from the first. Raises TypeInferenceError for one that is not there."""
    if axes is None:
        return tuple(range(tensor.ndim))
    out = [normalised(axis, tensor.ndim, loc) for axis in axes]
    if len(set(out)) != len(out):
        raise LengthError("duplicate value in 'axis'", loc)
    return tuple(sorted(out))


def _of_nothing(name: str) -> str:
    return f"zero-size array to reduction operation {name}imum which has no identity"


# ---------------------------------------------------------------- where extremes are


def _first_extreme(name: str, scope: Scope, given: Arguments, loc: Loc) -> Value:
    """np.argmin ("min"), np.argmax ("max"): the first NaN, or else the first of the extreme elements."""
    source = as_tensor(scope, given["a"], loc)
    if source.element.dtype.is_complex:
        raise TypeInferenceError("complex numbers have no order here", loc, "compare abs(z)")
    # The two reductions must see the same values, which arithmetic may round differently.
    if not isinstance(source.element, Load):
        source = as_tensor(scope, kept(scope, source, "values", loc), loc)
    return _first(scope, name, source, along(given, loc), loc)


def _first(scope: Scope, name: str, tensor: Tensor, over: Along, loc: Loc) -> Value:
    reduced = reduced_axes(tensor, over.axes, loc)
    for k in reduced:
        some = Compare(">", tensor.extents[k], integer(0, loc), loc=loc)
        fail_unless(scope, some, None, f"attempt to get arg{name} of an empty sequence", loc)
    best = as_tensor(scope, reduce_array(scope, name, tensor, loc, Along(reduced)), loc)
    left = [axis for k, axis in enumerate(tensor.axes) if k not in reduced]
    wanted = rename(best.element, dict(zip(best.axes, left, strict=True)))
    found: Expr = Compare("==", tensor.element, wanted, loc=loc)
    if tensor.element.dtype.is_float:
        # Both sides always: lanes have no use for the branch that `or` would be.
        found = Binary("|", found, Compare("!=", tensor.element, tensor.element, loc=loc), loc=loc)
    lengths = [tensor.extents[k] for k in reduced]
    position = linear_position([Var(tensor.axes[k], loc=loc) for k in reduced], lengths, loc)
    behind = product(lengths, loc)
    chosen = Tensor(tensor.axes, tensor.extents, Select(found, position, behind, loc=loc))
    return combined(scope, chosen, reduced, over.keepdims, "min", behind, loc)


_ARGUMENTS = ("a", "axis", "out", "keepdims")

METHODS: dict[str, Entry] = {
    "argmin": (_ARGUMENTS, partial(_first_extreme, "min")),
    "argmax": (_ARGUMENTS, partial(_first_extreme, "max")),
}

FUNCTIONS: dict[object, Entry] = {np.argmin: METHODS["argmin"], np.argmax: METHODS["argmax"]}
