"""Conditions that a function tests before it begins: how a pass states them, and how many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from appyc.analysis.affine import SMALL, Affine
from appyc.analysis.conditions import Cases, cases_of
from appyc.errors import Loc
from appyc.ir.nodes import Binary, Compare, Const, Expr, Extent, Guard, Logical, Var
from appyc.ir.types import DType
from appyc.ir.visit import walk

if TYPE_CHECKING:
    import islpy as isl

MAX_COMPARISONS = 64
"""In all guards that one pass makes for a function."""


class GuardWriter:
    """States what must hold of the parameters, as long as that stays short."""

    def __init__(self, affine: Affine) -> None:
        self.affine = affine
        self._comparisons = 0

    def cases(self, holds: isl.Set, loc: Loc) -> Cases | None:
        """The set as comparisons; None where it cannot be said, or the guards would get too long."""
        cases = cases_of(holds, self.affine, loc)
        if cases is None:
            return None
        length = sum(len(case) for case in cases)
        if self._comparisons + length > MAX_COMPARISONS:
            return None
        self._comparisons += length
        return cases

    def without(self, domain: isl.Set, fails: isl.Set) -> isl.Set | None:
        """For which parameters no iteration of the domain fails, or fewer; None where all do."""
        happens, fails = self.affine.settled(domain), self.affine.settled(fails)
        if happens.is_subset(fails):
            return None
        exact = fails.complement().gist(self.affine.context).coalesce()
        if exact.n_basic_set() == 1:
            return exact
        # "or the loop is empty" makes guards long, and a guard may fail for an empty loop.
        return fails.gist(happens).complement().gist(self.affine.context).coalesce()

    def sizes(self, guards: Sequence[Guard]) -> list[Guard]:
        """Bounds on the scalars of 64 bits that arithmetic is done with, in guards or in the program."""
        names = self.affine.names
        origins = [names[name].origin for name in sorted(self.affine.roots(self.affine.combined))]
        scalars = [origin for origin in origins if origin is not None]
        summed = [part for guard in guards for part in walk(guard.holds) if isinstance(part, Binary)]
        scalars += [part for part in walk(summed) if isinstance(part, Var)]
        large = [s for s in scalars if s.dtype is DType.INT64 and not isinstance(s, Extent)]
        return [_is_small(scalar) for scalar in dict.fromkeys(large)]


def _is_small(scalar: Expr) -> Guard:
    loc = scalar.loc
    low, high = (Const(value, DType.INT64, loc=loc) for value in (-SMALL, SMALL))
    above, below = Compare(">=", scalar, low, loc=loc), Compare("<=", scalar, high, loc=loc)
    return Guard(Logical("and", above, below, loc=loc), "sums of indices do not overflow", loc=loc)
