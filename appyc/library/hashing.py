"""Hash tables with open addressing, as compiled dicts and sets have them.

The keys stand in a list in the order in which they came. `table` is a list of a power of two of slots, each of which
holds the number of a key in that list, or -1, or -2 where a key was deleted. At most half of the slots are taken. The
slots of a key are those of CPython's `Objects/dictobject.c`: the first is the key modulo the number of slots, so that
dense keys are neighbours; all bits of the key take part in the choice of the next ones.
"""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from appyc.library.primitives import refuse
from appyc.library.table import list_loop


def hashed(key):
    """The hash of an integer, which is itself, of a character, or of a tuple of such."""
    total = np.uint64(0)
    for number in key if isinstance(key, tuple) else (key,):
        if not isinstance(number, (str, int, np.integer, np.bool_)):
            refuse("a dict or a set is compiled whose keys are integers, or tuples of integers")
        total = total * np.uint64(0x9E3779B97F4A7C15) + np.uint64(
            np.int64(ord(number) if isinstance(number, str) else number)
        )
    return total


@list_loop
def slot_of(table, keys, key):
    """The slot of a key; of one that is missing, where it would stand."""
    last = len(table) - 1
    rest = hashed(key)
    slot = int(np.int64(rest)) & last
    number = table[slot]
    while number != -1 and (number == -2 or keys[number] != key):
        rest >>= np.uint64(5)
        slot = (5 * slot + 1 + int(np.int64(rest))) & last
        number = table[slot]
    return slot


def find(table, keys, key):
    """The number of a key; of one that is missing, -1 less the slot where it would stand."""
    slot = slot_of(table, keys, key)
    number = table[slot]
    return number if number >= 0 else -1 - slot


def found(table, keys, key):
    """The number of a key. Raises KeyError if it is missing."""
    number = find(table, keys, key)
    if number < 0:
        raise KeyError(key)
    return number


def get(table, keys, values, key, default):
    """The value of a key, or the default."""
    number = find(table, keys, key)
    return values[number] if number >= 0 else default


def enter(table, keys, missing):
    """Enters the next key that the list of keys gets. missing: what `find` gives for it."""
    table[-1 - missing] = len(keys)


@list_loop
def enter_all(table, keys):
    """Enters the keys, which are different, into a table that is empty."""
    last = len(table) - 1
    for number in range(len(keys)):
        rest = hashed(keys[number])
        slot = int(np.int64(rest)) & last
        while table[slot] >= 0:
            rest >>= np.uint64(5)
            slot = (5 * slot + 1 + int(np.int64(rest))) & last
        table[slot] = number


def entered(table, keys, values, key, start):
    """The number of a key of a defaultdict, which gets one that is missing."""
    number = find(table, keys, key)
    if number < 0:
        enter(table, keys, number)
        number = len(keys)
        keys.append(key)
        values.append(start)
        if 2 * len(keys) > len(table):
            free(table)
            table.extend([-1] * len(table))
            enter_all(table, keys)
    return number


def put(values, number, item):
    """Replaces the value of a key."""
    values[number] = item


def drop(gone, table, keys, key):
    """Takes a key out of the table, though not out of the list. gone: how many such keys there are. Gives its number;
    -1 if it is missing."""
    slot = slot_of(table, keys, key)
    number = table[slot]
    if number >= 0:
        table[slot] = -2
        gone[0] += 1
    return number


def delete(gone, table, keys, key):
    """Takes a key out of the table, and gives its number. Raises KeyError if it is missing."""
    number = drop(gone, table, keys, key)
    if number < 0:
        raise KeyError(key)
    return number


def take(gone, table, keys, values, key, default):
    """Takes a key out of the table, and gives its value, or the default."""
    number = drop(gone, table, keys, key)
    return values[number] if number >= 0 else default


@list_loop
def mark(live, table):
    """Makes the numbers that are in the table ones."""
    for slot in range(len(table)):
        if table[slot] >= 0:
            live[table[slot]] = 1


def pack(live, items):
    """Moves the items that are live to the front of their list."""
    count = 0
    for number in range(len(live)):
        if live[number] == 1:
            items[count] = items[number]
            count += 1
    while len(items) > count:
        items.pop()


def by_count(values):
    """The indices of the values, the greatest first, and equal ones in their order."""
    pairs = [(-values[at], at) for at in range(len(values))]
    pairs.sort()
    return [at for _, at in pairs]


def free(table):
    """Frees all slots of a table."""
    for slot in range(len(table)):
        table[slot] = -1
