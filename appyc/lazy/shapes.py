"""Indices, views and copies of a recorded array. `operators` installs these methods."""

from __future__ import annotations

import builtins
import functools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from appyc.lazy import arrays, call_cache, evaluation, indexing, recorder, ufuncs
from appyc.lazy._nodes import indexed, known_fields, viewed
from appyc.lazy.flat import Flat
from appyc.lazy.operations import COMPILED_DTYPES, as_dtype, convert, copied
from appyc.lazy.order import inverse, is_straight, memory_order
from appyc.lazy.recorded_nodes import ghost_of
from appyc.lazy.views import LONG_PATH, Path, Reshape, Transpose, is_reshaped, steps_between, window


def _resolved(shape: tuple[int, ...], given: Any) -> tuple[int, ...]:
    """The shape that `reshape` gives an array. Raises NumPy's errors."""
    whole: tuple[int, ...] = np.empty(shape, []).reshape(given).shape  # whose elements take no memory
    return whole


@functools.lru_cache(maxsize=1 << 12)
def _reshaped(shape: tuple[int, ...], given: Any) -> tuple[Reshape, tuple[int, ...]]:
    """The step to another shape, and that shape. Raises NumPy's errors."""
    whole = _resolved(shape, given)
    return Reshape(whole), whole


_MOST_FIELDS = 1 << 10


@functools.cache
def _axes(rank: int) -> np.ndarray:
    """An array whose axes are as long as their numbers: of what NumPy makes of it, the shape tells their order."""
    return np.empty(tuple(range(rank)), [])


def _are_integers(items: tuple[Any, ...]) -> bool:
    """Whether all are Python's own integers, by which results are cached: `True` and `1.0` are equal to one."""
    return {int}.issuperset(map(type, items))


def _has_dots(key: Any) -> bool:
    return any(item is Ellipsis for item in (key if isinstance(key, tuple) else (key,)))


def _as_part(value: Any) -> Any:
    """The value as stored in a part of complex numbers: NumPy makes an array of it first, which wraps and
    drops a part."""
    return value if isinstance(value, arrays.Array) else np.asarray(value)


class ShapeMethods(arrays.Array):
    """Indices, shapes and types. What is a view in NumPy is one here."""

    __slots__ = ()

    @property
    def mT(self) -> Any:  # noqa: N802
        return self.turned_to(_axes(len(self.shape)).mT.shape)

    @property
    def real(self) -> Any:
        return self if self.dtype.kind != "c" else self.windowed(self.ghost().real)

    @real.setter
    def real(self, value: Any) -> None:
        self.real[...] = _as_part(value)

    @property
    def imag(self) -> Any:
        return (
            evaluation.evaluated(np.imag, (self,), {})
            if self.dtype.kind != "c"
            else self.windowed(self.ghost().imag)
        )

    @imag.setter
    def imag(self, value: Any) -> None:
        self.imag[...] = _as_part(value)

    @property
    def flat(self) -> Any:
        return Flat(self)

    @flat.setter
    def flat(self, value: Any) -> None:
        evaluation.changing(self, setattr, "flat", value)

    def _at(self, key: Any) -> Any:
        """`self[key]`, where that is more than an element or a slice."""
        if type(key) is str and self.dtype.names and not self.dtype.hasobject:
            return self._field(key)
        items = indexing.basic_index(key, self.shape)
        if items is None:
            return indexing.fancy_load(self, key)
        found = self.view_with(items) if items else self.view_with(Transpose(tuple(range(self.ndim))))
        if found.shape or _has_dots(key):
            return found
        if self.dtype.kind in "VO":  # a row, which is a view, or an object
            return self.computed()[evaluation.plain(key)]
        return recorder.record(
            convert(self.dtype), (found.compilable(),), (), self.dtype
        )  # with today's value

    def _field(self, name: str) -> Any:
        """The view of a field of a structured array. Raises NumPy's errors."""
        field = self.ghost()[name]
        out = self.windowed(field)
        if not self.path:  # the same for each array of this shape
            if len(known_fields) >= _MOST_FIELDS:
                known_fields.clear()
            known_fields[self.shape, self.dtype, name] = (out.path, out.shape, out.dtype)
        return out

    def _put(self, key: Any, value: Any) -> None:
        """`self[key] = value`, where that is more than a store into a small array."""
        view = indexed(self, key)
        store = call_cache.store
        if view is None:
            items = indexing.basic_index(key, self.shape)
            if items is None:
                indexing.fancy_store(self, key, value)
                return
            view = self.view_with(items) if items else self
            store = ufuncs.store
        is_number = isinstance(value, int | float | complex | np.generic | arrays.Array) and not getattr(
            value, "shape", ()
        )
        if not view.shape and (self.dtype.hasobject or not is_number) and not _has_dots(key):
            # an object, or what may have a number: only NumPy knows whether it has
            evaluation.changing(self, np.ndarray.__setitem__, key, value)
            return
        store(view, value)

    def _wrapped(self, values: np.ndarray) -> Any:
        """An array with values that NumPy has computed."""
        return evaluation.wrapped(values)

    def transpose(self, *axes: Any) -> Any:
        order = _axes(len(self.shape)).transpose(*axes).shape
        return self.turned_to(order) if order else self

    def _in_shape(self, given: Any) -> Any:
        """The view in another shape in C order, where its elements lie in memory in that order; else None."""
        if not _are_integers(given if type(given) is tuple else (given,)):
            return None
        path = self.path
        if not is_reshaped(path) and (
            len(path) >= LONG_PATH or 0 in self.shape or self.is_window or not self.ghost().flags.c_contiguous
        ):
            return None
        step, whole = _reshaped(self.shape, given)
        if path and type(path[-1]) is Reshape:
            path = path[:-1]
        ghost = None if self._ghost is None else self._ghost.reshape(whole)
        return viewed(arrays.ndarray, self.buffer, (*path, step), whole, self.dtype, True, ghost)

    def _reshape(self, *shape: Any, order: Any = "C", copy: bool | None = None) -> Any:
        given = shape[0] if len(shape) == 1 and not isinstance(shape[0], int | np.integer) else shape
        if order == "C" and not copy and (found := self._in_shape(given)) is not None:
            return found
        ghost = self.ghost()
        order = {"A": "F" if ghost.flags.fnc else "C", "c": "C", "f": "F", "a": "A"}.get(order, order)
        if order not in ("C", "F") or given is None:
            return evaluation.evaluated(np.reshape, (self, given), {"order": order})  # raises
        if order == "F":
            whole = _resolved(self.shape, given)
            return self.transpose().reshape(whole[::-1], copy=copy).transpose()
        whole = _resolved(self.shape, given)
        source = self
        if copy is False:
            ghost.reshape(whole, copy=False)  # raises where only a copy will do
        elif copy or not np.may_share_memory(ghost.reshape(whole), ghost):
            source = self.copy()
        if source.ghost().flags.c_contiguous or not source.size:
            return source.view_with(Reshape(whole))
        return source.windowed(ghost.reshape(whole))

    def _ravel(self, order: Any = "C") -> Any:
        if not self.path and order in ("C", "K"):
            return self.reshape(-1)
        turned = self.transpose(self._axes_in(order))
        whole = turned if turned.ghost().flags.c_contiguous else turned.copy()
        return whole.reshape(-1)

    def flatten(self, order: Any = "C") -> Any:
        turned = self if order == "C" else self.transpose(self._axes_in(order))
        return turned.copy().reshape(-1)

    def view(self, dtype: Any = None, type: Any = None) -> Any:
        if type is not None or (isinstance(dtype, builtins.type) and issubclass(dtype, np.ndarray)):
            return evaluation.evaluated(
                np.ndarray.view, (self, dtype), {} if type is None else {"type": type}
            )
        if dtype is None or ((wanted := as_dtype(dtype)) == self.dtype and wanted.type is self.dtype.type):
            return self.view_with(Transpose(tuple(range(self.ndim))))
        return self.windowed(self.ghost().view(dtype))

    def copy(self, order: Any = "C") -> Any:
        return self.astype(self.dtype, order)

    def astype(self, dtype: Any, order: Any = "K", casting: Any = "unsafe", subok: bool = True,
               copy: bool = True) -> Any:  # fmt: skip
        wanted = as_dtype(dtype)
        if wanted not in COMPILED_DTYPES or self.dtype not in COMPILED_DTYPES:
            if copy:
                return evaluation.wrapped(self.computed().astype(dtype, order, casting, subok))
            return evaluation.evaluated(np.ndarray.astype, (self, dtype, order, casting, subok, copy), {})
        axes = self._axes_in(order)
        if (
            wanted == self.dtype
            and not copy
            and (order in ("K", "k") or axes == memory_order([self.ghost()], self.ndim))
        ):
            return self
        if not np.can_cast(self.dtype, wanted, casting):
            np.empty(0, self.dtype).astype(wanted, casting=casting)  # NumPy's own error
        operand = self.compilable()
        if axes != tuple(range(self.ndim)):
            operand = operand.transpose(axes)
        if not operand.is_straight:  # of which a conversion would keep the order
            operand = recorder.record(copied(), (operand,), operand.shape, self.dtype, is_number=False)
            if wanted == self.dtype:
                return operand.transpose(inverse(axes))
        out = recorder.record(
            convert(wanted), (operand,), operand.shape, wanted, is_number=self.buffer.is_number
        )
        return out if axes == tuple(range(self.ndim)) else out.transpose(inverse(axes))

    def _axes_in(self, order: Any) -> tuple[int, ...]:
        """The axes from the outermost in memory to the innermost, of a copy in NumPy's `order`."""
        if order in ("C", "c", None) or (order in ("K", "k", None) and self.is_straight):
            return tuple(range(self.ndim))
        ghost = self.ghost()
        if order in ("F", "f") or (order in ("A", "a") and ghost.flags.fnc):
            return tuple(reversed(range(self.ndim)))
        if order in ("A", "a"):
            return tuple(range(self.ndim))
        if order not in ("K", "k"):
            ghost[:0].copy(order)  # raises NumPy's error
        return memory_order([ghost], self.ndim)

    def __iter__(self) -> Iterator[Any]:
        if not self.shape:
            raise TypeError("iteration over a 0-d array")
        if len(self.shape) == 1:
            return iter(self.computed() if self.dtype.kind == "V" else self.numpy())
        return map(self.__getitem__, range(self.shape[0]))

    def __copy__(self) -> Any:
        return self.copy("K")

    def __deepcopy__(self, memo: Any) -> Any:
        if not self.dtype.hasobject:
            return self.copy("K")
        return evaluation.wrapped(self.computed().__deepcopy__(memo))

    def compilable(self) -> Any:
        """The array itself, or a copy if compiled code cannot express this view."""
        if not self.is_window:
            return self
        if not self.flags.writeable and (path := self._path_to_write()) is not None:
            return viewed(
                arrays.ndarray, self.buffer, path, self.shape, self.dtype, is_straight(self.ghost())
            )
        if self.buffer.dtype.kind == "V":  # whose rows are NumPy's, and may change at any time
            return evaluation.wrapped(self.computed().copy())
        return recorder.record(copied(hosted=True), (self,), self.shape, self.dtype, is_number=False)

    def _path_to_write(self) -> Path | None:
        """The path to the same elements where they may be written; None where compiled code cannot express it."""
        memory = ghost_of(self.buffer)
        return steps_between(memory, replace(window(self.ghost(), memory), writeable=True).of(memory))
