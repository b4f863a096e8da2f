"""Dead results: reachable arrays that went unread in earlier runs stay recorded instead of being stored.

    d = x - y                           first run           r and d are stored; d is freed, and was never read
    r = (d * d).sum()                   later runs          r is computed, d in registers; the statements of d
    print(float(r))                                         stay recorded, until d is freed, or read after all

When a value is needed, a reachable array may be live or dead. This is predicted from what became of it when the same
statements ran before. A wrong prediction costs a second run of its statements; the result is then always stored.

Deferred statements can run at any time: the statements that run write nothing that they read, no other statement
writes what they make, and they read what they make in its last state alone. Calls of compiled functions are deferred
if they store into one array and return nothing; they then hold only a weak reference to it (`CallStatement.resting`).
"""

from __future__ import annotations

import weakref
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from appyc.lazy._nodes import Buffer
from appyc.lazy.gathering import Gathered, Line
from appyc.lazy.operations import Call
from appyc.lazy.recorded_nodes import Site

LEAST_BYTES = 1 << 16
"""Minimum bytes of results that are deferred: smaller ones are cheap to compute."""


MOST_HELD = 9 / 8
"""Maximum ratio of the bytes of inputs that deferred statements keep alive to the bytes of the results not stored. It
is more than 1, since the result of a stencil is a little shorter than its inputs."""


MOST_ALONE = 4096
"""Maximum number of remembered sites whose numbers went unread."""


@dataclass(frozen=True, slots=True)
class Left:
    """The statements that a flush defers. lines: which of them. numbers: the buffers that these make. unread: those
    that would have been stored otherwise. inputs: buffers that they read, and keep alive until they are dropped."""

    lines: tuple[int, ...]
    numbers: frozenset[int]
    unread: frozenset[int]
    inputs: frozenset[int]


@dataclass(slots=True, eq=False)
class Habit:
    """Liveness history of the results of one structure, by buffer number.

    unread: results that were freed unread. read: results that were read, which is final. reached: results that were
    reachable at the last flush. plans: deferred statements by wanted results; emptied when the other fields change.
    """

    unread: set[int] = field(default_factory=set)
    read: set[int] = field(default_factory=set)
    reached: frozenset[int] = frozenset()
    plans: dict[frozenset[int], Left | None] = field(default_factory=dict)

    def left(self, found: Gathered, wanted: frozenset[int], least: int) -> Left | None:
        """The statements to defer; None if there are none."""
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
    """Buffers whose liveness is not known yet: the history and the number of each.

    beside: scalars that were computed speculatively (`companions`), and the sites where they were recorded. alone:
    sites whose scalars went unread.
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
    """The statements to defer so that as few of the unread results as possible need be stored."""
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
    """Dataflow between lines. writers: of each buffer, the lines that make it or store into it. made, stored: buffers
    that the lines make, and those that they store into. called: buffers written by calls that cannot be deferred."""

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
        for at, (operation, forms, target, path) in enumerate(lines):
            if isinstance(target, tuple):
                assert isinstance(operation, Call)
                written = set(_numbers_in([forms[k] for k in operation.effects.written]))
                stored |= written
                if operation.effects.results or len(written) != 1 or path is not None:
                    called |= written | {number for number in target if number is not None}
                for number in written:
                    writers.setdefault(number, []).append(at)
                continue
            writers.setdefault(target, []).append(at)
            (made if path is None else stored).add(target)
        return cls(lines, writers, made, stored, called)

    def needs(self, number: int, kept: Collection[int]) -> Left | None:
        """The backward slice that computes a buffer from stored ones; None where it cannot be computed later."""
        numbers: set[int] = set()
        lines: set[int] = set()
        inputs: set[int] = set()
        pending = [(number, len(self.lines))]
        while pending:
            one, reader = pending.pop()
            is_there = one not in self.made or one in kept
            changes_later = one in self.stored and max(self.writers[one]) > reader
            if one in self.called or (is_there and one == number) or changes_later:
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


def _numbers_in(forms: Sequence[object]) -> Iterator[int]:
    """The numbers of the buffers among operands."""
    for form in forms:
        if isinstance(form, int):
            yield form
        elif isinstance(form, tuple) and isinstance(form[0], int):
            yield form[0]
