"""The pool of memory for kernels' temporaries and results: its limit, and releasing it.

The dispatcher keeps the memory that one call frees for the next one (`_memory.h`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from appyc import options
from appyc.runtime import _dispatch

_USUAL = options.or_usual(options.kept_bytes)
_dispatch.set_memory_limit(_USUAL)
pool_address = _dispatch.memory_address


LEAST_KEPT = 1 << 16
"""Bytes of an array: for less, the C library keeps memory itself."""


def empty(like: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    """A new array of the type of another, in C order and with nothing in it: from the pool where it holds numbers,
    since the system takes longer to find pages for a large array than a copy to fill it."""
    if isinstance(like, np.ndarray) and like.dtype.kind in "iufc" and like.dtype.isnative:
        return _dispatch.empty_like(np.broadcast_to(np.empty((), like.dtype), shape))
    return np.empty_like(like, order="C", shape=shape)


def copied(values: np.ndarray) -> np.ndarray:
    """A copy in C order, in memory from the pool where it is large."""
    if values.nbytes < LEAST_KEPT:
        return values.copy("C")
    out = empty(values, values.shape)
    out[...] = values
    return out


def limit_pool(nbytes: int) -> None:
    """Keeps no more than so many bytes from now on."""
    _dispatch.set_memory_limit(min(_USUAL, nbytes))


def release_memory() -> int:
    """Frees the pooled memory; returns the number of bytes."""
    return _dispatch.trim_memory(0)
