"""What a kernel's library is told about the process that loads it: pointers that it has by name."""

from __future__ import annotations

import ctypes


def pointer_in(library: ctypes.CDLL, name: str) -> ctypes.c_void_p | None:
    """The library's pointer of that name, to be set; None where its code has no use for one."""
    try:
        return ctypes.c_void_p.in_dll(library, name)
    except ValueError:
        return None
