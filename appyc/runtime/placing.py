"""Keeping the threads of a loop on processors of their own (`_placing.h`), where the dispatcher was compiled."""

from __future__ import annotations

import ctypes

from appyc.runtime import dispatch
from appyc.runtime.pointers import pointer_in

if dispatch.has_compiled_dispatch():
    from appyc.runtime import _dispatch


def attach(library: ctypes.CDLL) -> None:
    """Lets a kernel's library, if it has loops that threads share, tell them which processor to leave alone."""
    if dispatch.has_compiled_dispatch() and (pointer := pointer_in(library, "appyc_placing")) is not None:
        pointer.value = _dispatch.placing_address()
