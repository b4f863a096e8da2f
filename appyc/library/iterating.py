"""Iterators of `itertools`, whose text replaces the loops over them (`frontend/desugar/generator_loops.py`)."""

# mypy: ignore-errors

from __future__ import annotations

import itertools

from appyc.library.primitives import refuse
from appyc.library.table import of


@of(itertools.pairwise)
def pairwise(iterable):
    """Each item with the next one."""
    for at in range(1, len(iterable)):
        yield iterable[at - 1], iterable[at]


@of(itertools.accumulate)
def accumulate(iterable):
    """The sums of the first items."""
    if len(iterable) > 0:
        total = iterable[0]
        yield total
        for at in range(1, len(iterable)):
            total = total + iterable[at]
            yield total


@of(itertools.combinations)
def combinations(iterable, r):
    """Each choice of r items, in their order."""
    if r == 2:
        for one in range(len(iterable)):
            for two in range(one + 1, len(iterable)):
                yield iterable[one], iterable[two]
    elif r == 3:
        for one in range(len(iterable)):
            for two in range(one + 1, len(iterable)):
                for three in range(two + 1, len(iterable)):
                    yield iterable[one], iterable[two], iterable[three]
    else:
        refuse("combinations are compiled of two items, and of three")


@of(itertools.combinations_with_replacement)
def combinations_with_replacement(iterable, r):
    """Each choice of r items, in their order, which may be the same ones."""
    if r == 2:
        for one in range(len(iterable)):
            for two in range(one, len(iterable)):
                yield iterable[one], iterable[two]
    else:
        refuse("combinations with replacement are compiled of two items")


@of(itertools.permutations)
def permutations(iterable, r):
    """Each choice of r items, in any order."""
    if r == 2:
        for one in range(len(iterable)):
            for two in range(len(iterable)):
                if one != two:
                    yield iterable[one], iterable[two]
    else:
        refuse("permutations are compiled of two items")


@of(itertools.count)
def count(start=0, step=1):
    """An endless arithmetic progression."""
    number = start
    while True:
        yield number
        number += step


@of(itertools.chain)
def chain(first, second):
    """The items of one iterable, then those of another."""
    for item in first:
        yield item
    for item in second:
        yield item


@of(itertools.islice)
def islice(iterable, first, second=False, step=1):
    """The items from one index to another, or from the start to one. second: no bool where it is given."""
    if isinstance(second, bool):
        start, stop = 0, first
    else:
        start, stop = first, second
    if start is None:
        start = 0
    if stop is None:
        stop = len(iterable)
    if start < 0 or stop < 0:
        raise ValueError("Indices for islice() must be None or an integer: 0 <= x <= sys.maxsize.")
    for at in range(start, min(stop, len(iterable)), step):
        yield iterable[at]
