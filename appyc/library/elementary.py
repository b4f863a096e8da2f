"""NumPy's functions of numbers that are compositions of others."""

# mypy: ignore-errors

from __future__ import annotations

import math

import numpy as np

from appyc.library.primitives import refuse, rest_of_floats
from appyc.library.table import of


@of(np.heaviside, elements=2, floats=True)
def heaviside(x1, x2):
    """0 below zero, 1 above, the second argument at zero, NaN of NaN."""
    return x2 if x1 == 0.0 else 0.0 if x1 < 0.0 else 1.0 if x1 > 0.0 else x1


@of(np.logaddexp, elements=2, floats=True)
def logaddexp(x1, x2):
    """log(exp(a) + exp(b)) without overflow; of equal ones, infinities too, a + log(2)."""
    apart = x1 - x2
    larger = x1 if apart > 0.0 else x2
    return (
        x1 + math.log(2.0)
        if x1 == x2
        else apart
        if np.isnan(apart)
        else larger + np.log1p(np.exp(-abs(apart)))
    )


@of(np.logaddexp2, elements=2, floats=True)
def logaddexp2(x1, x2):
    """log2(2**a + 2**b) without overflow."""
    apart = x1 - x2
    larger = x1 if apart > 0.0 else x2
    tail = np.log1p(np.exp2(-abs(apart))) * (1.0 / math.log(2.0))
    return x1 + 1.0 if x1 == x2 else apart if np.isnan(apart) else larger + tail


@of(np.signbit, elements=1, floats=True)
def signbit(x):
    """Whether the sign is a minus, that of zero too."""
    return np.copysign(1.0, x) < 0.0


@of(np.float_power, elements=2)
def float_power(x1, x2):
    """The power in float64, or in complex128."""
    wide = np.complex128 if "c" in (x1.dtype.kind, x2.dtype.kind) else np.float64
    return wide(x1) ** wide(x2)


@of(np.sinc, elements=1, floats=True)
def sinc(x):
    """sin(pi x) / (pi x)."""
    scaled = math.pi * (1.0e-20 if x == 0.0 else x)
    return np.sin(scaled) / scaled


@of(np.fix, elements=1)
def fix(x):
    """The integer towards zero."""
    return np.trunc(x)


@of(np.round, np.around, method="round", elements=1)
def rounded(a, decimals=0):
    """The nearest number with so many decimals, to even."""
    if a.dtype.kind not in ("i", "u", "f") or (a.dtype.kind != "f" and decimals < 0):
        refuse("np.round is compiled for real numbers, and for integers without negative decimals")
    if a.dtype.kind != "f":
        return a
    if decimals == 0:
        return np.rint(a)
    scale = 10.0 ** abs(decimals)
    return np.rint(a * scale) / scale if decimals > 0 else np.rint(a / scale) * scale


@of(np.fmod, elements=2)
def fmod(x1, x2):
    """The rest of a division, with the sign of the dividend; of integers 0 for a zero divisor."""
    if "f" in (x1.dtype.kind, x2.dtype.kind):
        return rest_of_floats(x1, x2)
    if x1.dtype.kind != "i" or x2.dtype.kind != "i":
        refuse("np.fmod of such numbers is not compiled")
    rest = np.remainder(x1, x2)
    return rest - x2 if rest != 0 and (x1 < 0) != (x2 < 0) else rest


@of(np.isposinf, elements=1, floats=True)
def isposinf(x):
    """Whether it is positive infinity."""
    return x == np.inf


@of(np.isneginf, elements=1, floats=True)
def isneginf(x):
    """Whether it is negative infinity."""
    return x == -np.inf


@of(int.bit_count, elements=1)
def bit_count(x):
    """The number of ones among the binary digits of |x|: of pairs, then of fours, then of bytes, in one word."""
    word = np.uint64(abs(x))
    word = word - ((word >> 1) & 0x5555555555555555)
    word = (word & 0x3333333333333333) + ((word >> 2) & 0x3333333333333333)
    word = (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0F
    return int(word * 0x0101010101010101 >> 56)


@of(np.bitwise_count, elements=1)
def bitwise_count(x):
    """The number of ones among the binary digits of |x|."""
    if x.dtype.kind not in ("i", "u"):
        refuse("np.bitwise_count is compiled for integers")
    return np.uint8(bit_count(x))


@of(int.bit_length, elements=1)
def bit_length(x):
    """The number of binary digits of |x|: all digits behind the first become ones, which are counted."""
    word = np.uint64(abs(x))
    for step in (1, 2, 4, 8, 16, 32):
        word |= word >> step
    return bit_count(word)


@of(float.is_integer, elements=1)
def is_integer(x):
    """Whether a float is finite and has no fraction."""
    return math.isfinite(x) and np.floor(x) == x
