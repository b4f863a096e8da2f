"""The work budget of isl for one function, in isl's own operations, so that every machine gets the same answers.

A question is tried with little work first. Nearly all that programs ask is answered then; what is
harder is tried with more, and taken from what the whole function has. When that is used up the easiest
questions are still answered, until there were too many of them. Both are in proportion to the function's size, so
that a program that is twice as long takes no more than twice the time. A question without an answer counts as the
cautious one: two iterations may meet, an index may be out of range.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

EASY = 2_000
"""The work that is not taken from the rest: less than a millisecond, or a few if many loops are around."""

HARDEST = 32_000
"""The most that one question is given, about a tenth of a second; what people write needs a tenth of it."""

GROWTH = 4
"""The factor between the work limits of a question's successive tries."""

LAST = 500
"""The work limit of a question when the allowance is used up."""

TOTAL = 600_000
"""The work for all questions of a function beyond the easy ones: less than a second."""

PER_NODE = 1_000
"""More of it for each node of the function's IR; programs take a third of that, and the hardest short ones what
they have with `TOTAL`."""

QUESTIONS = 4_000
"""Questions that a function may ask."""

QUESTIONS_PER_NODE = 10
"""More for each node; programs ask one or two."""


@dataclass(slots=True)
class Allowance:
    """The remaining work budget of one function. unanswered: the number of questions that were given up."""

    left: int = TOTAL
    unanswered: int = 0
    questions: int = QUESTIONS

    @classmethod
    def of(cls, nodes: int) -> Allowance:
        """The limit on isl operations and questions for a function with `nodes` IR nodes."""
        return cls(TOTAL + PER_NODE * nodes, questions=QUESTIONS + QUESTIONS_PER_NODE * nodes)

    def tries(self) -> Iterator[int]:
        """The work budgets of a question's successive tries. Each but the first is counted."""
        if self.questions <= 0:
            return
        self.questions -= 1
        if self.left <= 0:
            yield LAST
            return
        work = EASY
        yield work
        while work < HARDEST and self.left > 0:
            work = min(work * GROWTH, HARDEST)
            self.left -= work
            yield work
