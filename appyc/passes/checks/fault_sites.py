"""The table of statements in a program that can raise."""

from __future__ import annotations

from appyc.errors import Loc
from appyc.ir.fault_words import FaultSite


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
