"""Lists of lists as one list of items, in which each row has a part with spare capacity.

Row `row` has the `counts[row]` items from `items[starts[row]]` on, and capacity for `rooms[row]`.
"""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from appyc.library.primitives import left_unless


def row_of(counts, index):
    """The number of the row at an index, which may count from the end."""
    row = index + len(counts) if index < 0 else index
    if row < 0 or row >= len(counts):
        raise IndexError("list index out of range")
    return row


def first_of(starts, row):
    """The position of a row's first item."""
    return starts[row]


def length_of(counts, row):
    """The number of items in a row."""
    return counts[row]


def end_of(starts, counts, row):
    """The position behind a row's last item."""
    return starts[row] + counts[row]


def item_at(items, at):
    return items[at]


def position(starts, counts, row, index):
    """The position of a row's item; a negative index counts from the end."""
    at = index + counts[row] if index < 0 else index
    if at < 0 or at >= counts[row]:
        raise IndexError("list index out of range")
    return starts[row] + at


def is_full(counts, rooms, row):
    return counts[row] == rooms[row]


def move_to_end(items, starts, counts, rooms, row, first):
    """Moves a row to the items from `first` on, which are spare."""
    begin = starts[row]
    for k in range(counts[row]):
        items[first + k] = items[begin + k]
    starts[row] = first
    rooms[row] = len(items) - first


def put_last(items, starts, counts, row, item):
    """Appends an item to a row that has room for it."""
    items[starts[row] + counts[row]] = item
    counts[row] += 1


def pop_last(items, starts, counts, row):
    """Removes the last item of a row, and gives it."""
    if counts[row] == 0:
        raise IndexError("pop from empty list")
    counts[row] -= 1
    return items[starts[row] + counts[row]]


def replace_row(items, starts, counts, rooms, row, first):
    """Makes the items from `first` on a row instead of the one that is there, in its part if they fit."""
    length = len(items) - first
    counts[row] = length
    if length > rooms[row]:
        starts[row] = first
        rooms[row] = length
        return
    for k in range(length):
        items[starts[row] + k] = items[first + k]
    while len(items) > first:
        items.pop()


def empty(counts, row):
    """Removes all items of a row."""
    counts[row] = 0


def holds(items, starts, counts, row, item):
    """Whether an item of a row is equal to this one."""
    begin = starts[row]
    return any(items[begin + k] == item for k in range(counts[row]))


def put_back(items, starts, row, part):
    """Stores the items of a row anew."""
    for k in range(len(part)):
        items[starts[row] + k] = part[k]


def swap_rows(starts, counts, rooms, one, other):
    """Exchanges two rows."""
    starts[one], starts[other] = starts[other], starts[one]
    counts[one], counts[other] = counts[other], counts[one]
    rooms[one], rooms[other] = rooms[other], rooms[one]


# ---------------------------------------------------------------- lists of arrays


def swap_arrays(starts, shapes, one, other):
    """Exchanges two arrays."""
    starts[one], starts[other] = starts[other], starts[one]
    shapes[one], shapes[other] = shapes[other], shapes[one]


def items_of(items):
    """The elements of all arrays."""
    return np.array(items)


def stacked(items, starts, shapes):
    """The arrays along a new first axis."""
    if len(starts) == 0:
        raise ValueError("need at least one array to stack")
    size = 1
    for n in shapes[0]:
        size *= n
    out = np.empty(len(starts) * size, np.array(items).dtype)
    for k in range(len(starts)):
        if shapes[k] != shapes[0]:
            raise ValueError("all input arrays must have the same shape")
        for j in range(size):
            out[k * size + j] = items[starts[k] + j]
    shape = shapes[0]
    return out.reshape((len(starts), *shape))


def array_of(items, starts, shapes):
    """The array that NumPy makes of the list: the arrays along a new first axis, or a vector of nothing."""
    left_unless(len(starts) > 0, "an array of a list without items")
    return stacked(items, starts, shapes)


def joined(items, starts, shapes):
    """The arrays, one behind the other along their first axis."""
    if len(starts) == 0:
        raise ValueError("need at least one array to concatenate")
    length = 0
    size = 1
    for n in shapes[0][1:]:
        size *= n
    for k in range(len(starts)):
        if shapes[k][1:] != shapes[0][1:]:
            raise ValueError(
                "all the input array dimensions except for the concatenation axis must match exactly"
            )
        length += shapes[k][0]
    out = np.empty(length * size, np.array(items).dtype)
    end = 0
    for k in range(len(starts)):
        for j in range(shapes[k][0] * size):
            out[end + j] = items[starts[k] + j]
        end += shapes[k][0] * size
    rest = shapes[0][1:]
    return out.reshape((length, *rest))
