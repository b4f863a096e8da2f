"""Complex arithmetic in terms of real and imaginary parts.

Every function takes parts that are cheap to write twice (variables, constants) and returns
the parts of the result. Formulas are NumPy's: division is Smith's, which does not overflow
where the result does not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
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
    """A divisor, prepared for Smith's algorithm. larger: whether its real part is the larger one. nothing: whether it
    is 0. ratio: its smaller part divided by the larger. scale: the final factor of both parts."""

    larger: Expr
    nothing: Expr
    ratio: Expr
    scale: Expr


def divisor(b: Parts, temp: Callable[[Expr, str], Expr]) -> Divisor:
    """temp: gives an expression a name, so that it may be written twice."""
    larger = temp(Compare(">=", _call("abs", b.re), _call("abs", b.im), loc=b.re.loc), "larger")
    big, small = temp(_either(larger, b.re, b.im), "big"), temp(_either(larger, b.im, b.re), "small")
    nothing = temp(Compare("==", big, _number(0.0, big), loc=b.re.loc), "nothing")
    ratio = temp(_op("/", small, big), "ratio")
    whole = _either(nothing, _call("abs", b.re), _op("+", big, _op("*", small, ratio)))
    return Divisor(larger, nothing, ratio, temp(_op("/", _number(1.0, whole), whole), "scale"))


def quotient(a: Parts, d: Divisor, temp: Callable[[Expr, str], Expr]) -> Parts:
    """The quotient by Smith's algorithm, which divides by the larger part of the divisor.

    The real and imaginary parts of `a` are swapped where the imaginary part of the divisor is the larger one. The
    selects are on operands: selects on results would become branches, which SIMD lanes cannot take.
    """
    first, second = (
        temp(_either(d.larger, a.re, a.im), "first"),
        temp(_either(d.larger, a.im, a.re), "second"),
    )
    turned = temp(_op("*", first, d.ratio), "turned")
    re = _op("+", first, _op("*", second, d.ratio))
    im = _op("-", _either(d.larger, second, turned), _either(d.larger, turned, second))
    return Parts(
        _op("*", _either(d.nothing, a.re, re), d.scale), _op("*", _either(d.nothing, a.im, im), d.scale)
    )


def exponential(a: Parts) -> Parts:
    """The exponential. The modulus is in two factors, as it may overflow where its product with a cosine does not.

    An angle that is NaN or infinite is ignored where the real part is infinite.
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
