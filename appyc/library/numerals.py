"""Integers as text, for `str`, `bin`, `oct` and `hex`, and back."""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from appyc.library.code_points import digit
from appyc.library.primitives import as_text, left_unless, refuse
from appyc.library.table import list_loop


def _numeral(n, base, mark):
    """The code points of the digits of an integer, behind its sign and the code point that marks the base, if any."""
    if isinstance(n, (bool, np.bool_)) or not isinstance(n, (int, np.integer)):
        refuse("only the texts of integers are compiled")
    left_unless(n > -(2**63), "the least number of 64 bits")
    out = []
    rest = abs(int(n))
    while True:
        last = rest % base
        out.append(48 + last if last < 10 else 87 + last)
        rest //= base
        if rest == 0:
            break
    if mark:
        out.append(mark)
        out.append(48)
    if n < 0:
        out.append(45)
    out.reverse()
    return as_text(out)


def decimal(n):
    return _numeral(n, 10, 0)


def binary(n):
    return _numeral(n, 2, 98)


def octal(n):
    return _numeral(n, 8, 111)


def hexadecimal(n):
    return _numeral(n, 16, 120)


@list_loop
def parsed(text):
    """The number that decimal digits behind a sign stand for. Other texts are left to Python."""
    first = 0
    if len(text) > 0 and (text[0] == "-" or text[0] == "+"):
        first = 1
    left_unless(first < len(text) < 19, "a text that is no short number")
    number = 0
    for at in range(first, len(text)):
        number = 10 * number + digit(text[at])
    return -number if text[0] == "-" else number
