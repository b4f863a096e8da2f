"""Calls of ufuncs with all that they take, and of their methods: what is recorded, and what NumPy must see to."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from appyc.lazy import arrays, at_once, indexing, operations
from appyc.lazy.evaluation import LeftToNumPy, evaluated, require
from appyc.lazy.recorder import record_ordered, record_store
from appyc.lazy.reductions import REDUCTIONS
from appyc.lazy.ufuncs import COMPILED_UFUNCS, Recorded, is_compiled, operands_of, pointwise, product, store
from appyc.lazy.views import MOST_AXES

_REDUCED: dict[np.ufunc, Callable[..., Any]] = {
    np.add: np.sum, np.multiply: np.prod, np.maximum: np.max, np.minimum: np.min, np.logical_and: np.all,
    np.logical_or: np.any,
}  # fmt: skip

_ACCUMULATED: dict[np.ufunc, Callable[..., Any]] = {np.add: np.cumsum, np.multiply: np.cumprod}

_AT = frozenset({np.add, np.subtract, np.multiply, np.minimum, np.maximum})


def apply_ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """A ufunc, or one of its methods. `out=` stores into that array and gives it back."""
    gives_out = method == "__call__" and len(inputs) == ufunc.nin + 1 and ufunc.nout == 1
    if gives_out and "out" not in keywords and inputs[-1] is not Ellipsis:  # which is none by position
        inputs, keywords = inputs[:-1], {**keywords, "out": inputs[-1:]}
    out = keywords.get("out")
    target = out[0] if isinstance(out, tuple) and len(out) == 1 else out
    others = {k: v for k, v in keywords.items() if k != "out" and v is not None}
    with suppress(LeftToNumPy):
        if method != "__call__":
            return _method_of(ufunc, method, inputs, keywords)
        if not others.keys() - {"casting"}:
            return _applied(ufunc, inputs, target, others.get("casting", "same_kind"))
        if others.keys() == {"where"} and type(target) is arrays.ndarray:
            return _where_mask(ufunc, inputs, target, others["where"])
    function = ufunc if method == "__call__" else getattr(ufunc, method)
    return evaluated(function, inputs, keywords)


def _applied(ufunc: np.ufunc, inputs: tuple[Any, ...], target: Any, casting: Any) -> Any:
    operands = operands_of(*inputs)
    if ufunc is np.matmul and target is None:
        return product(*operands)
    operation, operands, shape, dtype = _planned(ufunc, operands)
    if target is None:
        require(casting == "same_kind")
        return record_ordered(operation, operands, shape, dtype)
    require(type(target) is arrays.ndarray and not target.is_window and target.shape == shape)
    require(np.can_cast(dtype, target.dtype, casting))
    record_store(operation, operands, target, shape)
    return target


def _planned(ufunc: np.ufunc, operands: tuple[Any, ...]) -> Recorded:
    """The recorded form of a ufunc call. Raises LeftToNumPy where there is none."""
    found = pointwise(ufunc, operands)
    if found is None:
        raise LeftToNumPy
    return found


def _method_of(ufunc: np.ufunc, method: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """A call of a ufunc's method."""
    out = keywords.get("out")
    if isinstance(out, tuple) and len(out) == 1:
        keywords = {**keywords, "out": out[0]}
    known: dict[str, Callable[..., Any]] = {
        "reduce": _reduce,
        "accumulate": _accumulate,
        "outer": _outer,
        "at": _at,
    }
    with suppress(TypeError):  # of arguments that are not known here: NumPy takes or refuses them
        require(method in known)
        return known[method](ufunc, *args, **keywords)
    raise LeftToNumPy


def _reduce(ufunc: np.ufunc, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: bool = False,
            **more: Any) -> Any:  # fmt: skip
    require(ufunc in _REDUCED, dtype is None)
    return REDUCTIONS[_REDUCED[ufunc]](array, axis=axis, out=out, keepdims=keepdims, **more)


def _accumulate(ufunc: np.ufunc, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None) -> Any:
    require(ufunc in _ACCUMULATED, axis is not None)
    return REDUCTIONS[_ACCUMULATED[ufunc]](array, axis=axis, dtype=dtype, out=out)


def _outer(ufunc: np.ufunc, a: Any, b: Any, **keywords: Any) -> Any:
    one, two = operands_of(a, b)
    require(ufunc in COMPILED_UFUNCS, type(one) is type(two) is arrays.ndarray)
    require(one.ndim + two.ndim <= MOST_AXES)
    return apply_ufunc(ufunc, "__call__", (one[(..., *(None,) * two.ndim)], two), keywords)


def _at(ufunc: np.ufunc, a: Any, indices: Any, b: Any = None) -> Any:
    require(ufunc in _AT, type(a) is arrays.ndarray, b is not None)
    return indexing.fancy_store(a, indices, b, ufunc)


def _where_mask(ufunc: np.ufunc, inputs: tuple[Any, ...], target: Any, where: Any) -> Any:
    """A ufunc with `where=` that changes `out` where a mask is true."""
    # What is computed is so where the mask is true only, else NumPy may warn of other elements.
    require(not at_once.are_there(*inputs, target, where))
    found = _planned(ufunc, operands_of(*inputs))
    require(operations.broadcast(found[2], target.shape) == target.shape)
    require(np.can_cast(found[3], target.dtype, "same_kind"))
    choose(where, record_ordered(*found), target)
    return target


def choose(where: Any, value: Any, target: Any) -> None:
    """Stores the value where a mask is true."""
    (mask,) = operands_of(where)
    require(type(target) is arrays.ndarray and not target.is_window, value is not None)
    if mask is True:
        store(target, value)
        return
    require(getattr(mask, "dtype", None) == np.bool_, is_compiled((target, value)))
    shape = operations.broadcast(getattr(mask, "shape", ()), getattr(value, "shape", ()), target.shape)
    require(shape == target.shape)
    record_store(operations.pointwise(np.where), (mask, value, target), target, target.shape)
