"""Sets the global pointers of a loaded kernel library to tables and functions of this process."""

from __future__ import annotations

import ctypes


def pointer_in(library: ctypes.CDLL, name: str) -> ctypes.c_void_p | None:
    """The library's global pointer of that name, to be set; None where the library does not define it."""
    try:
        return ctypes.c_void_p.in_dll(library, name)
    except ValueError:
        return None
