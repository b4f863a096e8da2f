"""Base class of recorded arrays: a view, as a buffer and the path of steps from it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from appyc.lazy import arrays, recorder
from appyc.lazy.operations import Copy
from appyc.lazy.order import is_ascending, is_straight
from appyc.lazy.recorded_nodes import View, ghost_of, settled
from appyc.lazy.residence import at_home
from appyc.lazy.running import STATE, flush
from appyc.lazy.views import (
    LONG_PATH,
    Path,
    Place,
    Reshape,
    Step,
    Transpose,
    Window,
    steps_between,
    view_of,
    window,
)


class Held(View):
    """A view of a buffer, with what NumPy's arrays tell of theirs."""

    __slots__ = ()

    __array_priority__ = 100.0

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        size = 1
        for extent in self.shape:
            size *= extent
        return size

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
        """As NumPy's. Views that are there stay as they are."""
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
        return arrays.ndarray(self.buffer, (), self.buffer.shape, self.buffer.dtype) if self.path else None

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("shape", "dtype", "strides") and hasattr(
            self, "_ghost"
        ):  # which is set last when one is made
            ghost = self.ghost().view()
            setattr(ghost, name, value)  # raises NumPy's errors
            if name == "shape" and ghost.flags.c_contiguous and not self.is_window:
                self._change(self.view_with(Reshape(ghost.shape)))
            else:
                self._change(self.windowed(ghost))
        else:
            super().__setattr__(name, value)

    def _change(self, view: Held) -> None:
        """Makes this array another view, after what has been recorded of it."""
        flush((self.buffer,), overwritten=(self.buffer,))
        self._become(view)

    def ghost(self) -> np.ndarray:
        """An array with this one's shape, dtype and strides. What is in it need not be computed yet."""
        if self._ghost is None:
            self._ghost = view_of(ghost_of(self.buffer), self.path)
        return self._ghost

    def computed(self) -> np.ndarray:
        """NumPy's view of the memory, computed by now. For appyc itself: it may be written."""
        found = settled(STATE.recording, self, False)
        if found is not None:
            return found
        self.compute()
        return view_of(at_home(self.buffer), self.path)

    def compute(self) -> None:
        """Sees to it that the values are there."""
        STATE.watch.is_read(self.buffer)
        if self.buffer.memory is None or recorder.is_awaited(self.buffer):
            flush((self.buffer,))
        if self.buffer.memory is None:
            raise RuntimeError(
                "these values were never computed: an operation that they need raised an error"
            )

    def view_with(self, step: Step) -> Any:
        """The view after one more step. Raises NumPy's errors."""
        path = self.path
        if type(step) is Transpose and self.size and not self.is_window:
            return self._transposed(step)
        ghost = view_of(self.ghost(), (step,))
        if path and type(path[0]) is Window:
            return self.windowed(ghost)
        if type(step) is Transpose and path and type(path[-1]) is Transpose:
            before = path[-1].axes
            step, path = Transpose(tuple(before[a] for a in step.axes)), path[:-1]
        if len(path) >= LONG_PATH:
            shortest = steps_between(ghost_of(self.buffer), ghost)
            if shortest is None:
                return self.windowed(ghost)
            path = shortest
        elif type(step) is not Transpose or step.axes != tuple(range(len(step.axes))):
            path = (*path, step)
        out = arrays.ndarray(self.buffer, path, ghost.shape, self.dtype)
        out._ghost = ghost
        if type(step) is Transpose or not self.is_straight:
            out.is_straight = is_straight(ghost)
        return out

    def _transposed(self, step: Transpose) -> Any:
        """The view after a step that gives its axes another order."""
        path = self.path
        before = path[-1].axes if path and type(path[-1]) is Transpose else tuple(range(len(self.shape)))
        straight = path[:-1] if path and type(path[-1]) is Transpose else path
        axes = tuple([before[a] for a in step.axes])
        shape = tuple([self.shape[a] for a in step.axes])
        if axes != tuple(range(len(axes))):
            path = (*straight, Transpose(axes))
        else:
            path = straight
        out = arrays.ndarray(self.buffer, path, shape, self.dtype)
        if any(type(s) is Transpose for s in straight):
            out.is_straight = is_straight(out.ghost())
        elif path is not straight:  # where no axis has been turned, the longer step is outside
            out.is_straight = is_ascending([a for a, extent in zip(axes, shape, strict=True) if extent > 1])
        return out

    def at_place(self, place: Place) -> Any:
        """The view of this whole array that was found for another one with its shape."""
        if not place.path and place.is_straight and place.shape == self.shape:
            return self
        out = arrays.ndarray(self.buffer, place.path, place.shape, place.dtype)
        out.is_straight = place.is_straight
        return out

    def windowed(self, ghost: np.ndarray) -> Any:
        """Any view at all: `ghost` is one of this array's own ghost."""
        step = window(ghost, ghost_of(self.buffer))
        out = arrays.ndarray(self.buffer, (step,), step.shape, step.dtype)
        out._ghost = ghost
        out.is_straight = False
        return out

    @property
    def is_window(self) -> bool:
        """Whether compiled code has no words for this view."""
        return bool(self.path) and type(self.path[0]) is Window

    def settled(self) -> Any:
        """The array itself, or a copy if compiled code has no words for this view."""
        if not self.is_window:
            return self
        if not self.flags.writeable and (path := self._path_to_write()) is not None:
            out = arrays.ndarray(self.buffer, path, self.shape, self.dtype)
            out.is_straight = is_straight(self.ghost())
            return out
        if self.buffer.dtype.kind == "V":  # whose rows are NumPy's, and may change at any time
            return recorder.wrapped(self.computed().copy())
        return recorder.record(Copy(hosted=True), (self,), self.shape, self.dtype, is_number=False)

    def _path_to_write(self) -> Path | None:
        """The path to the same elements where they may be written; None where compiled code has no words for it."""
        memory = ghost_of(self.buffer)
        return steps_between(memory, replace(window(self.ghost(), memory), writeable=True).of(memory))


class Flags:
    """`a.flags`, by which an array is made read-only."""

    __slots__ = ("_array",)
    _array: Held

    def __init__(self, array: Held) -> None:
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
"""What `setflags` calls the flags that can be set."""
