"""Decodes the fault records that GPU kernels write, and raises them as exceptions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from appyc.ir.abi import FaultSite
from appyc.runtime.faults import located_error

WORDS_PER_SITE = 3
"""Words of a fault site's record: how often it happened, and the value and extent of one occurrence."""


class GuardFailed(Exception):  # noqa: N818  (no error of the user)
    """A guard of the function does not hold, so an index may be out of range. Nothing has been
    written; the version that checks every access has to run."""


def fault_words(sites: tuple[FaultSite, ...]) -> int:
    return WORDS_PER_SITE * len(sites)


def raise_fault(sites: tuple[FaultSite, ...], words: NDArray[np.int64]) -> None:
    """Raises for the first fault site, in the order of the program's text, whose record has a fault."""
    for number, site in enumerate(sites):
        seen, value, extent = (int(w) for w in words[WORDS_PER_SITE * number :][:WORDS_PER_SITE])
        if seen:
            raise located_error(site, value, extent)
