"""How much isl may work for one function, in its own operations, so that every machine gets the same answers.

A question is tried with little work first. Nearly all that programs ask is answered then, and not
counted; what is harder is tried with more, and taken from what the whole function has. When that is
used up the easiest questions are still answered. A question without an answer counts as the cautious
one: two iterations may meet, an index may be out of range.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

EASY = 2_000
"""The work that is not counted: less than a millisecond, or a few if many loops are around."""

HARDEST = 32_000
"""The most that one question is given, about a tenth of a second; what people write needs a tenth of it."""

GROWTH = 4
"""From one try to the next."""

LAST = 500
"""What a question is given when nothing is left."""

TOTAL = 800_000
"""For all questions of a function that are not easy: less than a second."""


@dataclass(slots=True)
class Allowance:
    """What is left for one function. unanswered: how many questions had to be given up."""

    left: int = TOTAL
    unanswered: int = 0

    def tries(self) -> Iterator[int]:
        """The work that a question is given, one try after the other. Each but the first is counted."""
        if self.left <= 0:
            yield LAST
            return
        work = EASY
        yield work
        while work < HARDEST and self.left > 0:
            work = min(work * GROWTH, HARDEST)
            self.left -= work
            yield work
