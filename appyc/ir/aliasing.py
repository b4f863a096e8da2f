"""The sharing of memory between the array arguments of one call, as far as a version is compiled for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class SharedArray:
    """Parameters that are views of one array, with its strides; numbers of parameters, ascending.

    offsets: None where all of them are the same elements. Otherwise element [0, 0, ...] of each
    one is element offsets[n] of the base, an array of `layout` that holds them all and is a
    hidden parameter; where an offset is None it is a hidden parameter too.
    """

    members: tuple[int, ...]
    offsets: tuple[tuple[int | None, ...], ...] | None = None
    layout: str = "C"


Sharing: TypeAlias = tuple[SharedArray, ...]
"""All groups of a call; parameters in none of them have memory of their own."""
