"""Loop interchange in a band: the legal orders of its loops by their direction vectors, and the parallel loops of each.

A band is a perfect nest: a loop with nothing in it but a loop, and so on down. A dependence between two
of its iterations has a distance in each loop. Its direction vector holds the signs of these distances,
which decide the legality:

    for i:                                  (+, -)  a later i, an earlier j
        for j:
            a[i, j] = a[i - 1, j + 1]       j cannot go around i: the sink would come first

An order is legal where every direction vector stays lexicographically positive: its first sign
other than 0 is a plus. A loop is parallel in an order where it carries no dependence: no vector
has its first sign other than 0 there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import permutations
from typing import TypeAlias

from appyc.analysis.algebra.linear_subscripts import SECOND
from appyc.analysis.dependences.dependences import Conflict
from appyc.analysis.dependences.legality import Legality
from appyc.analysis.sets.lazy_isl import isl
from appyc.ir.nodes import For

MAX_LOOPS = 4
"""The most loops of a band; of a deeper nest the innermost ones are taken."""

MAX_CONFLICTS = 48
"""The most dependences of a band; one with more is not transformed."""

Order: TypeAlias = tuple[int, ...]
"""The loops of a band, outside first, each by its number in the band as written."""


@dataclass(frozen=True, slots=True)
class Direction:
    """A direction vector of a dependence: for each loop the sign of the distance from source to sink,
    1 where the sink is in a later iteration of the loop, -1 where it is in an earlier one, else 0."""

    signs: tuple[int, ...]
    conflict: Conflict

    def first(self, order: Order) -> int:
        """The position in the order of the loop that carries the dependence."""
        return next(level for level, loop in enumerate(order) if self.signs[loop] != 0)

    def is_kept(self, order: Order) -> bool:
        return self.signs[order[self.first(order)]] > 0


@dataclass(frozen=True, slots=True)
class Band:
    """A perfect nest. loops: outermost first. directions: of all dependences that they carry."""

    loops: tuple[For, ...]
    directions: tuple[Direction, ...]

    def orders(self) -> Iterator[Order]:
        """All permutations of the loops, the original order first."""
        yield from permutations(range(len(self.loops)))

    def broken(self, order: Order, *, exact: bool) -> Conflict | None:
        """A dependence that the order reverses, which makes it illegal; None if there is none.

        exact: reductions keep their order too, since another one rounds differently."""
        for direction in self.directions:
            if not direction.is_kept(order) and (exact or direction.conflict.kind != "reduction"):
                return direction.conflict
        return None

    def carried(self, order: Order, level: int) -> list[Conflict]:
        """The dependences carried by the loop at this position of the order."""
        return [d.conflict for d in self.directions if d.first(order) == level]


def band_of(legality: Legality, loops: tuple[For, ...]) -> Band | None:
    """The band with its direction vectors; None where the dependences are too many, or too hard to compute."""
    directions: list[Direction] = []
    count = 0
    for level, loop in enumerate(loops):
        for conflict in legality.dependences.conflicts(loop):
            count += 1
            if conflict.instances is None or count > MAX_CONFLICTS:
                return None
            found = legality.dependences.sets.bounded(
                partial(_directions, legality, loops, level, conflict.instances), None
            )
            if found is None:
                return None
            directions += [Direction(signs, conflict) for signs in found]
    return Band(loops, tuple(directions))


def _directions(
    legality: Legality, loops: tuple[For, ...], level: int, instances: isl.Set
) -> list[tuple[int, ...]]:
    """The direction vectors of a dependence that is carried by the loop at this position."""
    found, sets = legality.dependences.found, legality.dependences.sets
    ways: list[tuple[tuple[int, ...], isl.Set]] = [((*(0 for _ in range(level)), 1), instances)]
    for loop in loops[level + 1 :]:
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
