"""Memory order of axes: the order NumPy gives a result, and whether a view's axes are in memory order."""

from __future__ import annotations

import functools
import itertools

import numpy as np


def memory_order(views: list[np.ndarray], rank: int) -> tuple[int, ...]:
    """The axes of a result from the outermost in memory to the innermost, where NumPy chooses them by
    its operands: where all of them agree, the longer stride is outside, else the order of the axes is kept.
    """
    return _order_of(tuple([(v.strides, v.shape) for v in views]), rank)


@functools.lru_cache(maxsize=1 << 12)
def _order_of(views: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...], rank: int) -> tuple[int, ...]:
    """`memory_order` of views with these strides and shapes."""
    strides = [
        (0,) * (rank - len(shape)) + tuple(s if e > 1 else 0 for s, e in zip(steps, shape, strict=True))
        for steps, shape in views
    ]
    inner_first = list(range(rank - 1, -1, -1))
    for at in range(1, rank):
        axis, position = inner_first[at], at
        for other_at in range(at - 1, -1, -1):
            swap = _belongs_inside(axis, inner_first[other_at], strides)
            if swap is False:
                break
            if swap:
                position = other_at
        inner_first.insert(position, inner_first.pop(at))
    return tuple(reversed(inner_first))


def _belongs_inside(axis: int, other: int, strides: list[tuple[int, ...]]) -> bool | None:
    """Whether an axis has shorter strides than another one inside it; None where no operand has both strides."""
    found: bool | None = None
    for of in strides:
        if of[axis] and of[other]:
            if abs(of[other]) <= abs(of[axis]):
                found = False
            elif found is None:
                found = True
    return found


def inverse(order: tuple[int, ...]) -> tuple[int, ...]:
    """The order that undoes a transposition."""
    return tuple(sorted(range(len(order)), key=order.__getitem__))


def is_straight(view: np.ndarray) -> bool:
    """Whether the axes are in memory order: strides do not increase."""
    strides = [abs(s) for s, e in zip(view.strides, view.shape, strict=True) if e > 1]
    return all(one >= two for one, two in itertools.pairwise(strides))


def is_ascending(numbers: list[int]) -> bool:
    return all(one < two for one, two in itertools.pairwise(numbers))
