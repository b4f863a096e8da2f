"""What recordings are made of: buffers, views of them, and statements.

A `Buffer` is the memory of one array; views of it share the buffer. A `Statement` makes a buffer,
or stores into part of one. Statements hold what they read, and only a weak reference to what
they write.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from dataclasses import dataclass
from types import CodeType
from typing import TypeAlias

import numpy as np

from appyc.lazy.operations import Operation
from appyc.lazy.views import Path

Scalar: TypeAlias = bool | int | float | complex | np.generic

Site: TypeAlias = tuple[CodeType, int]
"""Code and the instruction in it: the line is found when it is asked for."""


class Buffer:
    """The memory of an array and its views. memory: None until it is computed."""

    __slots__ = ("__weakref__", "_ghost", "dtype", "is_number", "lent", "memory", "shape")

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype, memory: np.ndarray | None = None) -> None:
        self.shape = shape
        self.dtype = dtype
        self.memory = memory
        self.is_number = False
        """Whether NumPy has a scalar here, not an array without axes: it never changes."""
        self.lent = False
        """Whether other libraries look at the memory: then what is stored must be seen there at once."""
        self._ghost: np.ndarray | None = None

    @property
    def nbytes(self) -> int:
        size = self.dtype.itemsize
        for extent in self.shape:
            size *= extent
        return size

    def ghost(self) -> np.ndarray:
        """An array like the one to come, with nothing in it: address space, and no memory until it is written."""
        if self._ghost is None:  # one for good, since views of it are told by their addresses
            if self.memory is not None:
                return self.memory
            self._ghost = np.empty(self.shape, self.dtype)
        return self._ghost


class View:
    """A view of a buffer: what arrays are. path: the steps from the buffer's whole array to it.

    is_straight: whether its axes lie in memory in their order, and so do those of what is made of it.
    """

    __slots__ = ("__weakref__", "_ghost", "buffer", "dtype", "is_straight", "path", "shape")

    def __init__(self, buffer: Buffer, path: Path, shape: tuple[int, ...], dtype: np.dtype) -> None:
        self.buffer = buffer
        self.path = path
        self.shape = shape
        self.dtype = dtype
        self.is_straight = True
        self._ghost: np.ndarray | None = None


@dataclass(frozen=True, slots=True)
class Own:
    """An operand that is a view of the statement's own target, which must not keep that alive."""

    path: Path
    shape: tuple[int, ...]
    dtype: np.dtype


Operand: TypeAlias = View | Own | Scalar


def buffers_of(operands: Iterable[Operand]) -> list[Buffer]:
    """What the operands that are arrays, but not the statement's own, are views of."""
    return [operand.buffer for operand in operands if isinstance(operand, View)]


class Statement:
    """One recorded operation. path: where in the target it stores; None where it makes the target.

    shape: of what is computed, which a store broadcasts to its place.
    """

    __slots__ = ("operands", "operation", "path", "shape", "site", "target")

    def __init__(
        self,
        operation: Operation,
        operands: tuple[Operand, ...],
        target: Buffer,
        path: Path | None,
        shape: tuple[int, ...],
        site: Site,
    ) -> None:
        self.operation = operation
        self.operands = operands
        self.target = weakref.ref(target)
        self.path = path
        self.shape = shape
        self.site = site

    @property
    def stores(self) -> bool:
        """Whether it changes a buffer that is there already."""
        return self.path is not None

    def stored(self) -> tuple[Buffer, ...]:
        """What it changes."""
        return self.writes() if self.path is not None else ()

    def makes(self) -> tuple[Buffer, ...]:
        return self.writes() if self.path is None else ()

    def writes(self) -> tuple[Buffer, ...]:
        """What it changes or makes; nothing, where nobody can reach that any more."""
        target = self.target()
        return () if target is None else (target,)

    def reads(self) -> list[Buffer]:
        return buffers_of(self.operands)
