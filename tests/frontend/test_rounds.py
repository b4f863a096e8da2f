"""How many rounds lowering takes: a fact that no earlier statement depends on starts none."""

from __future__ import annotations

import math
from typing import Any
from unittest import mock

import numpy as np

import appyc
from appyc.frontend import lower
from appyc.frontend.facts import Restart


def lists_of_three_types(n):
    ints, floats, pairs = [1], [2.0], [(1, 2.0)]
    for i in range(n):
        ints.append(i)
        floats.append(i * 0.5)
        pairs.append((i, i * 0.5))
    return ints, floats, pairs


def starts_empty(n):
    found = []
    for i in range(n):
        found.append(i)
    return found


def starts_with_a_float(n):
    found = []
    for i in range(n):
        found.append(i * 0.5)
    return found


def starts_with_a_root(n):
    found = []
    for i in range(n):
        found.append(math.sqrt(i))
    return found


def items_of_an_array(a):
    found, pairs = [], []
    for x in a:
        y = x
        if y not in found:
            found.append(y)
        pairs.append((2.0, y))
    return found, pairs


def two_that_may_be_none(a):
    first = last = None
    for x in a:
        if x > 0:
            if first is None:
                first = x
            last = 2 * x
    return 0 if first is None or last is None else first + last


def distinct_and_latest(n):
    left, seen, last = set(), {}, 0
    for i in range(n):
        left.add(i % 5)
        seen[i % 7] = i
        last += (i % 3 in left) + seen.get(i % 4, 0)
    return last


def restarts(fn: Any, *args: Any) -> list[str]:
    """The functions whose lowering began anew in the first call."""
    found: list[str] = []
    plain = lower._lower_body

    def watched(scope: Any, node: Any) -> None:
        try:
            plain(scope, node)
        except Restart:
            found.append(node.name)
            raise

    with mock.patch.object(lower, "_lower_body", watched):
        assert appyc.jit(fn, cache=False, strict=True)(*args) == fn(*args)
    return found


def test_lists_of_known_types_take_one_round():
    assert restarts(lists_of_three_types, 5) == []
    assert restarts(starts_empty, 5) == []
    assert restarts(starts_with_a_float, 5) == []
    assert restarts(items_of_an_array, np.arange(7) % 3) == []
    assert restarts(starts_with_a_root, 5) == ["starts_with_a_root"]


def test_names_that_may_be_none_are_found_in_one_round():
    assert restarts(two_that_may_be_none, [3, -1, 4]) == ["two_that_may_be_none"]


def test_library_text_that_is_given_lists_takes_one_round():
    assert restarts(distinct_and_latest, 30) == []
