"""Arrays of bytes as lists of their numbers."""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from appyc.library.primitives import refuse


def items_of(given):
    """The items of a bytearray that is made of a number or of bytes."""
    if isinstance(given, int):
        if given < 0:
            raise ValueError("negative count")
        return [0] * given
    if not isinstance(given, bytes):
        refuse("a bytearray of this is not compiled")
    return list(given)


def byte(x):
    """An integer that fits in a byte."""
    if isinstance(x, (float, np.floating)):
        refuse("a float is no byte")
    if x < 0 or x > 255:
        raise ValueError("byte must be in range(0, 256)")
    return int(x)
