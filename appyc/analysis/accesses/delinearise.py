"""Delinearisation: recovers the multi-dimensional subscripts `[i, j]` of a linear index `i*n + j`.

    for i in range(m):
        for j in range(n):             flat[i*n + j] is [i, j], since 0 <= j < n:
            flat[i*n + j] += 1.0       two of them are one element only if both parts agree

Two indices are taken apart together. The products in them that move have a fixed factor each,
the *stride*; strides that divide one another are the extents of rows, planes and so on, and each
part but the first has to lie in a range as long as its extent, in every iteration: 0 <= j < n, or
1 <= j <= n. Where that is so for some parameters only, they are a condition. What is the same in
both indices cancels first.

Where all parts but the first agree anyhow, as in `a[i*k]`, it is enough that k is not zero.

(Maslov, "Delinearization", PLDI 1992; Grosser and others, "Optimistic delinearization of
parametrically sized arrays", ICS 2015.)

Does not handle: strides that do not divide one another (`i*n + j*m`), squares of what moves,
parts with `//`, `%` or cases in them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, pairwise, product
from math import gcd
from typing import TypeAlias

from appyc.analysis.algebra.value_products import Factors
from appyc.analysis.sets.affine_values import Affine
from appyc.analysis.sets.lazy_isl import isl

MAX_STRIDES = 4

MAX_WAYS = 12
"""Ways to share out the products of fixed values among the parts."""

_PART = "$part"

Subscripts: TypeAlias = tuple["isl.PwAff", ...]


@dataclass(frozen=True, slots=True)
class TakenApart:
    """The subscripts of two accesses, for the same extents; where `holds`, if that is given, they
    are equal exactly where the two indices are."""

    first: Subscripts
    second: Subscripts
    holds: isl.Set | None


@dataclass(frozen=True, slots=True)
class _Stride:
    """`scale` times the product of the factors, from one value of a part to the next."""

    factors: Factors
    scale: int


def take_apart(
    affine: Affine,
    first: tuple[isl.Set, isl.PwAff],
    second: tuple[isl.Set, isl.PwAff],
    is_shared: Callable[[str], bool],
    positive: bool,
) -> TakenApart | None:
    """The subscripts that two indices, each with its iterations, stand for; None where that cannot
    be told.

    is_shared: whether a name has one value in both. positive: the indices have to be shown not to
    be negative, which would count from the end.
    """
    numbers = [affine.sets.linear_of(index) for _, index in (first, second)]
    known = [affine.products.polynomial(n) for n in numbers if n is not None]
    if len(known) < 2 or not any(affine.products.has_any(n) for n in numbers if n is not None):
        return None
    if not positive:
        known = _cancelled(known[0], known[1], is_shared)
    strides = _strides(known, is_shared)
    if strides is None:
        return None
    one, other = (_Parts(affine, strides, index, is_shared) for index in known)
    if not positive and (common := _in_step(one, other)) is not None:
        return common
    pair = _Pair(affine, strides, (first[0], second[0]), positive)
    best: TakenApart | None = None
    for mine, theirs in islice(product(one.ways(), other.ways()), MAX_WAYS):
        found = pair.within(mine, theirs, is_shared)
        if found is not None and found.holds is None:
            return found
        best = best or found
    return best


def _cancelled(
    first: dict[Factors, int], second: dict[Factors, int], is_shared: Callable[[str], bool]
) -> list[dict[Factors, int]]:
    """The two sums without the products that have one value in both."""
    same = {f for f, number in first.items() if second.get(f) == number and all(map(is_shared, f))}
    return [{f: n for f, n in side.items() if f not in same} for side in (first, second)]


def _strides(both: list[dict[Factors, int]], is_shared: Callable[[str], bool]) -> list[_Stride] | None:
    """The strides of what moves, the largest first, each divided by the next; the last is 1."""
    scales: dict[Factors, int] = {(): 1}
    for factors, number in ((f, n) for side in both for f, n in side.items()):
        moving = [name for name in factors if not is_shared(name)]
        if len(moving) > 1:
            return None
        if moving:
            fixed = tuple(name for name in factors if name != moving[0])
            scales[fixed] = gcd(scales.get(fixed, 0), number)
    chain = sorted(scales, key=len, reverse=True)
    if len(chain) > MAX_STRIDES or any(_quotient(large, small) is None for large, small in pairwise(chain)):
        return None
    out: list[_Stride] = []
    for factors in chain:
        scale = gcd(scales[factors], out[-1].scale) if out else scales[factors]
        out.append(_Stride(factors, scale))
    return [*out[:-1], _Stride((), 1)]


def _quotient(large: Factors, small: Factors) -> Factors | None:
    """The quotient of two products of factors; None where they do not divide, or where the larger one is this
    product or has a factor twice."""
    if len(set(large)) < len(large):
        return None  # i*(i - 1)/2
    rest = list(large)
    for name in small:
        if name not in rest:
            return None
        rest.remove(name)
    return tuple(rest) if rest else None


class _Parts:
    """One index over the given strides."""

    def __init__(
        self,
        affine: Affine,
        strides: list[_Stride],
        index: Mapping[Factors, int],
        is_shared: Callable[[str], bool],
    ) -> None:
        self.affine = affine
        self.strides = strides
        self.moving: list[dict[Factors, int]] = [{} for _ in strides]
        self.fixed: dict[Factors, int] = {}
        levels = {stride.factors: level for level, stride in enumerate(strides)}
        for factors, number in index.items():
            moving = tuple(name for name in factors if not is_shared(name))
            if moving:
                level = levels[tuple(name for name in factors if name not in moving)]
                self.moving[level][moving] = number // strides[level].scale
            else:
                self.fixed[factors] = number

    def ways(self) -> Iterator[Subscripts]:
        """The parts, for each distribution of the fixed terms: `n` may be one more row, or n elements
        further in a row, and `2*n - 1 - j` is n - 1 - j in the next row."""
        choices = [list(self._shares(factors, number)) for factors, number in self.fixed.items()]
        for choice in product(*choices):
            parts = [dict(part) for part in self.moving]
            for level, factors, number in (share for shares in choice for share in shares):
                parts[level][factors] = parts[level].get(factors, 0) + number
            yield tuple(self.affine.sum_of(part) for part in parts)

    def _shares(self, factors: Factors, number: int) -> Iterator[list[tuple[int, Factors, int]]]:
        """Ways to write a fixed product as parts: a level, what is counted there, and how often."""
        fitting: list[tuple[int, Factors]] = []
        for level, stride in enumerate(self.strides):
            rest = () if factors == stride.factors else _quotient(factors, stride.factors)
            if rest is not None and len(rest) <= 1:
                fitting.append((level, rest))
        for level, stride in enumerate(self.strides):
            if factors and factors == stride.factors * 2 and number % (2 * stride.scale) == 0:
                half = number // (2 * stride.scale)  # of n*(n - 1)
                yield [(level, stride.factors, half), (level, (), -half)]
        for level, rest in fitting:
            scale = self.strides[level].scale
            if number % scale == 0:
                yield [(level, rest, number // scale)]
        for (outer, whole), (inner, rest) in pairwise(fitting):
            scale, once = self.strides[outer].scale, self.strides[inner].scale
            if number != scale and (number - scale) % scale == 0 and scale % once == 0:
                yield [(outer, whole, number // scale - 1), (inner, rest, scale // once)]


@dataclass(frozen=True, slots=True)
class _Pair:
    """The iterations of two accesses, over common strides."""

    affine: Affine
    strides: list[_Stride]
    domains: tuple[isl.Set, isl.Set]
    positive: bool

    def within(
        self, first: Subscripts, second: Subscripts, is_shared: Callable[[str], bool]
    ) -> TakenApart | None:
        """The parts, if all but the first of them stay within one extent, from wherever it begins."""
        zero = self.affine.sets.constant(0)
        if self.positive and not all(
            self._is_empty(domain, part.lt_set(zero))
            for domain, part in zip(self.domains, (first[0], second[0]), strict=True)
        ):
            return None
        best: TakenApart | None = None
        for starts in self._starts(first, second, is_shared):
            outside = [self._outside(values, starts) for values in (first, second)]
            both = list(zip(self.domains, outside, strict=True))
            if all(self._is_empty(domain, out) for domain, out in both):
                return TakenApart(first, second, None)
            conditions = [self._condition(domain, out) for domain, out in both]
            known = [holds for holds in conditions if holds is not None]
            if best is None and len(known) == 2:
                best = TakenApart(first, second, known[0].intersect(known[1]).coalesce())
        return best

    def _starts(
        self, first: Subscripts, second: Subscripts, is_shared: Callable[[str], bool]
    ) -> Iterator[Subscripts]:
        """The candidates for the start of the parts' ranges: 0, or the least values of the parts of either
        index."""
        yield tuple(self.affine.sets.constant(0) for _ in first)
        if self.positive:
            return
        for domain, values in zip(self.domains, (first, second), strict=True):
            least = [self._least(domain, value, is_shared) for value in values[1:]]
            known = [value for value in least if value is not None]
            if len(known) == len(least):
                yield (self.affine.sets.constant(0), *known)

    def _least(self, domain: isl.Set, value: isl.PwAff, is_shared: Callable[[str], bool]) -> isl.PwAff | None:
        sets = self.affine.sets
        points = self.affine.possible(domain).intersect(sets.parameter(_PART).eq_set(value))
        least = sets.least(sets.forget(points, lambda n: n != _PART and not is_shared(n)), _PART)
        cases = [] if least is None else sets.bounding_cases(least, above=False)
        return cases[0] if cases else None

    def _outside(self, values: Subscripts, starts: Subscripts) -> isl.Set:
        """The set on which a part other than the first lies outside the extent that begins at its start."""
        out = self.affine.sets.nothing
        for level in range(1, len(values)):
            large, small = self.strides[level - 1], self.strides[level]
            rest = _quotient(large.factors, small.factors) or ()
            extent = self.affine.sum_of({rest: large.scale // small.scale})
            value, start = values[level], starts[level]
            out = out.union(value.lt_set(start)).union(value.ge_set(start.add(extent)))
        return out

    def _is_empty(self, domain: isl.Set, outside: isl.Set) -> bool:
        return bool(self.affine.possible(domain.intersect(outside)).is_empty())

    def _condition(self, domain: isl.Set, outside: isl.Set) -> isl.Set | None:
        """The parameters for which no iteration of the domain is in `outside`; None where there are none."""
        happens = self.affine.settled(self.affine.possible(domain))
        fails = self.affine.settled(self.affine.possible(domain.intersect(outside)))
        return self.affine.without(fails, happens, self.affine.sets.everything)


def _in_step(one: _Parts, other: _Parts) -> TakenApart | None:
    """The first parts alone, where the others agree: equal unless the stride is zero."""
    if one.moving[1:] != other.moving[1:] or any(one.moving[1:]) or one.fixed != other.fixed:
        return None
    affine, stride = one.affine, one.strides[0]
    if not stride.factors:
        return None
    zero = affine.sets.constant(0)
    holds = affine.sum_of({stride.factors: 1}).ne_set(zero)
    return TakenApart((affine.sum_of(one.moving[0]),), (affine.sum_of(other.moving[0]),), holds)
