"""The exception for a fault that a kernel reports."""

from __future__ import annotations

import builtins

from appyc.errors import Loc, snippet
from appyc.ir.abi import FaultSite


def located_error(site: FaultSite, value: int, extent: int) -> Exception:
    """What the program raises at this place, with its line as a note.

    Before: FaultSite("IndexError", "index {value} is out of bounds for axis 0 of 'a' with size
    {extent}", "kernel.py", 7, ...), 4, 4
    After:  IndexError("index 4 is out of bounds for axis 0 of 'a' with size 4 (line 7)")

    An index fault tells the line in its message too: a log shows no notes.
    """
    message = site.message.format(value=value, extent=extent)
    if "{value}" in site.message:
        message += f" (line {site.line})"
    kind = getattr(builtins, site.error)
    error = kind(message)
    assert isinstance(error, Exception)
    error.add_note("\n".join(snippet(Loc(site.file, site.line, site.col, site.end_col))))
    return error
