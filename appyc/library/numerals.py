"""Integers as text, for `str`, `bin`, `oct` and `hex` where the characters are used, and back: texts are lists of code
points here (`frontend/desugar/characters.py`)."""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from appyc.library.primitives import left_unless, refuse
from appyc.library.table import list_loop


def _numeral(n, base, mark):
    """The code points of the digits of an integer, behind its sign and the code point that marks the base, if any."""
    if isinstance(n, (bool, np.bool_)) or not isinstance(n, (int, np.integer)):
        refuse("only the texts of integers are compiled")
    left_unless(n > -(2**63), "the least number of 64 bits")
    out = []
    rest = abs(int(n))
    while True:
        digit = rest % base
        out.append(48 + digit if digit < 10 else 87 + digit)
        rest //= base
        if rest == 0:
            break
    if mark:
        out.append(mark)
        out.append(48)
    if n < 0:
        out.append(45)
    out.reverse()
    return out


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
    if len(text) > 0 and (text[0] == 45 or text[0] == 43):
        first = 1
    left_unless(first < len(text) < 19, "a text that is no short number")
    number = 0
    for at in range(first, len(text)):
        left_unless(48 <= text[at] <= 57, "a character that is no digit")
        number = 10 * number + text[at] - 48
    return -number if text[0] == 45 else number
