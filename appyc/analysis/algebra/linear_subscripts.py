"""Fast dependence tests on linear subscripts, by their coefficients, as in the GCD test.

Most pairs of accesses are settled by their coefficients: `a[i]` and `a[i]` meet only in one
iteration of a loop over i, `a[2*i]` and `a[2*i + 1]` never, `a[i + 1]` meets an `a[i]` that
comes later and none that came before. Whole sets of iterations are compared only for the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from math import gcd

from appyc.ir.affine import LinearForm


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

    def _is_reached(self, gap: int, factor: int) -> bool:
        """Whether some positive number of steps of the variable changes `factor` times it by `gap`."""
        if factor == 0:
            return gap == 0
        moved, rest = divmod(gap, factor)
        return rest == 0 and moved % self.step == 0 and moved // self.step > 0
