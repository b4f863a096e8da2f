"""Greedy search for a quicker schedule: hill climbing over neighbours, each timed in turn with the best one so far.

A schedule's time is the least of several runs. Noise is how much the default schedule differs from itself, when it runs
in turn with itself: once at the start, and once in turn with the best schedule at the end, whose first times were
picked among many and are too good. A winner gains more than twice that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from math import inf
from typing import Generic, TypeVar

from appyc.errors import CompileError, InternalError, ToolchainError
from appyc.runtime.copied_calls import CopiedCalls, Outcome, is_same

SECONDS = 30.0
"""The default time limit of a search, in seconds."""

LEAST_GAIN = 0.02
"""The least gain that counts, as a fraction of the default schedule's time."""

_HOPELESS = 2.0
"""Times the best one's time, after which a schedule does not run again."""

_FEWEST = 3
"""Runs of each function that is timed in turn with others."""
_SECONDS_EACH, _SECONDS_OF_NOISE = 0.3, 1.0
"""The least seconds for which functions that are timed in turn run: to compare one schedule, and to measure
noise."""

F = TypeVar("F", bound=Callable[..., object])


class NothingToTune(ValueError):  # noqa: N818  (says what is the case)
    """Schedules for a call cannot be compared, and why."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A schedule that was tried. change: its new line. time: relative to that of the default; None where it was not
    timed, for the reason in `refused`."""

    schedule: str
    change: str
    time: float | None = None
    refused: str = ""


@dataclass(slots=True)
class Search(Generic[F]):
    """make: compiles a schedule; raises CompileError for one that is not legal. neighbours: of a compiled schedule, as
    text and the line that is new. exact: results are the same to the last bit, else but for rounding. show: reports
    the seconds until now, the number of schedules, and the time of the best.

    best: the best function until now, its schedule ("": the default), and its time relative to the default's.
    """

    default: F
    make: Callable[[str], F]
    neighbours: Callable[[F], Iterable[tuple[str, str]]]
    calls: CopiedCalls
    exact: bool
    show: Callable[[float, int, float], None]
    best: F = field(init=False)
    schedule: str = ""
    time: float = 1.0
    noise: float = 0.0
    seconds: float = 0.0
    default_seconds: float = inf
    trials: list[Trial] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.best = self.default

    @property
    def margin(self) -> float:
        """The part of the default's time that a gain has to exceed."""
        return max(LEAST_GAIN, 2 * self.noise)

    def run(self, seconds: float) -> None:
        """Searches for so long, or until the user interrupts. Raises NothingToTune for a call that raises."""
        start = self.calls.clock()
        try:
            wanted = self.calls.outcome(self.default)
        except (CompileError, ToolchainError):
            raise
        except Exception as error:
            raise NothingToTune(f"a call that raises {type(error).__name__} is not tuned: {error}") from error
        with suppress(KeyboardInterrupt):
            self._compare_with_itself()
            while self._step(wanted, start, seconds):
                pass
            if self.schedule:
                self._compare_with_itself(self.best)
        self.seconds = self.calls.clock() - start
        if self.time >= 1 - self.margin:
            self.best, self.schedule, self.time = self.default, "", 1.0

    def _step(self, wanted: Outcome, start: float, limit: float) -> bool:
        """Whether a neighbour of the best schedule is quicker, which is the best one then."""
        tried = {trial.schedule for trial in self.trials}
        for schedule, change in self.neighbours(self.best):
            spent = self.calls.clock() - start
            self.show(spent, len(self.trials), self.time)
            if spent >= limit:
                return False
            if schedule in tried:
                continue
            try:
                made = self.make(schedule)
                differs = not is_same(wanted, self.calls.outcome(made), exact=self.exact)
                refused = "the results differ" if differs else ""
            except (CompileError, InternalError, ToolchainError) as error:
                refused = error.summary if isinstance(error, CompileError) else str(error).partition("\n")[0]
            if refused:
                self.trials.append(Trial(schedule, change, refused=refused))
                continue
            before, now = self._least(self.best, made, seconds=_SECONDS_EACH)
            self.trials.append(Trial(schedule, change, self.time * now / before))
            if now < before * (1 - self.margin):
                self.best, self.schedule, self.time = made, schedule, self.time * now / before
                return True
        return False

    def _compare_with_itself(self, *others: F) -> None:
        """Times the default in turn with itself, and with the best schedule if it is given."""
        least = self._least(self.default, *others, self.default, seconds=_SECONDS_OF_NOISE)
        self.default_seconds = min(least[0], least[-1])
        self.noise = abs(least[0] / least[-1] - 1)
        if others:
            self.time = least[1] / self.default_seconds

    def _least(self, *functions: F, seconds: float) -> list[float]:
        """The least time of each function, which run in turn for so many seconds."""
        least = [inf] * len(functions)
        end = self.calls.clock() + seconds
        for turn in count(1):
            for number, function in enumerate(functions):
                least[number] = min(least[number], self.calls.seconds(function))
            hopeless = least[-1] > _HOPELESS * least[0] and functions[-1] is not functions[0]
            if (hopeless and turn > 1) or (turn >= _FEWEST and self.calls.clock() >= end):
                break
        return least
