"""Versions of a function that only some calls need, compiled on demand: for aliased arguments, one for each pattern of
aliasing; for arguments with axes of length 1 (broadcasting)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar

import numpy as np

from appyc.ir.aliasing import Sharing
from appyc.runtime.shared_views import describe_sharing

K = TypeVar("K")
V = TypeVar("V")

MAX_WITH_DISTANCES = 4
"""Versions with distances built in; calls with yet others share one that takes them as arguments."""

MAX_PATTERNS = 4
"""Calls with yet other axes of length 1 run in the plain version."""


class _Versions(Generic[K, V]):
    """Versions of one function and signature. make: compiles one, or returns None where there is no such
    version."""

    def __init__(self, make: Callable[[K], V | None]) -> None:
        self._make = make
        self._made: dict[K, V | None] = {}
        self._lock = threading.RLock()

    def made(self) -> Iterator[V]:
        with self._lock:
            yield from (version for version in self._made.values() if version is not None)


class UnitVersions(_Versions[frozenset[tuple[int, int]], V]):
    """Versions by the axes of length 1, each a number of an argument and of an axis."""

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


class SharedVersions(_Versions[Sharing, V]):
    """Versions by the pattern of aliasing. written: the numbers of the arguments that are stored into."""

    def __init__(self, make: Callable[[Sharing], V | None], written: frozenset[int]) -> None:
        super().__init__(make)
        self._written = written

    def version(self, values: Sequence[object]) -> tuple[V | None, tuple[object, ...]]:
        """The version for these arguments with its hidden ones; None where only the plain version will do."""
        found = describe_sharing(values, self._written, any_distance=False)
        if found is None:
            return None, ()
        with self._lock:
            if found.sharing not in self._made and len(self._made) >= MAX_WITH_DISTANCES:
                found = describe_sharing(values, self._written, any_distance=True)
                assert found is not None
            if found.sharing not in self._made:
                self._made[found.sharing] = self._make(found.sharing)
            return self._made[found.sharing], found.hidden
