"""Functions that sum over axes, and are no plain reductions: `einsum`, norms, traces, sums without NaN."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from appyc.lazy.applied import Applied, array_of, arrays_of, recorded
from appyc.lazy.operations import OPERAND, without


def _einsum(subscripts: Any, *given: Any) -> Applied | None:
    operands = arrays_of(given)
    if (
        operands is None
        or not isinstance(subscripts, str)
        or subscripts.count("->") != 1
        or "." in subscripts
    ):
        return None
    inputs, output = subscripts.replace(" ", "").split("->")
    parts = inputs.split(",")
    if [len(part) for part in parts] != [o.ndim for o in operands]:
        return None
    extents: dict[str, int] = {}
    for part, array in zip(parts, operands, strict=True):
        for letter, extent in zip(part, array.shape, strict=True):
            if extents.setdefault(letter, extent) != extent:
                return None
    kept = [letter for letter in extents if letter in output]
    if "".join(kept) != output or (len(operands) == 1 and len(kept) == len(extents)):
        return None  # a result whose axes change their order, or a view
    return Applied(
        tuple(operands), (subscripts, *(OPERAND,) * len(operands)), (), tuple(extents[k] for k in kept)
    )


def _norm(x: Any, ord: None = None, axis: Any = None, keepdims: Any = False) -> Applied | None:
    array = array_of(x)
    if array is None or ord is not None or array.dtype.kind not in "fiu":
        return None
    return _along(array, axis, keepdims)


def _without_nan(a: Any, axis: Any = None, keepdims: Any = False) -> Applied | None:
    array = array_of(a)
    return None if array is None or array.dtype.kind == "c" else _along(array, axis, keepdims)


def _along(array: Any, axis: Any, keepdims: Any) -> Applied | None:
    """A function of one array that sums over an axis, or all."""
    if not (axis is None or type(axis) is int) or type(keepdims) is not bool:
        return None
    if axis is not None and not -array.ndim <= axis < array.ndim:
        return None
    axes = tuple(range(array.ndim)) if axis is None else (axis % array.ndim,)
    shape = without(array.shape, axes, keepdims=keepdims)
    return Applied((array,), (OPERAND,), (("axis", axis), ("keepdims", keepdims)), shape)


def _trace(a: Any, offset: int = 0) -> Applied | None:
    array = array_of(a)
    if array is None or array.ndim != 2 or type(offset) is not int:
        return None
    if not -array.shape[0] < offset < array.shape[1]:
        return None
    return Applied((array,), (OPERAND, offset), (), ())


def _trapezoid(y: Any) -> Applied | None:
    array = array_of(y)
    if array is None or array.dtype.kind != "f" or array.shape[-1] < 2:
        return None
    return Applied((array,), (OPERAND,), (), array.shape[:-1])


def _inner(a: Any, b: Any, /) -> Applied | None:
    operands = arrays_of((a, b))
    if operands is None or operands[0].ndim != 1 or operands[0].shape != operands[1].shape:
        return None
    return Applied(tuple(operands), (OPERAND, OPERAND), (), ())


CONTRACTED: dict[Any, Callable[..., Any]] = {
    np.einsum: recorded("einsum", _einsum), np.linalg.norm: recorded("linalg.norm", _norm),
    np.inner: recorded("inner", _inner), np.vdot: recorded("vdot", _inner), np.trace: recorded("trace", _trace),
    np.trapezoid: recorded("trapezoid", _trapezoid),
    **{getattr(np, name): recorded(name, _without_nan) for name in (
        "nansum", "nanprod", "nanmean", "nanmin", "nanmax",
    )},
}  # fmt: skip
