"""What NumPy has spent on recorded programs in earlier processes, which each process leaves in the cache folder.

A script of a second that is run again and again takes as long as one that runs for a minute. What compiling a program
costs is weighed against the seconds of all processes, so that one of them compiles it for those that follow.

Does not handle: processes that are killed.
"""

from __future__ import annotations

import linecache
from collections.abc import Iterable

from appyc.api import SpentSeconds
from appyc.lazy.programs import Program

LEAST_SHARE = 1 / 16
"""Of the time that compiling takes: what NumPy has spent in a process that leaves word of it."""


def look_up(program: Program) -> None:
    """Finds what earlier processes spent on a program."""
    program.spent = SpentSeconds.of("".join(linecache.getlines(program.text.file)))


def leave(programs: Iterable[Program]) -> None:
    """Adds the time of this process to that of the earlier ones, for programs that NumPy has run."""
    for program in programs:
        keeps = program.compiled is not None and program.compiled.options.cache and not program.is_ready
        if keeps and program.spent is not None and program.seconds >= LEAST_SHARE * program.compiling:
            program.spent.add(program.seconds)
