"""Recording of reductions, arg-reductions (`argmin`, `argmax`) and scans (`cumsum`, `cumprod`)."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from appyc.lazy import arrays, operations
from appyc.lazy.evaluation import plain, require
from appyc.lazy.order import inverse, memory_order
from appyc.lazy.recorder import record, record_ordered
from appyc.lazy.ufuncs import as_operand, binary, is_compiled, operands_of, store

_NOT_GIVEN = inspect.signature(np.sum).parameters["initial"].default

_IDENTITY = {"sum": 0, "prod": 1, "any": 0, "all": 1}
"""The value that replaces elements which a mask leaves out, for each reduction."""

_COMBINED = {"sum": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum}
"""The ufunc that combines `initial` with a reduction's result."""


def _bound(names: tuple[str, ...], args: tuple[Any, ...], keywords: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments by name, but for those that say nothing."""
    require(len(args) <= len(names), keywords.keys() <= set(names))
    out = {**dict(zip(names, args, strict=False)), **keywords}
    if out.get("axis") is not None:
        axis = out["axis"]
        out["axis"] = tuple(map(operator.index, axis)) if isinstance(axis, tuple) else operator.index(axis)
    return {k: v for k, v in out.items() if v is not None and v is not _NOT_GIVEN}


def _recording(name: str, find: Callable[..., Any]) -> Callable[..., Any]:
    """NumPy's function: what `find` gives for the operand and the other arguments, or `out` with that in it."""
    names = tuple(inspect.signature(getattr(np, name)).parameters)

    def function(*args: Any, **keywords: Any) -> Any:
        given = _bound(names, args, keywords)
        operand = as_operand(given.pop("a", None))
        require(
            isinstance(operand, arrays.Array)
            and operand.shape
            and operand.dtype in operations.COMPILED_DTYPES
        )
        require(not given.keys() & {"mean", "correction"})
        out = given.pop("out", None)
        found = find(name, operand, **given)
        return found if out is None else _stored(found, out)

    return function


def _reduced(name: str, operand: Any, axis: Any = None, dtype: Any = None, ddof: Any = 0,
             keepdims: Any = False, initial: Any = None, where: Any = None) -> Any:  # fmt: skip
    require(operand.size, type(ddof) is int, axis != ())
    if where is not None:
        operand = _without(name, operand, where)
    if dtype is not None:
        operand = _converted(name, operand, np.dtype(dtype))
    result, axes = operations.reduced(name, operand.dtype, len(operand.shape), axis, ddof)
    require(result in operations.COMPILED_DTYPES)
    whole = None if axis is None else axes
    found = _along(name, operand, whole, axes, bool(keepdims), ddof, result)
    if initial is not None:
        require(name in _COMBINED, operands_of(initial))
        first = np.empty((), result)
        first[()] = plain(initial)
        found = binary(_COMBINED[name], found, first[()])
    if dtype is not None and found.dtype != dtype:
        found = found.astype(dtype)
    return found


def _applied(name: str, ddof: int = 0, **keywords: Any) -> operations.Expression:
    more = {"ddof": ddof} if name in ("var", "std") else {}
    return operations.applied(name, (operations.OPERAND,), {**keywords, **more})


def _along(name: str, operand: Any, whole: tuple[int, ...] | None, axes: tuple[int, ...], keepdims: bool, ddof: int,
           result: np.dtype) -> Any:  # fmt: skip
    """The reduction along axes, whose result lies in memory as the operand does."""
    if operand.is_straight:
        shape = operations.without(operand.shape, axes, keepdims=keepdims)
        return record(_applied(name, ddof, axis=whole, keepdims=keepdims), (operand,), shape, result)
    order = memory_order([operand.ghost()], operand.ndim)
    turned = operand.transpose(order)
    inner = tuple(sorted(order.index(a) for a in axes))
    shape = operations.without(turned.shape, inner, keepdims=keepdims)
    operation = _applied(name, ddof, axis=None if whole is None else inner, keepdims=keepdims)
    found = record(operation, (turned,), shape, result)
    left = order if keepdims else tuple(a for a in order if a not in axes)
    ranked = sorted(left)
    return found.transpose(inverse(tuple(ranked.index(a) for a in left))) if shape else found


def _without(name: str, operand: Any, where: Any) -> Any:
    """The operand with what counts for nothing where the mask is false."""
    (mask,) = operands_of(where)
    require(name in _IDENTITY, is_compiled((mask,)))
    require(np.dtype(type(mask) if isinstance(mask, bool) else mask.dtype) == np.bool_)
    require(operations.broadcast(getattr(mask, "shape", ()), operand.shape) == operand.shape)
    rest = operand.dtype.type(_IDENTITY[name])
    return record_ordered(operations.pointwise(np.where), (mask, operand, rest), operand.shape, operand.dtype)


def _converted(name: str, operand: Any, dtype: np.dtype) -> Any:
    """The operand in the type that is asked for."""
    require(dtype in operations.COMPILED_DTYPES, dtype.kind != "b", operand.dtype.kind != "c")
    is_float = name in ("mean", "var", "std") and dtype.kind == "f"
    require(is_float or name in ("sum", "prod", "cumsum", "cumprod"))
    return operand.astype(dtype, copy=False)


def _stored(found: Any, out: Any) -> Any:
    """The result in `out`, which has its type and shape; NumPy sees to all others."""
    require(type(out) is arrays.ndarray and out.dtype == found.dtype and out.shape == found.shape)
    store(out, found)
    return out


def _arg_reduced(name: str, operand: Any, axis: Any = None, keepdims: Any = False) -> Any:
    require(operand.size, operand.dtype.kind != "c", not isinstance(axis, tuple))
    _, axes = operations.reduced("max", operand.dtype, operand.ndim, axis, 0)
    shape = operations.without(operand.shape, axes, keepdims=bool(keepdims))
    operation = _applied(name, axis=None if axis is None else axes[0], keepdims=bool(keepdims))
    return record(operation, (operand,), shape, np.dtype(np.intp))


def _accumulated(name: str, operand: Any, axis: Any = None, dtype: Any = None) -> Any:
    if axis is None:
        operand = operand.ravel()
    if dtype is not None:
        operand = _converted(name, operand, np.dtype(dtype))
    require(operand.dtype in operations.COMPILED_DTYPES, not isinstance(axis, tuple))
    combining = name.removeprefix("cum")
    result, axes = operations.reduced(combining, operand.dtype, operand.ndim, -1 if axis is None else axis, 0)
    require(dtype is None or result == dtype)
    order = memory_order([operand.ghost()], operand.ndim)
    turned = operand.transpose(order)
    found = record(_applied(name, axis=order.index(axes[0])), (turned,), turned.shape, result)
    return found.transpose(inverse(order))


REDUCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    **{getattr(np, n): _recording(n, _reduced)
       for n in ("sum", "prod", "mean", "min", "max", "any", "all", "var", "std")},
    np.amin: _recording("min", _reduced), np.amax: _recording("max", _reduced),
    **{getattr(np, n): _recording(n, _arg_reduced) for n in ("argmin", "argmax")},
    **{getattr(np, n): _recording(n, _accumulated) for n in ("cumsum", "cumprod")},
}  # fmt: skip
