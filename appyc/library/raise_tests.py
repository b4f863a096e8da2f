"""Whether an operation raises, as the tests in front of statements whose exceptions are caught ask
(`frontend/desugar/raise_points.py`)."""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from appyc.library.primitives import refuse


def _python(number):
    return isinstance(number, (int, float, complex)) and not isinstance(number, np.generic)


def by_zero(left, right):
    """Whether a division raises ZeroDivisionError: NumPy's do not."""
    return _python(left) and _python(right) and right == 0


def zero_to_negative(left, right):
    """Whether a power raises ZeroDivisionError."""
    return _python(left) and _python(right) and left == 0 and right < 0


def keyed(items):
    """Refuses what is no sequence, where that would be caught."""
    if not isinstance(items, (list, tuple, str, bytes, np.ndarray)):
        refuse("whether this has a key is not tested")
    return False


def outside(items, index):
    """Whether an index is beyond the items along the first axis."""
    keyed(items)
    return beyond(index, len(items))


def beyond(index, length):
    """Whether no item has an index."""
    if not isinstance(index, (int, np.integer)):
        refuse("an index that is tested is an integer")
    return index < -length or index >= length


def other(x):
    """Refuses an operand whose arithmetic may raise more than what zeros tell, where that would be caught."""
    if not isinstance(x, (int, float, complex, np.floating, np.int64, np.bool_)):
        refuse("what this may raise is not tested")
    return False


def unfit(items, value):
    """Refuses a store into an array that may raise by the value, where that would be caught."""
    other(value)
    is_whole = isinstance(value, (int, np.int64, np.bool_))
    if (
        isinstance(items, np.ndarray)
        and items.dtype.kind != "f"
        and not (items.dtype == np.int64 and is_whole)
    ):
        refuse("what this store may raise is not tested")
    return False
