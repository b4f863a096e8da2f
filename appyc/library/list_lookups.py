"""Methods of lists that look at all items, or move them; sums of lists."""

# mypy: ignore-errors

from __future__ import annotations

from appyc.library.primitives import left_unless, refuse
from appyc.library.table import list_loop


@list_loop
def index(items, value):
    """The position of the first item that is equal to a value. Raises ValueError if there is none."""
    for at in range(len(items)):
        if items[at] == value:
            return at
    raise ValueError("x not in list")


@list_loop
def contains(items, value):
    """Whether an item is equal to a value."""
    return any(items[at] == value for at in range(len(items)))


@list_loop
def count(items, value):
    """The number of items equal to a value."""
    number = 0
    for at in range(len(items)):
        if items[at] == value:
            number += 1
    return number


@list_loop
def largest(items):
    """The first of the largest items. Raises ValueError if there is none."""
    if len(items) == 0:
        raise ValueError("max() arg is an empty sequence")
    best = items[0]
    for at in range(1, len(items)):
        best = max(best, items[at])
    return best


@list_loop
def smallest(items):
    """The first of the smallest items. Raises ValueError if there is none."""
    if len(items) == 0:
        raise ValueError("min() arg is an empty sequence")
    best = items[0]
    for at in range(1, len(items)):
        best = min(best, items[at])
    return best


def joined(a, b):
    """A new list of the items of two lists: `a + b`."""
    items = []
    items.extend(a)
    items.extend(b)
    return items


def move_last_to(items, at):
    """Moves the last item to an index, as `insert` takes it, and those behind it by one."""
    last = len(items) - 1
    item = items[last]
    to = max(0, min(at + last if at < 0 else at, last))
    for k in range(last, to, -1):
        items[k] = items[k - 1]
    items[to] = item


def close_gap(items, at):
    """Moves the items behind an index by one; the last item is there twice."""
    for k in range(at, len(items) - 1):
        items[k] = items[k + 1]


def greater(item, other):
    """The greater one of two tuples; the first of equal ones."""
    return other if other > item else item


def less(item, other):
    """The smaller one of two tuples; the first of equal ones."""
    return other if other < item else item


def _same(item, other):
    if isinstance(item, (float, complex)):
        refuse("lists of floats are not compared: NaN is equal to itself in a list")
    return item == other


@list_loop
def equal(items, others):
    """Whether two lists have equal items."""
    return len(items) == len(others) and all(_same(items[at], others[at]) for at in range(len(items)))


def bounds(length, start, stop, step):
    """The start, stop and step of a slice of a list, and its number of items."""
    by = 1 if step is None else step
    if by == 0:
        raise ValueError("slice step cannot be zero")
    low, high = (0, length) if by > 0 else (-1, length - 1)
    first, last = (low, high) if by > 0 else (high, low)
    if start is not None:
        first = max(start + length, low) if start < 0 else min(start, high)
    if stop is not None:
        last = max(stop + length, low) if stop < 0 else min(stop, high)
    return first, last, by, max(0, (last - first + by - (1 if by > 0 else -1)) // by)


def part_length(items, start, stop, step):
    """The length of a part of a list."""
    return bounds(len(items), start, stop, step)[3]


def replace(others, items, start, stop, step):
    """Replaces a part of a list by the items of another; without a step the list may become longer or shorter."""
    first, _, by, number = bounds(len(items), start, stop, step)
    count, end = len(others), first + number
    if by != 1 and count != number:
        raise ValueError(f"attempt to assign sequence of size {count} to extended slice of size {number}")
    more = count - number
    for k in range(number, count):
        items.append(others[k])
    if more > 0:
        for at in range(len(items) - 1, end + more - 1, -1):
            items[at] = items[at - more]
    if more < 0:
        for at in range(end + more, len(items) + more):
            items[at] = items[at - more]
    for _ in range(-more):
        items.pop()
    for k in range(count):
        items[first + k * by] = others[k]


def overwrite(others, items, start, stop, step):
    """Stores the items of another list into a part of a list that keeps its length."""
    first, _, by, number = bounds(len(items), start, stop, step)
    left_unless(len(others) == number, "a list that becomes longer or shorter")
    for k in range(number):
        items[first + k * by] = others[k]


def turn(items):
    """Reverses a list."""
    last = len(items) - 1
    for at in range(len(items) // 2):
        items[at], items[last - at] = items[last - at], items[at]
