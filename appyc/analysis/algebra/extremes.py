"""Bounds of a non-affine index: the least and the greatest value of an index with products, as expressions.

    for i in range(1, m):
        for j in range(n):
            a[(i - 1)*n + j]      least  (1 - 1)*n + 0,   greatest  (m - 2)*n + n - 1,   if n >= 0

With a factor that is not negative, a product is largest where what moves in it is largest. The
parts are taken one by one, each over all iterations, so the ends may be further out than any
index is.

Does not handle: squares of what moves, products of two values that move.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

from appyc.analysis.algebra.value_products import Factors, widened
from appyc.analysis.sets.affine_values import Affine
from appyc.analysis.sets.conditions import expression_of
from appyc.analysis.sets.lazy_isl import isl
from appyc.errors import Loc
from appyc.ir.nodes import Binary, Const, Expr, Extent
from appyc.ir.types import DType

_PART = "$part"


@dataclass(frozen=True, slots=True)
class Extremes:
    """The bounds, over the function's parameters, valid wherever none of `factors` is negative."""

    least: Expr
    greatest: Expr
    factors: tuple[Expr, ...]


def extremes_of(affine: Affine, domain: isl.Set, index: isl.PwAff, loc: Loc) -> Extremes | None:
    """The bounds of an index over an iteration domain; None where they cannot be computed, or where the
    lower bound is surely negative."""
    numbers = affine.sets.linear_of(index)
    if numbers is None:
        return None
    index_terms = affine.products.polynomial(numbers)
    parts: dict[Factors, dict[Factors, int]] = {}
    for factors, number in index_terms.items():
        moving = tuple(name for name in factors if affine.names[name].depth > 0)
        if len(moving) > 1:
            return None
        if moving:
            parts.setdefault(tuple(name for name in factors if name not in moving), {})[moving] = number
    terms: list[Expr | None] = []
    for factors, number in index_terms.items():
        if factors in parts:
            parts[factors][()] = number
        elif all(affine.names[name].depth == 0 for name in factors):
            terms.append(_times(affine, factors, Const(number, DType.INT64, loc=loc), loc))
    ends = [_ends(affine, domain, affine.sum_of(moved), loc) for moved in parts.values()]
    known = [pair for pair in ends if pair is not None]
    # Where the lower bound of a part is negative, an index counts from the end, and a test would only fail.
    if len(known) < len(ends) or any(isinstance(low, Const) and low.value.real < 0 for low, _ in known):
        return None
    least, greatest = (
        [*terms, *(_times(affine, fixed, pair[end], loc) for fixed, pair in zip(parts, known, strict=True))]
        for end in (0, 1)
    )
    low = [term for term in least if term is not None]
    high = [term for term in greatest if term is not None]
    if len(low) < len(least) or len(high) < len(greatest):
        return None
    names = dict.fromkeys(name for fixed in parts for name in fixed)
    origins = [affine.names[name].origin for name in names]
    signed = tuple(widened(o) for o in origins if o is not None and not isinstance(o, Extent))
    return Extremes(_total(low, loc), _total(high, loc), signed)


def _ends(affine: Affine, domain: isl.Set, value: isl.PwAff, loc: Loc) -> tuple[Expr, Expr] | None:
    """A lower and an upper bound of a sum of loop variables."""
    sets = affine.sets
    points = affine.possible(domain).intersect(sets.parameter(_PART).eq_set(value))
    line = sets.forget(points, lambda name: name != _PART and affine.names[name].origin is None)
    out: list[Expr] = []
    for above in (False, True):
        end = sets.least(line, _PART, greatest=above)
        if end is None:
            return None
        cases = (expression_of(c, affine, loc) for c in sets.bounding_cases(end, above=above))
        found = next((case for case in cases if case is not None), None)
        if found is None:
            return None
        out.append(found)
    return out[0], out[1]


def _times(affine: Affine, factors: Factors, value: Expr, loc: Loc) -> Expr | None:
    """The product of a value and of fixed names."""
    number = value.value if isinstance(value, Const) else None
    if not factors or number == 0:
        return value
    written = affine.written(factors)
    if written is None or number == 1:
        return written
    return Binary("*", written, value, loc=loc)


def _total(terms: list[Expr], loc: Loc) -> Expr:
    numbers = [term.value for term in terms if isinstance(term, Const)]
    others = [term for term in terms if not isinstance(term, Const)]
    constant = Const(sum(int(number.real) for number in numbers), DType.INT64, loc=loc)
    parts: list[Expr] = [*others]
    if constant.value or not others:
        parts.append(constant)
    return reduce(lambda a, b: Binary("+", a, b, loc=loc), parts)
