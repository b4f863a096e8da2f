"""Polynomial index expressions: `i*n + j` as a linear sum of named products.

isl knows sums only. A product of two values that change, or of one that changes with one that
is fixed for the call, gets a name of its own, and what is multiplied is remembered:

    (i - 1) * n + j      ->      `i*n` - n + j,      with `i*n` known to be i times n

As names go it is opaque: two instances of `i*n` in different iterations are unrelated. But sums
that share it cancel, and `delinearise` takes the index apart again. A square is put in terms of
`i*(i - 1)/2`, so that halves of products of neighbours, as in packed triangles, are sums as well:

    i * (i + 1) // 2 + j      ->      `i*(i-1)/2` + i + j
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce
from math import prod
from typing import TypeAlias

from appyc.errors import GENERATED
from appyc.ir.affine import LinearForm
from appyc.ir.nodes import Binary, Cast, Expr
from appyc.ir.types import DType

Factors: TypeAlias = tuple[str, ...]
"""The names in a product, sorted. `(i, i)` stands for i*(i - 1)/2."""

MAX_FACTORS = 3

MAX_TERMS = 12


@dataclass(slots=True)
class Products:
    """The products that have names."""

    factors: dict[str, Factors] = field(default_factory=dict)

    def named(self, factors: Factors) -> str:
        """The name of a product of one factor or more."""
        if len(factors) == 1:
            return factors[0]
        name = "*".join(factors)
        self.factors[name] = factors
        return name

    def has_any(self, value: LinearForm[str]) -> bool:
        return any(name in self.factors for name in value.terms)

    def polynomial(self, value: LinearForm[str]) -> dict[Factors, int]:
        """The factor of each product in a sum; of () the constant."""
        terms = {self.factors.get(name, (name,)): factor for name, factor in value.terms.items()}
        return terms | ({(): value.constant} if value.constant else {})

    def evaluated(self, value: LinearForm[str], at: Mapping[str, int]) -> int:
        """The value of a sum with these numbers for its names; 0 for names that are not given."""
        return sum(
            number * _multiplied([at.get(name, 0) for name in factors], len(set(factors)) < len(factors))
            for factors, number in self.polynomial(value).items()
        )

    def times(self, lhs: LinearForm[str], rhs: LinearForm[str]) -> dict[Factors, int] | None:
        """The product of two sums; None where it would have too many factors, or is no sum of such."""
        out: dict[Factors, int] = {}
        for mine, one in self.polynomial(lhs).items():
            for other, two in self.polynomial(rhs).items():
                parts = _together(mine, other)
                if parts is None:
                    return None
                for factors, times in parts.items():
                    out[factors] = out.get(factors, 0) + times * one * two
        out = {factors: number for factors, number in out.items() if number}
        return out if len(out) <= MAX_TERMS else None


def _multiplied(values: list[int], is_square: bool) -> int:
    return values[0] * (values[0] - 1) // 2 if is_square else prod(values)


def _together(mine: Factors, other: Factors) -> dict[Factors, int] | None:
    """The product of two products: one term, or two for a square."""
    if not mine or not other:
        return {mine or other: 1}
    factors = tuple(sorted(mine + other))
    if len(set(factors)) == len(factors):
        return {factors: 1} if len(factors) <= MAX_FACTORS else None
    if len(factors) == 2:
        return {factors: 2, (factors[0],): 1}
    return None


def written_out(factors: Factors, origins: Mapping[str, Expr | None]) -> Expr | None:
    """A product over the function's parameters as an expression."""
    parts = [origins[name] for name in factors]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or len(set(factors)) < len(factors):
        return None
    return reduce(lambda a, b: Binary("*", a, b, loc=GENERATED), [widened(part) for part in known])


def widened(value: Expr) -> Expr:
    """An integer in 64 bits."""
    return value if value.dtype is DType.INT64 else Cast(value, DType.INT64, loc=value.loc)
