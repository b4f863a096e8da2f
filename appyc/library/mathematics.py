"""Functions of the `math` module that are not one operation, and `pow` with a modulus.

Their integers are Python's: where one would take more than 64 bits, the call runs in Python.
"""

# mypy: ignore-errors

from __future__ import annotations

import math

import numpy as np

from appyc.library import primitives
from appyc.library.primitives import refuse
from appyc.library.table import of


def whole(x):
    """The Python integer that an argument is. Others are refused, of which Python raises a TypeError."""
    if x.dtype.kind not in ("b", "i", "u") or x.dtype == np.uint64:
        refuse("this is compiled for integers of 64 bits with a sign")
    return int(x)


@of(math.gcd, tested=True)
def gcd(*integers):
    """The greatest common divisor, by Euclid's algorithm."""
    out = 0
    for x in integers:
        a, b = out, abs(whole(x))
        while b != 0:
            a, b = b, a % b
        out = a
    return out


@of(math.lcm, tested=True)
def lcm(*integers):
    """The least common multiple."""
    out = 1
    for x in integers:
        n = abs(whole(x))
        out = 0 if n == 0 else out // gcd(out, n) * n
    return out


@of(math.isqrt, tested=True)
def isqrt(n):
    """The integer part of the square root: that of the rounded float, or one beside it."""
    n = whole(n)
    if n < 0:
        raise ValueError("isqrt() argument must be nonnegative")
    root = min(int(math.sqrt(n)), 3037000499)
    if root * root > n:
        root -= 1
    elif root < 3037000499 and (root + 1) * (root + 1) <= n:
        root += 1
    return root


@of(math.factorial, tested=True)
def factorial(n):
    """The product of the integers from 1 to n."""
    n = whole(n)
    if n < 0:
        raise ValueError("factorial() not defined for negative values")
    out = 1
    for k in range(2, n + 1):
        out *= k
    return out


@of(math.perm, tested=True)
def perm(n, k=None):
    """The number of ordered choices of k things out of n."""
    n = whole(n)
    last = n if k is None else whole(k)
    if n < 0:
        raise ValueError("n must be a non-negative integer")
    if last < 0:
        raise ValueError("k must be a non-negative integer")
    out = 0 if last > n else 1
    for i in range(n, n - min(last, n), -1):
        out *= i
    return out


@of(math.comb, tested=True)
def comb(n, k):
    """The number of choices of k things out of n; each partial product is a binomial coefficient, too."""
    n, k = whole(n), whole(k)
    if n < 0:
        raise ValueError("n must be a non-negative integer")
    if k < 0:
        raise ValueError("k must be a non-negative integer")
    out = 0 if k > n else 1
    for i in range(min(k, n - k)):
        out = out * (n - i) // (i + 1)
    return out


@of(math.dist, tested=True)
def dist(p, q):
    """The distance of two points."""
    if len(p) != len(q):
        raise ValueError("both points must have the same number of dimensions")
    out = 0.0
    for i in range(len(p)):
        out = math.hypot(out, float(p[i]) - float(q[i]))
    return out


@of(math.gamma, tested=True)
def gamma(x):
    """The gamma function; of an integer it is the nearest one."""
    number = float(x)
    if number <= 0.0 and number == np.floor(number):
        raise ValueError("math domain error")
    out = float(primitives.gamma(number))
    if math.isinf(out) and number != math.inf:
        raise OverflowError("math range error")
    return float(np.rint(out)) if number == np.floor(number) else out


@of(math.lgamma, tested=True)
def lgamma(x):
    """The logarithm of the gamma function's size."""
    number = float(x)
    if number <= 0.0 and number == np.floor(number) and number != -math.inf:
        raise ValueError("math domain error")
    return float(primitives.log_gamma(number))


@of(math.isclose, tested=True)
def isclose(a, b, *, rel_tol=1e-09, abs_tol=0.0):
    """Whether two numbers differ by no more than a share of the larger one, or than an absolute tolerance."""
    if rel_tol < 0.0 or abs_tol < 0.0:
        raise ValueError("tolerances must be non-negative")
    x, y = float(a), float(b)
    if x == y:
        return True
    if math.isinf(x) or math.isinf(y):
        return False
    apart = abs(x - y)
    return apart <= abs(rel_tol * y) or apart <= abs(rel_tol * x) or apart <= abs_tol


@of(math.modf, tested=True)
def modf(x):
    """The fraction and the integer part of a float, both with its sign."""
    number = float(x)
    integer = float(np.trunc(number))
    fraction = 0.0 if math.isinf(number) else number - integer
    return math.copysign(fraction, number), integer


def _halves(x):
    """A float as the sum of two of 26 bits each, whose products are exact (G. W. Veltkamp, 1968)."""
    upper = 134217729.0 * x
    upper -= upper - x
    return upper, x - upper


def rounded(number, ndigits):
    """`round(number, ndigits)`: the nearest number with so many decimals, to even where two are equally near.

    Which is nearer the float tells together with the error of the product with a power of ten (T. J. Dekker, 1971)."""
    if isinstance(number, np.generic):
        return np.round(number, ndigits)
    if not isinstance(ndigits, int) or ndigits < 0 or ndigits > 22:
        refuse("round is compiled for up to 22 decimals, a number that stands in the program")
    if isinstance(number, int):
        return int(number)
    scale = 10.0**ndigits
    scaled = float(number) * scale
    if not abs(scaled) < 2.0**53:
        return number  # without decimals, infinite, or NaN
    (a, b), (c, d) = _halves(number), _halves(scale)
    error = ((a * c - scaled) + a * d + b * c) + b * d
    nearest = float(np.rint(scaled))
    if abs(scaled - nearest) == 0.5 and error != 0.0:
        nearest = float(np.floor(scaled)) + (1.0 if error > 0.0 else 0.0)
    return math.copysign(nearest / scale, scaled)


def power(base, exp, mod):
    """`pow(base, exp, mod)` by squaring; of the modular inverse, for a negative exponent."""
    if not (isinstance(base, int) and isinstance(exp, int) and isinstance(mod, int)):
        refuse("pow with a modulus takes Python's integers")
    if mod == 0:
        raise ValueError("pow() 3rd argument cannot be 0")
    if exp < 0:  # of the inverse, which Euclid's algorithm finds
        a, b, inverse, other = base % abs(mod), abs(mod), 1, 0
        while b != 0:
            quotient = a // b
            a, b, inverse, other = b, a - quotient * b, other, inverse - quotient * other
        if a != 1:
            raise ValueError("base is not invertible for the given modulus")
        base, exp = inverse, -exp
    out, square, left = 1 % mod, base % mod, exp
    while left > 0:
        if left & 1:
            out = out * square % mod
        left >>= 1
        if left > 0:
            square = square * square % mod
    return out


def length(*coordinates):
    """`math.hypot` of any number of coordinates; two at a time neither overflow nor vanish."""
    out = 0.0
    for x in coordinates:
        out = math.hypot(out, float(x))
    return out


of(length, tested=True)(length)
of(rounded, tested=True)(rounded)  # by itself: `round` of one is an operation
of(power, tested=True)(power)  # as `pow` of two
