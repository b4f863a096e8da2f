"""Dispatch of a call to a kernel by the types of its arguments, and its fallback in Python.

`Entry` is the compiled dispatcher (`_dispatch.c`) where it was built, else `PythonEntry`,
which does the same. A call that fits a kernel exactly runs it; keywords, other types,
overlapping arrays and failed guards are passed to `fallback`, which compiles.
`Entry` can be subclassed, and is bound as a method where it is found on an instance.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

import numpy as np

from appyc.ir.arguments import ArgType, NoneArg, ScalarArg, TupleArg
from appyc.ir.types import ArrayType, DType
from appyc.runtime.frame import GuardFailure, Kernel, OnFault, flat_values, invoke, is_current, raise_fault
from appyc.runtime.overlap import may_overlap
from appyc.runtime.shared_views import are_one
from appyc.runtime.signature import layout_of
from appyc.runtime.threads import get_num_threads

FORMAT = 10
"""Of what the dispatcher reads, calls and offers: `Kernel.record()`, `OnFault`, the memory of kernels. The same
number stands in `_dispatch.c`."""


class PythonEntry:
    """The dispatcher in Python, equivalent to the compiled one, for installations without it.

    before: asked before the fallback, with the entry and the arguments of a call by position; where the answer is
    True, the call is done, and gives None. handed: calls of these kinds are left to a Python function, until
    one takes more than so many nanoseconds; 0 for no limit.
    """

    before: Callable[..., bool] | None = None

    def __init__(self, fallback: Callable[..., object], on_fault: OnFault) -> None:
        self._fallback = fallback
        self._on_fault = on_fault
        self._kernels: tuple[Kernel, ...] = ()
        self.handed: dict[tuple[object, ...], tuple[Callable[..., object], int]] = {}

    def __call__(self, *args: object, **keywords: object) -> object:
        if not keywords:
            for kernel in self._kernels:
                if not (is_current(kernel.watched) and fits(kernel, args)):
                    continue
                try:
                    return invoke(kernel, args, get_num_threads(), self._on_fault)
                except GuardFailure:
                    continue
            if self.before is not None and self.before(self, *args):
                return None
        kind = self.kind(args, keywords) if self.handed else None
        if kind is None or kind not in self.handed:
            return self._fallback(*args, **keywords)
        function, most = self.handed[kind]
        start = time.perf_counter_ns()
        out = function(*args, **keywords)
        if most and time.perf_counter_ns() - start > most:
            self.handed.pop(kind, None)
        return out

    def __get__(self, instance: object, owner: type | None = None) -> object:
        return self if instance is None else MethodType(self, instance)

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """The kernels, in the order in which they are tried."""
        return self._kernels

    def add(self, kernel: Kernel) -> None:
        """Puts a kernel in front of those that calls are matched with."""
        self._kernels = (kernel, *self._kernels)

    def clear_kernels(self) -> None:
        """Forgets all kernels."""
        self._kernels = ()

    @staticmethod
    def kind(args: tuple[object, ...], keywords: dict[str, object]) -> tuple[object, ...] | None:
        """Of a call with such arguments and keywords, for `handed` (see `_kinds.h`); None if it has none."""
        items = [item for value in (*args, *keywords.values()) for item in _kind_of(value)]
        return (*items, *([tuple(keywords)] if keywords else [])) if len(items) <= _MOST_ITEMS else None


_MOST_ITEMS = 64
LONGEST_LIST = 64
"""Items that a list may have and be compiled for their number: as many as a loop is unrolled for."""


def _kind_of(value: object) -> list[object]:
    if isinstance(value, FunctionType):
        return [id(value.__code__)]
    if isinstance(value, type):
        return [id(value)]
    out: list[object] = [type(value)]
    if type(value) is np.ndarray:
        out += (value.dtype, value.ndim)
    elif type(value) is list:
        out.append(len(value) > LONGEST_LIST)
    elif type(value) is tuple:
        out += (len(value), *(item for part in value for item in _kind_of(part)))
    return out


if TYPE_CHECKING:
    from appyc.runtime._dispatch import Entry as Entry  # noqa: PLC0414  (re-exported, for mypy)
else:
    try:
        from appyc.runtime import _dispatch
    except ImportError:
        Entry = PythonEntry
    else:
        # A build of an earlier version is as good as none.
        Entry = _dispatch.Entry if getattr(_dispatch, "FORMAT", 0) == FORMAT else PythonEntry


def has_compiled_dispatch() -> bool:
    """Whether the compiled dispatcher is used; False for an installation without the extension."""
    return not issubclass(Entry, PythonEntry)


def make_entry(fallback: Callable[..., object]) -> Entry:
    """An entry without kernels. `fallback` takes the calls that no kernel fits."""
    return Entry(fallback, raise_fault)


def fits(kernel: Kernel, args: Sequence[object]) -> bool:
    """Whether a kernel may run on these arguments: exact types, and no overlap that it would see."""
    face = kernel.interface
    if len(args) != len(face.arguments):
        return False
    if not all(fits_type(t, v) for t, v in zip(face.arguments, args, strict=True)):
        return False
    values = flat_values(face.arguments, args)
    if not all(n == same or are_one([values[n], values[same]]) for n, same in enumerate(kernel.same)):
        return False
    if not face.written:
        return True
    if not all(values[i].flags.writeable for i in face.written):  # type: ignore[attr-defined]
        return False
    return not may_overlap(values, face.written, kernel.same)


def fits_type(type_: ArgType, value: object) -> bool:
    """Whether a value has exactly this type; a read-only array will do for a writeable one."""
    if isinstance(type_, ArrayType):
        return type(value) is np.ndarray and _fits_array(type_, value)
    if isinstance(type_, ScalarArg):
        if not type_.python:
            return type(value) is type_.dtype.numpy.type
        return type(value) is _PYTHON_TYPES[type_.dtype.kind] and _in_range(type_.dtype, value)
    if isinstance(type_, TupleArg):
        return (
            (type(value) is tuple) == (not type_.names)
            and getattr(type(value), "_fields", ()) == type_.names
            and isinstance(value, tuple)
            and len(value) == len(type_.items)
            and all(fits_type(t, v) for t, v in zip(type_.items, value, strict=True))
        )
    assert isinstance(type_, NoneArg)
    return value is None


_PYTHON_TYPES: dict[str, type] = {"b": bool, "i": int, "u": int, "f": float, "c": complex}


def _in_range(dtype: DType, value: object) -> bool:
    if not isinstance(value, int):
        return True
    return 2**63 <= value < 2**64 if dtype is DType.UINT64 else -(2**63) <= value < 2**63


def _fits_array(type_: ArrayType, array: np.ndarray[Any, Any]) -> bool:
    return (
        array.ndim == type_.ndim
        and array.dtype == type_.dtype.numpy
        and array.flags.aligned
        and layout_of(array) is type_.layout
    )
