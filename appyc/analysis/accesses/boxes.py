"""Bounding boxes of the array elements that a loop, or one iteration of it, touches."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from appyc.analysis.accesses.accesses import Access
from appyc.analysis.dependences.dependences import Dependences
from appyc.analysis.sets.conditions import expression_of
from appyc.analysis.sets.lazy_isl import isl
from appyc.ir.nodes import Expr, For

_MARK = "element"
_SIZE = "size"


@dataclass(frozen=True, slots=True)
class Axis:
    """The interval of one axis that is touched: `size` elements from `first` on.

    Both are None where it is the whole axis, and where it is one element (`single`).
    """

    first: Expr | None = None
    size: Expr | None = None
    single: bool = False


def box_of(dependences: Dependences, loop: For, accesses: list[Access], *, each: bool) -> tuple[Axis, ...]:
    """The bounding box of the elements that the accesses touch in the loop, or (`each`) in
    any one iteration of it, where the box may move with the iteration but keeps its size."""
    question = _Question(dependences, loop, accesses, each)
    axes = range(len(accesses[0].index))
    return tuple(dependences.sets.bounded(partial(question.axis, axis), Axis()) for axis in axes)


@dataclass(frozen=True, slots=True)
class _Question:
    dependences: Dependences
    loop: For
    accesses: list[Access]
    each: bool

    def axis(self, axis: int) -> Axis:
        sets, affine = self.dependences.sets, self.dependences.found.affine
        depth = len(self.dependences.found.around[self.loop.var]) + self.each
        points = sets.nothing
        for access in self.accesses:
            domain, element = self.dependences.element(access)
            mark = sets.parameter(_MARK)
            touched = affine.in_context(domain.intersect(mark.eq_set(element[axis])))
            points = points.union(
                sets.forget(touched, lambda n: n != _MARK and affine.names[n].depth > depth)
            )
        low, high = sets.least(points, _MARK), sets.least(points, _MARK, greatest=True)
        if low is None or high is None:
            return Axis()
        if self.each and low.domain().is_subset(low.eq_set(high)):
            return Axis(single=True)
        extent, one = self.accesses[0].extents[axis], sets.constant(1)
        start = self._simplest(low, sets.constant(0), above=False)
        end = self._simplest(high, extent.sub(one), above=True)
        if start is None or end is None:
            return Axis()
        length = end.sub(start).add(one)
        sizes = low.domain().intersect(sets.parameter(_SIZE).eq_set(length))
        if self.each:
            sizes = sets.forget(sizes, lambda n: n != _SIZE and affine.names[n].depth >= depth)
        largest = sets.least(sizes, _SIZE, greatest=True)
        if largest is not None:
            largest = self._simplest(largest, extent, above=True)
        first = expression_of(start, affine, self.loop.loc)
        size = None if largest is None else expression_of(largest, affine, self.loop.loc)
        return Axis() if first is None or size is None else Axis(first, size)

    def _simplest(self, value: isl.PwAff, known: isl.PwAff, *, above: bool) -> isl.PwAff | None:
        """One case of a bound that bounds it everywhere; another than what bounds any index."""
        cases = self.dependences.sets.bounding_cases(value, above=above)
        return min(cases, key=lambda case: bool(case.eq_set(known).is_equal(case.domain())), default=None)
