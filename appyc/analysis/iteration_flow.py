"""What one iteration of a loop does with an array: which of its reads see its own writes, which
of its writes last, and which part of the array it touches.

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
from dataclasses import dataclass
from enum import Enum
from functools import cached_property, partial
from typing import TYPE_CHECKING

from appyc.analysis.accesses import Access
from appyc.analysis.conditions import cases_of, condition_of, expression_of
from appyc.analysis.dependences import SECOND, Conflict, Dependences
from appyc.errors import Loc
from appyc.ir.nodes import Expr, For, Symbol

if TYPE_CHECKING:
    import islpy as isl

_MARK = "element"
_SIZE = "size"


class Sees(Enum):
    """Whose value a read finds: that of a write of the same iteration, or of what came before it."""

    OWN = "own"
    OLD = "old"
    EITHER = "either"


@dataclass(frozen=True, slots=True)
class Axis:
    """The part of one axis that is touched: `size` elements from `first` on.

    Both are None where it is the whole axis, and where it is one element (`single`).
    """

    first: Expr | None = None
    size: Expr | None = None
    single: bool = False


@dataclass(frozen=True)
class IterationFlow:
    """The facts about one array in one loop. accesses: those in the loop's body, in order."""

    dependences: Dependences
    loop: For
    array: Symbol

    @cached_property
    def accesses(self) -> list[Access]:
        return [a for a in self.dependences.found.within(self.loop) if a.array == self.array]

    @property
    def reads(self) -> list[Access]:
        return [access for access in self.accesses if access.op != "write"]

    @property
    def writes(self) -> list[Access]:
        return [access for access in self.accesses if access.writes]

    @property
    def _depth(self) -> int:
        """The depth of the loop's own variable."""
        return len(self.dependences.found.around[self.loop.var]) + 1

    # ---- within an iteration

    def sees(self, read: Access) -> Sees:
        """What a read finds, over all iterations. EITHER where it is not known."""
        return self.dependences.sets.bounded(lambda: self._sees(read), Sees.EITHER)

    def _sees(self, read: Access) -> Sees:
        sets = self.dependences.sets
        domain, _ = self.dependences.element(read)
        domain = domain.intersect(self.dependences.found.affine.context)
        left, touched = domain, False
        for write in self.writes:
            pairs = self._pairs(write, read, surely=False)
            touched = touched or not pairs.is_empty()
            if self._is_sure(write):
                pairs = self._pairs(write, read, surely=True)
                second = [name for name in sets.names(pairs) if name.endswith(SECOND)]
                left = left.subtract(sets.project_out(pairs, second))
        if not touched:
            return Sees.OLD
        return Sees.OWN if left.is_empty() else Sees.EITHER

    def _is_sure(self, write: Access) -> bool:
        """Whether the write happens exactly where its domain says, which speaks of loops only."""
        if write.approximate:
            return False
        names = self.dependences.found.affine.names
        domain, element = self.dependences.element(write)
        sets = self.dependences.sets
        spoken = {name for thing in (domain, *element) for name in sets.names(thing)}
        return all(names[name].depth <= self._depth or names[name].loop is not None for name in spoken)

    def _pairs(self, write: Access, read: Access, *, surely: bool) -> isl.Set:
        """The instances of a read with those of a write before it, marked as second, of the same
        iteration and element. surely: none of which it is not known that it comes before."""
        sets, names = self.dependences.sets, self.dependences.found.affine.names

        def apart(name: str) -> str:
            return name + SECOND if names[name].depth > self._depth else name

        domain, element = self.dependences.element(read)
        other_domain, other_element = self.dependences.element(write)
        meet = domain.intersect(sets.rename(other_domain, apart)).intersect(
            self.dependences.found.affine.context
        )
        for mine, other in zip(element, other_element, strict=True):
            meet = meet.intersect(mine.eq_set(sets.rename(other, apart)))
        before, same = sets.nothing, sets.everything
        for one, other_loop in zip(read.loops[self._depth :], write.loops[self._depth :], strict=False):
            if not (isinstance(one, For) and isinstance(other_loop, For)):
                # Of a `while` that holds both there is no telling which of its turns comes first.
                return meet.intersect(before if surely else before.union(same))
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
        return meet.intersect(before)

    # ---- between iterations

    def lasting(self, write: Access, conflicts: Iterable[Conflict], loc: Loc) -> Expr | bool | None:
        """Where the element that a write sets is set by no later iteration again.

        True for everywhere; a condition on loop variables and parameters; None where it cannot be
        told. conflicts: those of the loop on this array.
        """
        mine = [c for c in conflicts if c.source is write and c.sink.writes]
        if not mine:
            return True
        if any(c.instances is None or not c.exact for c in mine):
            return None
        return self.dependences.sets.bounded(lambda: self._lasting(write, mine, loc), None)

    def _lasting(self, write: Access, conflicts: list[Conflict], loc: Loc) -> Expr | bool | None:
        sets, affine = self.dependences.sets, self.dependences.found.affine
        domain, _ = self.dependences.element(write)
        domain = domain.intersect(affine.context)
        lasts = domain
        for conflict in conflicts:
            assert conflict.instances is not None
            second = [name for name in sets.names(conflict.instances) if name.endswith(SECOND)]
            lasts = lasts.subtract(sets.project_out(conflict.instances, second))
        if lasts.is_empty():
            return False
        cases = cases_of(lasts.coalesce().gist(domain).coalesce(), affine, loc, in_loops=True)
        return None if cases is None else condition_of(cases, loc)

    # ---- what is touched

    def box(self, accesses: list[Access], *, each: bool, loc: Loc) -> tuple[Axis, ...]:
        """The smallest box around the elements that the accesses touch in the loop, or (`each`) in
        any one iteration of it, where it may move with the iteration but keeps its size."""
        bounded, axes = self.dependences.sets.bounded, range(self.array.array.ndim)
        return tuple(bounded(partial(self._axis, accesses, axis, each, loc), Axis()) for axis in axes)

    def _axis(self, accesses: list[Access], axis: int, each: bool, loc: Loc) -> Axis:
        sets, affine = self.dependences.sets, self.dependences.found.affine
        depth = self._depth if each else self._depth - 1
        points = sets.nothing
        for access in accesses:
            domain, element = self.dependences.element(access)
            mark = sets.parameter(_MARK)
            touched = domain.intersect(affine.context).intersect(mark.eq_set(element[axis]))
            deeper = [n for n in sets.names(touched) if n != _MARK and affine.names[n].depth > depth]
            points = points.union(sets.project_out(touched, deeper))
        low, high = sets.least(points, _MARK), sets.least(points, _MARK, greatest=True)
        if low is None or high is None:
            return Axis()
        if each and low.domain().is_subset(low.eq_set(high)):
            return Axis(single=True)
        extent, one = accesses[0].extents[axis], sets.constant(1)
        start = self._simplest(low, sets.constant(0), above=False)
        end = self._simplest(high, extent.sub(one), above=True)
        if start is None or end is None:
            return Axis()
        length = end.sub(start).add(one)
        sizes = low.domain().intersect(sets.parameter(_SIZE).eq_set(length))
        if each:
            moving = [n for n in sets.names(sizes) if n != _SIZE and affine.names[n].depth >= depth]
            sizes = sets.project_out(sizes, moving)
        largest = sets.least(sizes, _SIZE, greatest=True)
        if largest is not None:
            largest = self._simplest(largest, extent, above=True)
        first = expression_of(start, affine, loc)
        size = None if largest is None else expression_of(largest, affine, loc)
        return Axis() if first is None or size is None else Axis(first, size)

    def _simplest(self, value: isl.PwAff, known: isl.PwAff, *, above: bool) -> isl.PwAff | None:
        """One case of a bound that bounds it everywhere; another than what bounds any index."""
        cases = self.dependences.sets.bounding_cases(value, above=above)
        return min(cases, key=lambda case: bool(case.eq_set(known).is_equal(case.domain())), default=None)
