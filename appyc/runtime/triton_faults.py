"""Decodes the fault records that GPU kernels write, and raises them as exceptions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from appyc.ir.abi import FAULT_SLOTS
from appyc.ir.fault_words import FaultSite
from appyc.runtime.faults import located_error


class GuardFailed(Exception):  # noqa: N818  (no error of the user)
    """A guard of the function does not hold, so an index may be out of range. Nothing has been
    written; the version that checks every access has to run."""


def fault_words(sites: tuple[FaultSite, ...]) -> int:
    """The words of all records: for each site how often it happened, and the words of one occurrence."""
    return FAULT_SLOTS * len(sites)


def raise_fault(sites: tuple[FaultSite, ...], words: NDArray[np.int64]) -> None:
    """Raises for the first fault site, in the order of the program's text, whose record has a fault."""
    for number, site in enumerate(sites):
        seen, *of_message = (int(w) for w in words[FAULT_SLOTS * number :][:FAULT_SLOTS])
        if seen:
            raise located_error(site, of_message)
