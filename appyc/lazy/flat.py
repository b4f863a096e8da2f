"""`a.flat`: the elements in the order of C, to be read and written by one index."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from appyc.lazy import recorder


class Flat:
    """What `numpy.flatiter` is for an array of appyc's. Its writes take their place among what is recorded."""

    __slots__ = ("_at", "base")

    def __init__(self, base: Any) -> None:
        self.base = base
        self._at = 0

    @property
    def index(self) -> int:
        return self._at

    @property
    def coords(self) -> tuple[int, ...]:
        return tuple(int(k) for k in np.unravel_index(self._at, self.base.shape))

    def copy(self) -> Any:
        return self.base.flatten()

    def __getitem__(self, key: Any) -> Any:
        return recorder.wrapped(self.base.computed().flat[recorder.plain(key)])

    def __setitem__(self, key: Any, value: Any) -> None:
        index = recorder.plain(key)
        recorder.changing(self.base, lambda memory: memory.flat.__setitem__(index, recorder.plain(value)))

    def __len__(self) -> int:
        return int(self.base.size)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self._at >= len(self):
            raise StopIteration
        found = self.base.computed().flat[self._at]
        self._at += 1
        return found

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.base.computed().flat, dtype)
