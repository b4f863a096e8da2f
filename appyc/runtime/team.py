"""Connects kernel libraries to the process's thread pool (`_team.h`), which the dispatcher has."""

from __future__ import annotations

import ctypes

from appyc.runtime import _dispatch
from appyc.runtime.pointers import pointer_in


def attach(library: ctypes.CDLL) -> None:
    """Lets a library's parallel regions (`c_gen/text/team.c`), if it has any, run on the threads of the process."""
    if (pointer := pointer_in(library, "appyc_team")) is not None:
        pointer.value = _dispatch.team_address()
