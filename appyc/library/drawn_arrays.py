"""Arrays of numbers that are drawn one by one."""

# mypy: ignore-errors

from __future__ import annotations

from typing import Any

import numpy as np


def filled_1(draw, rng, args, out):
    for i in range(out.shape[0]):
        out[i] = draw(rng, *args)
    return out


def filled_2(draw, rng, args, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = draw(rng, *args)
    return out


def filled_3(draw, rng, args, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            for k in range(out.shape[2]):
                out[i, j, k] = draw(rng, *args)
    return out


def empty(shape, dtype):
    return np.empty(shape, dtype)


def as_array(a):
    return np.array(a)


FILLED: tuple[Any, ...] = (filled_1, filled_2, filled_3)
