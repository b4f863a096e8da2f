"""Loop-carried dependences: flow, anti and output dependences between accesses to arrays.

For a loop at depth d, two instances of accesses are dependent if they belong to the same
iteration of every loop around it, to different iterations of the loop itself, touch one
element, and one of them writes. The dependence relation is one set of pairs: the second
instance's names deeper than d (its own variables, the opaque values of its iteration) are
renamed apart, and everything shallower is shared. There is a dependence if the set is not empty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from appyc.analysis.accesses.access_pairs import Meetings
from appyc.analysis.accesses.accesses import READS, Access, FunctionAccesses
from appyc.analysis.algebra.linear_subscripts import SECOND
from appyc.analysis.sets.lazy_isl import isl
from appyc.ir.names import ordered
from appyc.ir.nodes import For, Symbol

_ELEMENT = "$"
"""The prefix of the names that stand for the element's indices in a witness."""


@dataclass(frozen=True, slots=True)
class Witness:
    """An example of a dependence, for a message: the loop variable in two iterations, and the element they share."""

    first: int
    second: int
    element: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Conflict:
    """A loop-carried dependence between two accesses; `source` is in the earlier iteration.

    instances: the dependence relation, as pairs of instances; None where isl reached its bound. exact: every
    pair is a dependence; otherwise it may be one (a condition or an index is not affine). free_if:
    parameters for which there surely is no dependence, where it is not known whether there is for others.
    """

    loop: For
    source: Access
    sink: Access
    instances: isl.Set | None
    exact: bool
    free_if: isl.Set | None = None

    @property
    def kind(self) -> str:
        """ "flow", "anti", "output"; "reduction" for two updates by one operator."""
        if self.source.updates and self.source.op == self.sink.op:
            return "reduction"
        if self.source.writes and self.sink.op in READS:
            return "flow"
        if self.source.writes and self.sink.writes:
            return "output"
        return "flow" if self.source.writes else "anti"


class Dependences:
    """The dependences of one function, computed on demand for each loop."""

    def __init__(self, found: FunctionAccesses) -> None:
        self.found = found
        self.sets = found.sets
        self.meetings = Meetings(found)
        self._known: dict[tuple[Symbol, int, int], Conflict | None] = {}

    def conflicts(self, loop: For, skip: frozenset[Symbol] = frozenset()) -> Iterator[Conflict]:
        """The dependences that the loop carries, computed lazily.

        Two atomic updates by one operator are not dependent. An array allocated in the loop
        is private to one iteration.
        """
        by_array: dict[Symbol, list[Access]] = {}
        for access in self.found.within(loop):
            by_array.setdefault(access.array, []).append(access)
        written = {array for array, found in by_array.items() if any(access.writes for access in found)}
        for array in ordered(written - skip):
            if self._is_own(array, loop):
                continue
            mine = by_array[array]
            for at, first in enumerate(mine):
                for second in mine[at:]:
                    if (first.writes or second.writes) and not _both_atomic(first, second):
                        yield from self._between(loop, first, second)

    def all_conflicts(self, loop: For, most: int) -> list[Conflict] | None:
        """All of them; None where they are more than so many, or where isl reached its bound."""
        found: list[Conflict] = []
        for conflict in self.conflicts(loop):
            if conflict.instances is None or len(found) == most:
                return None
            found.append(conflict)
        return found

    def _is_own(self, array: Symbol, loop: For) -> bool:
        """Whether an array is private to each iteration: allocated in it before each use, and dead outside."""
        around = len(self.found.around[loop.var])
        return array not in self.found.returned and all(
            access.allocated is not None
            and (access.allocated > around or not self.found.is_in(loop, access.loops))
            for access in self.found.accesses
            if access.array == array
        )

    def _between(self, loop: For, first: Access, second: Access) -> Iterator[Conflict]:
        orders = ((first, second),) if first is second else ((first, second), (second, first))
        for source, sink in orders:
            if self.meetings.are_apart(loop, source, sink):
                continue  # most pairs
            key = (loop.var, id(source), id(sink))
            if key not in self._known:
                self._known[key] = self._conflict(loop, source, sink)
            known = self._known[key]
            if known is not None:
                yield known

    def _conflict(self, loop: For, source: Access, sink: Access) -> Conflict | None:
        def meet() -> isl.Set:
            return self.meetings.in_order(loop, self.meetings.pairs(loop, source, sink))

        instances = self.sets.bounded(meet, None)
        if instances is None:
            return Conflict(loop, source, sink, None, False)
        if instances is self.sets.nothing:
            return None
        exact = self.meetings.is_exact(loop, source, sink, instances)
        free_if = None
        if not exact:
            free_if = self.sets.bounded(partial(self.meetings.free_if, loop, source, sink), None)
        return Conflict(loop, source, sink, instances, exact, free_if)

    def element(self, access: Access) -> tuple[isl.Set, tuple[isl.PwAff, ...]]:
        """The iteration domain of an access, and the element touched, as its access relation."""
        return self.meetings.element(access)

    def is_of_the_iteration_before(self, loop: For, source: Access, sink: Access) -> bool:
        """Whether the dependence distance is always 1: the sink of every iteration but the first touches
        the element that the source of the previous iteration touched."""
        return self.sets.bounded(lambda: self._is_of_the_iteration_before(loop, source, sink), False)

    def _is_of_the_iteration_before(self, loop: For, source: Access, sink: Access) -> bool:
        domain, _ = self.element(source)
        other_domain, _ = self.element(sink)
        var = self.found.variables[loop.var]
        following = self.sets.parameter(var).add(self.sets.constant(loop.step))
        pairs = domain.intersect(self.meetings.second(loop, other_domain))
        pairs = pairs.intersect(self.sets.parameter(var + SECOND).eq_set(following))
        pairs = self.found.affine.in_context(pairs)
        same = pairs.intersect(self.meetings.pairs(loop, source, sink))
        return bool(pairs.is_subset(same)) and self.meetings.is_exact(loop, source, sink, pairs)

    def may_meet(self, first: Access, second: Access) -> bool:
        """Whether there may be a loop-independent dependence: two accesses touch one element in one iteration."""
        return self.sets.bounded(lambda: not self.meetings.in_one_iteration(first, second).is_empty(), True)

    def may_ever_meet(self, loop: For, first: Access, second: Access) -> bool:
        """Whether two accesses in the body of a loop may touch one element, in any two iterations of it."""
        return self.sets.bounded(lambda: not self.meetings.pairs(loop, first, second).is_empty(), True)

    def exists_before(self, loop: For, access: Access) -> bool:
        """Whether an access of the loop is in bounds wherever the loop is reached, even where
        the loop has no iterations. The function's guards are taken to hold."""

        affine = self.found.affine

        def question() -> bool:
            reached = self.found.entries[loop.var].intersect(self.found.guarded)
            zero = self.sets.constant(0)
            return all(
                affine.in_context(
                    reached.intersect(index.lt_set(zero).union(index.ge_set(extent)))
                ).is_empty()
                for index, extent in zip(access.index, access.extents, strict=True)
            )

        return self.sets.bounded(question, False)

    def turning_points(self, loop: For, conflicts: list[Conflict]) -> tuple[isl.PwAff, isl.PwAff] | None:
        """The first iteration that is a sink of the dependences, and the last one that is a source.

        They are bounds where they are not exact. None where they are not known, or the sources may reach
        behind the first sink: the loop then does not split into two parallel ones."""
        return self.sets.bounded(lambda: self._turning_points(loop, conflicts), None)

    def _turning_points(self, loop: For, conflicts: list[Conflict]) -> tuple[isl.PwAff, isl.PwAff] | None:
        var = self.found.variables[loop.var]
        points = self.sets.nothing

        def is_inner(name: str) -> bool:
            own = name.removesuffix(SECOND)
            return own != var and not self.meetings.is_shared(loop, own)

        for conflict in conflicts:
            assert conflict.instances is not None
            points = points.union(self.sets.forget(conflict.instances, is_inner))
        later = self.sets.least(self.sets.project_out(points, [var]), var + SECOND)
        earlier = self.sets.least(self.sets.project_out(points, [var + SECOND]), var, greatest=True)
        if later is None or earlier is None:
            return None
        where = self.found.affine.in_context(later.domain())
        for first in self.sets.bounding_cases(later, above=False):
            for last in self.sets.bounding_cases(earlier, above=True):
                if self.found.affine.in_context(last.gt_set(first).intersect(where)).is_empty():
                    return first.intersect_domain(where), last.intersect_domain(where)
        return None

    def distances(self, conflict: Conflict) -> tuple[int | None, int | None]:
        """The least and the greatest dependence distance, in iterations; None: no bound known."""
        if conflict.instances is None:
            return None, None
        var = self.found.variables[conflict.loop.var]
        gap = self.sets.parameter(var + SECOND).sub(self.sets.parameter(var))
        if conflict.loop.step < 0:
            gap = gap.neg()
        name = "gap"
        points = conflict.instances.intersect(self.sets.parameter(name).eq_set(gap))
        unknown: tuple[int | None, int | None] = (None, None)
        low, high = self.sets.bounded(lambda: self.sets.value_range(points, name), unknown)
        step = abs(conflict.loop.step)
        return (None if low is None else low // step, None if high is None else high // step)

    def witness(self, conflict: Conflict) -> Witness | None:
        """Two concrete iterations of a dependence, and the element that they share."""
        if conflict.instances is None or conflict.free_if is not None:
            return None
        return self._witness(conflict, conflict.instances, self.sets.smallest_point)

    def _witness(
        self,
        conflict: Conflict,
        points: isl.Set,
        choose: Callable[[isl.Set, Sequence[str]], dict[str, int] | None],
    ) -> Witness | None:
        var = self.found.variables[conflict.loop.var]
        _, element = self.element(conflict.source)
        marks = [f"{_ELEMENT}{axis}" for axis in range(len(element))]
        for mark, index in zip(marks, element, strict=True):
            points = points.intersect(self.sets.parameter(mark).eq_set(index))
        outer = [
            self.found.variables[around.var] for around in conflict.source.loops if isinstance(around, For)
        ]
        order = [*outer, var + SECOND, *marks]
        point = self.sets.bounded(lambda: choose(points, order), None)
        if point is None or var not in point:
            return None
        position = tuple(self._number(index, point, mark) for mark, index in zip(marks, element, strict=True))
        return Witness(point[var], point[var + SECOND], position)

    def _number(self, index: isl.PwAff, point: Mapping[str, int], mark: str) -> int:
        """An index at a point: as `mark` is, or multiplied out where isl does not know the products."""
        products = self.found.affine.products
        numbers = self.sets.linear_of(index) if products.factors else None
        if numbers is not None and products.has_any(numbers):
            return products.evaluated(numbers, point)
        return point[mark]

    def meeting(self, conflict: Conflict, known: Mapping[str, int]) -> Witness | None:
        """The first two dependent iterations where parameters, by name, have these values."""
        if conflict.instances is None:
            return None
        points, names = conflict.instances, self.sets.names(conflict.instances)
        for name, value in known.items():
            if name in names:
                points = points.intersect(self.sets.parameter(name).eq_set(self.sets.constant(value)))
        return self._witness(conflict, points, self.sets.first_point)

    def clear_of(self, conflict: Conflict, distance: int | None = None) -> isl.Set | None:
        """The parameter values without the dependence, given that the loop has two iterations, or two at a distance.

        None where there are none, or where they cannot be computed: such a loop is simply serial.
        """
        if conflict.free_if is not None:
            return conflict.free_if
        if conflict.instances is None or not conflict.exact:
            return None
        return self.sets.bounded(lambda: self._clear_of(conflict, distance), None)

    def _clear_of(self, conflict: Conflict, distance: int | None) -> isl.Set | None:
        var = self.found.variables[conflict.loop.var]
        domain, _ = self.element(conflict.source)
        other, _ = self.element(conflict.sink)
        other = self.meetings.second(conflict.loop, other)
        first, second = self.sets.parameter(var), self.sets.parameter(var + SECOND)
        apart = first.ne_set(second)
        if distance is not None:
            apart = second.sub(first).eq_set(self.sets.constant(distance * conflict.loop.step))
        both = domain.intersect(other).intersect(apart)
        context = self.found.affine.context_of(both, conflict.instances)
        worth, met = self.meetings.settled(both.intersect(context)), self.meetings.settled(conflict.instances)
        return self.found.affine.without(met, worth, context)


def _both_atomic(first: Access, second: Access) -> bool:
    return first.updates and first.op == second.op and first.atomic and second.atomic
