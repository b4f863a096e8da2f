"""Dependence pairs: the set of pairs of instances of two accesses that touch one element.

For a loop at depth d, both instances belong to the same iteration of every loop around it. The
second instance's names deeper than d (its own variables, the opaque values of its iteration)
are renamed apart, everything shallower is shared; what they have in common is one set.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TypeAlias

from appyc.analysis.accesses.accesses import Access, FunctionAccesses
from appyc.analysis.accesses.delinearise import TakenApart, take_apart
from appyc.analysis.algebra.linear_subscripts import SECOND, Bounds, Question
from appyc.analysis.sets.lazy_isl import isl
from appyc.ir.affine import LinearForm
from appyc.ir.nodes import For, Symbol

_Subscripts: TypeAlias = "tuple[LinearForm[str] | None, ...]"
"""The linear form of each index of an access; None where it has none."""


class Meetings:
    """The pairs of instances for the accesses of one function."""

    def __init__(self, found: FunctionAccesses) -> None:
        self.found = found
        self.sets = found.sets
        self._elements: dict[int, tuple[isl.Set, tuple[isl.PwAff, ...]]] = {}
        self._written: dict[int, _Subscripts] = {}
        self._apart: dict[tuple[Symbol, _Subscripts, _Subscripts], bool] = {}
        self._limits: dict[str, Bounds] = {}
        self._taken: dict[tuple[Symbol, int, int, int], TakenApart | None] = {}

    def element(self, access: Access) -> tuple[isl.Set, tuple[isl.PwAff, ...]]:
        """The iteration domain of an access and the element it touches, in bounds only: others raise."""
        known = self._elements.get(id(access))
        if known is not None:
            return known
        zero = self.sets.constant(0)
        domain, element = access.domain, []
        for index, extent in zip(access.index, access.extents, strict=True):
            if access.checked:
                below = domain.intersect(index.lt_set(zero))
                if not below.is_empty():
                    index = self.sets.choose(index.lt_set(zero), index.add(extent), index)
            domain = domain.intersect(index.ge_set(zero)).intersect(index.lt_set(extent))
            element.append(index)
        self._elements[id(access)] = (domain, tuple(element))
        return self._elements[id(access)]

    def is_shared(self, loop: For, name: str) -> bool:
        """Whether a name has one value in all iterations of the loop."""
        return self.found.affine.names[name].depth <= len(self.found.around[loop.var])

    def second(self, loop: For, thing: isl.Set) -> isl.Set:
        """A set or expression with the names of the second of two iterations."""
        return self.sets.rename(thing, lambda name: name if self.is_shared(loop, name) else name + SECOND)

    def are_apart(self, loop: For, first: Access, second: Access) -> bool:
        """Whether the coefficients of the indices prove that the accesses are independent, without a question to isl.
        One answer serves all accesses with these subscripts: a loop may read an element many times."""
        source, sink = self._as_written(first), self._as_written(second)
        key = (loop.var, source, sink)
        known = self._apart.get(key)
        if known is None:
            var, products = self.found.variables[loop.var], self.found.affine.products.factors
            question = Question(var, loop.step, partial(self.is_shared, loop), products)
            pairs = [
                (mine, other)
                for mine, other in zip(source, sink, strict=True)
                if mine is not None and other is not None
            ]
            known = self._apart[key] = any(question.never_equal(*pair) for pair in pairs) or any(
                question.is_one_larger(*pair, self._bounds) for pair in pairs
            )
        return known

    def _bounds(self, name: str) -> Bounds:
        """The linear bounds of a loop's variable; none of another name."""
        known = self._limits.get(name)
        if known is None:
            loop = self.found.affine.names[name].loop
            lows, highs = self.found.limits[loop.var] if loop is not None else ((), ())
            known = self._limits[name] = (self._all_linear(lows), self._all_linear(highs))
        return known

    def _all_linear(self, values: Sequence[isl.PwAff]) -> list[LinearForm[str]]:
        return [form for value in values if (form := self.sets.linear_of(value)) is not None]

    def _as_written(self, access: Access) -> _Subscripts:
        """The indices that are not counted from the end."""
        known = self._written.get(id(access))
        if known is None:
            forms = map(self.sets.linear_of, access.index)
            known = tuple(
                form if form and (not access.checked or self._is_natural(form, ())) else None
                for form in forms
            )
            self._written[id(access)] = known
        return known

    def _is_natural(self, form: LinearForm[str], spans: tuple[LinearForm[str], ...]) -> bool:
        """Whether a sum is not negative, with variables of loops at their lower bounds. spans: others that are not."""
        for name, factor in form.terms.items():
            lows, highs = self._bounds(name)
            if lows:
                spans += tuple(high.plus(low, -1) for low in lows for high in highs)
                rest = form.plus(LinearForm({name: factor}, 0), -1)
                return factor > 0 and any(self._is_natural(rest.plus(low, factor), spans) for low in lows)
        products = self.found.affine.products.factors
        parts = {part for name in form.terms for part in products.get(name, (name,))}
        return min([form.constant, *form.terms.values()]) >= 0 and all(
            any(span.terms.keys() == {part} and min(span.terms[part], -span.constant) >= 0 for span in spans)
            or any(not low.terms and low.constant >= 0 for low in self._bounds(part)[0])
            for part in parts
        )

    def in_order(self, loop: For, pairs: isl.Set) -> isl.Set:
        """The subset of iteration pairs whose first iteration precedes the second; the object `nothing` where
        it is empty."""
        var = self.found.variables[loop.var]
        earlier, later = self.sets.parameter(var), self.sets.parameter(var + SECOND)
        pairs = pairs.intersect(earlier.lt_set(later) if loop.step > 0 else earlier.gt_set(later))
        return pairs if not pairs.is_empty() else self.sets.nothing

    def pairs(self, loop: For, source: Access, sink: Access) -> isl.Set:
        """The pairs of instances, of any two iterations, that touch one element."""
        taken = [t if t is not None and t.holds is None else None for t in self._parts(loop, source, sink)]
        return self._meet(loop, source, sink, taken)

    def _meet(self, loop: For, source: Access, sink: Access, taken: list[TakenApart | None]) -> isl.Set:
        """The pairs, with some axes by the parts of their indices."""
        whole = not any(taken)
        domain, element = self.element(source) if whole else (source.domain, source.index)
        other_domain, other_element = self.element(sink) if whole else (sink.domain, sink.index)
        meet = domain.intersect(self.second(loop, other_domain))
        for mine, other, parts in zip(element, other_element, taken, strict=True):
            first, second = (parts.first, parts.second) if parts is not None else ((mine,), (other,))
            for one, two in zip(first, second, strict=True):
                meet = meet.intersect(one.eq_set(self.second(loop, two)))
        return self.found.affine.possible(meet)

    def _parts(self, loop: For, source: Access, sink: Access) -> list[TakenApart | None]:
        """The parts of the indices, for each axis with products that can be taken apart."""
        axes = range(len(source.index))
        if not self.found.affine.products.factors:
            return [None for _ in axes]
        return [self._taken_apart(loop, source, sink, axis) for axis in axes]

    def _taken_apart(self, loop: For, source: Access, sink: Access, axis: int) -> TakenApart | None:
        key = (loop.var, id(source), id(sink), axis)
        if key not in self._taken:
            self._taken[key] = take_apart(
                self.found.affine,
                (source.domain, source.index[axis]),
                (sink.domain, sink.index[axis]),
                partial(self.is_shared, loop),
                positive=source.checked or sink.checked,
            )
        return self._taken[key]

    def free_if(self, loop: For, source: Access, sink: Access) -> isl.Set | None:
        """The parameters for which two accesses do not conflict, found from the parts into which a subscript
        with products is taken apart; None where the parts show it for no parameters."""
        for axis, taken in enumerate(self._parts(loop, source, sink)):
            if taken is None or taken.holds is None:
                continue
            only: list[TakenApart | None] = [None for _ in source.index]
            only[axis] = taken
            met = self.in_order(loop, self._meet(loop, source, sink, only).intersect(taken.holds))
            free = taken.holds.subtract(self.settled(met)).coalesce()
            if not free.is_empty():
                return free
        return None

    def firsts(self, pairs: isl.Set) -> isl.Set:
        """The first instance of each pair."""
        return self.sets.forget(pairs, lambda name: name.endswith(SECOND))

    def settled(self, pairs: isl.Set) -> isl.Set:
        """The values of the function's parameters for which there is a pair."""
        return self.found.affine.settled(self.firsts(pairs))

    def is_exact(self, loop: For, source: Access, sink: Access, pairs: isl.Set) -> bool:
        """Whether the pairs do meet, by all that is known of the names that they speak of."""
        if source.approximate or sink.approximate:
            return False
        names = self.found.affine.names
        involved = {name.removesuffix(SECOND) for name in self.sets.names(pairs)}
        if any(names[name].depth > 0 for name in involved & self.found.affine.products.factors.keys()):
            return False  # a product that moves is more than a name to the program
        return all(self.is_shared(loop, name) or names[name].loop is not None for name in involved)

    def in_one_iteration(self, first: Access, second: Access) -> isl.Set:
        """The iterations in which both touch one element."""
        domain, element = self.element(first)
        other_domain, other_element = self.element(second)
        meet = domain.intersect(other_domain)
        for mine, other in zip(element, other_element, strict=True):
            meet = meet.intersect(mine.eq_set(other))
        return self.found.affine.possible(meet)
