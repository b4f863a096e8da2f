"""Memory order of axes: the order NumPy gives a result, and whether a view's axes are in memory order."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided


def memory_order(views: list[np.ndarray], rank: int) -> tuple[int, ...]:
    """The axes of a result from the outermost in memory to the innermost, where NumPy chooses them by
    its operands: where all of them agree, the longer stride is outside, else the order of the axes is kept.
    """
    return _order_of(tuple([(v.strides, v.shape) for v in views]), rank)


@functools.lru_cache(maxsize=1 << 12)
def _order_of(views: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...], rank: int) -> tuple[int, ...]:
    """`memory_order` of views with these strides and shapes: that of what NumPy would allocate, were each axis of two
    elements."""
    element = np.zeros(())
    operands = [
        as_strided(
            element, (2,) * len(shape), [abs(s) if e > 1 else 0 for s, e in zip(steps, shape, strict=True)]
        )
        for steps, shape in views
    ]
    flags: list[list[Any]] = [["readonly"]] * len(views) + [["writeonly", "allocate"]]
    strides = np.nditer([*operands, None], [], flags, order="K", itershape=(2,) * rank).operands[-1].strides
    return tuple(sorted(range(rank), key=lambda axis: -strides[axis]))


def inverse(order: tuple[int, ...]) -> tuple[int, ...]:
    """The order that undoes a transposition."""
    return tuple(sorted(range(len(order)), key=order.__getitem__))


def is_straight(view: np.ndarray) -> bool:
    """Whether the axes are in memory order: strides do not increase."""
    strides = [abs(s) for s, e in zip(view.strides, view.shape, strict=True) if e > 1]
    return all(one >= two for one, two in itertools.pairwise(strides))


def is_ascending(numbers: list[int]) -> bool:
    return all(one < two for one, two in itertools.pairwise(numbers))
