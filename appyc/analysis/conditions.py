"""Sets of parameter values as IR conditions: what isl found, said in the program's own terms."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from appyc.analysis.affine import Affine
from appyc.errors import Loc
from appyc.ir.nodes import Binary, Cast, Compare, Const, Expr, Logical
from appyc.ir.types import DType

if TYPE_CHECKING:
    import islpy as isl

MAX_TERMS = 24
"""Comparisons in one condition; a longer one costs more than it is worth."""


def condition_of(points: isl.Set, affine: Affine, loc: Loc) -> Expr | None:
    """An expression over the function's parameters that is true exactly on the set.

    None where the set speaks of values that are not known when the function starts, or where
    the expression would be too long.
    """
    return _Writer(affine, loc).any_of(points)


class _Writer:
    def __init__(self, affine: Affine, loc: Loc) -> None:
        self.affine = affine
        self.loc = loc
        self.terms = 0

    def any_of(self, points: isl.Set) -> Expr | None:
        cases: list[Expr] = []
        for case in points.compute_divs().get_basic_sets():
            written = self.all_of(case)
            if written is None:
                return None
            cases.append(written)
        return self._join("or", cases, False)

    def all_of(self, case: isl.BasicSet) -> Expr | None:
        parts: list[Expr] = []
        for constraint in case.get_constraints():
            if constraint.is_div_constraint():
                continue
            part = self.comparison(constraint)
            self.terms += 1
            if part is None or self.terms > MAX_TERMS:
                return None
            parts.append(part)
        return self._join("and", parts, True)

    def comparison(self, constraint: isl.Constraint) -> Expr | None:
        """`2*n - m + 3 >= 0` as `2*n + 3 >= m`, and with a constant of -1 as a strict one."""
        affine = constraint.get_aff()
        terms = self.weighted(affine)
        if terms is None:
            return None
        offset, _ = self.affine.sets.constant_term(affine)
        equal = constraint.is_equality()
        strict = not equal and offset == -1
        offset = 0 if strict else offset
        larger = self.total([(c, e) for c, e in terms if c > 0], max(offset, 0))
        smaller = self.total([(-c, e) for c, e in terms if c < 0], max(-offset, 0))
        return Compare("==" if equal else ">" if strict else ">=", larger, smaller, loc=self.loc)

    def weighted(self, affine: isl.Aff) -> list[tuple[int, Expr]] | None:
        """The terms of an affine expression, without its constant, times its denominator."""
        terms: list[tuple[int, Expr]] = []
        for factor, part in self.affine.sets.terms(affine):
            written = self.parameter(part) if isinstance(part, str) else self.quotient(part)
            if written is None:
                return None
            terms.append((factor, written))
        return terms

    def parameter(self, name: str) -> Expr | None:
        origin = self.affine.names[name].origin
        if origin is None or origin.dtype is DType.INT64:
            return origin
        return Cast(origin, DType.INT64, loc=self.loc)

    def quotient(self, affine: isl.Aff) -> Expr | None:
        """The floor of an affine expression with a denominator."""
        terms = self.weighted(affine)
        if terms is None:
            return None
        offset, scale = self.affine.sets.constant_term(affine)
        return Binary("//", self.total(terms, offset), self.integer(scale), loc=self.loc)

    def total(self, terms: list[tuple[int, Expr]], offset: int) -> Expr:
        parts = [e if c == 1 else Binary("*", self.integer(c), e, loc=self.loc) for c, e in terms]
        if offset or not parts:
            parts.append(self.integer(offset))
        return reduce(lambda a, b: Binary("+", a, b, loc=self.loc), parts)

    def integer(self, value: int) -> Const:
        return Const(value, DType.INT64, loc=self.loc)

    def _join(self, op: str, parts: list[Expr], empty: bool) -> Expr:
        if not parts:
            return Const(empty, DType.BOOL, loc=self.loc)
        return reduce(lambda a, b: Logical(op, a, b, loc=self.loc), parts)
