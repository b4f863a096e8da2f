"""Calls of ufuncs with all that they take, and of their methods: what is recorded, and what NumPy must see to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeGuard

import numpy as np

from appyc.lazy import arrays, at_once, indexing
from appyc.lazy.evaluation import evaluated
from appyc.lazy.operations import Pointwise, broadcast
from appyc.lazy.recorder import record_ordered, record_store
from appyc.lazy.reductions import REDUCTIONS
from appyc.lazy.ufuncs import COMPILED_UFUNCS, as_operand, is_compiled, pointwise, product, store

_REDUCED: dict[np.ufunc, Callable[..., Any]] = {
    np.add: np.sum, np.multiply: np.prod, np.maximum: np.max, np.minimum: np.min, np.logical_and: np.all,
    np.logical_or: np.any,
}  # fmt: skip

_ACCUMULATED: dict[np.ufunc, Callable[..., Any]] = {np.add: np.cumsum, np.multiply: np.cumprod}

_MOST_AXES = 64
"""Axes that an array of NumPy's may have."""

_AT = frozenset({np.add, np.subtract, np.multiply, np.minimum, np.maximum})


def apply_ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """A ufunc, or one of its methods. `out=` stores into that array and gives it back."""
    gives_out = method == "__call__" and len(inputs) == ufunc.nin + 1 and ufunc.nout == 1
    if gives_out and "out" not in keywords and inputs[-1] is not Ellipsis:  # which is none by position
        inputs, keywords = inputs[:-1], {**keywords, "out": inputs[-1:]}
    if not keywords and method == "__call__":
        found = _applied(ufunc, inputs, None, "same_kind")
        return found if found is not NotImplemented else evaluated(ufunc, inputs, {})
    out = keywords.get("out")
    target = out[0] if isinstance(out, tuple) and len(out) == 1 else out
    others = {k: v for k, v in keywords.items() if k != "out" and v is not None}
    found = NotImplemented
    if method != "__call__":
        found = _method_of(ufunc, method, inputs, keywords)
    elif not others.keys() - {"casting"}:
        found = _applied(ufunc, inputs, target, others.get("casting", "same_kind"))
    elif others.keys() == {"where"} and type(target) is arrays.ndarray:
        found = _where_mask(ufunc, inputs, target, others["where"])
    if found is not NotImplemented:
        return found
    function = ufunc if method == "__call__" else getattr(ufunc, method)
    return evaluated(function, inputs, keywords)


def _applied(ufunc: np.ufunc, inputs: tuple[Any, ...], target: Any, casting: Any) -> Any:
    operands = tuple(as_operand(x) for x in inputs)
    if any(o is None for o in operands):
        return NotImplemented
    if ufunc is np.matmul and target is None:
        return product(*operands)
    found = pointwise(ufunc, operands)
    if found is None or (target is None and casting != "same_kind"):
        return NotImplemented
    if target is None:
        return record_ordered(*found)
    if not _takes(target, found[2], found[3], casting):
        return NotImplemented
    record_store(found[0], found[1], target, found[2])
    return target


def _takes(target: Any, shape: tuple[int, ...], dtype: np.dtype, casting: Any) -> TypeGuard[arrays.ndarray]:
    return (
        type(target) is arrays.ndarray
        and not target.is_window
        and target.shape == shape
        and np.can_cast(dtype, target.dtype, casting)
    )


def _method_of(ufunc: np.ufunc, method: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """A call of a ufunc's method; NotImplemented where NumPy must see to it."""
    out = keywords.get("out")
    if isinstance(out, tuple) and len(out) == 1:
        keywords = {**keywords, "out": out[0]}
    try:
        match method:
            case "reduce":
                return _reduce(ufunc, *args, **keywords)
            case "accumulate":
                return _accumulate(ufunc, *args, **keywords)
            case "outer":
                return _outer(ufunc, *args, **keywords)
            case "at":
                return _at(ufunc, *args, **keywords)
    except TypeError:  # arguments that are not known here: NumPy takes or refuses them
        return NotImplemented
    return NotImplemented


def _reduce(ufunc: np.ufunc, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: bool = False,
            **more: Any) -> Any:  # fmt: skip
    function = _REDUCED.get(ufunc)
    if function is None or dtype is not None:
        return NotImplemented
    return REDUCTIONS[function](array, axis=axis, out=out, keepdims=keepdims, **more)


def _accumulate(ufunc: np.ufunc, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None) -> Any:
    function = _ACCUMULATED.get(ufunc)
    if function is None or axis is None:
        return NotImplemented
    return REDUCTIONS[function](array, axis=axis, dtype=dtype, out=out)


def _outer(ufunc: np.ufunc, a: Any, b: Any, **keywords: Any) -> Any:
    one, two = as_operand(a), as_operand(b)
    if type(one) is not arrays.ndarray or type(two) is not arrays.ndarray or ufunc not in COMPILED_UFUNCS:
        return NotImplemented
    if one.ndim + two.ndim > _MOST_AXES:
        return NotImplemented
    return apply_ufunc(ufunc, "__call__", (one[(..., *(None,) * two.ndim)], two), keywords)


def _at(ufunc: np.ufunc, a: Any, indices: Any, b: Any = None) -> Any:
    if ufunc not in _AT or type(a) is not arrays.ndarray or b is None:
        return NotImplemented
    return indexing.fancy_store(a, indices, b, ufunc)


def _where_mask(ufunc: np.ufunc, inputs: tuple[Any, ...], target: Any, where: Any) -> Any:
    """A ufunc with `where=` that changes `out` where a mask is true; NotImplemented where NumPy must see to it."""
    if at_once.are_there(*inputs, target, where):
        return NotImplemented  # computed where the mask is true only, else NumPy may warn of other elements
    operands = tuple(as_operand(x) for x in inputs)
    if any(o is None for o in operands):
        return NotImplemented
    found = pointwise(ufunc, operands)
    if found is None or broadcast(found[2], target.shape) != target.shape:
        return NotImplemented
    if not np.can_cast(found[3], target.dtype, "same_kind"):
        return NotImplemented
    chosen = choosing(where, record_ordered(*found), target)
    return target if chosen else NotImplemented


def choosing(where: Any, value: Any, target: Any) -> bool:
    """Stores the value where a mask is true. False, and nothing is done, where NumPy must see to it."""
    mask = as_operand(where)
    if type(target) is not arrays.ndarray or target.is_window or mask is None or value is None:
        return False
    if mask is True:
        store(target, value)
        return True
    if getattr(mask, "dtype", None) != np.bool_ or not is_compiled((target, value)):
        return False
    shape = broadcast(getattr(mask, "shape", ()), getattr(value, "shape", ()), target.shape)
    if shape != target.shape:
        return False
    record_store(Pointwise(np.where), (mask, value, target), target, shape)
    return True
