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
V_co = TypeVar("V_co", covariant=True)

MOST = 4
"""Versions for different axes of length 1, beyond which calls run in the plain version; or with different distances
built in, beyond which one version takes them as arguments."""


class DemandedVersions(Generic[K, V_co]):
    """Versions of one function and signature. make: compiles one, or returns None where there is no such
    version."""

    def __init__(self, make: Callable[[K], V_co | None]) -> None:
        self._make = make
        self._made: dict[K, V_co | None] = {}
        self._lock = threading.RLock()

    def made(self) -> Iterator[V_co]:
        with self._lock:
            yield from (version for version in self._made.values() if version is not None)

    def has_room(self, key: K) -> bool:
        """Whether there is a version for this, or may be one more."""
        return key in self._made or len(self._made) < MOST

    def version(self, key: K) -> V_co | None:
        with self._lock:
            if key not in self._made:
                self._made[key] = self._make(key)
            return self._made[key]


def stretched_version(
    versions: DemandedVersions[frozenset[tuple[int, int]], V_co], values: Sequence[object]
) -> V_co | None:
    """The version by the axes of length 1, each a number of an argument and of an axis; None where only the plain
    version will do."""
    arrays = ((number, value.shape) for number, value in enumerate(values) if isinstance(value, np.ndarray))
    units = frozenset((number, axis) for number, shape in arrays for axis, n in enumerate(shape) if n == 1)
    return versions.version(units) if units and versions.has_room(units) else None


def overlapping_version(
    versions: DemandedVersions[Sharing, V_co], values: Sequence[object], written: frozenset[int]
) -> tuple[V_co | None, tuple[object, ...]]:
    """The version by the pattern of aliasing, and the hidden arguments; None where only the plain version will do.
    written: the numbers of the arguments that are stored into."""
    found = describe_sharing(values, written, any_distance=False)
    if found is not None and not versions.has_room(found.sharing):
        found = describe_sharing(values, written, any_distance=True)
    if found is None:
        return None, ()
    return versions.version(found.sharing), found.hidden
