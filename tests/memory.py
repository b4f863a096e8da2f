"""Other settings of the memory that kernels allocate, for a while."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from appyc import options
from appyc.runtime import _dispatch


@contextmanager
def keeping(limit: int) -> Iterator[None]:
    """Another limit on the pool's bytes."""
    _dispatch.set_memory_limit(limit)
    try:
        yield
    finally:
        _dispatch.set_memory_limit(options.or_usual(options.kept_bytes))


@contextmanager
def poisoned(byte: int) -> Iterator[None]:
    """Fills what kernels allocate with a byte, but for zeros that are asked for: what is read before it is written
    shows in the results, then."""
    _dispatch.set_memory_poison(byte)
    try:
        yield
    finally:
        _dispatch.set_memory_poison(-1)
