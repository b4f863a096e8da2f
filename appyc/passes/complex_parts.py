"""Arithmetic on complex numbers as arithmetic on their parts.

Every function takes parts that are cheap to write twice (variables, constants) and returns
the parts of the result. Formulas are NumPy's: division is Smith's, which does not overflow
where the result does not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from appyc.ir.nodes import Binary, Compare, Const, Expr, Intrinsic, Logical, Select, Unary


@dataclass(frozen=True, slots=True)
class Parts:
    re: Expr
    im: Expr


def _op(op: str, lhs: Expr, rhs: Expr) -> Expr:
    return Binary(op, lhs, rhs, loc=lhs.loc)


def _call(name: str, *args: Expr) -> Expr:
    return Intrinsic(name, args, args[0].dtype, loc=args[0].loc)


def _number(value: float, like: Expr) -> Expr:
    return Const(value, like.dtype, loc=like.loc)


def _either(cond: Expr, then: Expr, orelse: Expr) -> Expr:
    return Select(cond, then, orelse, loc=then.loc)


def plus(op: str, a: Parts, b: Parts) -> Parts:
    """`a + b` or `a - b`."""
    return Parts(_op(op, a.re, b.re), _op(op, a.im, b.im))


def times(a: Parts, b: Parts) -> Parts:
    return Parts(
        _op("-", _op("*", a.re, b.re), _op("*", a.im, b.im)),
        _op("+", _op("*", a.re, b.im), _op("*", a.im, b.re)),
    )


def negative(a: Parts) -> Parts:
    return Parts(Unary("-", a.re, loc=a.re.loc), Unary("-", a.im, loc=a.im.loc))


def conjugate(a: Parts) -> Parts:
    return Parts(a.re, Unary("-", a.im, loc=a.im.loc))


def is_zero(a: Parts) -> Expr:
    none = _number(0.0, a.re)
    return _op("&", Compare("==", a.re, none, loc=a.re.loc), Compare("==", a.im, none, loc=a.im.loc))


@dataclass(frozen=True, slots=True)
class Divisor:
    """A divisor, made ready: which part is the larger one, the ratio of the parts, the scale."""

    larger: Expr
    ratio: Expr
    scale: Expr


def ratio_of(b: Parts) -> tuple[Expr, Expr]:
    """Whether the real part is the larger one, and the smaller part by the larger."""
    larger = Compare(">=", _call("abs", b.re), _call("abs", b.im), loc=b.re.loc)
    big, small = _either(larger, b.re, b.im), _either(larger, b.im, b.re)
    none = _number(0.0, b.re)
    ratio = _either(Compare("==", big, none, loc=b.re.loc), none, _op("/", small, big))
    return larger, ratio


def scale_of(b: Parts, larger: Expr, ratio: Expr) -> Expr:
    big, small = _either(larger, b.re, b.im), _either(larger, b.im, b.re)
    return _op("/", _number(1.0, b.re), _op("+", big, _op("*", small, ratio)))


def quotient(a: Parts, d: Divisor) -> Parts:
    re = _either(d.larger, _op("+", a.re, _op("*", a.im, d.ratio)), _op("+", _op("*", a.re, d.ratio), a.im))
    im = _either(d.larger, _op("-", a.im, _op("*", a.re, d.ratio)), _op("-", _op("*", a.im, d.ratio), a.re))
    return Parts(_op("*", re, d.scale), _op("*", im, d.scale))


def exponential(a: Parts) -> Parts:
    """In two factors, since the whole may overflow where its product with a cosine does not.

    An angle that is no number, or infinite, does not count beside an infinite length.
    """
    loc, none = a.re.loc, _number(0.0, a.re)
    infinity = _number(math.inf, a.re)
    astray = Unary("~", Compare("<", _call("abs", a.im), infinity, loc=loc), loc=loc)
    endless = Logical("and", astray, Compare("==", _call("abs", a.re), infinity, loc=loc), loc=loc)
    gone = Logical("and", astray, Compare("==", a.re, _number(-math.inf, a.re), loc=loc), loc=loc)
    root = _call("exp", _op("*", a.re, _number(0.5, a.re)))
    other = _either(Compare("==", a.im, none, loc=loc), _number(1.0, a.re), root)
    cosine, sine = _call("cos", _either(endless, none, a.im)), _call("sin", _either(gone, none, a.im))
    return Parts(_op("*", _op("*", root, cosine), root), _op("*", _op("*", other, sine), other))


def logarithm(a: Parts) -> Parts:
    return Parts(_call("log", _call("hypot", a.re, a.im)), _call("atan2", a.im, a.re))


def sine(a: Parts) -> Parts:
    return Parts(
        _op("*", _call("sin", a.re), _call("cosh", a.im)), _op("*", _call("cos", a.re), _call("sinh", a.im))
    )


def cosine(a: Parts) -> Parts:
    im = _op("*", _call("sin", a.re), _call("sinh", a.im))
    return Parts(_op("*", _call("cos", a.re), _call("cosh", a.im)), Unary("-", im, loc=im.loc))


def root_size(a: Parts) -> Expr:
    """The larger part of the square root, by its absolute value."""
    sum_ = _op("+", _call("hypot", a.re, a.im), _call("abs", a.re))
    return _call("sqrt", _op("*", _number(0.5, a.re), sum_))


def root(a: Parts, size: Expr) -> Parts:
    none = _number(0.0, a.re)
    other = _op("/", _call("abs", a.im), _op("*", _number(2.0, a.re), size))
    right = Compare(">=", a.re, none, loc=a.re.loc)
    re = _either(right, size, other)
    im = _call("copysign", _either(right, other, size), a.im)
    nothing = Compare("==", size, none, loc=a.re.loc)
    return Parts(_either(nothing, none, re), _either(nothing, a.im, im))
