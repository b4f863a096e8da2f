"""Methods of str, as loops over characters, of which those beyond ASCII are left to Python."""

# mypy: ignore-errors

from __future__ import annotations

from appyc.library.primitives import as_text, left_unless
from appyc.library.table import list_loop


def _ascii(c):
    code = ord(c)
    left_unless(code < 128, "a character beyond ASCII")
    return code


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
    code = _ascii(c)
    return code == 32 or 9 <= code <= 13 or 28 <= code <= 31


def upper(c):
    return chr(ord(c) - 32) if islower(c) else c


def lower(c):
    return chr(ord(c) + 32) if isupper(c) else c


def digit(c):
    """The number that a digit stands for."""
    code = ord(c)
    left_unless(48 <= code <= 57, "a character that is no digit")
    return code - 48


def all_of(text, holds):
    """Whether a test holds for all characters, of which there are some."""
    return len(text) > 0 and all(holds(one) for one in text)


def changed(text, change):
    """The text of what a function gives for each character."""
    return as_text([change(one) for one in text])


def replace(text, old, new):
    """The text with each of one character replaced."""
    made = []
    for one in text:
        if one == old:
            made.extend(new)
        else:
            made.append(one)
    return as_text(made)


def lstrip(text):
    first = 0
    while first < len(text) and isspace(text[first]):
        first += 1
    return text[first:]


def rstrip(text):
    last = len(text)
    while last > 0 and isspace(text[last - 1]):
        last -= 1
    return text[:last]


def strip(text):
    first, last = 0, len(text)
    while first < last and isspace(text[first]):
        first += 1
    while first < last and isspace(text[last - 1]):
        last -= 1
    return text[first:last]


def find_in(text, c):
    """The position of the first character of a text that is equal to one, 0 for the empty text; -1 if there is none."""
    if c == "":
        return 0
    at = 0
    while at < len(text) and text[at] != c:
        at += 1
    return at if at < len(text) else -1


@list_loop
def find(text, part, start):
    """The position of the first part of a text, from one on, that is equal to another text; -1 if there is none."""
    first = max(start + len(text), 0) if start < 0 else start
    for at in range(first, len(text) - len(part) + 1):
        if stands_at(text, part, at):
            return at
    return -1


def stands_at(text, part, at):
    count = 0
    while count < len(part) and text[at + count] == part[count]:
        count += 1
    return count == len(part)


def index(at):
    """A position that is found. Raises ValueError for -1."""
    if at < 0:
        raise ValueError("substring not found")
    return at


def startswith(text, part):
    return len(part) <= len(text) and stands_at(text, part, 0)


def endswith(text, part):
    return len(part) <= len(text) and stands_at(text, part, len(text) - len(part))


@list_loop
def count(text, part):
    """How often a text is in another one, beside each other."""
    if len(part) == 0:
        return len(text) + 1
    number = at = 0
    while at <= len(text) - len(part):
        if stands_at(text, part, at):
            number += 1
            at += len(part)
        else:
            at += 1
    return number


@list_loop
def before(text, other):
    """Whether a text is less than another one."""
    at = 0
    while at < len(text) and at < len(other) and text[at] == other[at]:
        at += 1
    return at < len(other) and (at == len(text) or text[at] < other[at])
