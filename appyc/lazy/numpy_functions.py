"""NumPy's functions by name: those that are recorded; all others run in NumPy on computed values."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from appyc.lazy import applying, arrays, indexing
from appyc.lazy.applied import APPLIED
from appyc.lazy.evaluation import LeftToNumPy, adopted, evaluated, plain, require, views_by, wrapped
from appyc.lazy.operations import COMPILED_DTYPES, broadcast, create, pointwise
from appyc.lazy.recorder import array, record, record_ordered
from appyc.lazy.reductions import REDUCTIONS
from appyc.lazy.residence import is_chunked
from appyc.lazy.ufuncs import fits, is_compiled, operands_of, product
from appyc.lazy.views import view_of


def call(function: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """One of NumPy's functions. Arrays of Dask's are taken for recorded ones."""
    args = tuple(array(arg) if is_chunked(arg) else arg for arg in args)
    if isinstance(function, np.ufunc):
        return applying.apply_ufunc(function, "__call__", args, keywords)
    own = _OWN.get(function)
    if own is not None:
        with suppress(LeftToNumPy):
            try:
                return own(*args, **keywords)
            except TypeError as error:  # of arguments that are not known here: NumPy takes or refuses them
                if error.__traceback__ is not None and error.__traceback__.tb_next is not None:
                    raise
    return evaluated(function, args, keywords)


def is_own(function: Any) -> bool:
    """Whether it may be recorded, or looks at no values."""
    return function in _OWN


def _where(condition: Any, x: Any = None, y: Any = None) -> Any:
    operands = operands_of(condition, x, y)
    require(is_compiled(operands) and fits(operands[1:]))
    shape = broadcast(*(getattr(o, "shape", ()) for o in operands))
    dtype = np.result_type(*(o if type(o) in (bool, int, float, complex) else o.dtype for o in operands[1:]))
    if not shape:  # no common shape; or numbers, of which NumPy makes an array without axes
        raise LeftToNumPy
    require(dtype in COMPILED_DTYPES)
    return record_ordered(pointwise(np.where), operands, shape, dtype)


def _clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, **more: Any) -> Any:
    least, most = more.pop("min", a_min), more.pop("max", a_max)
    operands = operands_of(*(v for v in (a, least, most) if v is not None))
    require(not more, len(operands) > 1, is_compiled(operands) and fits(operands))
    require(type(operands[0]) is arrays.ndarray)
    into = {} if out is None else {"out": out}
    if most is None:
        return np.maximum(a, least, **into)
    inner = a if least is None else np.maximum(a, least)
    return np.minimum(inner, most, **into)


def _dot(a: Any, b: Any, out: Any = None) -> Any:
    operands = operands_of(a, b)
    require(out is None, all(len(getattr(o, "shape", ())) in (1, 2) for o in operands))
    return product(*operands)


def _copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> Any:
    (value,) = operands_of(src)
    require(type(dst) is arrays.ndarray and is_compiled((dst, value)) and fits((dst, value)))
    require(broadcast(getattr(value, "shape", ()), dst.shape) == dst.shape)
    require(_can_cast(value, dst.dtype, casting))
    if not isinstance(value, arrays.Array):
        value = np.asarray(value).astype(dst.dtype)[()]
    applying.choose(where, value, dst)


def _can_cast(value: Any, dtype: np.dtype, casting: Any) -> bool:
    if type(value) in (bool, int, float, complex):
        kind = np.result_type(dtype, type(value)) if casting in ("no", "equiv") else np.min_scalar_type(value)
        return bool(np.can_cast(kind, dtype, casting))
    return bool(np.can_cast(value.dtype, dtype, casting))


def _putmask(a: Any, mask: Any, values: Any) -> Any:
    value, where = operands_of(values, mask)
    require(type(where) is type(a) is arrays.ndarray and where.shape == a.shape)
    require(getattr(value, "shape", ()) in ((), a.shape))
    return _copyto(a, value, where=where)


def _take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: Any = "raise") -> Any:
    require(type(a) is arrays.ndarray and a.ndim, out is None, mode == "raise", axis in (None, 0))
    source = a.ravel() if axis is None else a
    require(source.dtype in COMPILED_DTYPES)
    return indexing.gathered(source, indexing.index_arrays(source, indices))


def _diff(a: Any, n: Any = 1, axis: Any = -1, *more: Any, **keywords: Any) -> Any:
    require(type(a) is arrays.ndarray and a.ndim, not more, not keywords, type(n) is int and n >= 0)
    np.diff(np.empty((0,) * a.ndim), axis=axis)  # raises NumPy's error for a wrong axis
    whole = (slice(None),) * (axis % a.ndim)
    for _ in range(n):
        later, earlier = a[(*whole, slice(1, None))], a[(*whole, slice(None, -1))]
        a = later != earlier if a.dtype == np.bool_ else later - earlier
    return a


def _ptp(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    require(type(a) is arrays.ndarray, out is None)
    return a.max(axis=axis, keepdims=keepdims) - a.min(axis=axis, keepdims=keepdims)


def _average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, **more: Any) -> Any:
    require(type(a) is arrays.ndarray and a.size, weights is None, not returned, not more)
    return a.mean(axis=axis)


def _outer(a: Any, b: Any, out: Any = None) -> Any:
    one, two = operands_of(a, b)
    require(out is None, type(one) is type(two) is arrays.ndarray)
    return applying.apply_ufunc(np.multiply, "__call__", (one.ravel()[:, None], two.ravel()[None]), {})


def _method(name: str, a: Any, *args: Any, **keywords: Any) -> Any:
    require(isinstance(a, arrays.Array))
    return getattr(a, name)(*args, **keywords)


def _like(name: str, a: Any, *args: Any, **keywords: Any) -> Any:
    require(isinstance(a, arrays.Array))
    with suppress(LeftToNumPy):
        return _created_like(name, a, args, keywords)
    return wrapped(getattr(np, f"{name}_like")(a.ghost(), *plain(args), **plain(keywords)))


def _copy(a: Any, order: Any = "K", subok: bool = False) -> Any:
    require(not subok or isinstance(a, arrays.Array))
    return array(a, order=order)


def _astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    require(type(x) is arrays.ndarray, device is None)
    return x.astype(dtype, copy=copy)


def _size(a: Any, axis: Any = None) -> Any:
    require(axis is None)
    return _asked("size", a)


def _asked(name: str, a: Any) -> Any:
    """The attribute of a recorded array that is known without its values."""
    require(isinstance(a, arrays.Array))
    return getattr(a, name)


def _shares(of: Callable[..., bool], *args: Any, **keywords: Any) -> Any:
    """Asks about shared memory, with ghosts for arrays not yet computed, whose memory no other library can
    see."""
    return of(*(_in_memory(a) if isinstance(a, arrays.Array) else a for a in args), **keywords)


def _in_memory(array: arrays.Array) -> np.ndarray:
    memory = array.buffer.memory
    return view_of(memory, array.path) if isinstance(memory, np.ndarray) else array.ghost()


# ---------------------------------------------------------------- arrays with one value everywhere

# They are recorded too, so that a temporary that only compiled code sees is never made.


def _wanted_shape(given: Any) -> tuple[int, ...] | None:
    """The shape that was asked for; None for one that NumPy is to refuse, or an array without axes."""
    try:
        shape = np.empty(given, []).shape  # whose elements take no memory
    except (TypeError, ValueError):
        return None
    return shape if shape and sum(map(int.bit_length, shape)) < 60 else None


def _creating(
    name: str, values: tuple[Any, ...], shape: Any, dtype: Any = None, order: Any = "C", **more: Any
) -> Any:
    wanted, resolved = np.dtype(dtype), _wanted_shape(shape)
    if resolved is None or more or order != "C" or wanted not in COMPILED_DTYPES:
        raise LeftToNumPy
    filled = [
        np.full((), value, wanted)[()] for value in values
    ]  # raises what NumPy raises for one that does not fit
    return record(create(name, wanted, len(resolved)), (*resolved, *filled), resolved, wanted)


def _full(shape: Any, fill_value: Any, dtype: Any = None, order: Any = "C", **more: Any) -> Any:
    require(dtype is not None, type(fill_value) in (bool, int, float))
    return _creating("full", (fill_value,), shape, dtype, order, **more)


def _created_like(name: str, like: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """An array with the shape of another one."""
    values = args[:1] if name == "full" else ()
    require(len(args) <= len(values) + 1, not keywords.keys() - {"dtype"}, like.is_straight)
    dtype = args[-1] if len(args) > len(values) else keywords.get("dtype")
    return _CREATION[getattr(np, name)](like.shape, *values, dtype=like.dtype if dtype is None else dtype)


_CREATION: dict[Any, Callable[..., Any]] = {
    **{getattr(np, name): partial(_creating, name, ()) for name in ("zeros", "ones", "empty")},
    np.full: _full,
}


# ---------------------------------------------------------------- all of them


_OWN: dict[Any, Callable[..., Any]] = {
    **REDUCTIONS, **_CREATION, **APPLIED, np.where: _where, np.clip: _clip, np.dot: _dot,
    **{f: partial(views_by, f) for f in (
        np.flip, np.fliplr, np.flipud, np.moveaxis, np.rollaxis, np.rot90, np.diagonal, np.linalg.diagonal,
        np.split, np.array_split,
        np.hsplit, np.vsplit, np.dsplit, np.unstack, np.matrix_transpose, np.linalg.matrix_transpose, np.expand_dims,
        np.broadcast_to, np.atleast_1d, np.atleast_2d, np.atleast_3d, np.broadcast_arrays, np.squeeze, np.swapaxes,
        np.lib.stride_tricks.sliding_window_view, np.lib.stride_tricks.as_strided,
    )},
    np.transpose: lambda a, axes=None: _method("transpose", a, axes),
    np.reshape: lambda a, /, shape, order="C", *, copy=None: _method("reshape", a, shape, order=order, copy=copy),
    np.ravel: partial(_method, "ravel"), np.copy: _copy, np.astype: _astype,
    np.shape: partial(_asked, "shape"), np.ndim: partial(_asked, "ndim"), np.size: _size,
    np.isscalar: lambda element: type(element) is not arrays.ndarray and np.isscalar(element),
    np.copyto: _copyto, np.putmask: _putmask, np.take: _take, np.diff: _diff,
    np.ptp: _ptp, np.average: _average, np.outer: _outer,
    **{getattr(np, f"{name}_like"): partial(_like, name) for name in ("zeros", "ones", "empty", "full")},
    **{f: partial(_shares, f) for f in (np.shares_memory, np.may_share_memory)},
    **{f: partial(adopted, f) for f in (np.frombuffer, np.from_dlpack)},
    np.iscomplexobj: lambda x: _asked("dtype", x).kind == "c",
}  # fmt: skip
