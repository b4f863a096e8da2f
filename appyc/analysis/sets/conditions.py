"""Code generation from sets: sets of parameter values, as isl computes them, to IR conditions and texts."""

from __future__ import annotations

from functools import reduce

from appyc.analysis.sets.affine_values import Affine
from appyc.analysis.sets.lazy_isl import isl
from appyc.errors import Loc
from appyc.ir.nodes import Binary, Cast, Compare, Const, Expr, Logical, Var
from appyc.ir.printer import print_expr
from appyc.ir.types import DType

MAX_TERMS = 24
"""Comparisons in one condition; a longer one costs more than it is worth."""


LARGEST = 1 << 62
"""The largest constant that is written: sums with it, and it itself, must not leave 64 bits."""

Cases = list[list[Expr]]
"""Comparisons: all of an inner list, for any of the outer one."""


def cases_of(points: isl.Set, affine: Affine, loc: Loc, *, in_loops: bool = False) -> Cases | None:
    """Comparisons over the function's parameters that hold exactly on the set.

    None where the set speaks of values that are not known when the function starts, or where
    there would be too many. in_loops: the variables of loops may be spoken of too.
    """
    return _Writer(affine, loc, in_loops).cases(points)


def expression_of(value: isl.PwAff, affine: Affine, loc: Loc) -> Expr | None:
    """The value in terms of parameters and loop variables, wherever it is defined.

    None where it has several cases, or speaks of what the program has no name for.
    """
    pieces = value.get_pieces()
    if len(pieces) != 1:
        return None
    return _Writer(affine, loc, in_loops=True).quotient(pieces[0][1])


def bounds_of(demands: isl.BasicSet, name: str, affine: Affine, loc: Loc) -> tuple[Expr, Expr] | None:
    """The least value of a loop variable, and one more than its greatest, given the values of all
    other names.

    demands: constraints on the variable. None where they bound it on one side only, or speak of
    what the program has no name for.
    """
    return _Writer(affine, loc, in_loops=True).bounds(demands, name)


def condition_of(cases: Cases, loc: Loc) -> Expr:
    """The cases as one expression."""
    return _join("or", [_join("and", case, True, loc) for case in cases], False, loc)


def text_of(cases: Cases) -> str:
    """The cases for a reader: `k == 0 or k >= n`."""
    return " or ".join(" and ".join(print_expr(part) for part in case) for case in cases)


def _join(op: str, parts: list[Expr], empty: bool, loc: Loc) -> Expr:
    if not parts:
        return Const(empty, DType.BOOL, loc=loc)
    return reduce(lambda a, b: Logical(op, a, b, loc=loc), parts)


class _Writer:
    def __init__(self, affine: Affine, loc: Loc, in_loops: bool = False) -> None:
        self.affine = affine
        self.loc = loc
        self.in_loops = in_loops
        self.terms = 0

    def cases(self, points: isl.Set) -> Cases | None:
        cases: Cases = []
        for case in points.compute_divs().get_basic_sets():
            parts: list[Expr] = []
            for constraint in case.get_constraints():
                if constraint.is_div_constraint():
                    continue
                part = self.comparison(constraint)
                self.terms += 1
                if part is None or self.terms > MAX_TERMS:
                    return None
                parts.append(part)
            cases.append(parts)
        return cases

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

    def bounds(self, demands: isl.BasicSet, name: str) -> tuple[Expr, Expr] | None:
        lows: list[Expr] = []
        ends: list[Expr] = []
        for constraint in demands.get_constraints():
            affine = constraint.get_aff()
            factor = next(f for f, part in self.affine.sets.terms(affine) if part == name)
            for sign in (1, -1) if constraint.is_equality() else (1,):
                bound = self.bound(affine, name, factor, sign)
                if bound is None:
                    return None
                (lows if sign * factor > 0 else ends).append(bound)
        if not lows or not ends:
            return None
        return self.extreme("max", lows), self.extreme("min", ends)

    def bound(self, affine: isl.Aff, name: str, factor: int, sign: int) -> Expr | None:
        """The bound that `sign * affine >= 0` puts on a variable with the coefficient `factor`: its least
        value, or one more than its greatest."""
        is_low, size = sign * factor > 0, abs(factor)
        turn = -sign if is_low else sign
        offset, _ = self.affine.sets.constant_term(affine)
        if abs(offset) > LARGEST:
            return None
        offset = turn * offset + (size - 1 if is_low else size)
        terms: list[tuple[int, Expr]] = []
        for weight, part in self.affine.sets.terms(affine):
            written = self.parameter(part) if isinstance(part, str) else None
            if written is None:
                return None
            if part != name:
                terms.append((turn * weight, written))
        total = self.difference(terms, offset)
        return total if size == 1 else Binary("//", total, self.integer(size), loc=self.loc)

    def difference(self, terms: list[tuple[int, Expr]], offset: int) -> Expr:
        """`2*n - m + 3`, for terms with factors of either sign."""
        plus = [(c, e) for c, e in terms if c > 0]
        minus = [(-c, e) for c, e in terms if c < 0]
        if not plus:
            return self.total(plus, offset) if not minus else self.less(self.integer(offset), minus)
        value = self.less(self.total(plus, 0), minus) if minus else self.total(plus, 0)
        if offset == 0:
            return value
        return Binary("+" if offset > 0 else "-", value, self.integer(abs(offset)), loc=self.loc)

    def less(self, value: Expr, terms: list[tuple[int, Expr]]) -> Expr:
        return Binary("-", value, self.total(terms, 0), loc=self.loc)

    def extreme(self, op: str, parts: list[Expr]) -> Expr:
        return reduce(lambda a, b: Binary(op, a, b, loc=self.loc), parts)

    def weighted(self, affine: isl.Aff) -> list[tuple[int, Expr]] | None:
        """The terms of an affine expression, without its constant, times its denominator; None where it cannot be
        written in 64 bits."""
        terms: list[tuple[int, Expr]] = []
        if abs(self.affine.sets.constant_term(affine)[0]) > LARGEST:
            return None
        for factor, part in self.affine.sets.terms(affine):
            written = self.parameter(part) if isinstance(part, str) else self.quotient(part)
            if written is None or abs(factor) > LARGEST:
                return None
            terms.append((factor, written))
        return terms

    def parameter(self, name: str) -> Expr | None:
        known = self.affine.names[name]
        if self.in_loops and known.loop is not None:
            return Var(known.loop.var, loc=self.loc)
        origin = known.origin
        if origin is None or origin.dtype is DType.INT64:
            return origin
        return Cast(origin, DType.INT64, loc=self.loc)

    def quotient(self, affine: isl.Aff) -> Expr | None:
        """The floor of an affine expression with a denominator."""
        terms = self.weighted(affine)
        if terms is None:
            return None
        offset, scale = self.affine.sets.constant_term(affine)
        if scale == 1:
            return self.total(terms, offset)
        return Binary("//", self.total(terms, offset), self.integer(scale), loc=self.loc)

    def total(self, terms: list[tuple[int, Expr]], offset: int) -> Expr:
        parts = [e if c == 1 else Binary("*", self.integer(c), e, loc=self.loc) for c, e in terms]
        if offset or not parts:
            parts.append(self.integer(offset))
        return reduce(lambda a, b: Binary("+", a, b, loc=self.loc), parts)

    def integer(self, value: int) -> Const:
        return Const(value, DType.INT64, loc=self.loc)
