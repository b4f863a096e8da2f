"""Methods of str for one character, given by the number of an ASCII character, or -1 for the empty text.

Others are left to Python.
"""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from appyc.library.primitives import left_unless


def _ascii(c):
    left_unless(c < 128, "a character beyond ASCII")
    return c


def isdigit(c):
    return 48 <= _ascii(c) <= 57


def isupper(c):
    return 65 <= _ascii(c) <= 90


def islower(c):
    return 97 <= _ascii(c) <= 122


def isalpha(c):
    return isupper(c) or islower(c)


def isalnum(c):
    return isdigit(c) or isalpha(c)


def isspace(c):
    return c == 32 or 9 <= _ascii(c) <= 13 or 28 <= c <= 31


def upper(c):
    return c - 32 if islower(c) else c


def lower(c):
    return c + 32 if isupper(c) else c


def digit(c):
    """The number that a digit stands for."""
    left_unless(48 <= c <= 57, "a character that is no digit")
    return c - 48


def numbered(c):
    """The character of a number, as that number."""
    if c < 0 or c > 0x10FFFF:
        raise ValueError("chr() arg not in range(0x110000)")
    return c


def code(c):
    """The number of a character that may be an empty text."""
    left_unless(c >= 0, "an empty text")
    return c


def within(text, c):
    """Whether a character, or an empty text, is in a text."""
    return c < 0 or c in text


def find_in(text, c):
    """The position of the first character of a text that is equal to one, 0 for the empty text; -1 if there is none."""
    if c < 0:
        return 0
    at = 0
    while at < len(text) and text[at] != c:
        at += 1
    return at if at < len(text) else -1


def index_in(text, c):
    """The position of the first character of a text that is equal to one. Raises ValueError if there is none."""
    at = find_in(text, c)
    if at < 0:
        raise ValueError("substring not found")
    return at


def codes(text):
    """The numbers of a text's characters as an array."""
    out = np.empty(len(text), dtype=np.int32)
    for at in range(len(text)):
        out[at] = text[at]
    return out
