"""Builds the Python exception, with its source line, for a fault that a kernel reports."""

from __future__ import annotations

import builtins
from functools import lru_cache

from appyc.errors import DependenceError, LeftToPython, Loc, snippet
from appyc.ir.abi import FaultSite

WITHOUT_PRAGMA = "leave the pragma out, and the loop runs in parallel where the arguments allow it"


def located_error(site: FaultSite, value: int, extent: int) -> Exception:
    """The exception of a fault site, with its source line as a note.

    Before: FaultSite("IndexError", "index {value} is out of bounds for axis 0 of 'a' with size
    {extent}", "kernel.py", 7, ...), 4, 4
    After:  IndexError("index 4 is out of bounds for axis 0 of 'a' with size 4 (line 7)")

    An index fault tells the line in its message too: a log shows no notes.
    """
    loc = Loc(site.file, site.line, site.col, site.end_col)
    message = site.message.format(value=value, extent=extent)
    if site.error == DependenceError.__name__:
        return DependenceError(message, loc, label="asked for here", hints=(WITHOUT_PRAGMA,))
    if site.error == LeftToPython.__name__:
        return LeftToPython(message)
    if "{value}" in site.message.replace("{{", ""):
        message += f" (line {site.line})"
    kind = getattr(builtins, site.error)
    error = kind(message)
    assert isinstance(error, Exception)
    error.add_note(_note(loc))
    return error


@lru_cache(maxsize=1 << 8)
def _note(loc: Loc) -> str:
    """The source line. Programs raise the same exception many times, and catch it."""
    return "\n".join(snippet(loc))
