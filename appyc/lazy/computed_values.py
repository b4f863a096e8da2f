"""Evaluation of recorded arrays: conversions and protocols that need values. `operators` installs these methods."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from appyc.lazy import applying, call_cache, deferred_calls, evaluation, numpy_functions, ufuncs
from appyc.lazy.arrays import Array
from appyc.lazy.residence import is_chunked, is_for_gpu, shown, view_there
from appyc.lazy.running import STATE, flush

_CONVERSIONS = frozenset({np.atleast_1d, np.atleast_2d, np.atleast_3d, np.asarray_chkfinite, np.require})
"""Functions by which other libraries convert arguments to NumPy arrays, for code that needs those."""


def _has_its_own_ufuncs(value: Any) -> bool:
    """Whether ufuncs of it are its own affair."""
    found = getattr(type(value), "__array_ufunc__", None)
    known = (None, np.ndarray.__array_ufunc__, Array.__array_ufunc__)
    return found not in known and not is_chunked(value)


class ValueMethods(Array):
    """Conversions to Python values, and the array protocols of other libraries."""

    __slots__ = ()

    def numpy(self) -> np.ndarray:
        """The values, in a NumPy array of their own."""
        return self.computed().copy("K")

    to_numpy = numpy
    """The name that pandas and Polars have for it, and that other libraries ask for."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """The read-only view that other libraries get, through which later changes are seen."""
        if (withheld := STATE.withheld) is not None and withheld[0] is self.buffer:
            STATE.withheld = None
            raise withheld[1]
        found = self.computed()
        if copy or (dtype is not None and np.dtype(dtype) != self.dtype):
            return np.array(found, dtype, copy=copy is not False)
        self.buffer.lent = True
        found = found.view()
        found.flags.writeable = False
        return found

    def _by_ufunc(self, ufunc: np.ufunc, method: str, *inputs: Any, **keywords: Any) -> Any:
        """What NumPy's protocol of ufuncs gives, where that is more than a call with arrays and numbers."""
        if any(map(_has_its_own_ufuncs, (*inputs, *keywords.get("out", ()), keywords.get("where")))):
            return NotImplemented  # NumPy asks that
        return applying.apply_ufunc(ufunc, method, inputs, keywords)

    def __array_function__(self, func: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        if func in _CONVERSIONS:
            return func(*(a.__array__() if isinstance(a, Array) else a for a in args), **kwargs)
        return numpy_functions.call(func, args, kwargs)

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        """The result of another library's function that gives results of its arguments' class."""
        found = evaluation.plain(array)
        return found[()] if return_scalar else evaluation.wrapped(found)

    def __appyc_call__(self, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """A call of a jitted function with this array among its arguments."""
        return deferred_calls.call(function, args, keywords)

    @property
    def __appyc_plain__(self) -> Any:
        """NumPy's array for a compiled function that captures this one, and may write to it."""
        if not self.buffer.is_number:
            flush((self.buffer,), overwritten=(self.buffer,))
        return evaluation.plain(self)

    @staticmethod
    def __appyc_result__(result: Any, taken: Sequence[Any], args: tuple[Any, ...]) -> Any:
        """The result of a compiled function that has found arrays outside its arguments."""
        return evaluation.given_back(result, taken, args)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        version: Any = api_version
        np.empty(0).__array_namespace__(api_version=version)  # raises NumPy's error for another one
        return importlib.import_module("appyc.numpy")  # which imports this module

    def __buffer__(self, flags: int) -> memoryview:
        """A read-only buffer, of numbers and text: of those NumPy reads back the type. Before Python 3.12 the extension
        asks.

        What computing raises, it raises once. NumPy, which asks for a buffer first, drops the error: what it asks next
        raises it again.
        """
        if self.dtype.kind not in "biufcSU" or not self.itemsize:
            raise BufferError(f"a recorded array of {self.dtype} has no buffer: use numpy.asarray(a)")
        try:
            found = self.__array__()
        except Exception as error:
            STATE.withheld = self.buffer, error
            raise
        return found.data

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """The array interface of the read-only view, for other libraries."""
        return self._shown_as("biufcSUmM").__array_interface__

    @property
    def __array_struct__(self) -> Any:
        """The array struct of the read-only view, for other libraries."""
        return self._shown_as("biufc").__array_struct__

    def _shown_as(self, kinds: str) -> np.ndarray:
        """kinds: of types that NumPy reads back as they were."""
        if self.dtype.kind not in kinds:
            raise AttributeError(
                f"a recorded array of {self.dtype} does not tell where it lies: use numpy.asarray(a)"
            )
        return self.__array__()

    @property
    def __cuda_array_interface__(self) -> Any:
        """The CUDA array interface of a read-only view, where programs run on a GPU (`APPYC_TARGET=gpu`). It
        stays valid, and shows no later changes once the values have been looked at on the host."""
        if not is_for_gpu(STATE.target):
            raise AttributeError("recorded arrays are not on a GPU: APPYC_TARGET=gpu brings them there")
        self.compute()
        interface = view_there(shown(self.buffer), self.path).__cuda_array_interface__
        return {**interface, "data": (interface["data"][0], True)}

    def __dlpack__(self, *, stream: Any = None, max_version: tuple[int, int] | None = None, dl_device: Any = None,
                   copy: bool | None = None) -> Any:  # fmt: skip
        """A read-only view, as `__array__` gives, for those who know of such; a copy for others."""
        keywords = {"stream": stream, "max_version": max_version, "dl_device": dl_device}
        if max_version is None or max_version < (1, 0):
            if copy is False:
                raise BufferError("a consumer that asks for no version of DLPack gets a copy")
            return self.numpy().__dlpack__(**keywords)
        return self.__array__().__dlpack__(**keywords, copy=copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __contains__(self, value: Any) -> bool:
        return bool(ufuncs.binary(np.equal, self, value).any())

    def __reduce__(self) -> Any:
        return call_cache.array, (self.numpy(),)

    def __bytes__(self) -> bytes:
        return bytes(self.computed().data)
