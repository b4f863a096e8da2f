"""In which orders the loops of a band may run, and which of them are free then.

A band is a loop with nothing in it but a loop, and so on down. Two iterations of it conflict,
the later one so many iterations of each loop further on. The signs of these distances are all
that matters:

    for i:                                  (+, -)  a later i, an earlier j
        for j:
            a[i, j] = a[i - 1, j + 1]       j cannot go around i: the sink would come first

In another order of the loops every conflict has to keep its direction: the first sign that is
not 0 stays a plus. A loop is free in an order where no conflict has its first sign there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import permutations
from typing import TYPE_CHECKING, TypeAlias

from appyc.analysis.accesses.access_pairs import SECOND
from appyc.analysis.dependences.dependences import Conflict
from appyc.analysis.dependences.legality import Legality
from appyc.ir.nodes import For

if TYPE_CHECKING:
    import islpy as isl

MAX_LOOPS = 4
"""Of a deeper band the inner loops are looked at."""

MAX_CONFLICTS = 48
"""A band with more is left as it is."""

Order: TypeAlias = tuple[int, ...]
"""The loops of a band, outside first, each by its number in the band as written."""


@dataclass(frozen=True, slots=True)
class Direction:
    """One way that a conflict may point: for each loop 1 where the later iteration of the band has
    a later one of the loop, -1 where it has an earlier one, else 0."""

    signs: tuple[int, ...]
    conflict: Conflict

    def first(self, order: Order) -> int:
        """The place in the order of the loop that carries the conflict."""
        return next(place for place, loop in enumerate(order) if self.signs[loop] != 0)

    def is_kept(self, order: Order) -> bool:
        return self.signs[order[self.first(order)]] > 0


@dataclass(frozen=True, slots=True)
class Band:
    """loops: outside first. directions: of all conflicts that they carry."""

    loops: tuple[For, ...]
    directions: tuple[Direction, ...]

    def orders(self) -> Iterator[Order]:
        """All orders, the one that is written first."""
        yield from permutations(range(len(self.loops)))

    def broken(self, order: Order, *, exact: bool) -> Conflict | None:
        """A conflict that the order turns round. exact: updates of an element keep their order too,
        where another one rounds differently."""
        for direction in self.directions:
            if not direction.is_kept(order) and (exact or direction.conflict.kind != "reduction"):
                return direction.conflict
        return None

    def carried(self, order: Order, place: int) -> list[Conflict]:
        """The conflicts that the loop at this place of the order carries."""
        return [d.conflict for d in self.directions if d.first(order) == place]


def band_of(legality: Legality, loops: tuple[For, ...]) -> Band | None:
    """The band with its conflicts; None where there are too many, or they are too hard to tell."""
    directions: list[Direction] = []
    count = 0
    for place, loop in enumerate(loops):
        for conflict in legality.dependences.conflicts(loop):
            count += 1
            if conflict.instances is None or count > MAX_CONFLICTS:
                return None
            found = legality.dependences.sets.bounded(
                partial(_directions, legality, loops, place, conflict.instances), None
            )
            if found is None:
                return None
            directions += [Direction(signs, conflict) for signs in found]
    return Band(loops, tuple(directions))


def _directions(
    legality: Legality, loops: tuple[For, ...], place: int, instances: isl.Set
) -> list[tuple[int, ...]]:
    """The signs that occur among pairs of iterations of which the loop at this place carries the conflict."""
    found, sets = legality.dependences.found, legality.dependences.sets
    ways: list[tuple[tuple[int, ...], isl.Set]] = [((*(0 for _ in range(place)), 1), instances)]
    for loop in loops[place + 1 :]:
        name = found.variables[loop.var]
        first, second = sets.parameter(name), sets.parameter(name + SECOND)
        earlier, later = (first, second) if loop.step > 0 else (second, first)
        cases = ((1, earlier.lt_set(later)), (0, earlier.eq_set(later)), (-1, earlier.gt_set(later)))
        ways = [
            ((*signs, sign), met)
            for signs, pairs in ways
            for sign, where in cases
            if not (met := pairs.intersect(where)).is_empty()
        ]
    return [signs for signs, _ in ways]
