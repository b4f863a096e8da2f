"""Versions of a function for arguments with axes of length 1 (broadcasting), compiled on demand."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar

import numpy as np

V = TypeVar("V")

MAX_PATTERNS = 4
"""Calls with yet others run in the plain version."""


class UnitVersions(Generic[V]):
    """For one function and one signature. make: compiles for axes of length 1, each a number of an argument and
    of an axis, or says that these make no difference."""

    def __init__(self, make: Callable[[frozenset[tuple[int, int]]], V | None]) -> None:
        self._make = make
        self._made: dict[frozenset[tuple[int, int]], V | None] = {}
        self._lock = threading.RLock()

    def version(self, values: Sequence[object]) -> V | None:
        """The version for these arguments; None where only the plain version will do."""
        units = frozenset(
            (number, axis)
            for number, value in enumerate(values)
            if isinstance(value, np.ndarray)
            for axis, length in enumerate(value.shape)
            if length == 1
        )
        if not units:
            return None
        with self._lock:
            if units not in self._made and len(self._made) < MAX_PATTERNS:
                self._made[units] = self._make(units)
            return self._made.get(units)

    def made(self) -> Iterator[V]:
        with self._lock:
            yield from (version for version in self._made.values() if version is not None)
