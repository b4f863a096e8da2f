"""The words by which a kernel reports an exception."""

from __future__ import annotations

from dataclasses import dataclass

from appyc.errors import Loc

FAULT_WORDS = 6
"""The most numbers in the message of a fault."""

AS_TUPLE = "{}"
"""The message of an exception whose argument is the tuple of its numbers."""


@dataclass(frozen=True, slots=True)
class FaultSite:
    """A location in a kernel that can raise.

    error: the builtin exception's name, or `module:name`. message: for `str.format`, with `{value}` and `{extent}`
    where the first words go, such as "index {value} is out of bounds for axis 0 of 'a' with size {extent}". kinds: of a
    message of the program's own the types of the words, which stand in `{0}`, `{1}` and so on: "float32", say, or
    "python int64"; an empty message has the numbers as the exception's arguments.
    """

    error: str
    message: str
    file: str
    line: int
    col: int
    end_col: int
    kinds: tuple[str, ...] = ()


class FaultSites:
    """Numbers the fault sites; equal sites share one number. overflow: the exception for a Python int beyond 64 bits,
    and its message."""

    def __init__(self, overflow: tuple[str, str] = ("OverflowError", "")) -> None:
        self.overflow = overflow
        self._numbers: dict[FaultSite, int] = {}

    def add(self, error: str, message: str, loc: Loc) -> int:
        return self.number(FaultSite(error, message, loc.file, loc.line, loc.col, loc.end_col))

    def number(self, site: FaultSite) -> int:
        return self._numbers.setdefault(site, len(self._numbers))

    def table(self) -> tuple[FaultSite, ...]:
        return tuple(self._numbers)


def index_error(array: str, axis: int, loc: Loc) -> FaultSite:
    """An index out of bounds, of the array of that name: its words are the index and the extent."""
    name = array.replace("{", "{{").replace("}", "}}")
    text = f"index {{value}} is out of bounds for axis {axis} of '{name}' with size {{extent}}"
    return FaultSite("IndexError", text, loc.file, loc.line, loc.col, loc.end_col)
