"""Views of an array: the steps that lead to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

NEAR = 2
"""Bounds up to this one, from either end, are part of the code: the interior `1:-1` is worth knowing."""

Path: TypeAlias = tuple["Step", ...]
"""From a buffer's whole array to a view of it."""


@dataclass(frozen=True, slots=True)
class Index:
    """`[items]`: integers, slices with bounds in range, and None."""

    items: tuple[int | slice | None, ...]

    def __hash__(self) -> int:
        return hash(tuple((i.start, i.stop, i.step) if isinstance(i, slice) else i for i in self.items))


@dataclass(frozen=True, slots=True)
class Transpose:
    axes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Reshape:
    shape: tuple[int, ...]


Step: TypeAlias = Index | Transpose | Reshape


def view_of(memory: np.ndarray, path: Path) -> np.ndarray:
    """The view of a buffer's array. Shares its memory."""
    for step in path:
        match step:
            case Index(items):
                memory = memory[(*items, ...)]  # with the dots, a single element is an array too
            case Transpose(axes):
                memory = memory.transpose(axes)
            case Reshape(shape):
                memory = memory.view()
                memory.shape = shape
    return memory
