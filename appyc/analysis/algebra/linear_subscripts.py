"""Fast dependence tests on linear subscripts: by their coefficients, the GCD test, and by bounds, Banerjee's test.

Most pairs of accesses are settled by their coefficients: `a[i]` and `a[i]` meet only in one
iteration of a loop over i, `a[2*i]` and `a[2*i + 1]` never, `a[i + 1]` meets an `a[i]` that
comes later and none that came before. Most of the rest by the bounds of the loops inside: with
`4*b <= i < 4*b + 4` two iterations of the loop over b have no `a[i]` in common. Whole sets of
iterations are compared only where neither tells.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from math import gcd
from typing import TypeAlias

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
    a name has one value in both (it belongs to the loops around).
    """

    var: str
    step: int
    is_shared: Callable[[str], bool]

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
        return any(self._is_positive(gap, bounds, [MOST_BOUNDED]) for gap in gaps)

    def _marked(self, form: LinearForm[str]) -> LinearForm[str]:
        terms = {n if self.is_shared(n) and n != self.var else n + SECOND: f for n, f in form.terms.items()}
        return LinearForm(terms, form.constant)

    def _is_positive(self, gap: LinearForm[str], bounds: Callable[[str], Bounds], tries: list[int]) -> bool:
        """Whether a difference is positive: by its least value, with each inner variable at its lower or upper bound.
        tries: how many bounds may still be put in."""
        inner = [
            n
            for n in gap.terms
            if n.removesuffix(SECOND) != self.var and (SECOND in n or not self.is_shared(n))
        ]
        if not inner:
            moves = gap.terms.get(self.var + SECOND, 0)
            if gap.terms.keys() - {self.var, self.var + SECOND} or gap.terms.get(self.var, 0) != -moves:
                return False
            return moves * self.step >= 0 and gap.constant + moves * self.step > 0
        name = inner[0]
        factor = gap.terms[name]
        rest = LinearForm({n: f for n, f in gap.terms.items() if n != name}, gap.constant)
        for bound in bounds(name.removesuffix(SECOND))[factor < 0]:
            if tries[0] == 0:
                return False
            tries[0] -= 1
            value = self._marked(bound) if name.endswith(SECOND) else bound
            if self._is_positive(rest.plus(value, factor), bounds, tries):
                return True
        return False

    def _is_reached(self, gap: int, factor: int) -> bool:
        """Whether some positive number of steps of the variable changes `factor` times it by `gap`."""
        if factor == 0:
            return gap == 0
        moved, rest = divmod(gap, factor)
        return rest == 0 and moved % self.step == 0 and moved // self.step > 0
