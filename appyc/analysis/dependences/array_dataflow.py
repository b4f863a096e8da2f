"""Array data flow within one loop: which reads have their reaching definition in the same iteration, and
which writes are last writes.

    for i in range(n):
        for j in range(m):
            t[j] = x[i, j]        lasts where i = n - 1: later iterations write t[j] again
        for j in range(m):
            y[i, j] = t[j]        always sees what this iteration wrote
            y[i, 0] = t[m]        never does

Order within an iteration is that of the loops around both accesses, then that of the text.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property

from appyc.analysis.accesses.accesses import Access
from appyc.analysis.algebra.linear_subscripts import SECOND
from appyc.analysis.dependences.dependences import Conflict, Dependences
from appyc.analysis.sets.conditions import cases_of, condition_of, expression_of
from appyc.analysis.sets.lazy_isl import isl
from appyc.errors import Loc
from appyc.ir.nodes import Expr, For, Symbol


class Sees(Enum):
    """The reaching definition of a read: a write of the same iteration, or one from before the iteration."""

    OWN = "own"
    OLD = "old"
    EITHER = "either"


@dataclass(frozen=True)
class IterationFlow:
    """The data flow of one array in one loop. accesses: those in the loop's body, in textual order."""

    dependences: Dependences
    loop: For
    array: Symbol
    _seen: dict[int, Sees] = field(default_factory=dict)
    """The reaching definitions that have been computed, by the identity of the read access."""

    @cached_property
    def accesses(self) -> list[Access]:
        return [a for a in self.dependences.found.within(self.loop) if a.array == self.array]

    @property
    def reads(self) -> list[Access]:
        return [access for access in self.accesses if access.op != "write"]

    @property
    def writes(self) -> list[Access]:
        return [access for access in self.accesses if access.writes]

    def number_of(self, access: Access) -> int:
        """The number of an access among all in the loop's body."""
        return self.dependences.found.number_of(access, self.loop)

    @property
    def _depth(self) -> int:
        """The depth of the loop's own variable."""
        return len(self.dependences.found.around[self.loop.var]) + 1

    def sees(self, read: Access) -> Sees:
        """The reaching definition of a read, over all iterations. EITHER where it is not known."""
        if id(read) not in self._seen:
            self._seen[id(read)] = self.dependences.sets.bounded(lambda: self._sees(read), Sees.EITHER)
        return self._seen[id(read)]

    def _sees(self, read: Access) -> Sees:
        domain, _ = self.dependences.element(read)
        left, touched = self.dependences.found.affine.in_context(domain), False
        for write in self.writes:
            pairs, sure_pairs = self._pairs(write, read)
            touched = touched or not pairs.is_empty()
            if self._is_sure(write):
                left = left.subtract(self.dependences.meetings.firsts(sure_pairs))
        if not touched:
            return Sees.OLD
        return Sees.OWN if left.is_empty() else Sees.EITHER

    def _is_sure(self, write: Access) -> bool:
        """Whether the iteration domain of the write is exact: it has no names but parameters and loop variables."""
        if write.approximate:
            return False
        names = self.dependences.found.affine.names
        domain, element = self.dependences.element(write)
        sets = self.dependences.sets
        spoken = {name for thing in (domain, *element) for name in sets.names(thing)}
        return all(names[name].depth <= self._depth or names[name].loop is not None for name in spoken)

    def _pairs(self, write: Access, read: Access) -> tuple[isl.Set, isl.Set]:
        """The pairs of a read instance and a write instance (marked as second) of the same iteration and element
        where the write may precede the read; and the pairs where it certainly does."""
        sets, names = self.dependences.sets, self.dependences.found.affine.names

        def apart(name: str) -> str:
            return name + SECOND if names[name].depth > self._depth else name

        domain, element = self.dependences.element(read)
        other_domain, other_element = self.dependences.element(write)
        meet = self.dependences.found.affine.in_context(domain.intersect(sets.rename(other_domain, apart)))
        for mine, other in zip(element, other_element, strict=True):
            meet = meet.intersect(mine.eq_set(sets.rename(other, apart)))
        before, same = sets.nothing, sets.everything
        for one, other_loop in zip(read.loops[self._depth :], write.loops[self._depth :], strict=False):
            if not (isinstance(one, For) and isinstance(other_loop, For)):
                # Of a `while` that holds both there is no telling which of its turns comes first.
                return meet.intersect(before.union(same)), meet.intersect(before)
            if one.var != other_loop.var:
                break
            var = self.dependences.found.variables[one.var]
            here, there = sets.parameter(var), sets.parameter(var + SECOND)
            earlier = there.lt_set(here) if one.step > 0 else there.gt_set(here)
            before = before.union(same.intersect(earlier))
            same = same.intersect(here.eq_set(there))
        position = {id(access): number for number, access in enumerate(self.accesses)}
        if position[id(write)] < position[id(read)]:
            before = before.union(same)
        pairs = meet.intersect(before)
        return pairs, pairs

    def lasting(self, write: Access, conflicts: Iterable[Conflict], loc: Loc) -> Expr | bool | None:
        """The condition under which a write is the last write: no later iteration overwrites the element.

        True for every instance; a condition on loop variables and parameters; None where it cannot be
        derived. conflicts: the dependences that the loop carries on this array.
        """
        mine = [c for c in conflicts if c.source is write and c.sink.writes]
        if not mine:
            return True
        if any(c.instances is None or not c.exact for c in mine):
            return None
        return self.dependences.sets.bounded(lambda: self._lasting(write, mine, loc), None)

    def _lasting(self, write: Access, conflicts: list[Conflict], loc: Loc) -> Expr | bool | None:
        affine = self.dependences.found.affine
        lasts = self._lasting_points(write, conflicts)
        if lasts.is_empty():
            return False
        domain, _ = self.dependences.element(write)
        domain = affine.in_context(domain)
        cases = cases_of(lasts.coalesce().gist(domain).coalesce(), affine, loc, in_loops=True)
        return None if cases is None else condition_of(cases, loc)

    def _lasting_points(self, write: Access, conflicts: Iterable[Conflict]) -> isl.Set:
        domain, _ = self.dependences.element(write)
        lasts = self.dependences.found.affine.in_context(domain)
        for conflict in conflicts:
            if conflict.source is write and conflict.sink.writes:
                assert conflict.instances is not None
                lasts = lasts.subtract(self.dependences.meetings.firsts(conflict.instances))
        return lasts

    def last_iteration(self, writes: Iterable[Access], conflicts: list[Conflict], loc: Loc) -> Expr | None:
        """The last iteration that touches any array, if it alone has last writes among these writes.

        None where an earlier iteration has one, or where that iteration has no expression.
        """
        return self.dependences.sets.bounded(lambda: self._last_iteration(list(writes), conflicts, loc), None)

    def _last_iteration(self, writes: list[Access], conflicts: list[Conflict], loc: Loc) -> Expr | None:
        found, sets = self.dependences.found, self.dependences.sets
        var, points = found.variables[self.loop.var], sets.nothing
        for access in found.within(self.loop):
            inside = sets.forget(access.domain, lambda n: found.affine.names[n].depth > self._depth)
            points = points.union(inside)
        last = sets.least(found.affine.in_context(points), var, greatest=self.loop.step > 0)
        if last is None:
            return None
        at_end = sets.parameter(var).eq_set(last)
        if not all(self._lasting_points(write, conflicts).is_subset(at_end) for write in writes):
            return None
        return expression_of(last, found.affine, loc)
