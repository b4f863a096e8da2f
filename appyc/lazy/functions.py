"""NumPy's functions by name: those that are recorded; all others run in NumPy on computed values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from appyc.lazy.operations import (
    COMPILED_DTYPES,
    Choose,
    Place,
    Reduction,
    Running,
    broadcast,
    reduced,
    without,
)
from appyc.lazy.recorder import array, asarray, evaluated, plain, record, wrapped
from appyc.lazy.ufuncs import apply_ufunc, as_operand, fits, is_compiled, product


def call(function: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """One of NumPy's functions."""
    if isinstance(function, np.ufunc):
        return apply_ufunc(function, "__call__", args, keywords)
    own = _OWN.get(function)
    if own is not None:
        found = own(*args, **keywords)
        if found is not NotImplemented:
            return found
    return evaluated(function, args, keywords)


def _reducing(name: str) -> Callable[..., Any]:
    def reduction(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0,
                  keepdims: Any = False, **more: Any) -> Any:  # fmt: skip
        operand = as_operand(a)
        if dtype is not None or out is not None or more or operand is None or not hasattr(operand, "shape"):
            return NotImplemented
        if operand.dtype not in COMPILED_DTYPES or not isinstance(ddof, int):
            return NotImplemented
        if isinstance(axis, list):
            axis = tuple(axis)
        result, axes = reduced(name, operand.dtype, len(operand.shape), axis, ddof)
        shape = without(operand.shape, axes, keepdims=bool(keepdims))
        if result not in COMPILED_DTYPES or not operand.shape or operand.size == 0:
            return NotImplemented
        whole = None if axis is None else axes
        return record(Reduction(name, whole, bool(keepdims), ddof), (operand,), shape, result)

    return reduction


def _placing(name: str) -> Callable[..., Any]:
    def place(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
        operand = as_operand(a)
        if out is not None or operand is None or not getattr(operand, "shape", ()) or operand.size == 0:
            return NotImplemented
        if operand.dtype not in COMPILED_DTYPES or operand.dtype.kind == "c" or isinstance(axis, tuple):
            return NotImplemented
        _, axes = reduced("max", operand.dtype, len(operand.shape), axis, 0)
        shape = without(operand.shape, axes, keepdims=bool(keepdims))
        whole = None if axis is None else axes[0]
        return record(Place(name, whole, bool(keepdims)), (operand,), shape, np.dtype(np.intp))

    return place


def _running(name: str) -> Callable[..., Any]:
    def running(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        operand = as_operand(a)
        if dtype is not None or out is not None or operand is None or not getattr(operand, "shape", ()):
            return NotImplemented
        if operand.dtype not in COMPILED_DTYPES or (axis is None and len(operand.shape) > 1):
            return NotImplemented
        result, axes = reduced(
            "prod" if name == "cumprod" else "sum", operand.dtype, len(operand.shape), axis, 0
        )
        return record(Running(name, axes[0]), (operand,), operand.shape, result)

    return running


def _where(condition: Any, x: Any = None, y: Any = None) -> Any:
    operands = tuple(as_operand(v) for v in (condition, x, y))
    if any(o is None for o in operands) or not is_compiled(operands) or not fits(operands[1:]):
        return NotImplemented
    shape = broadcast(*(getattr(o, "shape", ()) for o in operands))
    if not shape:  # no common shape; or numbers, of which NumPy makes an array without axes
        return NotImplemented
    dtype = np.result_type(*(o if type(o) in (bool, int, float, complex) else o.dtype for o in operands[1:]))
    if dtype not in COMPILED_DTYPES:
        return NotImplemented
    return record(Choose(), operands, shape, dtype)


def _clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, **more: Any) -> Any:
    if out is not None or more or a_min is None or a_max is None:
        return NotImplemented
    return apply_ufunc(
        np.minimum, "__call__", (apply_ufunc(np.maximum, "__call__", (a, a_min), {}), a_max), {}
    )


def _dot(a: Any, b: Any, out: Any = None) -> Any:
    one, two = as_operand(a), as_operand(b)
    ranks = [len(getattr(o, "shape", ())) for o in (one, two)]
    if out is not None or not all(r in (1, 2) for r in ranks):
        return NotImplemented
    return product(one, two)


def _method(name: str) -> Callable[..., Any]:
    def function(a: Any, *args: Any, **keywords: Any) -> Any:
        return getattr(asarray(a), name)(*args, **keywords)

    return function


def _like(creation: Callable[..., Any]) -> Callable[..., Any]:
    def function(a: Any, dtype: Any = None, **more: Any) -> Any:
        return wrapped(creation(a.shape, dtype or a.dtype))

    return function


_OWN: dict[Any, Callable[..., Any]] = {
    **{getattr(np, n): _reducing(n) for n in ("sum", "prod", "mean", "min", "max", "any", "all", "var", "std")},
    np.argmin: _placing("argmin"), np.argmax: _placing("argmax"),
    np.cumsum: _running("cumsum"), np.cumprod: _running("cumprod"),
    np.amin: _reducing("min"), np.amax: _reducing("max"), np.where: _where, np.clip: _clip, np.dot: _dot,
    np.transpose: lambda a, axes=None: asarray(a).transpose(axes),
    np.reshape: lambda a, shape=None, order="C", **more: asarray(a).reshape(shape, order=order),
    np.ravel: _method("ravel"), np.swapaxes: _method("swapaxes"), np.squeeze: _method("squeeze"),
    np.copy: lambda a, order="K", subok=False: array(a), np.expand_dims: lambda a, axis: _expanded(asarray(a), axis),
    np.shape: lambda a: asarray(a).shape, np.ndim: lambda a: asarray(a).ndim,
    np.size: lambda a, axis=None: asarray(a).size if axis is None else asarray(a).shape[axis],
    np.zeros_like: _like(np.zeros), np.ones_like: _like(np.ones), np.empty_like: _like(np.empty),
    np.full_like: lambda a, fill_value, dtype=None, **more: wrapped(
        np.full(a.shape, plain(fill_value), dtype or a.dtype)
    ),
}  # fmt: skip


def _expanded(a: Any, axis: Any) -> Any:
    shape = np.expand_dims(a.ghost(), axis).shape
    axes = {x % len(shape) for x in (axis if isinstance(axis, tuple) else (axis,))}
    return a[tuple(None if k in axes else slice(None) for k in range(len(shape)))]
