"""NumPy's functions by name: those that are recorded; all others run in NumPy on computed values."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from appyc.lazy import applying, arrays, indexing
from appyc.lazy.applied import APPLIED
from appyc.lazy.evaluation import adopted, evaluated, plain, views_by, wrapped
from appyc.lazy.operations import COMPILED_DTYPES, Create, Pointwise, broadcast
from appyc.lazy.recorder import array, record, record_ordered
from appyc.lazy.reductions import REDUCTIONS
from appyc.lazy.residence import is_chunked
from appyc.lazy.ufuncs import as_operand, fits, is_compiled, product
from appyc.lazy.views import view_of


def call(function: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """One of NumPy's functions. Arrays of Dask's are taken for recorded ones."""
    args = tuple(array(arg) if is_chunked(arg) else arg for arg in args)
    if isinstance(function, np.ufunc):
        return applying.apply_ufunc(function, "__call__", args, keywords)
    own = _OWN.get(function)
    if own is not None:
        try:
            found = own(*args, **keywords)
        except TypeError as error:
            if error.__traceback__ is not None and error.__traceback__.tb_next is not None:
                raise
            found = NotImplemented  # arguments that are not known here: NumPy takes or refuses them
        if found is not NotImplemented:
            return found
    return evaluated(function, args, keywords)


def is_own(function: Any) -> bool:
    """Whether it may be recorded, or looks at no values."""
    return function in _OWN


def _viewing(function: Callable[..., Any], *args: Any, **keywords: Any) -> Any:
    """A function that gives nothing but views: which, is known before the values are."""
    return views_by(function, args, keywords)


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
    return record_ordered(Pointwise(np.where), operands, shape, dtype)


def _clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, **more: Any) -> Any:
    least, most = more.pop("min", a_min), more.pop("max", a_max)
    operands = [as_operand(v) for v in (a, least, most) if v is not None]
    if more or len(operands) < 2 or any(o is None for o in operands):
        return NotImplemented
    if not is_compiled(operands) or not fits(operands) or type(operands[0]) is not arrays.ndarray:
        return NotImplemented
    into = {} if out is None else {"out": out}
    if most is None:
        return np.maximum(a, least, **into)
    inner = a if least is None else np.maximum(a, least)
    return np.minimum(inner, most, **into)


def _dot(a: Any, b: Any, out: Any = None) -> Any:
    one, two = as_operand(a), as_operand(b)
    if out is not None or one is None or two is None:
        return NotImplemented
    ranks = [len(getattr(o, "shape", ())) for o in (one, two)]
    return product(one, two) if all(r in (1, 2) for r in ranks) else NotImplemented


def _copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> Any:
    value = as_operand(src)
    if (
        type(dst) is not arrays.ndarray
        or value is None
        or not is_compiled((dst, value))
        or not fits((dst, value))
    ):
        return NotImplemented
    if broadcast(getattr(value, "shape", ()), dst.shape) != dst.shape or not _can_cast(
        value, dst.dtype, casting
    ):
        return NotImplemented
    if not isinstance(value, arrays.Array):
        value = np.asarray(value).astype(dst.dtype)[()]
    return None if applying.choosing(where, value, dst) else NotImplemented


def _can_cast(value: Any, dtype: np.dtype, casting: Any) -> bool:
    if type(value) in (bool, int, float, complex):
        kind = np.result_type(dtype, type(value)) if casting in ("no", "equiv") else np.min_scalar_type(value)
        return bool(np.can_cast(kind, dtype, casting))
    return bool(np.can_cast(value.dtype, dtype, casting))


def _putmask(a: Any, mask: Any, values: Any) -> Any:
    value, where = as_operand(values), as_operand(mask)
    if (
        value is None
        or type(where) is not arrays.ndarray
        or type(a) is not arrays.ndarray
        or where.shape != a.shape
    ):
        return NotImplemented
    return _copyto(a, value, where=where) if getattr(value, "shape", ()) in ((), a.shape) else NotImplemented


def _take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: Any = "raise") -> Any:
    if (
        type(a) is not arrays.ndarray
        or out is not None
        or mode != "raise"
        or axis not in (None, 0)
        or not a.ndim
    ):
        return NotImplemented
    source = a.ravel() if axis is None else a
    found = indexing.index_arrays(source, indices)
    return (
        NotImplemented
        if found is None or source.dtype not in COMPILED_DTYPES
        else indexing.gathered(source, found)
    )


def _diff(a: Any, n: Any = 1, axis: Any = -1, *more: Any, **keywords: Any) -> Any:
    if type(a) is not arrays.ndarray or not a.ndim or more or keywords or type(n) is not int or n < 0:
        return NotImplemented
    np.diff(np.empty((0,) * a.ndim), axis=axis)  # raises NumPy's error for a wrong axis
    whole = (slice(None),) * (axis % a.ndim)
    for _ in range(n):
        later, earlier = a[(*whole, slice(1, None))], a[(*whole, slice(None, -1))]
        a = later != earlier if a.dtype == np.bool_ else later - earlier
    return a


def _ptp(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    if type(a) is not arrays.ndarray or out is not None:
        return NotImplemented
    return a.max(axis=axis, keepdims=keepdims) - a.min(axis=axis, keepdims=keepdims)


def _average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, **more: Any) -> Any:
    if type(a) is not arrays.ndarray or weights is not None or returned or more or not a.size:
        return NotImplemented
    return a.mean(axis=axis)


def _outer(a: Any, b: Any, out: Any = None) -> Any:
    one, two = as_operand(a), as_operand(b)
    if out is not None or type(one) is not arrays.ndarray or type(two) is not arrays.ndarray:
        return NotImplemented
    return applying.apply_ufunc(np.multiply, "__call__", (one.ravel()[:, None], two.ravel()[None]), {})


def _method(name: str, a: Any, *args: Any, **keywords: Any) -> Any:
    return getattr(a, name)(*args, **keywords) if isinstance(a, arrays.Array) else NotImplemented


def _like(name: str, a: Any, *args: Any, **keywords: Any) -> Any:
    if not isinstance(a, arrays.Array):
        return NotImplemented
    found = _created_like(name, a, args, keywords)
    if found is not NotImplemented:
        return found
    return wrapped(getattr(np, f"{name}_like")(a.ghost(), *plain(args), **plain(keywords)))


def _copy(a: Any, order: Any = "K", subok: bool = False) -> Any:
    return NotImplemented if subok and not isinstance(a, arrays.Array) else array(a, order=order)


def _astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    return x.astype(dtype, copy=copy) if type(x) is arrays.ndarray and device is None else NotImplemented


def _size(a: Any, axis: Any = None) -> Any:
    return a.size if axis is None and isinstance(a, arrays.Array) else NotImplemented


def _asked(name: str, a: Any) -> Any:
    """What is known without the values."""
    return getattr(a, name) if isinstance(a, arrays.Array) else NotImplemented


def _is_scalar(element: Any) -> bool:
    return type(element) is not arrays.ndarray and np.isscalar(element)


def _shares(of: Callable[..., bool], *args: Any, **keywords: Any) -> Any:
    """What waits to be computed has no memory that another library could look at: its ghost will do."""
    return of(*(_in_memory(a) if isinstance(a, arrays.Array) else a for a in args), **keywords)


def _in_memory(array: arrays.Array) -> np.ndarray:
    memory = array.buffer.memory
    return view_of(memory, array.path) if isinstance(memory, np.ndarray) else array.ghost()


def _adopting(function: Callable[..., Any], *args: Any, **keywords: Any) -> Any:
    """A function that returns an array of memory which it does not own."""
    return adopted(function, args, keywords)


# ---------------------------------------------------------------- arrays with one value everywhere

# They are recorded too, so that a temporary that only compiled code sees is never made.


def _wanted_shape(given: Any) -> tuple[int, ...] | None:
    """The shape that was asked for; None for one that NumPy is to refuse, or an array without axes."""
    try:
        shape = np.empty(given, []).shape  # whose elements take no memory
    except (TypeError, ValueError):
        return None
    return shape if shape and sum(map(int.bit_length, shape)) < 60 else None


def _creating(name: str, shape: Any, dtype: Any = None, order: Any = "C", **more: Any) -> Any:
    wanted, resolved = np.dtype(dtype), _wanted_shape(shape)
    if more or order != "C" or resolved is None or wanted not in COMPILED_DTYPES:
        return NotImplemented
    return record(Create(name, wanted), resolved, resolved, wanted)


def _full(shape: Any, fill_value: Any, dtype: Any = None, order: Any = "C", **more: Any) -> Any:
    if dtype is None or more or order != "C" or type(fill_value) not in (bool, int, float):
        return NotImplemented
    wanted, resolved = np.dtype(dtype), _wanted_shape(shape)
    if resolved is None or wanted not in COMPILED_DTYPES:
        return NotImplemented
    value = np.full((), fill_value, wanted)[()]  # raises what NumPy raises for a value that does not fit
    return record(Create("full", wanted), (*resolved, value), resolved, wanted)


def _created_like(name: str, like: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """An array with the shape of another one. NotImplemented where NumPy must see to it."""
    values = args[:1] if name == "full" else ()
    if len(args) > len(values) + 1 or keywords.keys() - {"dtype"} or not like.is_straight:
        return NotImplemented
    dtype = args[-1] if len(args) > len(values) else keywords.get("dtype")
    return _CREATION[getattr(np, name)](like.shape, *values, dtype=like.dtype if dtype is None else dtype)


_CREATION: dict[Any, Callable[..., Any]] = {
    **{getattr(np, name): partial(_creating, name) for name in ("zeros", "ones", "empty")},
    np.full: _full,
}


# ---------------------------------------------------------------- all of them


_OWN: dict[Any, Callable[..., Any]] = {
    **REDUCTIONS, **_CREATION, **APPLIED, np.where: _where, np.clip: _clip, np.dot: _dot,
    **{f: partial(_viewing, f) for f in (
        np.flip, np.fliplr, np.flipud, np.moveaxis, np.rollaxis, np.rot90, np.diagonal, np.linalg.diagonal,
        np.split, np.array_split,
        np.hsplit, np.vsplit, np.dsplit, np.unstack, np.matrix_transpose, np.linalg.matrix_transpose, np.expand_dims,
        np.broadcast_to, np.atleast_1d, np.atleast_2d, np.atleast_3d, np.broadcast_arrays, np.squeeze, np.swapaxes,
        np.lib.stride_tricks.sliding_window_view, np.lib.stride_tricks.as_strided,
    )},
    np.transpose: lambda a, axes=None: _method("transpose", a, axes),
    np.reshape: lambda a, /, shape, order="C", *, copy=None: _method("reshape", a, shape, order=order, copy=copy),
    np.ravel: partial(_method, "ravel"), np.copy: _copy, np.astype: _astype,
    np.shape: partial(_asked, "shape"), np.ndim: partial(_asked, "ndim"), np.size: _size, np.isscalar: _is_scalar,
    np.copyto: _copyto, np.putmask: _putmask, np.take: _take, np.diff: _diff,
    np.ptp: _ptp, np.average: _average, np.outer: _outer,
    **{getattr(np, f"{name}_like"): partial(_like, name) for name in ("zeros", "ones", "empty", "full")},
    **{f: partial(_shares, f) for f in (np.shares_memory, np.may_share_memory)},
    **{f: partial(_adopting, f) for f in (np.frombuffer, np.from_dlpack)},
    np.iscomplexobj: lambda x: x.dtype.kind == "c" if isinstance(x, arrays.Array) else NotImplemented,
}  # fmt: skip
