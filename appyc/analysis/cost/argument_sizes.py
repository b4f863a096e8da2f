"""Argument sizes: the lengths and numbers among a call's arguments, kept without the arrays themselves."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Sized:
    """An array of which the lengths are known."""

    shape: tuple[int, ...]


def sizes_of(named: Mapping[str, object]) -> dict[str, object]:
    """The lengths of the arrays and the numbers among arguments by name; others are left out.

    >>> sizes_of({"n": 3, "name": "x"})
    {'n': 3}
    """
    out: dict[str, object] = {}
    for name, value in named.items():
        if isinstance(value, numbers.Number):
            out[name] = value
        elif isinstance(value, np.ndarray | Sized):
            out[name] = Sized(value.shape)
        elif (face := getattr(value, "__cuda_array_interface__", None)) is not None:
            out[name] = Sized(face["shape"])
        elif isinstance(value, str | bytes):
            out[name] = Sized((len(value),))
        elif type(value) is list:
            rows = (len(value[0]),) if value and type(value[0]) is list else ()
            out[name] = Sized((len(value), *rows))
    return out
