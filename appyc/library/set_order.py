"""The order in which CPython runs over a set of integers, or of tuples of them: that of its table's slots.

The hashes are those of CPython's `Objects/longobject.c` and `tupleobject.c`, the slots those of `setobject.c`: ten
neighbours of each slot are tried, and a table that is three fifths full is replaced by one of four times its items.
"""

# mypy: ignore-errors

from __future__ import annotations

from functools import cache

import numpy as np

from appyc.library.hashing import hashed
from appyc.library.primitives import refuse
from appyc.library.table import list_loop


def hash_of_integer(number):
    """Python's `hash` of an integer: its remainder by a Mersenne prime, with its sign, and -2 for -1."""
    if number >= 0:
        return int(np.uint64(number) % np.uint64(0x1FFFFFFFFFFFFFFF))
    rest = int((np.uint64(0) - np.uint64(np.int64(number))) % np.uint64(0x1FFFFFFFFFFFFFFF))
    return -2 if rest == 1 else -rest


def hash_of(key):
    """Python's `hash` of an integer or a tuple of integers, modulo 2**64."""
    hashed(key)  # which refuses other keys
    if isinstance(key, str):
        refuse(
            "the order of a set of texts is another one in each process",
            "run over sorted(s), or over the text",
        )
    if not isinstance(key, tuple):
        return np.uint64(np.int64(hash_of_integer(key)))
    total = np.uint64(0x27D4EB2F165667C5)
    for number in key:
        total += np.uint64(np.int64(hash_of_integer(number))) * np.uint64(0xC2B2AE3D27D4EB4F)
        total = (total << np.uint64(31) | total >> np.uint64(33)) * np.uint64(0x9E3779B185EBCA87)
    total += np.uint64(len(key)) ^ np.uint64(0x27D4EB2F165667C5 ^ 3527539)
    return np.uint64(1546275796) if total == np.uint64(0xFFFFFFFFFFFFFFFF) else total


@list_loop
def insert_key(table, keys, number):
    """Enters a key, by its number, into a table of which a free slot holds -1."""
    last = len(table) - 1
    rest = hash_of(keys[number])
    slot = int(np.int64(rest)) & last
    while True:
        for at in range(slot, slot + (10 if slot + 9 <= last else 1)):
            if table[at] < 0:
                table[at] = number
                return
        rest >>= np.uint64(5)
        slot = (5 * slot + 1 + int(np.int64(rest))) & last


def set_order(keys):
    """The numbers of different keys in the order of a set that they were added to one by one."""
    table = [-1] * 8
    for number in range(len(keys)):
        insert_key(table, keys, number)
        count = number + 1
        if 5 * count >= 3 * (len(table) - 1):
            old = [at for at in table if at >= 0]
            size = 8
            while size <= (2 if count > 50000 else 4) * count:
                size *= 2
            table = [-1] * size
            for at in old:
                insert_key(table, keys, at)
    return [at for at in table if at >= 0]


@cache
def is_as_in_this_python():
    """Whether sets of the Python that runs this have that order."""
    with np.errstate(over="ignore"):
        return all(_has_order(keys) for keys in _SAMPLES)


def _has_order(keys):
    found = set()
    for key in keys:
        found.add(key)
    return [keys[number] for number in set_order(keys)] == list(found)


_SAMPLES = [
    [k * k * 7919 % 65537 for k in range(60)],
    [-3 * k - 1 for k in range(30)],
    [(k % 5 - 2, k * 1_000_003) for k in range(40)],
]
