"""What arrays of appyc's are made of: a buffer, and the way from it to a view."""

from __future__ import annotations

from typing import Any

import numpy as np

from appyc.lazy import arrays, recorder
from appyc.lazy.nodes import View, ghost_of, settled
from appyc.lazy.operations import Copy
from appyc.lazy.order import is_ascending, is_straight
from appyc.lazy.residence import at_home
from appyc.lazy.running import STATE, flush
from appyc.lazy.views import LONG_PATH, Place, Step, Transpose, Window, steps_between, view_of, window


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
        return self.ghost().flags

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
        if name in ("shape", "dtype") and hasattr(self, "_ghost"):  # which is set last when one is made
            way = "a = a.reshape(shape)" if name == "shape" else "a = a.view(dtype)"
            raise AttributeError(f"the {name} of a recorded array is not changed in place: write {way}")
        super().__setattr__(name, value)

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
        if self.buffer.dtype.kind == "V":  # whose rows are NumPy's, and may change at any time
            return recorder.wrapped(self.computed().copy())
        return recorder.record(Copy(hosted=True), (self,), self.shape, self.dtype, is_number=False)
