"""Measured and predicted time of a loop, as a line of a profile report."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LoopTime:
    """Predicted and measured time of a loop that threads may share, in one run of the function.

    All times are seconds, over all `runs` of the loop. operations, bytes: of one iteration; a byte
    that the loop reuses counts once. alone, together: predicted on one thread, and on all
    `threads`. shared: the number of runs on several threads. took: measured.
    """

    line: int
    index: str
    runs: int
    iterations: int
    operations: float
    bytes: float
    alone: float
    together: float
    threads: int
    shared: int
    took: float

    def __str__(self) -> str:
        if not self.runs:
            return f"line {self.line:<4} for {self.index}: did not run"
        each = f"{_count(self.iterations / self.runs)} iterations"
        how = each if self.runs == 1 else f"{_count(self.runs)} times {each}"
        where = f"on {self.threads} threads"
        if not self.shared:
            where = "on one thread"
        elif self.shared < self.runs:
            where = f"{where} {self.shared} times"
        return (
            f"line {self.line:<4} for {self.index}: {how}, {_count(self.operations)} operations and "
            f"{_count(self.bytes)} bytes each: predicted {time_text(self.alone)} on one thread, "
            f"{time_text(self.together)} on {self.threads}; took {time_text(self.took)} {where}"
        )


def _count(number: float) -> str:
    return f"{number:,.0f}" if number >= 10 else f"{number:.2g}"


def time_text(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"
