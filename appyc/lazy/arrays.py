"""`ndarray`: an array that may not have been computed yet; `number`: what NumPy has a scalar for.

Operations on it are recorded (`recording`), and run when a value is asked for (`running`). Dtype,
shape and errors are known at once: they are NumPy's.
"""

from __future__ import annotations

import math
import operator
import sys
import types
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from appyc.lazy import applying, numpy_functions, recorder, ufuncs
from appyc.lazy.recorded_nodes import Buffer, Tally
from appyc.lazy.shapes import Shaped

_ALONE = 2
"""References to the buffer of an array without views: the array's, and that of the call that counts them."""


class Array(Shaped):
    """What is recorded or computed: `ndarray` and `number`."""

    __slots__ = ()

    recording: ClassVar[Tally]
    """Where the extension sees what waits. Set in `known`."""

    def fill(self, value: Any) -> None:
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

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
        return numpy_functions.call(np.diagonal, (self, offset, axis1, axis2), {})

    def resize(self, *shape: Any, refcheck: bool = True) -> None:
        """As NumPy's, which refuses while there are views of it."""
        given = shape[0] if len(shape) == 1 and np.iterable(shape[0]) else shape
        extents = tuple(operator.index(extent) for extent in recorder.plain(given))
        if self.path:
            raise ValueError("cannot resize this array: it does not own its data")
        if refcheck and sys.getrefcount(self.buffer) > _ALONE:
            raise ValueError(
                "cannot resize an array that references or is referenced\nby another array in this way."
            )
        memory = np.zeros(extents, self.dtype)
        count = min(memory.size, self.size)
        memory.reshape(-1)[:count] = self.computed().reshape(-1)[:count]
        self._change(recorder.whole(memory))

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def repeat(self, repeats: Any, axis: Any = None) -> Any:
        return numpy_functions.call(np.repeat, (self, repeats, axis), {})

    def take(self, indices: Any, axis: Any = None, out: Any = None, mode: Any = "raise") -> Any:
        return numpy_functions.call(np.take, (self, indices, axis, out, mode), {})

    def trace(self, offset: Any = 0, *args: Any, **keywords: Any) -> Any:
        return numpy_functions.call(np.trace, (self, offset, *args), keywords)

    def sort(self, axis: int = -1, kind: Any = None, order: Any = None) -> None:
        recorder.changing(self, lambda memory: memory.sort(axis, kind, order))

    def put(self, indices: Any, values: Any, mode: Any = "raise") -> None:
        recorder.changing(
            self, lambda memory: memory.put(recorder.plain(indices), recorder.plain(values), mode)
        )


class _Counted(np.ndarray):
    """What an array says that its class is: a subclass of NumPy's, of which libraries take no short ways."""


_Counted.__name__ = _Counted.__qualname__ = "ndarray"
_Counted.__module__ = "appyc.numpy"


class _Base(np.ndarray):
    """The base of subclasses of `ndarray`, which are NumPy's."""

    def view(self, *args: Any, **keywords: Any) -> Any:
        """As NumPy's, which takes `ndarray` for a dtype."""
        named = {name: _theirs(value) for name, value in keywords.items()}
        return super().view(*map(_theirs, args), **named)


def _theirs(value: Any) -> Any:
    return np.ndarray if value is ndarray else value


class _Arrays(type):
    """The class of `ndarray`: NumPy's arrays are instances of it too, and subclasses of it are NumPy's."""

    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any], **keywords: Any) -> Any:
        if not any(type(base) is cls for base in bases):
            return super().__new__(cls, name, bases, body)
        theirs = tuple(_Base if type(base) is cls else base for base in bases)
        return types.new_class(name, theirs, keywords, lambda space: space.update(body))

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, np.ndarray)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return subclass is cls or issubclass(subclass, np.ndarray)


class ndarray(Array, metaclass=_Arrays):  # noqa: N801  (NumPy's name)
    """An n-dimensional array whose operations run later, together.

    Made by the functions of `appyc.numpy`. Shapes, dtypes, broadcasting, views and errors are
    those of `numpy.ndarray`. A value is computed when it is looked at: by `print`, `float`,
    `bool`, `item`, `tolist`, iteration over elements, or by another library. It counts as an instance of
    NumPy's class: what libraries do with such takes these, too.
    """

    __slots__ = ()

    def __new__(cls, shape: Any, *args: Any, **keywords: Any) -> Any:
        """Of a buffer, its path, shape and dtype; else what `numpy.ndarray` makes. Of memory that others may change it
        is NumPy's own array."""
        if type(shape) is Buffer:
            return Array.__new__(cls, shape, *args)  # type: ignore[call-arg]
        kind = np.ndarray if cls is ndarray else cls
        return recorder.adopted(np.ndarray.__new__, (kind, shape, *args), keywords)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return _Counted

    def __getattr__(self, name: str) -> Any:
        """A method of NumPy's arrays that is not recorded: on computed values."""
        function = getattr(np.ndarray, name, None)
        if function is None or name.startswith("_"):
            raise AttributeError(f"'numpy.ndarray' object has no attribute {name!r}")
        if not callable(function):
            return getattr(self.computed(), name)
        return lambda *args, **keywords: recorder.evaluated(function, (self, *args), keywords)


class number(Array):  # noqa: N801  (as NumPy's scalars are written)
    """What NumPy has a scalar for, with a value to come: it never changes, has a hash, and counts as an
    instance of NumPy's class.

    `+=` binds the name anew, since nothing here is done in place.
    """

    __slots__ = ()

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return self.dtype.type

    def value(self) -> Any:
        """NumPy's scalar."""
        return self.computed()[()]

    @property  # type: ignore[misc]
    def real(self) -> Any:
        return recorder.evaluated(np.real, (self,), {})

    @property  # type: ignore[misc]
    def imag(self) -> Any:
        return recorder.evaluated(np.imag, (self,), {})

    def _at(self, key: Any) -> Any:
        return recorder.wrapped(self.value()[recorder.plain(key)])

    def _put(self, key: Any, value: Any) -> None:
        raise TypeError(f"'numpy.{self.dtype}' object does not support item assignment")

    def fill(self, value: Any) -> None:
        self.value().fill(recorder.plain(value))  # changes nothing, or raises

    def sort(self, axis: int = -1, kind: Any = None, order: Any = None) -> None:
        self.value().sort(axis, kind, order)

    def put(self, indices: Any, values: Any, mode: Any = "raise") -> None:
        self.value().put(recorder.plain(indices), recorder.plain(values), mode)

    def __len__(self) -> int:
        raise TypeError(f"object of type 'numpy.{self.dtype}' has no len()")

    def __iter__(self) -> Iterator[Any]:
        raise TypeError(f"'numpy.{self.dtype}' object is not iterable")

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(self.value())

    def __repr__(self) -> str:
        return repr(self.value())

    def __format__(self, spec: str) -> str:
        return format(self.value(), spec)

    def __reduce__(self) -> Any:
        return self.value().__reduce__()

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self

    def __round__(self, digits: int | None = None) -> Any:
        return round(self.value(), digits) if digits is not None else round(self.value())

    def __trunc__(self) -> int:
        found: int = math.trunc(self.value().item())
        return found

    def __floor__(self) -> int:
        found: int = math.floor(self.value().item())
        return found

    def __ceil__(self) -> int:
        found: int = math.ceil(self.value().item())
        return found

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(
                f"a number of NumPy's has no attribute {name!r}"
            )  # looks at nothing: it may be half made
        found = getattr(self.value(), name)
        if not callable(found):
            return found
        return lambda *args, **keywords: recorder.wrapped(
            found(*recorder.plain(args), **recorder.plain(keywords))
        )
