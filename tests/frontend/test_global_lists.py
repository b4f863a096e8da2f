"""Lists of globals, closures and attributes: constants, or looked up at each call."""

from __future__ import annotations

import numpy as np
import pytest

import appyc
from tests.e2e.harness import run_everywhere

MOVES = [(0, 1), (1, 0), (0, -1), (-1, 0)]
WEIGHTS = [3, 1, 4, 1, 5]
RULES = [("+", 1), ("-", 2.5)]
KERNEL = [[0.0, 0.25], [0.5, 1.0]]
FOUND = [0] * 4


def neighbours(a):
    total = 0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            for di, dj in MOVES:
                if 0 <= i + di < a.shape[0] and 0 <= j + dj < a.shape[1]:
                    total += a[i + di, j + dj] * (di + 2)
    return total


def weighed(n):
    total = 0
    for i in range(n):
        total += WEIGHTS[i % len(WEIGHTS)]
        if i in WEIGHTS:
            total += sum(WEIGHTS)
    for w in WEIGHTS:
        total = total * 2 + w
    return total


def filtered(a):
    out = np.zeros(len(a) - 1)
    for i in range(len(out)):
        for k in range(2):
            out[i] += a[i + k] * KERNEL[k][1 - k]
    return out


def counted(n):
    for i in range(n):
        FOUND[i % 4] += i
    return FOUND[1]


class Forest:
    def __init__(self, n):
        self.parent = list(range(n))

    def root(self, i):
        while self.parent[i] != i:
            self.parent[i] = self.parent[self.parent[i]]
            i = self.parent[i]
        return i

    def join(self, a, b):
        for k in range(len(a)):
            self.parent[self.root(a[k])] = self.root(b[k])
        return self.root(0)


@pytest.mark.parametrize(
    ("fn", "args"),
    [
        (neighbours, (np.arange(12).reshape(3, 4),)),
        (weighed, (9,)),
        (filtered, (np.arange(5.0),)),
        (Forest.join, (Forest(9), [1, 2, 5, 7, 0], [2, 3, 7, 1, 5])),
    ],
)
def test_lists_from_outside_are_compiled(fn, args):
    run_everywhere(fn, *args)
    appyc.jit(fn, strict=True, cache=False)(*args)


def test_what_is_stored_into_a_global_list_is_in_it_after_the_call():
    compiled = appyc.jit(counted, strict=True, cache=False)
    FOUND[:] = [0] * 4
    assert compiled(10) == 1 + 5 + 9
    assert FOUND == [12, 15, 8, 10]


def test_changes_of_global_lists_are_seen_by_the_next_call():
    moves, compiled = list(MOVES), appyc.jit(neighbours, cache=False)
    a = np.arange(12).reshape(3, 4)
    try:
        for new in ((1, 1), (0, 2), (0, 1.5)):
            assert compiled(a) == neighbours(a)
            MOVES.append(new)
            if isinstance(new[1], int):
                assert compiled(a) == neighbours(a)
            MOVES.pop(0)
            WEIGHTS.append(7)
    finally:
        MOVES[:], WEIGHTS[5:] = moves, []


@pytest.mark.filterwarnings("ignore::appyc.FallbackWarning")
def test_a_global_list_that_grows_runs_in_python():
    log: list[int] = []

    def f(n):
        for i in range(n):
            log.append(i)
        return len(log)

    compiled = appyc.jit(f, cache=False)
    assert [compiled(3), compiled(2)] == [3, 5]
    assert log == [0, 1, 2, 0, 1]


def test_rules_of_texts_and_numbers_are_constants():
    @appyc.jit(strict=True, cache=False)
    def f(x):
        for op, k in RULES:
            x = x + k if op == "+" else x - k
        return x

    assert f(3) == 1.5
