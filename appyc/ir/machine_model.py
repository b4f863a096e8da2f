"""A model of a machine's speed, and the time of a loop from its cost.

The numbers are measured (`appyc.runtime.measure`); those here are of an ordinary machine, and serve
until then. Generated C holds the same arithmetic (`c_gen/headers/machine.h`) over the same numbers,
which it finds in a table in the order of the fields.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

MARGIN = 1 / 3
"""The part of a loop's time that threads must bring beyond what starting them costs. Being wrong is
dearer on their side: a thread that waits for a core costs all the others their time, and what the
caller has just written lies in its own core's cache. (Measured: with an eighth, the choice over small
loops was worse than always one thread; benchmarks/results has what it is with a third.)"""

ENOUGH = 1 << 9
"""The fewest multiplications with which a matrix product is worth a call of a library, whatever its sides. (Measured on
an EPYC Zen 4, one thread: 8 rows square .4 us by the library and .6 in lanes; 1000 by 4, 100 sums 17 us and 103 in
jammed loops.)"""

ENOUGH_IN_STACK = 1 << 10
"""The fewest multiplications of each of many products with which a call of a library is worth it; loops
compute these without the cost of a call. (Measured there: 12 rows square .16 us by the library and .27 in
jammed loops; 8 rows .10 and .05.)"""

FEWEST, ENOUGH_APART = 8, 1 << 14
"""The shortest side, and the fewest multiplications, for which a product among other work is worth a nest of its own,
with its result in memory."""

ENOUGH_FOR_ALL = 1 << 21
"""Multiplications of one product that keep all threads of a machine busy, so that several of them are better
computed in order. (128 rows: below that, a BLAS leaves a part of its threads idle.)"""


OWN_WORTH = 0.9
"""The most time that generated code may take for a product, as a fraction of the library's, to be used
instead: a measurement of equals comes out either way, and a library gains on it with the size."""


WAITED = 200_000.0
"""Nanoseconds to start threads that are awake, from which on one of them has waited for a processor."""


@dataclass(frozen=True, slots=True)
class Machine:
    """Nanoseconds, unless a name says bytes.

    vector, scalar: for an operation on 8 bytes in lanes, and for one on its own. gather_near,
    gather_far: for coming to another line of memory, in the cache and outside. near_bytes: what a
    core's own cache holds. byte_near, byte_far: for a byte of a stream on one thread; byte_shared:
    outside of the cache with all threads at it. fork: to start threads that wait for work, and to
    wait for the last of them. wake: the same where they sleep. awake: for how long they wait
    before they do. past_bytes: what a loop touches, from which on its results are written past the
    caches: they would be evicted before they are read. library_product, own_product: for a
    multiplication and an addition in a product of matrices on one thread, by the library and by what is
    compiled here.
    """

    vector: float = 0.05
    scalar: float = 0.2
    gather_near: float = 1.5
    gather_far: float = 8.0
    near_bytes: float = 1 << 20
    byte_near: float = 0.02
    byte_far: float = 0.1
    byte_shared: float = 0.05
    fork: float = 3_000.0
    wake: float = 30_000.0
    awake: float = 500_000.0
    past_bytes: float = 1 << 25
    library_product: float = 0.02
    own_product: float = 0.03

    @property
    def has_cores(self) -> bool:
        """Whether the threads of a measurement ran at the same time."""
        return self.fork < WAITED

    def bounded(self) -> Machine:
        """The measurements of a busy machine, with what takes several threads no worse than on an ordinary one: a
        thread that waits for a processor says nothing about the loops of a quiet machine."""
        ordinary = Machine()
        return replace(
            self,
            byte_shared=min(self.byte_shared, self.byte_far * ordinary.byte_shared / ordinary.byte_far),
            fork=min(self.fork, ordinary.fork),
            wake=min(self.wake, ordinary.wake),
            awake=max(self.awake, ordinary.awake),
        )

    def alone(self, work: Work) -> float:
        """The time on one thread."""
        near = work.bytes <= self.near_bytes
        moving = work.bytes * (self.byte_near if near else self.byte_far)
        return max(self._computing(work), moving)

    def together(self, work: Work, threads: int) -> float:
        """The time on several threads that are running already."""
        each = work.bytes / threads
        if each <= self.near_bytes:
            moving = each * self.byte_near
        else:
            moving = work.bytes * max(self.byte_shared, self.byte_far / threads)
        return max(self._computing(work) / threads, moving)

    def gain(self, work: Work, threads: int) -> float:
        """The time that running threads save, before the cost of starting them, to be compared with `fork`
        and `wake`."""
        alone = self.alone(work)
        return alone - self.together(work, threads) - MARGIN * alone

    def _computing(self, work: Work) -> float:
        gather = self.gather_near if work.bytes <= self.near_bytes else self.gather_far
        return work.vector * self.vector + work.scalar * self.scalar + work.gathers * gather


@dataclass(frozen=True, slots=True)
class Work:
    """A loop's cost in numbers: operations in lanes and one by one, cache lines gathered, bytes touched."""

    vector: float
    scalar: float
    gathers: float
    bytes: float


@dataclass(frozen=True, slots=True)
class Gpu:
    """A graphics processor, in nanoseconds; `full` is a number of threads.

    call: for a call's arguments and the way back. launch: for a kernel, in a row of them. over_byte,
    back_byte: to its memory, and from there. byte: of a stream in its memory. line: for an access
    to another line of it. operation: on 8 bytes, with at least `full` threads at work; lone: of a
    thread on its own.
    """

    call: float = 60_000.0
    launch: float = 6_000.0
    over_byte: float = 0.15
    back_byte: float = 0.15
    byte: float = 0.002
    line: float = 0.05
    operation: float = 0.002
    lone: float = 3.0
    full: float = 20_000.0

    def shared(self, work: Work, threads: float) -> float:
        """A kernel with so many threads."""
        busy = min(1.0, max(threads, 1.0) / self.full)
        computing = (work.vector + work.scalar) * self.operation + work.gathers * self.line
        return self.launch + max(computing / busy, work.bytes * self.byte)

    def alone(self, work: Work) -> float:
        """A kernel of one thread, for a loop that runs in order."""
        return self.launch + (work.vector + work.scalar + 10 * work.gathers) * self.lone


LEAST_LANES = 128
"""Iterations of a block of non-temporal stores, at least: whole vectors of any type, and lines that stay in the cache
next to the core."""
