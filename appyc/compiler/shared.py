"""Versions of a function for aliased arguments, compiled on demand for each pattern of aliasing."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from appyc.ir.aliasing import Sharing
from appyc.runtime.shared_views import describe_sharing

V = TypeVar("V")

MAX_WITH_DISTANCES = 4
"""Versions with distances built in; calls with yet others share one that takes them as arguments."""


class SharedVersions(Generic[V]):
    """For one function and one signature. make: compiles, or says that there is no such version."""

    def __init__(self, make: Callable[[Sharing], V | None], written: frozenset[int]) -> None:
        self._make = make
        self._written = written
        self._made: dict[Sharing, V | None] = {}
        self._lock = threading.RLock()

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
