"""The pool of memory for kernels' temporaries and results: its limit, and releasing it.

The dispatcher keeps the memory that one call frees for the next one (`_memory.h`).
"""

from __future__ import annotations

import numpy as np

from appyc import options
from appyc.runtime import _dispatch

_dispatch.set_memory_limit(options.or_usual(options.kept_bytes))
pool_address = _dispatch.memory_address


LEAST_KEPT = 1 << 16
"""Bytes of an array: for less, the C library keeps memory itself."""


def copied(values: np.ndarray) -> np.ndarray:
    """A copy in C order, in memory from the pool: where it is large, the system takes longer to find
    pages for it than the values to be copied."""
    if values.nbytes < LEAST_KEPT or values.dtype.kind not in "iufc" or not values.dtype.isnative:
        return values.copy("C")
    out = _dispatch.empty_like(values)
    np.copyto(out, values)
    return out


def release_memory() -> int:
    """Frees the pooled memory; returns the number of bytes."""
    return _dispatch.trim_memory(0)
