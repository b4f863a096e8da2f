"""Methods of lists that look at all items, for lists of a program's own (`frontend/desugar/list_methods.py`)."""

# mypy: ignore-errors

from __future__ import annotations

from appyc.library.primitives import refuse
from appyc.library.table import list_loop


@list_loop
def index(items, value):
    """The position of the first item that is equal to a value. Raises ValueError if there is none."""
    for at in range(len(items)):
        if items[at] == value:
            return at
    raise ValueError("x not in list")


@list_loop
def count(items, value):
    """How many items are equal to a value."""
    number = 0
    for at in range(len(items)):
        if items[at] == value:
            number += 1
    return number


def _same(item, other):
    if isinstance(item, (float, complex)):
        refuse("lists of floats are not compared: NaN is equal to itself in a list")
    return item == other


@list_loop
def equal(items, others):
    """Whether two lists have equal items."""
    return len(items) == len(others) and all(_same(items[at], others[at]) for at in range(len(items)))
