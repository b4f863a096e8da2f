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


def _is(value: Expr, number: float) -> Expr:
    return Compare("==", value, _number(number, value), loc=value.loc)


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
    return _op("&", _is(a.re, 0.0), _is(a.im, 0.0))


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
    nothing = temp(_is(big, 0.0), "nothing")
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
    endless = Logical("and", astray, _is(_call("abs", a.re), math.inf), loc=loc)
    gone = Logical("and", astray, _is(a.re, -math.inf), loc=loc)
    root = _call("exp", _op("*", a.re, _number(0.5, a.re)))
    other = _either(_is(a.im, 0.0), _number(1.0, a.re), root)
    cosine, sine = _call("cos", _either(endless, none, a.im)), _call("sin", _either(gone, none, a.im))
    return Parts(_op("*", _op("*", root, cosine), root), _op("*", _op("*", other, sine), other))


def logarithm(a: Parts) -> Parts:
    """The logarithm. The modulus of a quarter of the number does not overflow."""
    huge = _is(_call("hypot", a.re, a.im), math.inf)
    scale = _either(huge, _number(0.25, a.re), _number(1.0, a.re))
    modulus = _call("hypot", _op("*", a.re, scale), _op("*", a.im, scale))
    back = _either(huge, _number(math.log(4.0), a.re), _number(0.0, a.re))
    return Parts(_op("+", _call("log", modulus), back), _call("atan2", a.im, a.re))


def sine(a: Parts) -> Parts:
    """The sine. That of an imaginary number is imaginary, also where the hyperbolic cosine overflows."""
    one = _number(1.0, a.re)
    cosh = _either(_is(a.re, 0.0), one, _call("cosh", a.im))
    return Parts(_op("*", _call("sin", a.re), cosh), _op("*", _call("cos", a.re), _call("sinh", a.im)))


def cosine(a: Parts) -> Parts:
    """The cosine. That of an imaginary number is real, also where the hyperbolic sine overflows."""
    sign = _call("copysign", _number(1.0, a.re), a.im)
    sinh = _either(_is(a.re, 0.0), sign, _call("sinh", a.im))
    im = _op("*", _call("sin", a.re), sinh)
    return Parts(_op("*", _call("cos", a.re), _call("cosh", a.im)), Unary("-", im, loc=im.loc))


def root_size(a: Parts, temp: Callable[[Expr, str], Expr]) -> Expr:
    """The larger part of the square root, by its absolute value.

    Both parts are scaled by a power of 4, so that their sum neither overflows nor is below the least normal number.
    """
    re, im = temp(_call("abs", a.re), "width"), temp(_call("abs", a.im), "height")
    tiny = temp(Compare("<", _op("maximum", re, im), _number(1e-30, re), loc=re.loc), "tiny")
    scale = temp(_either(tiny, _number(2.0**60, re), _number(0.25, re)), "scale")
    re, scaled = temp(_op("*", re, scale), "width"), _op("*", im, scale)
    sum_ = _op("+", _call("hypot", re, scaled), re)
    back = _either(tiny, _number(2.0**-30, re), _number(2.0, re))
    return _either(_is(im, math.inf), im, _op("*", _call("sqrt", _op("*", _number(0.5, re), sum_)), back))


def root(a: Parts, size: Expr) -> Parts:
    """The square root. Both parts are infinite where the imaginary part is."""
    none, height = _number(0.0, a.re), _call("abs", a.im)
    quotient = _op("/", height, _op("*", _number(2.0, a.re), size))
    other = _either(_is(height, math.inf), height, quotient)
    right = Compare(">=", a.re, none, loc=a.re.loc)
    re = _either(right, size, other)
    im = _call("copysign", _either(right, other, size), a.im)
    nothing = _is(size, 0.0)
    return Parts(_either(nothing, none, re), _either(nothing, a.im, im))
