"""Iterators over elements: `a.flat`, read and written by one index, and `np.nditer`, which may write its operands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from appyc.lazy import arrays, evaluation
from appyc.lazy.running import flush


class Flat:
    """`numpy.flatiter` for an array of appyc's. Its writes are recorded in program order."""

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
        return evaluation.wrapped(self.base.computed().flat[evaluation.plain(key)])

    def __setitem__(self, key: Any, value: Any) -> None:
        evaluation.changing(self.base, lambda memory, *args: memory.flat.__setitem__(*args), key, value)

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


class Iteration:
    """A `numpy.nditer` that writes to arrays of appyc's: what has been recorded of them runs before each step."""

    def __init__(self, of: np.nditer, buffers: list[Any]) -> None:
        vars(self).update(of=of, buffers=buffers)

    def __getattr__(self, name: str) -> Any:
        flush(self.buffers, overwritten=self.buffers)
        return getattr(self.of, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.of, name, value)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return self.__getattr__("__next__")()

    def __enter__(self) -> Any:
        self.of.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self.__getattr__("close")()

    def copy(self) -> Any:
        return Iteration(self.of.copy(), self.buffers)

    def __len__(self) -> int:
        return len(self.of)

    def __getitem__(self, key: Any) -> Any:
        return self.of[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.__getattr__("__setitem__")(key, evaluation.plain(value))


class nditer:  # noqa: N801  (NumPy's name)
    """`numpy.nditer`, of which NumPy allows no subclass."""

    def __new__(cls, op: Any, flags: Any = None, op_flags: Any = None, *args: Any, **keywords: Any) -> Any:
        operands = op if isinstance(op, tuple | list) else (op,)
        given = [a for a in operands if isinstance(a, arrays.Array) and not a.buffer.is_number]
        if not given or not _writes(op_flags):
            return np.nditer(op, flags, op_flags, *evaluation.plain(args), **evaluation.plain(keywords))
        buffers = [a.buffer for a in given]
        flush(buffers, overwritten=buffers)
        for buffer in buffers:
            buffer.lent = True
        found = np.nditer(
            evaluation.plain(op), flags, op_flags, *evaluation.plain(args), **evaluation.plain(keywords)
        )
        return Iteration(found, buffers)


def _writes(flags: Any) -> bool:
    if isinstance(flags, tuple | list):
        return any(_writes(flag) for flag in flags)
    return flags in ("readwrite", "writeonly")
