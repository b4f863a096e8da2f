"""Measures the machine's rates: compiles `probe.c` and the matrix products, and runs each for a moment."""

from __future__ import annotations

import ctypes
import time
from dataclasses import fields, replace
from pathlib import Path

import numpy as np

from appyc.c_gen.text.c_helpers import Helpers, team_text
from appyc.c_gen.text.c_types import TYPEDEFS
from appyc.errors import InternalError, ToolchainError
from appyc.ir.machine_model import Machine
from appyc.ir.types import DType
from appyc.options import Options
from appyc.runtime import _dispatch, blas, toolchain
from appyc.runtime.trusted import workspace

FAR_BYTES = 48 << 20
"""More than the caches of most cores hold, and little enough to be touched in a few milliseconds."""


DISTURBED = 20
"""Preemptions by other programs during a measurement, from which on the machine counts as busy."""


def measure(threads: int) -> tuple[Machine, bool] | None:
    """The machine's numbers with so many threads, and whether it was quiet; None where it cannot be measured."""
    with workspace() as folder:
        built = Path(folder, "probe.so")
        try:
            text = Path(__file__).with_name("probe.c").read_text()
            toolchain.build(f"{team_text()}\n{text}\n{_own_text()}", built, Options())
            library = ctypes.CDLL(str(built))
            ctypes.c_void_p.in_dll(library, "appyc_team").value = _dispatch.team_address()
        except (InternalError, ToolchainError, OSError):
            return None  # without OpenMP, say: then there are no threads to decide about
        library.appyc_probe.restype = ctypes.c_long
        out = (ctypes.c_double * len(fields(Machine)))()
        lost = library.appyc_probe(out, ctypes.c_int(threads), ctypes.c_int64(FAR_BYTES))
        by_library, own = _products(library)
    if lost < 0:
        return None
    quiet = lost < DISTURBED and Machine(*out).has_cores
    found = replace(Machine(*out), library_product=by_library, own_product=own)
    found = replace(found, fork=found.fork * STARTING, wake=max(found.wake, found.fork * STARTING))
    return (found if quiet else found.bounded(), quiet)


STARTING = 2.0
"""The start of a real parallel loop, as a multiple of an empty one's: its data have to move to the other cores."""


# ---------------------------------------------------------------- products of matrices

SIDE = 512
"""The side of the matrices that are multiplied. Smaller ones stay in the caches, where code that copies less
is the faster one: of 192 a side, compiled code took .87 of OpenBLAS's time on a Xeon where it takes 1.22 of
1,024."""

RUNS = 5


def _own_text() -> str:
    """The C text of our own matrix product, as an exported function."""
    helpers = Helpers()
    own = helpers.typed("own", DType.FLOAT64)
    size = "const int64_t n"
    return f"""{TYPEDEFS}
{helpers.text()}
void appyc_own({size}, const double *a, const double *b, double *c) {{
    {own}(false, false, n, n, n, 1, a, n, b, n, 0, c, n);
}}"""


def _products(library: ctypes.CDLL) -> tuple[float, float]:
    """Nanoseconds for a multiplication and an addition, by NumPy's library and by our own function; those of an
    ordinary machine where there is no library to be compared with."""
    theirs = blas.multiply()
    if theirs is None:
        return Machine().library_product, Machine().own_product
    a, b, c = (np.ones((SIDE, SIDE)) for _ in range(3))
    size, matrices = ctypes.c_int64(SIDE), [ctypes.c_void_p(x.ctypes.data) for x in (a, b, c)]
    by_library, own = float("inf"), float("inf")
    for _ in range(RUNS):
        start = time.thread_time_ns()  # of this thread alone: others may have the core between
        theirs(a, b, c)
        middle = time.thread_time_ns()
        library.appyc_own(size, *matrices)
        by_library, own = min(by_library, middle - start), min(own, time.thread_time_ns() - middle)
    return by_library / SIDE**3, own / SIDE**3
