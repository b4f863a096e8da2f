"""Measures the machine: compiles `probe.c`, and runs it once."""

from __future__ import annotations

import ctypes
from dataclasses import fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from appyc.errors import InternalError, ToolchainError
from appyc.ir.machine import Machine
from appyc.options import Options
from appyc.runtime import toolchain
from appyc.runtime.openmp import load_library

FAR_BYTES = 48 << 20
"""More than the caches of most cores hold, and little enough to be touched in a few milliseconds."""


DISTURBED = 20
"""Times that a core went to somebody else, from which on the machine was not quiet."""


def measure(threads: int) -> tuple[Machine, bool] | None:
    """The machine's numbers with so many threads, and whether it was quiet; None where it cannot be measured."""
    if threads < 2:
        return None  # nothing is ever shared
    with TemporaryDirectory(prefix="appyc-") as folder:
        built = Path(folder, "probe.so")
        try:
            toolchain.build(Path(__file__).with_name("probe.c").read_text(), built, Options())
            library = load_library(str(built))
        except (InternalError, ToolchainError, OSError):
            return None  # without OpenMP, say: then there are no threads to decide about
        library.appyc_probe.restype = ctypes.c_long
        out = (ctypes.c_double * len(fields(Machine)))()
        lost = library.appyc_probe(out, ctypes.c_int(threads), ctypes.c_int64(FAR_BYTES))
    if lost < 0:
        return None
    quiet = lost < DISTURBED
    found = Machine(*out)
    found = replace(found, fork=found.fork * STARTING, wake=max(found.wake, found.fork * STARTING))
    return (found if quiet else _believable(found), quiet)


STARTING = 2.0
"""Times the least that an empty loop takes: a loop that does something has data to come to the other cores."""


def _believable(found: Machine) -> Machine:
    """Measurements of a busy machine. A thread that waits for a core says nothing about the loops of a
    quiet one: what takes several threads is no worse than on an ordinary machine."""
    ordinary = Machine()
    return replace(
        found,
        byte_shared=min(found.byte_shared, found.byte_far * ordinary.byte_shared / ordinary.byte_far),
        fork=min(found.fork, ordinary.fork),
        wake=min(found.wake, ordinary.wake),
        awake=max(found.awake, ordinary.awake),
    )
