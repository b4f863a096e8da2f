"""Recorded arrays: `ndarray`, which may not have been computed yet, and `number`, for which NumPy has a scalar.

Each is a view: a buffer, and the path of steps from it. Dtype, shape and strides are known at once. `operators`
installs the methods that record operations.
"""

from __future__ import annotations

import functools
import math
import sys
import types
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from appyc.lazy import views
from appyc.lazy._nodes import Tally, View, settled, viewed
from appyc.lazy.order import is_ascending, is_straight
from appyc.lazy.recorded_nodes import ghost_of
from appyc.lazy.residence import at_home, in_chunks
from appyc.lazy.running import STATE, flush


@functools.lru_cache(maxsize=1 << 12)
def _turning(
    shape: tuple[int, ...], before: tuple[int, ...] | None, axes: tuple[int, ...]
) -> tuple[views.Transpose | None, tuple[int, ...], bool]:
    """The step that gives axes another order, after those that came before; the shape that it leads to, and whether the
    axes of two elements and more keep their order."""
    found = axes if before is None else tuple([before[a] for a in axes])
    whole = tuple([shape[a] for a in axes])
    step = None if is_ascending(list(found)) else views.Transpose(found)
    return step, whole, is_ascending([a for a, extent in zip(found, whole, strict=True) if extent > 1])


class Array(View):
    """A recorded or computed array: a view of a buffer. Its methods that record are installed by `operators`."""

    __slots__ = ()

    __array_priority__ = 100.0

    __hash__ = None  # type: ignore[assignment]

    recording: ClassVar[Tally] = STATE.recording
    """The pending statements, for the extension."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    @property
    def strides(self) -> tuple[int, ...]:
        return self.ghost().strides

    @property
    def flags(self) -> Any:
        return Flags(self)

    def setflags(self, write: Any = None, align: Any = None, uic: Any = None) -> None:
        """Sets flags as NumPy's `setflags`. Existing views keep theirs."""
        ghost = self.ghost().view()
        ghost.setflags(write=write, align=align, uic=uic)
        if ghost.flags.num != self.ghost().flags.num:
            self._change(self.windowed(ghost))

    @property
    def device(self) -> str:
        return "cpu"

    def to_device(self, device: Any, /, *, stream: Any = None) -> Any:
        self.ghost().to_device(device, stream=stream)  # raises NumPy's error for another device
        return self

    @property
    def base(self) -> Any:
        return ndarray(self.buffer, (), self.buffer.shape, self.buffer.dtype) if self.path else None

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("shape", "dtype", "strides") and hasattr(
            self, "_ghost"
        ):  # which is set last when one is made
            ghost = self.ghost().view()
            setattr(ghost, name, value)  # raises NumPy's errors
            if name == "shape" and ghost.flags.c_contiguous and not self.is_window:
                self._change(self.view_with(views.Reshape(ghost.shape)))
            else:
                self._change(self.windowed(ghost))
        else:
            super().__setattr__(name, value)

    def _change(self, view: Array) -> None:
        """Makes this array another view, after what has been recorded of it."""
        flush((self.buffer,), overwritten=(self.buffer,))
        self._become(view)

    def ghost(self) -> np.ndarray:
        """An array with this one's shape, dtype and strides. What is in it need not be computed yet."""
        if self._ghost is None:
            self._ghost = views.view_of(ghost_of(self.buffer), self.path)
        return self._ghost

    def computed(self) -> np.ndarray:
        """NumPy's view of the memory, computed by now. For appyc itself: it may be written."""
        found = settled(STATE.recording, self, False)
        if found is not None:
            return found
        self.compute()
        return views.view_of(at_home(self.buffer), self.path)

    def compute(self) -> None:
        """Sees to it that the values are there."""
        STATE.watch.is_read(self.buffer)
        if self.buffer.memory is None or STATE.recording.changes(self.buffer):
            flush((self.buffer,))
        if self.buffer.memory is None:
            raise RuntimeError(
                "these values were never computed: an operation that they need raised an error"
            )

    def to_dask_array(self) -> Any:
        """An array of Dask's with these values: over chunks, what is recorded of it becomes its graph."""
        self.compute()
        return in_chunks(self.buffer, self.path)

    def view_with(self, step: views.Step) -> Any:
        """The view after one more step. Raises NumPy's errors."""
        path = self.path
        if type(step) is views.Transpose and 0 not in self.shape and not self.is_window:
            return self.turned_to(step.axes)
        ghost = views.view_of(self.ghost(), (step,))
        is_long = len(path) >= views.LONG_PATH
        path = views.steps_between(ghost_of(self.buffer), ghost) or () if is_long else (*path, step)
        if self.is_window or not path:
            return self.windowed(ghost)
        straight = is_straight(ghost) if type(step) is views.Transpose or not self.is_straight else True
        return viewed(ndarray, self.buffer, path, ghost.shape, self.dtype, straight, ghost)

    def turned_to(self, axes: tuple[int, ...]) -> Any:
        """The view with its axes in another order."""
        if 0 in self.shape or self.is_window:
            return self.view_with(views.Transpose(axes))
        path, before = self.path, None
        if path and isinstance(last := path[-1], views.Transpose):
            path, before = path[:-1], last.axes
        step, shape, is_ascending = _turning(self.shape, before, axes)
        whole = path if step is None else (*path, step)
        out = viewed(ndarray, self.buffer, whole, shape, self.dtype, is_ascending)
        if path and any(type(s) is views.Transpose for s in path):
            out.is_straight = is_straight(out.ghost())
        return out  # where no axis has been turned before, the longer step is outside

    def with_layout(self, layout: views.ViewLayout) -> Any:
        """The view of this whole array that was found for another one with its shape."""
        if not layout.path and layout.is_straight and layout.shape == self.shape:
            return self
        return viewed(ndarray, self.buffer, layout.path, layout.shape, layout.dtype, layout.is_straight)

    def windowed(self, ghost: np.ndarray) -> Any:
        """Any view at all: `ghost` is one of this array's own ghost."""
        step = views.window(ghost, ghost_of(self.buffer))
        return viewed(ndarray, self.buffer, (step,), step.shape, step.dtype, False, ghost)

    @property
    def is_window(self) -> bool:
        """Whether compiled code has no words for this view."""
        return bool(self.path) and type(self.path[0]) is views.Window


class Flags:
    """`a.flags`, by which an array is made read-only."""

    __slots__ = ("_array",)
    _array: Array

    def __init__(self, array: Array) -> None:
        object.__setattr__(self, "_array", array)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._array.ghost().flags, name)

    def __getitem__(self, name: Any) -> Any:
        return self._array.ghost().flags[name]

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in _SET:
            setattr(np.empty(0).flags, name, value)  # raises NumPy's error
        self._array.setflags(**{_SET[name]: value})

    def __setitem__(self, name: str, value: Any) -> None:
        setattr(
            self, {"W": "writeable", "A": "aligned", "X": "writebackifcopy"}.get(name, name.lower()), value
        )

    def __eq__(self, other: object) -> bool:
        return bool(self._array.ghost().flags == getattr(other, "_flags", other))

    def __hash__(self) -> int:
        return hash(self.num)

    @property
    def _flags(self) -> Any:
        return self._array.ghost().flags

    def __repr__(self) -> str:
        return repr(self._array.ghost().flags)


_SET = {"writeable": "write", "aligned": "align", "writebackifcopy": "uic"}
"""The arguments of `setflags` for the flags that can be set."""


class _Counted(np.ndarray):
    """The class that a recorded array claims to have: a subclass of NumPy's, for which libraries take no fast
    paths."""


_Counted.__name__ = _Counted.__qualname__ = "ndarray"
_Counted.__module__ = "appyc.numpy"


_KEEPERS = frozenset({"pandas.core.construction", "dask.array.chunk_types"})
"""Modules that keep what counts as an array of NumPy's, and give it to code in C, which wants no other, or does not ask
it for its operators. For these it is something else that has an `__array__`."""


class _Base(np.ndarray):
    """The base of subclasses of `ndarray`, which are NumPy's."""

    def view(self, *args: Any, **keywords: Any) -> Any:
        """A view, as NumPy's `view` makes it; `ndarray` is allowed as its dtype or class."""
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

    def __getattr__(cls, name: str) -> Any:
        """A method of NumPy's arrays that is not recorded, called by its class: `ndarray.argsort(a)`."""
        if name.startswith("_"):
            raise AttributeError(f"type object 'numpy.ndarray' has no attribute {name!r}")
        theirs = getattr(np.ndarray, name)

        @functools.wraps(theirs)
        def method(array: Any, *args: Any, **keywords: Any) -> Any:
            return getattr(array, name)(*args, **keywords)

        return method

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

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return ndarray if sys._getframe(1).f_globals.get("__name__") in _KEEPERS else _Counted


class number(Array):  # noqa: N801  (as NumPy's scalars are written)
    """A recorded scalar, with a value to come: it never changes, has a hash, and counts as an instance of
    NumPy's class.

    `+=` binds the name anew, since nothing here is done in place.
    """

    __slots__ = ()

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return self.dtype.type

    def value(self) -> Any:
        """NumPy's scalar."""
        return self.computed()[()]

    def _put(self, key: Any, value: Any) -> None:
        raise TypeError(f"'numpy.{self.dtype}' object does not support item assignment")

    def __len__(self) -> int:
        raise TypeError(f"object of type 'numpy.{self.dtype}' has no len()")

    def __iter__(self) -> Iterator[Any]:
        raise TypeError(f"'numpy.{self.dtype}' object is not iterable")

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self
