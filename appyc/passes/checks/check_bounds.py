"""Bounds-check hoisting: index checks leave the loops and become conditions on the parameters."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import count

from appyc.analysis.accesses.access_relations import numbered_accesses
from appyc.analysis.accesses.accesses import Access, CheckedIndex, FunctionAccesses
from appyc.analysis.algebra.extremes import extremes_of
from appyc.analysis.sets.conditions import LARGEST, condition_of, expression_of
from appyc.analysis.sets.lazy_isl import isl
from appyc.analysis.sets.presburger import Presburger
from appyc.errors import Loc
from appyc.ir.array_accesses import by_number, without_check
from appyc.ir.nodes import BoundsCheck, Compare, Const, Expr, Function, Guard, Node, Symbol
from appyc.ir.visit import rewrite
from appyc.passes.checks.guards import GuardWriter, asked_in_order, in_range
from appyc.passes.node_builders import at_least
from appyc.passes.pass_context import PassContext

MAX_CASES = 4
"""Alternatives in the guard for one array."""


def check_bounds(fn: Function, ctx: PassContext) -> Function:
    """Marks accesses that are in range, and guards the function with what makes them so.

    Before:                                   After:
        def f(n, a):                              def f(n, a):
                                                      guard a.shape[0] >= n
            for i in range(n):                        for i in range(n):
                a[i] = 0.0  # checked                     a[i] = 0.0  # in range

    A `BoundsCheck` that is proven is deleted.

    For an access whose index is affine the iterations that leave the array are a set, and its
    shadow on the parameters is known: empty (nothing to check), or a condition on extents and
    scalar parameters (a guard), or all of them (a true negative index, or an access that is
    always out of range: it keeps its check). A guard may fail where the program would not have;
    then the version runs that checks every access, and finds out.

    Sums in 64 bits wrap in theory: scalar parameters that take part in sums are guarded to be
    small as well.

    With `boundscheck=False` every access is taken to be in range, and an index that turns out
    to be negative no longer counts from the end (constant ones are rewritten before this).

    Does not handle: indices read from arrays, or otherwise known only inside the function,
    which stay checked where they are used.
    """
    if not ctx.options.boundscheck:
        return _marked(fn, lambda _: True, lambda _: True)
    found = numbered_accesses(fn, Presburger(ctx.allowance))
    bounds = _Bounds(found, [*found.accesses, *found.checked_indices], fn.params)
    proven, guards = bounds.decide()
    fn = _marked(fn, lambda at: at in proven, lambda at: at + len(found.accesses) in proven)
    return replace(fn, guards=asked_in_order((*fn.guards, *guards)))


def _marked(fn: Function, is_proven: Callable[[int], bool], is_needless: Callable[[int], bool]) -> Function:
    """The function with the accesses that are proven, by their number, no longer checked, and without the bounds
    checks that are needless, by theirs."""
    checks = count()
    marked = by_number(lambda number, node: without_check(node) if is_proven(number) else node)

    def rule(node: Node) -> Node | tuple[Node, ...]:
        if isinstance(node, BoundsCheck):
            return without_check(node) if is_needless(next(checks)) else node
        return marked(node)

    return rewrite(fn, rule)


@dataclass(frozen=True, slots=True)
class _Needed:
    """The condition under which some accesses, given by number, to arrays of one name stay in bounds."""

    loc: Loc
    numbers: tuple[int, ...]
    holds: isl.Set


@dataclass(frozen=True, slots=True)
class _Side:
    """A way out of an axis: before its beginning or past its end.

    group: all but the constant part of the index: the iterations, the factors, the extent.
    """

    group: tuple[tuple[Hashable, Hashable, Hashable], bool]
    offset: int

    @property
    def above(self) -> bool:
        return self.group[1]


class _Bounds:
    """Decides which accesses of one function are in range, and under which guards."""

    def __init__(
        self, found: FunctionAccesses, accesses: Sequence[Access | CheckedIndex], params: tuple[Symbol, ...]
    ) -> None:
        self.accesses = accesses
        self.affine = found.affine
        self.sets = found.sets
        self.guards = GuardWriter(found.affine, params)
        self._listed: dict[int, list[_Side]] = {}
        self._sources: dict[_Side, tuple[Access | CheckedIndex, int]] = {}
        self._failing: dict[Hashable, isl.Set] = {}
        self._happening: dict[int, isl.Set] = {}
        self._covered: dict[str, set[_Side]] = {}
        self._outermost: dict[Hashable, int] = {}
        asked = (access for access in accesses if access.checked)
        for side in (side for access in asked for side in self._sides(access)):
            seen = self._outermost.get(side.group, side.offset)
            self._outermost[side.group] = (max if side.above else min)(seen, side.offset)

    def decide(self) -> tuple[set[int], tuple[Guard, ...]]:
        """The numbers of the accesses that need no check of their own, and the guards they need."""
        needed: dict[str, _Needed] = {}
        proven: set[int] = set()
        guards: list[Guard] = []
        for number, access in enumerate(self.accesses):
            if not access.checked:
                continue  # it is in range already, whatever its index looks like
            old = needed.get(access.name, _Needed(access.loc, (), self.sets.everything))
            holds = self.sets.bounded(partial(self._with_access, old.holds, access), None)
            if holds is not None:
                needed[access.name] = _Needed(old.loc, (*old.numbers, number), holds)
            elif (ends := self.sets.bounded(partial(self._by_extremes, access), None)) is not None:
                proven.add(number)
                guards += [guard for guard in ends if guard not in guards]
        for name, need in needed.items():
            asked = self.guards.guards(need.holds, in_range(name), need.loc)
            if asked is not None:
                proven.update(need.numbers)
                guards += asked
        if proven:
            guards += self.guards.sizes(guards)
        return proven, tuple(guards)

    def _with_access(self, known: isl.Set, access: Access | CheckedIndex) -> isl.Set | None:
        """The parameters in `known` for which this access is in bounds too; None where it keeps its own
        check.

        Of accesses that differ by a constant, `a[i - 1]` and `a[i + 1]`, the outermost speak for
        all, since each of them asks something of the parameters. Where that is too much, this
        one is looked at alone.
        """
        own = self._sides(access)
        outermost = [replace(side, offset=self._outermost[side.group]) for side in own]
        holds = self._with_sides(known, access, outermost)
        return holds if holds is not None or outermost == own else self._with_sides(known, access, own)

    def _by_extremes(self, access: Access | CheckedIndex) -> list[Guard] | None:
        """The guards under which an access with products of symbols in its subscripts is in bounds, from the
        least and greatest value of each subscript; None where an extreme is unknown or the guards are too
        many."""
        numbers = [self.sets.linear_of(index) for index in access.index]
        if not any(n is not None and self.affine.products.has_any(n) for n in numbers):
            return None
        out: list[Guard] = []
        loc = access.loc
        for index, extent in zip(access.index, access.extents, strict=True):
            ends = extremes_of(self.affine, access.domain, index, loc)
            length = expression_of(extent, self.affine, loc)
            if ends is None or length is None:
                return None
            positive = [e for e in (ends.least, *ends.factors) if not (isinstance(e, Const) and e.value == 0)]
            parts: list[Expr] = [at_least(part, 0) for part in positive]
            parts.append(Compare(">", length, ends.greatest, loc=loc))
            out.append(Guard(condition_of([parts], loc), in_range(access.name), loc=loc))
        return out if self.guards.have_room(len(out)) else None

    def _with_sides(
        self, known: isl.Set, access: Access | CheckedIndex, sides: list[_Side]
    ) -> isl.Set | None:
        covered = self._covered.setdefault(access.name, set())
        new = [side for side in dict.fromkeys(sides) if side not in covered]
        if not new:
            return known
        ways = [fails for side in new if not (fails := self._fails(side)).is_empty()]
        fails = reduce(lambda one, other: one.union(other), ways, self.sets.nothing)
        if ways and not fails.intersect(known).is_empty():
            holds = self._safe_parameters(access, fails)
            if holds is None:
                return None
            known = known.intersect(holds)
            known = known.gist(self.affine.context_of(known)).coalesce()
            if known.n_basic_set() > MAX_CASES or self._is_impossible(known):
                return None
        covered.update(new)
        return known

    def _is_impossible(self, known: isl.Set) -> bool:
        """Whether no parameters of 64 bits fulfil it, such as `a.shape[0] > k` for any k."""
        points = self.affine.in_context(known)
        limit = self.sets.constant(LARGEST)
        for name in self.sets.names(points):
            points = points.intersect(self.sets.parameter(name).le_set(limit))
        return bool(points.is_empty())

    def _safe_parameters(self, access: Access | CheckedIndex, fails: isl.Set) -> isl.Set | None:
        """The parameters for which no iteration of the access's domain is in `fails`, or a subset of them;
        None where there are none."""
        happens = self._happening.get(id(access.domain))
        if happens is None:
            happens = self.affine.settled(self.affine.in_context(access.domain))
            self._happening[id(access.domain)] = happens
        return self.affine.without(fails, happens)

    def _fails(self, side: _Side) -> isl.Set:
        """The parameters for which some iteration leaves the array on this side."""
        # For which parameters the index is negative does not depend on the extent: arrays of other lengths share it.
        key = side if side.above else (side.group[0][:2], side.offset)
        known = self._failing.get(key)
        if known is None:
            access, axis = self._sources[side]
            index, extent = access.index[axis], access.extents[axis]
            outside = index.ge_set(extent) if side.above else index.lt_set(self.sets.constant(0))
            points = self.affine.in_context(access.domain.intersect(outside))
            known = self._failing[key] = self.affine.settled(points)
        return known

    def _sides(self, access: Access | CheckedIndex) -> list[_Side]:
        """The two ends of every axis. What is known of them is kept for other accesses."""
        known = self._listed.get(id(access))
        if known is None:
            known = self._listed[id(access)] = []
            for axis, (index, extent) in enumerate(zip(access.index, access.extents, strict=True)):
                numbers, length = self.sets.linear_of(index), self.sets.linear_of(extent)
                what: tuple[Hashable, Hashable, Hashable] = (id(access.domain), id(index), id(extent))
                if numbers is not None and length is not None:
                    what = (id(access.domain), replace(numbers, constant=0), length)
                for above in (False, True):
                    side = _Side((what, above), 0 if numbers is None else numbers.constant)
                    known.append(side)
                    self._sources.setdefault(side, (access, axis))
        return known
