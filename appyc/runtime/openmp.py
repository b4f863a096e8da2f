"""Loading of kernels, with OpenMP's waiting threads kept from burning a shared machine's cores.

GCC's OpenMP lets a thread that waits spin for some milliseconds before it sleeps. Between
the loops of one kernel that is right: the next loop comes within microseconds. On a machine
whose cores others use too, the thread that is waited for may need just that core, and a
parallel loop of 10 us then takes 8 ms (measured on 2 cores with a load of 4). Spinning is
bounded here to a third of that, unless the user has set OMP_WAIT_POLICY or GOMP_SPINCOUNT. A
tenth of it and less was measured too: then threads fall asleep between the calls of a program,
and Linux may wake one on the very core that waits for it.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_SPINS = "100000"
_WAITING = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")
_LOADING = threading.Lock()


def load_library(path: str) -> ctypes.CDLL:
    """The shared library at `path`. Raises OSError where it cannot be loaded."""
    with _LOADING, _bounded_spinning():
        return ctypes.CDLL(path)


@contextmanager
def _bounded_spinning() -> Iterator[None]:
    """libgomp reads its settings once, when the first library that needs it is loaded."""
    if any(name in os.environ for name in _WAITING):
        yield
        return
    os.environ["GOMP_SPINCOUNT"] = _SPINS
    try:
        yield
    finally:
        del os.environ["GOMP_SPINCOUNT"]
