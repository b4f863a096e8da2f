"""Faults that kernels note, as exceptions."""

from __future__ import annotations

import builtins

import numpy as np
from numpy.typing import NDArray

from appyc.ir.abi import FaultSite

WORDS_PER_SITE = 3
"""How often it happened, and the value and extent of one time that it did."""


class GuardFailed(Exception):
    """A guard of the function does not hold, so an index may be out of range. Nothing has been
    written; the version that checks every access has to run."""


def fault_words(sites: tuple[FaultSite, ...]) -> int:
    return WORDS_PER_SITE * len(sites)


def raise_fault(sites: tuple[FaultSite, ...], words: NDArray[np.int64]) -> None:
    """Raises for the first place, in the order of the program's text, where a fault was noted."""
    for number, site in enumerate(sites):
        seen, value, extent = (int(w) for w in words[WORDS_PER_SITE * number :][:WORDS_PER_SITE])
        if seen:
            raise located_error(site, value, extent)


def located_error(site: FaultSite, value: int, extent: int) -> Exception:
    """The exception of a fault, with its place in the user's program as a note."""
    kind = getattr(builtins, site.error)
    message = site.message.replace("{value}", str(value)).replace("{extent}", str(extent))
    error: Exception = kind(message)
    error.add_note(f"at {site.file}:{site.line}:{site.col + 1}")
    return error
