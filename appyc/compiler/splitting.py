"""A function of which a part cannot be compiled: that part stays in Python and calls the rest as compiled regions."""

from __future__ import annotations

from collections.abc import Callable, Set
from copy import copy
from types import FunctionType

from appyc.compiler.fallback import Hosted, R, warn_of_pragma
from appyc.errors import CompileError, LibraryCallError, Note, UnsupportedError
from appyc.frontend.fault_paths import annotation_around, slices_pragma_of
from appyc.frontend.outline import PythonPart, Region, split
from appyc.frontend.pragmas.pragmas import read_pragmas
from appyc.frontend.source import Source

_APART = "what stands beside it may store into arrays, not change lists: use out[i] = ..."


def split_off(
    error: CompileError,
    fn: FunctionType,
    text: Callable[[], Source],
    arrays: Set[str],
    region: Callable[[Region], R],
    callee: Callable[[FunctionType], R],
    *,
    strict: bool,
    beside: CompileError | None,
) -> Hosted[R]:
    """The function as a host of its regions, the part that `error` names left to Python.

    arrays: parameters whose array statements are compiled too. region, callee: make what the host calls. beside:
    of a region, what runs in Python beside it. Raises the error where compiled code is asked for: in strict
    functions, and in loops with a pragma.
    """
    part = PythonPart(error.loc.line, error.summary)
    is_library = isinstance(error, LibraryCallError)
    refused = strict and not is_library
    try:
        source = text()
    except UnsupportedError:  # there is no text to split
        if refused:
            raise
        return Hosted(None, error, part)
    pragmas = read_pragmas(source)
    if refused or annotation_around(source, pragmas, error) is not None:
        raise error if beside is None else _with_cause(error, beside)
    unheard = slices_pragma_of(source, pragmas, error)
    if unheard is not None and not is_library:  # beside a call, the rest heeds it
        warn_of_pragma(unheard, error)
    regions: list[R] = []

    def compiled(found: Region) -> R:
        regions.append(region(found))
        regions[-1].beside = error
        return regions[-1]

    def called(function: FunctionType) -> R:
        regions.append(callee(function))
        return regions[-1]

    left: list[PythonPart] = []
    host = split(
        fn, source, pragmas, error, compiled, left, frozenset(arrays), everything=strict, called=called
    )
    return Hosted(host, error, part, tuple(regions), tuple(left))


def _with_cause(error: CompileError, beside: CompileError) -> CompileError:
    """The error of a region that cannot be compiled without what runs in Python beside it."""
    told = copy(beside)
    told.hints = (*beside.hints, _APART)
    note = Note(error.loc, f"apart from it, this cannot be compiled: {error.summary}")
    told.related = (*beside.related, note)
    return told
