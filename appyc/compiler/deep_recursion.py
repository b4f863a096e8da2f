"""Python's recursion limit while the compiler runs, which walks over expressions of hundreds of terms."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

_LIMIT = 5_000
"""A frame takes less than a kilobyte of the stack, of which a thread has 8 MiB."""


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Raises the recursion limit of all threads; it is the caller's again afterwards."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _LIMIT))
    try:
        yield
    finally:
        if sys.getrecursionlimit() == _LIMIT:  # no one has set another meanwhile
            sys.setrecursionlimit(before)
