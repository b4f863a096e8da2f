"""Results that nobody reads: where they were computed for nothing before, they stay recorded.

    d = x - y                           the first time      r and d are stored; d goes, and nobody has read it
    r = (d * d).sum()                   from then on        r is computed, d in registers; what makes d is left
    print(float(r))                                         recorded, until d goes, or is read after all

When a value is asked for, arrays that have names may be read later, or never: nothing tells but what became of
them when the same statements ran before. A wrong guess costs that they run once more; after it, the result is stored
for good.

What is left can be computed at any time: nothing that it reads is changed by the statements that run, and what it
makes is stored by no other one. Of calls of compiled functions, those are left that store into one array and return
nothing; they do not hold it any more (`RestingCall`).
"""

from __future__ import annotations

import weakref
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from appyc.lazy.gathering import Gathered, Line
from appyc.lazy.operations import Call
from appyc.lazy.recorded_nodes import Buffer, Site

LEAST_BYTES = 1 << 16
"""Of results that are left: others are computed in no time."""


MOST_HELD = 9 / 8
"""Bytes of what is left that its inputs may have: these are held instead, and go with it. A little more, since what is
computed from neighbours is a little shorter than they are."""


MOST_ALONE = 4096
"""Places that one knows so of."""


@dataclass(frozen=True, slots=True)
class Left:
    """What stays recorded of some statements. lines: which of them. numbers: the buffers that these make. unread:
    those among them that were expected to be stored. inputs: buffers that they read, and hold until they go."""

    lines: tuple[int, ...]
    numbers: frozenset[int]
    unread: frozenset[int]
    inputs: frozenset[int]


@dataclass(slots=True, eq=False)
class Habit:
    """What became of the results of one structure, by their numbers.

    unread: one of those went, and nobody had read it. read: somebody has, which is for good. reached: what was
    reachable the last time. plans: what stays recorded, by what is wanted, as long as none of that changes.
    """

    unread: set[int] = field(default_factory=set)
    read: set[int] = field(default_factory=set)
    reached: frozenset[int] = frozenset()
    plans: dict[frozenset[int], Left | None] = field(default_factory=dict)

    def left(self, found: Gathered, wanted: frozenset[int], least: int) -> Left | None:
        """What stays recorded; None for nothing."""
        if not self.unread - self.read - wanted:
            return None
        if wanted not in self.plans:
            self.plans[wanted] = plan(found.lines, self.unread - self.read - wanted, self.reached | wanted)
        left = self.plans[wanted]
        if left is None:
            return None
        saved, held = (sum(_bytes_of(found, numbers)) for numbers in (left.unread, left.inputs))
        return left if saved >= least and held <= MOST_HELD * saved else None

    def has_reached(self, numbers: frozenset[int]) -> None:
        if numbers != self.reached:
            self.reached = numbers
            self.plans.clear()

    def was_read(self, number: int) -> None:
        if number not in self.read:
            self.read.add(number)
            self.plans.clear()

    def was_dropped(self, number: int) -> None:
        if number in self.reached and number not in self.unread:
            self.unread.add(number)
            self.plans.clear()


def _bytes_of(found: Gathered, numbers: Collection[int]) -> Iterator[int]:
    for number in numbers:
        buffer = found.buffers[number]
        there = buffer() if isinstance(buffer, weakref.ref) else buffer
        if there is not None:
            yield there.nbytes


@dataclass(slots=True)
class Watch:
    """Buffers of which one does not know yet whether anybody reads them: whose habit, and the number there.

    beside: numbers that were computed with others (`companions`), and where they were recorded. alone: such places of
    which a number went unread.
    """

    waiting: dict[weakref.ref[Buffer], tuple[Habit, int]] = field(default_factory=dict)
    beside: dict[weakref.ref[Buffer], Site] = field(default_factory=dict)
    alone: set[Site] = field(default_factory=set)

    def begin(self, buffer: Buffer, habit: Habit, number: int) -> None:
        if number not in habit.read:
            self.waiting[weakref.ref(buffer, self._gone)] = (habit, number)
            buffer.is_watched = True

    def begin_beside(self, buffer: Buffer, site: Site) -> None:
        self.beside[weakref.ref(buffer, self._gone_unread)] = site
        buffer.is_watched = True

    def is_read(self, buffer: Buffer) -> None:
        if not buffer.is_watched:
            return
        buffer.is_watched = False
        self.beside.pop(weakref.ref(buffer), None)
        if (found := self.waiting.pop(weakref.ref(buffer), None)) is not None:
            found[0].was_read(found[1])

    def _gone_unread(self, reference: weakref.ref[Buffer]) -> None:
        if (site := self.beside.pop(reference, None)) is not None:
            if len(self.alone) >= MOST_ALONE:
                self.alone.clear()
            self.alone.add(site)

    def _gone(self, reference: weakref.ref[Buffer]) -> None:
        if (found := self.waiting.pop(reference, None)) is not None:
            found[0].was_dropped(found[1])


# ---------------------------------------------------------------- what can be left


def plan(lines: Sequence[Line], unread: Collection[int], reached: Collection[int]) -> Left | None:
    """Which statements can stay recorded so that as many of the unread results need not be stored as possible."""
    flow = _Flow.of(lines)
    candidates = set(unread)
    while candidates:
        kept = frozenset(reached) - candidates
        parts = {number: flow.needs(number, kept) for number in sorted(candidates)}
        refused = {number for number, part in parts.items() if part is None}
        if not refused:
            found = [part for part in parts.values() if part is not None]
            return Left(
                tuple(sorted(set().union(*(part.lines for part in found)))),
                frozenset().union(*(part.numbers for part in found)),
                frozenset(candidates),
                frozenset().union(*(part.inputs for part in found)),
            )
        candidates -= refused
    return None


@dataclass(frozen=True, slots=True)
class _Flow:
    """lines: with their operands. writers: of each buffer, the lines that make it or store into it. made, stored:
    buffers that the lines make, and such that they store into. called: those that such a call has to do with as cannot
    be left."""

    lines: Sequence[Line]
    writers: dict[int, list[int]]
    made: set[int]
    stored: set[int]
    called: set[int]

    @classmethod
    def of(cls, lines: Sequence[Line]) -> _Flow:
        writers: dict[int, list[int]] = {}
        made: set[int] = set()
        stored: set[int] = set()
        called: set[int] = set()
        for at, (operation, forms, target, place) in enumerate(lines):
            if isinstance(target, tuple):
                assert isinstance(operation, Call)
                written = set(_numbers_in([forms[k] for k in operation.written]))
                stored |= written
                if operation.results or len(written) != 1 or place is not None:
                    called |= written | {number for number in target if number is not None}
                for number in written:
                    writers.setdefault(number, []).append(at)
                continue
            writers.setdefault(target, []).append(at)
            (made if place is None else stored).add(target)
        return cls(lines, writers, made, stored, called)

    def needs(self, number: int, kept: Collection[int]) -> Left | None:
        """The lines that compute a buffer from what will be in memory; None where it cannot be computed later."""
        numbers: set[int] = set()
        lines: set[int] = set()
        inputs: set[int] = set()
        pending = [(number, len(self.lines))]
        while pending:
            one, reader = pending.pop()
            is_there = one not in self.made or one in kept
            if one in self.called or (is_there and (one == number or self._changes_after(reader, one))):
                return None
            if is_there:
                inputs |= {one} - self.made
            elif one not in numbers:
                numbers.add(one)
                lines.update(self.writers[one])
                pending += [
                    (n, at) for at in self.writers[one] for n in _numbers_in(self.lines[at][1]) if n != one
                ]
        return Left(tuple(lines), frozenset(numbers), frozenset({number}), frozenset(inputs))

    def _changes_after(self, reader: int, one: int) -> bool:
        """Whether a line after one that reads a buffer stores into it."""
        return one in self.stored and max(self.writers[one]) > reader


def _numbers_in(forms: Sequence[object]) -> Iterator[int]:
    """The buffers among operands."""
    for form in forms:
        if isinstance(form, int):
            yield form
        elif isinstance(form, tuple) and isinstance(form[0], int):
            yield form[0]
