"""Normal form of integer expressions: sums of terms with coefficients, so that `(k + 1 + i) - k` is `i + 1`.

    linear_form(2 * i - n + 3)  ->  LinearForm(terms={i: 2, n: -1}, constant=3)

A term is an expression that is no sum, difference or multiple by a constant itself; equal terms are combined.
Integers wrap, and sums of them wrap alike, so the normal form is exact.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from appyc.errors import Loc
from appyc.ir.nodes import Binary, Cast, Const, Expr, Logical, Node, Symbol, Unary, Var
from appyc.ir.types import DType
from appyc.ir.visit import rewrite, scalars_read

Term = TypeVar("Term", bound=Hashable)


@dataclass(frozen=True, slots=True)
class LinearForm(Generic[Term]):
    """A linear form: a sum of terms (expressions, or names) with integer coefficients.

    terms: the coefficient of each, in the order of their first occurrence, none of them 0.
    """

    terms: Mapping[Term, int]
    constant: int = 0

    def __hash__(self) -> int:
        return hash((frozenset(self.terms.items()), self.constant))

    def plus(self, other: LinearForm[Term], times: int = 1) -> LinearForm[Term]:
        terms = dict(self.terms)
        for term, factor in other.terms.items():
            terms[term] = terms.get(term, 0) + times * factor
        kept = {term: factor for term, factor in terms.items() if factor}
        return LinearForm(kept, self.constant + times * other.constant)


def terms_with(form: LinearForm[Expr], symbols: frozenset[Symbol]) -> Mapping[Expr, int]:
    """The terms that any of the scalars occur in."""
    return {term: factor for term, factor in form.terms.items() if not symbols.isdisjoint(scalars_read(term))}


def written(form: LinearForm[Expr], loc: Loc) -> Expr:
    """The sum as an expression: added terms before subtracted ones."""
    out: Expr | None = None
    number = Const(abs(form.constant), DType.INT64, loc=loc)
    ordered = sorted(form.terms.items(), key=lambda item: item[1] < 0)  # stable
    if form.constant > 0:
        positive = sum(factor > 0 for _, factor in ordered)
        ordered.insert(positive, (number, 1))
    elif form.constant < 0 or not ordered:
        ordered.append((number, -1 if form.constant else 1))
    for term, factor in ordered:
        times = Const(abs(factor), DType.INT64, loc=loc)
        part = term if abs(factor) == 1 else Binary("*", term, times, loc=loc)
        if out is None:
            out = part if factor > 0 else Unary("-", part, loc=loc)
        else:
            out = Binary("+" if factor > 0 else "-", out, part, loc=loc)
    assert out is not None
    return out


NO_TERMS: LinearForm[Expr] = LinearForm({})


def linear_form(expr: Expr) -> LinearForm[Expr]:
    """The normal form of an int64 expression."""
    match expr:
        case Const(value=int(number)):
            return LinearForm({}, number)
        case Binary(op="+" | "-" as op, trap=False):
            return linear_form(expr.lhs).plus(linear_form(expr.rhs), 1 if op == "+" else -1)
        case (
            Binary(op="*", lhs=inner, rhs=Const(value=int(factor)), trap=False)
            | Binary(op="*", lhs=Const(value=int(factor)), rhs=inner, trap=False)
        ):
            return NO_TERMS.plus(linear_form(inner), factor)
        case Unary(op="-"):
            return NO_TERMS.plus(linear_form(expr.arg), -1)
        case Cast(arg=arg) if arg.dtype is expr.dtype:
            return linear_form(arg)
        case _:
            return LinearForm({expr: 1})


def difference(one: Expr, other: Expr) -> LinearForm[Expr]:
    """The difference `one - other` of two int64 expressions, as a linear form."""
    return linear_form(one).plus(linear_form(other), -1)


def excess(one: Expr, other: Expr) -> int | None:
    """The constant that one int64 expression is more than another; None where the difference is no constant."""
    form = difference(one, other)
    return None if form.terms else form.constant


def are_equal(one: Expr, other: Expr) -> bool:
    """Whether two int64 expressions have the same normal form, so that they are always equal."""
    return one == other or _regular(one) == _regular(other)


def _regular(expr: Expr) -> Expr:
    """An expression with its sums, and those inside its terms, in normal form."""

    def rule(node: Node) -> Node:
        if isinstance(node, Binary | Unary) and node.op in ("+", "-", "*") and node.dtype is DType.INT64:
            return written(linear_form(node), node.loc)
        return node

    return rewrite(expr, rule)


def coefficient(index: Expr, var: Symbol) -> int | None:
    """The coefficient of a scalar in an index; None where the index is not linear in it."""
    found = terms_with(linear_form(index), frozenset({var}))
    if not found:
        return 0
    ((term, factor), *others) = found.items()
    return factor if isinstance(term, Var) and not others else None


def slope(index: Expr, var: Symbol) -> Expr | None:
    """The factor of a scalar in an index, constant or not: `k` for `var * k + n`. None where the index is no multiple
    of the scalar plus what does not depend on it.
    """
    found = terms_with(linear_form(index), frozenset({var}))
    if len(found) > 1:
        return None
    out: Expr = Const(sum(found.values()), DType.INT64, loc=index.loc)
    rest = next(iter(found), Var(var, loc=index.loc))
    while isinstance(rest, Binary) and rest.op == "*" and not rest.trap:
        ours, other = sorted((rest.lhs, rest.rhs), key=lambda e: var not in scalars_read(e))
        if var in scalars_read(other):
            return None
        out, rest = Binary("*", out, other, loc=index.loc), ours
    return out if rest == Var(var, loc=index.loc) else None


def offset_from(index: Expr, var: Symbol) -> LinearForm[Expr] | None:
    """The offset of an index from a scalar, `index - var`; None where the scalar's coefficient is not 1."""
    form, here = linear_form(index), Var(var, loc=index.loc)
    return form.plus(LinearForm({here: 1}), -1) if form.terms.get(here) == 1 else None


def distance(index: Expr, var: Symbol) -> int | None:
    """The constant c of an index `var + c`; None for any other index."""
    return excess(index, Var(var, loc=index.loc))


def are_apart(one: Sequence[LinearForm[Expr]], other: Sequence[LinearForm[Expr]]) -> bool:
    """Whether two elements of an array are a constant distance apart, which is not 0, along some axis."""
    between = (a.plus(b, -1) for a, b in zip(one, other, strict=True))
    return any(not distance.terms and distance.constant for distance in between)


def operands(expr: Expr, *ops: str) -> list[Expr]:
    """The operands of nested operators of these kinds, in order: `a`, `b` and `c` of `(a * b) * c`."""
    if isinstance(expr, Binary | Logical) and expr.op in ops:
        return operands(expr.lhs, *ops) + operands(expr.rhs, *ops)
    return [expr]


def apart(value: Expr) -> tuple[Expr | None, int]:
    """An int64 expression without the constant that is added to it (None for a constant), and that constant."""
    form = linear_form(value)
    return written(LinearForm(form.terms), value.loc) if form.terms else None, form.constant
