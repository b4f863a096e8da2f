"""The recording: pending statements in program order, and the choice of those that must run.

A statement whose result is unreachable is dead and is dropped, with the statements that only it
needed.

To compute a result, its backward slice runs, in program order: all statements on which a chosen one
has a flow, anti or output dependence. The rest stays recorded.
"""

from __future__ import annotations

import functools
import pathlib
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy._core.umath import _extobj_contextvar

from appyc.lazy import _nodes
from appyc.lazy._nodes import Buffer, Tally
from appyc.lazy.recorded_calls import CallStatement, Recorded
from appyc.lazy.recorded_nodes import Site
from appyc.lazy.residence import is_chunked


def line_of(site: Site) -> tuple[str, int]:
    """File and line of a recorded operation."""
    code, instruction, _ = site
    for start, end, line in code.co_lines():
        if start <= instruction < end and line is not None:
            return code.co_filename, line
    return code.co_filename, code.co_firstlineno


_FOLDER = str(pathlib.Path(__file__).parent.parent)

caller = functools.partial(_nodes.caller, _FOLDER)
"""The site of the innermost frame outside appyc."""


COME_ROUND = 12
"""The minimum number of statements that run when the program reaches the site of the first of them again: a loop's
body becomes one program, the same in each iteration."""


def drop_needless(statements: list[Recorded]) -> None:
    """Drops dead statements: those whose results are unreachable. Backwards, since a dropped one may have held the
    last reference to the result of an earlier one."""
    for at in range(len(statements) - 1, -1, -1):
        if not statements[at].writes():
            del statements[at]


RECORDING_SECONDS = 3e-6
"""Seconds that recording one statement takes, beside what its flush takes."""

MOST_FLUSH_SECONDS = 5e-4
"""The most seconds beside its programs' that one flush counts for: what it takes at first, it does not take again."""

LOSS_SECONDS = 4e-3
"""Seconds lost by recording from which on operations on arrays of that size run eagerly."""

MOST_GAINED_SECONDS = 10 * LOSS_SECONDS
"""The most seconds gained by recording that are held against later losses."""


MOST_CUTS = 256
"""Maximum number of remembered cuts."""


@dataclass(slots=True)
class Spent:
    """What a flush has run. seconds: of its programs alone. saved: what they take less than NumPy."""

    statements: int = 0
    largest: int = 0
    seconds: float = 0.0
    saved: float = 0.0

    def of(self, statements: int, largest: int) -> None:
        """Adds statements, with the elements of their largest array."""
        self.statements += statements
        self.largest = max(self.largest, largest)

    def since(self, start: float) -> float:
        """Adds the seconds since then, and returns them."""
        seconds = time.perf_counter() - start
        self.seconds += seconds
        return seconds


class Recording(Tally):
    """The pending statements, and bounds on their number and on the bytes of their results.

    Adding or taking out statements needs the lock of the state. Only cached operations add without it, in one step,
    and not while `busy` is set.

    at_once: maximum elements of arrays whose operations run eagerly: one, until recording those on arrays of some size,
    and on all smaller ones, has taken longer than NumPy would; never more than `most_at_once`. 0: none run eagerly.
    """

    def __init__(self, most_statements: int, most_bytes: int, at_once: int) -> None:
        self.statements: list[Recorded] = []
        self.left: list[Recorded] = []
        """Deferred statements, whose results are likely dead: they wait until one is needed."""
        self.again: frozenset[int] = frozenset()
        """The `id` of those statements taken last that had been deferred before."""
        self.folder = _FOLDER
        self.nbytes = 0
        self.cuts: set[Site] = set()
        """Sites at which the recording was split because results had too many bytes."""
        self.busy = self.running = False
        self.errors = _extobj_contextvar
        self.usual = None
        self.most_at_once = at_once
        self.at_once = min(at_once, 1)
        self.losses: dict[int, float] = {}
        """Seconds lost by flushes, by the bit length of the elements of their largest arrays."""
        self.deferring = 0
        self.bound(most_statements, most_bytes)

    def is_usual(self) -> bool:
        """Whether floating-point errors have no handler that raises, calls or prints (`np.errstate`). Otherwise
        operations run in NumPy, eagerly."""
        now = self.errors.get()
        if now is not self.usual and not {"raise", "call", "print", "log"} & set(np.geterr().values()):
            self.usual = now
        return now is self.usual

    def bound(self, most_statements: int, most_bytes: int) -> None:
        """Sets the bounds on pending statements and bytes."""
        self.most_statements = most_statements
        self.few = min(COME_ROUND, most_statements)
        self.most_bytes = most_bytes

    def has_run(self, statements: int, largest: int, seconds: float, saved: float) -> None:
        """Counts a flush for or against recording, and adapts `at_once`. largest: elements of its largest array.
        seconds: what the flush took beside its programs. saved: what these take less than NumPy."""
        if not 0 < self.at_once < largest <= self.most_at_once or self.deferring:
            return
        lost = min(seconds, MOST_FLUSH_SECONDS) + statements * RECORDING_SECONDS - saved
        size = largest.bit_length()
        self.losses[size] = max(self.losses.get(size, 0.0) + lost, -MOST_GAINED_SECONDS)
        if sum(loss for bits, loss in self.losses.items() if bits <= size) > LOSS_SECONDS:
            self.at_once = min(1 << size, self.most_at_once)
            self.losses = {bits: loss for bits, loss in self.losses.items() if bits > size}

    @contextmanager
    def deferred(self) -> Iterator[None]:
        """A context in which operations on small arrays are recorded too."""
        before = self.at_once
        self.at_once = min(before, 1)
        self.deferring += 1
        try:
            yield
        finally:
            self.deferring -= 1
            self.at_once = before

    def is_due(self, site: Site) -> bool:
        """Whether the recording should run before a statement at this site is added: it is full, or the program is back
        at the site of the first statement, or in a loop after other statements."""
        is_full = len(self.statements) >= self.most_statements
        if not is_full and not _nodes.comes_round(self, site):
            return False
        self.prune()
        if is_full:  # half the bound is enough, lest each further statement prunes again
            return len(self.statements) > self.most_statements // 2
        return _nodes.comes_round(self, site)

    def is_too_much(self) -> bool:
        """Whether the results exceed their bound on bytes, after dead ones are dropped."""
        self.prune()
        self.count_bytes()
        return self.nbytes > self.most_bytes

    def count_bytes(self) -> None:
        """Recomputes the bytes of results, without those over chunks, which are graphs of tasks."""
        chunked = set[Buffer]()
        self.nbytes = 0
        for s in self.statements:
            if any(buffer in chunked or is_chunked(buffer.memory) for buffer in s.reads()):
                chunked.update(s.makes())
            else:
                self.nbytes += sum(buffer.nbytes for buffer in s.makes())

    def split_off(self) -> list[Recorded]:
        """Takes out the last statements, at least one, which stay recorded where results have too many bytes.

        The split is at the site of an earlier one if possible: a loop's body is then split into the same programs in
        each iteration.
        """
        statements = self.statements
        at = next(
            (k for k in range(len(statements) - 1, 0, -1) if statements[k].site in self.cuts),
            len(statements) - 1,
        )
        if len(self.cuts) >= MOST_CUTS:
            self.cuts.clear()
        self.cuts.add(statements[at].site)
        rest = statements[at:]
        del statements[at:]
        return rest

    def prune(self) -> None:
        """Drops dead statements."""
        self.busy = True
        try:
            drop_needless(self.statements)
            drop_needless(self.left)
        finally:
            self.busy = False

    def take(self, wanted: Sequence[Buffer] | None, overwritten: Sequence[Buffer] = ()) -> list[Recorded]:
        """Takes out the statements that must run, in order: for `wanted`, or all of them.

        overwritten: buffers that code outside the recording is about to write.
        """
        if wanted is None:
            self.prune()
            self.nbytes = 0
            wanted = [buffer for s in self.pending() for buffer in s.writes()]
        self.busy = True
        self.again = frozenset()
        try:
            return self._take_needed(wanted, overwritten)
        finally:
            self.busy = False

    def take_new(self) -> list[Recorded]:
        """Takes out all statements, except deferred ones that are not needed."""
        self.prune()
        self.nbytes = 0
        return self.take([buffer for s in self.statements for buffer in s.writes()])

    def _take_needed(self, wanted: Sequence[Buffer], overwritten: Sequence[Buffer]) -> list[Recorded]:
        if not self.left:
            chosen, self.statements = parted(self.statements, wanted, overwritten)
            return chosen
        newer = {id(statement) for statement in self.statements}
        pending, self.left, self.statements = self.pending(), [], []
        chosen, rest = parted(pending, wanted, overwritten)
        for statement in rest:
            (self.statements if id(statement) in newer else self.left).append(statement)
        self.again = frozenset(id(statement) for statement in chosen if id(statement) not in newer)
        return chosen

    def pending(self) -> list[Recorded]:
        """All statements that have not run."""
        return [*self.left, *self.statements]

    def changes(self, buffer: Buffer) -> bool:
        """Whether a pending statement stores into or makes the buffer."""
        return any(buffer is b for s in self.pending() for b in s.writes())


class Demand:
    """A backward slice as it grows: the buffers that the statements further on need, and those that they change."""

    def __init__(self, wanted: Iterable[Buffer], overwritten: Iterable[Buffer] = ()) -> None:
        self._changed: set[Buffer] = set(overwritten)
        self._needed = {*wanted, *self._changed}

    def takes(self, statement: Recorded) -> bool:
        """Whether a statement before those that were taken is in the slice, to which it is then added."""
        if self._needed.isdisjoint(statement.writes()) and (
            not self._changed or self._changed.isdisjoint(statement.reads())
        ):
            return False
        self._needed.update(statement.reads())
        stored = statement.stored()
        self._needed.update(stored)
        self._changed.update(stored)
        return True


def parted(
    statements: list[Recorded], wanted: Iterable[Buffer], overwritten: Iterable[Buffer]
) -> tuple[list[Recorded], list[Recorded]]:
    """Splits the statements into those that must run and the others, without dead ones.

    Empties the list backwards: a dropped statement may hold the last reference to the result of an
    earlier one.
    """
    demand = Demand(wanted, overwritten)
    chosen: list[Recorded] = []
    left: list[Recorded] = []
    while statements:
        statement = statements.pop()
        writes = statement.writes()
        if not writes:
            continue
        if not demand.takes(statement):
            left.append(statement)
            continue
        chosen.append(statement.again(writes[0]) if isinstance(statement, CallStatement) else statement)
    chosen.reverse()
    left.reverse()
    return chosen, left
