"""Equal lengths among the inputs of a recording: the compiler learns which kernels run over the same range.

    f(p0, t1); g(t1, p2)    ->    assert p2.shape[0] == p0.shape[0]
                                  t1 = np.zeros((p0.shape[0],)); f(p0, t1); g(t1, p2)

Operations of NumPy say themselves which of their operands are equally long; loops of kernels do not. Lengths that
are equal at one flush and not at another make two programs of it. Short ones are equal by chance too often to be told
so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from appyc.lazy.views import NEAR

LEAST = 16
"""Lengths from this one on are told to be equal."""


class Length(NamedTuple):
    """The length of an axis of an input, or (axis -1) of a length argument, each by its number; plus
    `more`."""

    number: int
    axis: int
    more: int = 0


class Lengths(NamedTuple):
    """The equal lengths among a program's inputs, and the lengths of axes of created arrays."""

    equal: tuple[tuple[Length, Length], ...]
    created: tuple[Length, ...]
    arguments: tuple[int, ...]


NOTHING = Lengths((), (), ())


def related(inputs: Iterable[tuple[int, tuple[int, ...]]], created: Iterable[int]) -> Lengths:
    """inputs: numbers and shapes. created: different lengths of axes that the recording makes."""
    first: dict[int, Length] = {}
    equal: list[tuple[Length, Length]] = []
    for number, shape in inputs:
        for axis, extent in enumerate(shape):
            if extent >= LEAST:
                here = Length(number, axis)
                there = first.setdefault(extent, here)
                if there is not here:
                    equal.append((here, there))
    found: list[Length] = []
    arguments: list[int] = []
    for length in created:
        found_length = next(
            (first[near]._replace(more=length - near) for near in _around(length) if near in first), None
        )
        if found_length is None:
            found_length = Length(len(arguments), -1)
            arguments.append(length)
            if length >= LEAST:
                first[length] = found_length
        found.append(found_length)
    return Lengths(tuple(equal), tuple(found), tuple(arguments))


def _around(length: int) -> Iterator[int]:
    yield length
    if length >= LEAST:
        for by in range(1, NEAR + 1):
            yield length + by
            yield length - by
