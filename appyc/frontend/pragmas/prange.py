"""`appyc.prange`, known to the front end by identity."""

from __future__ import annotations

from typing import overload


@overload
def prange(stop: int, /) -> range: ...
@overload
def prange(start: int, stop: int, step: int = 1, /) -> range: ...
def prange(*args: int) -> range:
    """`range`, whose loop is to run in parallel: `for i in appyc.prange(n)`.

    In a compiled function it means the same as `#pragma parallel for` above the loop. In plain
    Python it is `range`.
    """
    return range(*args)
