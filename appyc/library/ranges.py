"""Operations on ranges that are no loop's, on the numbers that these are made of."""

# mypy: ignore-errors

from __future__ import annotations


def in_range(x, start, stop, step):
    """Whether a number is one of a range's. Raises ValueError for a step of 0."""
    if step == 0:
        raise ValueError("range() arg 3 must not be zero")
    if step > 0:
        return x >= start and x < stop and (x - start) % step == 0
    return x <= start and x > stop and (start - x) % -step == 0
