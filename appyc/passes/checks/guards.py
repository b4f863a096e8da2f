"""Guards, the conditions that a function tests before it begins: how a pass states them, and how many there may be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from appyc.analysis.algebra.value_products import widened
from appyc.analysis.sets.affine_values import Affine
from appyc.analysis.sets.conditions import cases_of, condition_of
from appyc.analysis.sets.lazy_isl import isl
from appyc.analysis.sets.symbol_table import PRODUCTS, SMALL
from appyc.errors import Loc
from appyc.ir.nodes import Binary, Compare, Const, Expr, Extent, Guard, Node, Symbol, Var
from appyc.ir.raising import exponent_may_be_negative
from appyc.ir.types import DType
from appyc.ir.visit import rewrite, walk
from appyc.passes.node_builders import within

COMPARISONS, ALWAYS = 8, 64
"""The most comparisons in the guards that one pass adds to a function: COMPARISONS for each array parameter,
plus ALWAYS."""


class GuardWriter:
    """States what must hold of the parameters, as long as that stays short."""

    def __init__(self, affine: Affine, params: Sequence[Symbol]) -> None:
        """params: of the function."""
        self.affine = affine
        self._room = ALWAYS + COMPARISONS * sum(p.is_array for p in params)

    def guards(self, holds: isl.Set, reason: str, loc: Loc) -> list[Guard] | None:
        """A guard that the parameters are in the set, unless all are; None where that cannot be said, or the guards
        would get too long."""
        cases = cases_of(holds, self.affine, loc)
        if cases is None or not self.have_room(sum(map(len, cases))):
            return None
        return [] if cases == [[]] else [Guard(condition_of(cases, loc), reason, loc=loc)]

    def have_room(self, comparisons: int) -> bool:
        """Whether `comparisons` more comparisons fit the limit; they are counted if they do."""
        if comparisons > self._room:
            return False
        self._room -= comparisons
        return True

    def without(self, domain: isl.Set, fails: isl.Set) -> isl.Set | None:
        """The parameters for which no iteration of the domain is in `fails`, or a subset of them; None where
        there are none."""
        happens, fails = self.affine.settled(domain), self.affine.settled(fails)
        exact = fails.complement().gist(self.affine.context_of(fails)).coalesce()
        is_short = exact.n_basic_set() == 1 and not happens.is_subset(fails)
        return exact if is_short else self.affine.without(fails, happens)

    def sizes(self, guards: Sequence[Guard]) -> list[Guard]:
        """Bounds on the scalars of 64 bits that arithmetic is done with, in guards or in the program."""
        names = self.affine.names
        sums = self.affine.roots(self.affine.combined) - self.affine.products.factors.keys()
        origins = [names[name].origin for name in sorted(sums)]
        scalars = [origin for origin in origins if origin is not None]
        summed = [part for guard in guards for part in walk(guard.holds) if isinstance(part, Binary)]
        scalars += [part for part in walk(summed) if isinstance(part, Var)]
        large = [s for s in scalars if s.dtype is DType.INT64 and not isinstance(s, Extent)]
        limits: dict[Expr, int] = {}
        limits.update((scalar, SMALL) for scalar in large)
        for name, together in sorted(self.affine.multiplied.items()):
            for origin in (names[root].origin for root in sorted(self.affine.roots([name]))):
                if origin is not None:
                    factor = widened(origin)
                    limits[factor] = min(limits.get(factor, SMALL), PRODUCTS[together])
        return [_is_small(scalar, limit) for scalar, limit in limits.items()]


def in_range(name: str) -> str:
    """The reason of guards about the indices of an array."""
    return f"indices of '{name}' are in range"


def _is_small(scalar: Expr, limit: int) -> Guard:
    holds = within(scalar, -limit, limit)
    return Guard(
        holds.rhs if isinstance(scalar, Extent) else holds, "sums of indices do not overflow", loc=scalar.loc
    )


def asked_in_order(guards: Sequence[Guard]) -> tuple[Guard, ...]:
    """The guards, none of which can raise: `k >= 0`, and only then `a.shape[0] >= 2 ** k`.

    Where a negative power would raise in the program, and whether it gets there at all, is for the
    plain version to find. Divisions that may raise stand in no guard (`Affine`).
    """
    out: list[Guard] = []
    for guard in guards:
        # What is inside of an operation comes behind it in a walk, and is asked before it.
        powers = [node for node in walk(guard.holds) if isinstance(node, Binary)]
        exponents = [node.rhs for node in powers if exponent_may_be_negative(node)]
        for exponent in reversed(exponents):
            zero = Const(0, exponent.dtype, loc=guard.loc)
            holds = Compare(">=", rewrite(exponent, _with_value), zero, loc=guard.loc)
            out.append(Guard(holds, "an exponent is not negative", loc=guard.loc))
        out.append(replace(guard, holds=rewrite(guard.holds, _with_value)))
    return tuple(dict.fromkeys(out))


def _with_value(node: Node) -> Node:
    if not isinstance(node, Binary) or not exponent_may_be_negative(node):
        return node
    zero = Const(0, node.rhs.dtype, loc=node.loc)
    return replace(node, rhs=Binary("max", node.rhs, zero, loc=node.loc))
