"""Which further versions of a function are compiled: a few at once, each other one when Python has spent as much.

A version is compiled for argument types, and for what is built into the code: lengths of lists and tuples, strings,
classes, functions, values from outside. Types are few; the others need not be: a list that grows between two calls
would be compiled anew at each. So all versions of a function are counted, and those that differ in what is built in
only (`Request.kin`). Beyond a number of either, short calls run in Python until they have taken as long as a version
takes to compile. So a function is compiled for no longer than its first versions take and its calls in Python took.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Hashable

from appyc.compiler.fallback import LARGE_CALL, typical

AT_ONCE = 4
"""Versions that differ in what is built in, and are compiled at the first call."""

IN_ALL = 16
"""Versions of one function that are compiled at the first call."""

PUT_OFF = (
    "it has been compiled several times, for other types, lengths of lists and tuples, strings or classes, "
    "and is again when calls in Python have taken as long as that"
)
"""The reason, for the user, why a call beyond the budget runs in Python."""


class VersionBudget:
    """The compile times of one function's versions, and the time of calls in Python since, in nanoseconds."""

    def __init__(self) -> None:
        self._versions: Counter[Hashable] = Counter()
        self._compiling = 0
        self._in_python: Counter[Hashable] = Counter()
        self._runs: deque[int] = deque(maxlen=AT_ONCE)

    def compiled(self, kin: Hashable, nanoseconds: int) -> None:
        """Takes the time that a version took to compile."""
        self._versions[kin] += 1
        self._compiling += nanoseconds
        self._in_python[kin] = 0

    def ran(self, nanoseconds: int) -> None:
        """Takes the time of a call of compiled code."""
        self._runs.append(nanoseconds)

    def spent(self, kin: Hashable, nanoseconds: int) -> bool:
        """Takes the time of a call that Python made instead; whether the next one may be compiled."""
        self._in_python[kin] += nanoseconds
        return self.covers(kin)

    def covers(self, kin: Hashable) -> bool:
        """Whether one more version may be compiled, however short the call."""
        total = self._versions.total()
        if self._versions[kin] < AT_ONCE and total < IN_ALL:
            return True
        return self._in_python[kin] * total >= self._compiling

    @property
    def runs_are_long(self) -> bool:
        """Whether calls of compiled code take so long that Python's may take seconds."""
        return bool(self._runs) and typical(list(self._runs)) > LARGE_CALL
