"""Methods of recorded arrays that call NumPy's functions or change the array. `operators` installs them."""

from __future__ import annotations

import math
import operator
import sys
from typing import Any

import numpy as np

from appyc.lazy import applying, evaluation, numpy_functions, ufuncs
from appyc.lazy._nodes import Buffer
from appyc.lazy.arrays import Array, ndarray, number

_ALONE = 2
"""References to the buffer of an array without views: the array's, and that of the call that counts them."""


class FunctionMethods(Array):
    """Methods of `ndarray` and `number` that are functions of NumPy, and those that change the array."""

    __slots__ = ()

    def fill(self, value: Any) -> None:
        if self.dtype.hasobject:
            evaluation.changing(self, np.ndarray.fill, value)
        else:
            ufuncs.store(self, value)

    def clip(self, min: Any = None, max: Any = None, out: Any = None, **keywords: Any) -> Any:
        return numpy_functions.call(
            np.clip, (self, min, max), {"out": out, **keywords} if out is not None else keywords
        )

    def conjugate(self, out: Any = None) -> Any:
        if self.dtype.kind in "biuf" and out is None:
            return self
        if self.dtype.kind not in "biufcO":
            raise TypeError("cannot conjugate non-numeric dtype")
        return applying.apply_ufunc(np.conjugate, "__call__", (self,), {} if out is None else {"out": out})

    conj = conjugate

    def round(self, decimals: int = 0, out: Any = None) -> Any:
        return numpy_functions.call(np.round, (self, decimals), {} if out is None else {"out": out})

    def resize(self, *shape: Any, refcheck: bool = True) -> None:
        """As NumPy's, which refuses while there are views of it."""
        given = shape[0] if len(shape) == 1 and np.iterable(shape[0]) else shape
        extents = tuple(operator.index(extent) for extent in evaluation.plain(given))
        if math.prod(extents) == self.size:
            self.shape = extents
            return
        if self.path:
            raise ValueError("cannot resize this array: it does not own its data")
        if refcheck and sys.getrefcount(self.buffer) > _ALONE:
            raise ValueError(
                "cannot resize an array that references or is referenced\nby another array in this way."
            )
        memory = np.zeros(extents, self.dtype)
        count = min(memory.size, self.size)
        memory.reshape(-1)[:count] = self.computed().reshape(-1)[:count]
        self._change(evaluation.whole(memory))

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def take(self, indices: Any, axis: Any = None, out: Any = None, mode: Any = "raise") -> Any:
        return numpy_functions.call(np.take, (self, indices, axis, out, mode), {})

    def sort(self, axis: int = -1, kind: Any = None, order: Any = None) -> None:
        evaluation.changing(self, np.ndarray.sort, axis, kind, order)

    def put(self, indices: Any, values: Any, mode: Any = "raise") -> None:
        evaluation.changing(self, np.ndarray.put, indices, values, mode)


class ArrayMethods(Array):
    """Construction of `ndarray`, and NumPy's methods that are not recorded."""

    __slots__ = ()

    def __new__(cls, shape: Any, *args: Any, **keywords: Any) -> Any:
        """A recorded array of a buffer, its path, shape and dtype; else the array that `numpy.ndarray` makes.
        In memory that others may change it is NumPy's own array."""
        if type(shape) is Buffer:
            return Array.__new__(cls, shape, *args)  # type: ignore[call-arg]
        if isinstance(shape, list | tuple) and any(isinstance(n, Array) and n.ndim for n in shape):
            return np.asarray(
                shape
            )  # no shape: other libraries convert sequences by the class of their items
        kind = np.ndarray if cls is ndarray else cls
        return evaluation.adopted(np.ndarray.__new__, kind, shape, *args, **keywords)

    def __getattr__(self, name: str) -> Any:
        """A method of NumPy's arrays that is not recorded: on computed values."""
        function = getattr(np.ndarray, name, None)
        if function is None or name.startswith("_"):
            raise AttributeError(f"'numpy.ndarray' object has no attribute {name!r}")
        if not callable(function):
            return getattr(self.computed(), name)
        return lambda *args, **keywords: evaluation.evaluated(function, (self, *args), keywords)


class NumberMethods(number):
    """Methods of `number`, which NumPy's scalar runs."""

    __slots__ = ()

    @property
    def real(self) -> Any:
        return evaluation.evaluated(np.real, (self,), {})

    @property
    def imag(self) -> Any:
        return evaluation.evaluated(np.imag, (self,), {})

    def _at(self, key: Any) -> Any:
        return evaluation.wrapped(self.value()[evaluation.plain(key)])

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(
                f"a number of NumPy's has no attribute {name!r}"
            )  # looks at nothing: it may be half made
        found = getattr(self.value(), name)
        if not callable(found):
            return found
        return lambda *args, **keywords: evaluation.wrapped(evaluation.on_values(found, args, keywords))
