"""Builds the Python exception, with its source line, for a fault that a kernel reports, on a GPU by a record of it."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from appyc.errors import DependenceError, LeftToPython, Loc, snippet
from appyc.ir.abi import FAULT_SLOTS
from appyc.ir.fault_words import AS_TUPLE, FaultSite

WITHOUT_PRAGMA = "leave the pragma out, and the loop runs in parallel where the arguments allow it"


def number(word: int, kind: str) -> object:
    """A number of this type ("float32", "python int64") that stands in a word, floats as their float64."""
    if kind == "str":
        return chr(word) if word >= 0 else ""
    owner, _, dtype = kind.rpartition(" ")
    whole = np.int64(word)
    value = (whole.view(np.float64) if dtype.startswith("float") else whole).astype(dtype)
    return value.item() if owner else value


def located_error(site: FaultSite, words: Sequence[int]) -> Exception:
    """The exception of a fault site, with its source line as a note.

    Before: FaultSite("IndexError", "index {value} is out of bounds for axis 0 of 'a' with size
    {extent}", "kernel.py", 7, ...), (4, 4)
    After:  IndexError("index 4 is out of bounds for axis 0 of 'a' with size 4 (line 7)")

    An index fault tells the line in its message too: a log shows no notes.
    """
    loc = Loc(site.file, site.line, site.col, site.end_col)
    numbers: list[object] = [number(word, kind) for word, kind in zip(words, site.kinds, strict=False)]
    if site.message == AS_TUPLE:
        numbers = [tuple(numbers)]
    named = dict(zip(("value", "extent"), words, strict=False))
    message = "" if site.message == AS_TUPLE else site.message.format(*numbers, **named)
    if site.error == DependenceError.__name__:
        return DependenceError(message, loc, WITHOUT_PRAGMA, label="asked for here")
    if site.error == LeftToPython.__name__:
        return LeftToPython(message)
    if "{value}" in site.message.replace("{{", ""):
        message += f" (line {site.line})"
    module, _, name = site.error.rpartition(":")
    kind = getattr(sys.modules[module] if module else builtins, name)
    error = kind(message) if message else kind(*numbers)
    assert isinstance(error, Exception)
    error.add_note(_note(loc))
    return error


@lru_cache(maxsize=1 << 8)
def _note(loc: Loc) -> str:
    """The source line. Programs raise the same exception many times, and catch it."""
    return "\n".join(snippet(loc))


# ---------------------------------------------------------------- records of kernels on a GPU


def fault_words(sites: tuple[FaultSite, ...]) -> int:
    """The words of all records: for each site how often it happened, and the words of one occurrence."""
    return FAULT_SLOTS * len(sites)


def raise_recorded(sites: tuple[FaultSite, ...], words: NDArray[np.int64]) -> None:
    """Raises for the first fault site, in the order of the program's text, whose record has a fault."""
    for number, site in enumerate(sites):
        seen, *of_message = (int(w) for w in words[FAULT_SLOTS * number :][:FAULT_SLOTS])
        if seen:
            raise located_error(site, of_message)
