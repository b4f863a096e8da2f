"""Views of an array, as paths of steps: index, transpose, reshape, window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from appyc.lazy._nodes import address, steps

NEAR = 2
"""Bounds up to this one, from either end, are part of the code: the interior `1:-1` is worth knowing."""

Path: TypeAlias = tuple["Step", ...]
"""The steps from a buffer's whole array to a view of it."""

LONG_PATH = 16
"""Steps, from which on a view of a view takes the shortest path to the same elements."""


NUMBER = "number"
"""The marker in a form for the next number that a program gets as an argument."""


@dataclass(frozen=True, slots=True)
class Transpose:
    axes: tuple[int, ...]

    def of(self, memory: np.ndarray) -> np.ndarray:
        return memory.transpose(self.axes)


MOST_AXES = 64
"""The most axes of NumPy's arrays."""

steps.update((rank, Transpose(tuple(reversed(range(rank))))) for rank in range(MOST_AXES + 1))


@dataclass(frozen=True, slots=True)
class Reshape:
    shape: tuple[int, ...]

    def of(self, memory: np.ndarray) -> np.ndarray:
        return memory.reshape(self.shape, copy=False)


steps["reshape"] = Reshape


@dataclass(frozen=True, slots=True)
class Window:
    """Any other view of the buffer's memory: a diagonal, the real parts, the same bytes as another type.

    It is the only step of its path, and compiled code has no words for it: what reads it reads a copy.
    offset: of its first element, in bytes.
    """

    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype
    writeable: bool

    def of(self, memory: np.ndarray) -> np.ndarray:
        if 0 in self.shape:
            out = np.empty(self.shape, self.dtype)
        elif memory.dtype.hasobject:  # of which NumPy makes no buffer
            before, within = divmod(self.offset, memory.itemsize)
            first = memory.reshape(-1)[before:]
            out = np.lib.stride_tricks.as_strided(first, self.shape, self.strides)
            if self.dtype != memory.dtype:
                out = out.getfield(self.dtype, within)
        else:
            out = np.ndarray(self.shape, self.dtype, memory, self.offset, self.strides)
        if not self.writeable:
            out.flags.writeable = False
        return out


Items: TypeAlias = tuple[int | slice | None, ...]
"""A basic index, its bounds in range."""

Step: TypeAlias = Items | Transpose | Reshape | Window


Form: TypeAlias = tuple[str, int, bool]
"""The structure of a step: its text with slots for numbers, how many these are, and whether it is an index, whose text
stands in brackets."""

ROUND = "r"
"""The variable of a loop of calls."""


def form_of(step: Step, numbers: list[Any], moves: Mapping[int, int] = MappingProxyType({})) -> Form:
    """The structure of a step. Numbers that a program gets for it as arguments are appended. moves: by how much items
    of an index grow from call to call."""
    first = len(numbers)
    if isinstance(step, Transpose):
        return f".transpose({', '.join(map(str, step.axes))})", 0, False
    if isinstance(step, Reshape):
        numbers += step.shape
        return f".reshape({tuple_of([f'{{{k}}}' for k in range(len(step.shape))])})", len(step.shape), False
    assert isinstance(step, tuple), "a window is copied before it is an operand of a program"
    items = [
        _moving(item, moves[k], numbers, first) if k in moves else _item(item, numbers, first)
        for k, item in enumerate(step)
    ]
    return ", ".join(items), len(numbers) - first, True


def tuple_of(parts: Sequence[str]) -> str:
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"


def _place(number: int, numbers: list[Any], first: int) -> str:
    numbers.append(number)
    return f"{{{len(numbers) - 1 - first}}}"


def _item(item: int | slice | None, numbers: list[Any], first: int) -> str:
    if isinstance(item, slice):
        bounds = ["" if n is None else _item(n, numbers, first) for n in (item.start, item.stop)]
        return f"{bounds[0]}:{bounds[1]}{_by(item)}"
    return str(item) if item is None or -NEAR <= item <= NEAR else _place(item, numbers, first)


def _moving(item: Any, by: int, numbers: list[Any], first: int) -> str:
    if not isinstance(item, slice):
        return f"{_place(item, numbers, first)} + {ROUND} * {by}"
    start = item.start or 0
    begin = f"{_place(start, numbers, first)} + {ROUND} * {by}"
    return f"{begin}:{begin} + {item.stop - start}{_by(item)}"


def _by(item: slice) -> str:
    return "" if item.step in (None, 1) else f":{item.step}"


class ViewLayout(NamedTuple):
    """A view of a whole array, without its buffer: path, shape, dtype and memory order."""

    path: Path
    shape: tuple[int, ...]
    dtype: np.dtype
    is_straight: bool


def is_reshaped(path: Path) -> bool:
    """Whether the path leads to all elements of a whole array, in order."""
    return not path or (len(path) == 1 and type(path[0]) is Reshape)


def view_of(memory: np.ndarray, path: Path) -> np.ndarray:
    """The view of a buffer's array. Shares its memory."""
    for step in path:
        memory = memory[(*step, ...)] if isinstance(step, tuple) else step.of(memory)
    return memory


_WRITEABLE = 0x400
"""NPY_ARRAY_WRITEABLE. To ask for the flag by its name makes NumPy warn of arrays that `broadcast_arrays` gave."""


def is_writeable(view: np.ndarray) -> bool:
    return bool(view.flags.num & _WRITEABLE)


def is_within(view: np.ndarray, memory: np.ndarray) -> bool:
    """Whether the view's first element lies in the memory of a contiguous array."""
    start = address(memory)
    return view.size > 0 and start <= address(view) < start + memory.nbytes


def window(view: np.ndarray, memory: np.ndarray) -> Window:
    """The step from a buffer's array to a view of it."""
    offset = address(view) - address(memory)
    return Window(offset, view.shape, view.strides, view.dtype, is_writeable(view))


def steps_between(whole: np.ndarray, view: np.ndarray) -> Path | None:
    """The steps of slices and transposes from an array to a view of it; None where it takes others.

    Each axis of the view walks along one axis of the array, the rest of which stand still.
    """
    if whole.dtype != view.dtype or not whole.size or not view.size or not is_writeable(view):
        return None
    outer_first = sorted(range(whole.ndim), key=lambda k: -abs(whole.strides[k]))
    walks: dict[int, int] = {}
    """The axis of the view that walks along each axis of the array."""
    for axis, (extent, stride) in enumerate(zip(view.shape, view.strides, strict=True)):
        if extent > 1:
            along = next(
                (k for k in outer_first if k not in walks and _goes_along(whole, k, stride, extent)), None
            )
            if along is None:
                return None
            walks[along] = axis
    for axis in (k for k, extent in enumerate(view.shape) if extent == 1):
        free = next((k for k in range(whole.ndim) if k not in walks), None)
        if free is not None:
            walks[free] = axis
    items: list[int | slice] = [0] * whole.ndim
    away = address(view) - address(whole)
    for axis in outer_first:
        extent, stride = whole.shape[axis], whole.strides[axis]
        first = _first(whole, axis, away) if extent > 1 and stride else 0
        away -= first * stride
        items[axis] = first
        if axis in walks:
            count = view.shape[walks[axis]]
            step = view.strides[walks[axis]] // stride if count > 1 else 1
            stop = first + step * count
            items[axis] = slice(first, None if stop < 0 else stop, step)
    path = (tuple(items), *_arranged(view, walks))
    return path if not away and leads_to(whole, path, view) else None


def leads_to(whole: np.ndarray, path: Path, view: np.ndarray) -> bool:
    """Whether steps from an array lead to a view of it."""
    try:
        found = view_of(whole, path)
    except (IndexError, ValueError):
        return False
    return (
        found.shape == view.shape
        and address(found) == address(view)
        and all(e < 2 or s == t for e, s, t in zip(view.shape, view.strides, found.strides, strict=True))
    )


def _goes_along(whole: np.ndarray, axis: int, stride: int, extent: int) -> bool:
    """Whether steps of this size walk along the axis, and do not leave it."""
    own = abs(whole.strides[axis])
    return own > 0 and abs(stride) % own == 0 and 0 < abs(stride) // own * (extent - 1) < whole.shape[axis]


def _first(whole: np.ndarray, axis: int, away: int) -> int:
    """The index along an axis of the element that is `away` bytes from the first."""
    stride = whole.strides[axis]
    inner = [k for k in range(whole.ndim) if abs(whole.strides[k]) < abs(stride)]
    least = sum(min(0, (whole.shape[k] - 1) * whole.strides[k]) for k in inner)
    steps: int = (away - least) // stride if stride > 0 else -((away - least) // -stride)
    return steps


def _arranged(view: np.ndarray, walks: dict[int, int]) -> Path:
    """The axes that are left, in the view's order, and its axes of one element."""
    left = sorted(walks)
    order = tuple(left.index(axis) for axis in sorted(walks, key=lambda k: walks[k]))
    steps: list[Step] = []
    if order != tuple(range(len(order))):
        steps.append(Transpose(order))
    axes = set(walks.values())
    if len(axes) < view.ndim:
        steps.append(tuple(slice(None) if k in axes else None for k in range(view.ndim)))
    return tuple(steps)
