"""The dispatcher of a call to a kernel by the types of its arguments, compiled (`_dispatch.c`).

A call that fits a kernel exactly runs it, with keywords and defaults too; other types, overlapping arrays and failed
guards are passed to `fallback`, which compiles. `Entry` can be subclassed, and is bound as a method where it is found
on an instance.
"""

from __future__ import annotations

from appyc.runtime import _dispatch
from appyc.runtime._dispatch import Entry, GuardFailure, Launcher

__all__ = ["LONGEST_LIST", "Entry", "GuardFailure", "Launcher"]

FORMAT = 23
"""The version of the interface between the dispatcher and Python: `Kernel.record()`, `OnFault`, the memory of
kernels. The same number stands in `_dispatch.c`."""

if _dispatch.FORMAT != FORMAT:
    raise ImportError("appyc's dispatcher was built for another version of appyc: install it again with pip")

LONGEST_LIST = 64
"""Items that a list may have and be compiled for their number: as many as a loop is unrolled for."""
