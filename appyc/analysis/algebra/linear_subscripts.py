"""Fast dependence tests on linear subscripts: by their coefficients, the GCD test, and by bounds, Banerjee's test.

Most pairs of accesses are settled by their coefficients: `a[i]` and `a[i]` meet only in one
iteration of a loop over i, `a[2*i]` and `a[2*i + 1]` never, `a[i + 1]` meets an `a[i]` that
comes later and none that came before. Most of the rest by the bounds of the loops inside: with
`4*b <= i < 4*b + 4` two iterations of the loop over b have no `a[i]` in common. Whole sets of
iterations are compared only where neither tells.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from math import gcd
from typing import TypeAlias

from appyc.analysis.algebra.value_products import Factors
from appyc.ir.affine import LinearForm

SECOND = "'"
"""Marks the names that belong to the second of two instances."""

MOST_BOUNDED = 8
"""The most replacements of inner loop variables by one of their bounds that are tried in a difference."""

Bounds: TypeAlias = tuple[Sequence[LinearForm[str]], Sequence[LinearForm[str]]]
"""The lower bounds of a name, all of which hold, and its upper bounds."""


@dataclass(frozen=True, slots=True)
class Question:
    """A dependence test between two iterations of one loop, an earlier and a later one.

    var: the name of the loop's variable, which moves by multiples of `step`. is_shared: whether
    a name has one value in both (it belongs to the loops around). products: the factors of names that are products.
    """

    var: str
    step: int
    is_shared: Callable[[str], bool]
    products: Mapping[str, Factors]

    def never_equal(self, earlier: LinearForm[str], later: LinearForm[str]) -> bool:
        """Whether two subscripts are surely different in the two iterations: there is no dependence."""
        gap = earlier.constant - later.constant
        mine, other = dict(earlier.terms), dict(later.terms)
        by_step = mine.pop(self.var, 0), other.pop(self.var, 0)
        factors: list[int] = []
        for name in mine.keys() | other.keys():
            pair = mine.get(name, 0), other.get(name, 0)
            factors += [pair[1] - pair[0]] if self.is_shared(name) else pair
        if by_step[0] == by_step[1] and not any(factors):
            return not self._is_reached(gap, by_step[0])
        divisor = reduce(gcd, (*factors, *by_step))
        return gap % divisor != 0 if divisor else gap != 0

    def is_one_larger(
        self, earlier: LinearForm[str], later: LinearForm[str], bounds: Callable[[str], Bounds]
    ) -> bool:
        """Whether one of two subscripts is larger in all pairs of iterations, so that there is no dependence.

        bounds: those of the variable of a loop inside, in terms of names further out.
        """
        first, second = earlier, self._marked(later)
        gaps = first.plus(second, -1), second.plus(first, -1)
        return any(self._is_positive(gap, bounds, [MOST_BOUNDED], ()) for gap in gaps)

    def _marked(self, form: LinearForm[str]) -> LinearForm[str]:
        terms = {n if self.is_shared(n) and n != self.var else n + SECOND: f for n, f in form.terms.items()}
        return LinearForm(terms, form.constant)

    def _is_positive(
        self,
        gap: LinearForm[str],
        bounds: Callable[[str], Bounds],
        tries: list[int],
        spans: tuple[LinearForm[str], ...],
    ) -> bool:
        """Whether a difference is positive: by its least value, with each inner variable at its lower or upper bound.
        tries: how many bounds may still be put in. spans: what is not negative where there is such a pair."""
        inner = [n for n in gap.terms if self._rate(n) is None and (SECOND in n or not self.is_shared(n))]
        if not inner:
            return self._grows(gap, spans)
        name = inner[0]
        factor = gap.terms[name]
        rest = LinearForm({n: f for n, f in gap.terms.items() if n != name}, gap.constant)
        lows, highs = bounds(name.removesuffix(SECOND))
        spans += tuple(high.plus(low, -1) for low in lows for high in highs)
        for bound in (lows, highs)[factor < 0]:
            if tries[0] == 0:
                return False
            tries[0] -= 1
            value = self._marked(bound) if name.endswith(SECOND) else bound
            if self._is_positive(rest.plus(value, factor), bounds, tries, spans):
                return True
        return False

    def _rate(self, name: str) -> Factors | None:
        """What a name gains by one more of the variable: `n` of `i*n`; None for another name."""
        factors = self.products.get(name.removesuffix(SECOND), (name.removesuffix(SECOND),))
        rate = tuple(n for n in factors if n != self.var)
        return rate if len(rate) == len(factors) - 1 and all(map(self.is_shared, rate)) else None

    def _grows(self, gap: LinearForm[str], spans: Sequence[LinearForm[str]]) -> bool:
        """Whether a difference that gains so much by each step between the two iterations is positive after the
        first, and no less after more."""
        rates: dict[str, Factors] = {n: rate for n in gap.terms if (rate := self._rate(n)) is not None}
        rest = LinearForm({n: f for n, f in gap.terms.items() if n not in rates}, gap.constant)
        gain: LinearForm[str] = LinearForm({}, 0)
        for name, rate in rates.items():
            first = name.removesuffix(SECOND)
            if gap.terms.get(first, 0) != -gap.terms.get(first + SECOND, 0):
                return False
            if SECOND in name:
                one = LinearForm({"*".join(rate): 1}, 0) if rate else LinearForm({}, 1)
                gain = gain.plus(one, gap.terms[name] * self.step)
        once = rest.plus(gain)
        excess = [gain, *(gain.plus(span, -1) for span in spans)]
        return not once.terms and once.constant > 0 and any(not e.terms and e.constant >= 0 for e in excess)

    def _is_reached(self, gap: int, factor: int) -> bool:
        """Whether some positive number of steps of the variable changes `factor` times it by `gap`."""
        if factor == 0:
            return gap == 0
        moved, rest = divmod(gap, factor)
        return rest == 0 and moved % self.step == 0 and moved // self.step > 0
