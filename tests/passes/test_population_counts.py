"""Loops that clear the lowest one of a word are sums of its digits."""

from __future__ import annotations

import numpy as np
import pytest

from appyc import pipeline
from appyc.ir.nodes import While
from appyc.ir.printer import print_function
from appyc.ir.visit import contains
from appyc.passes.simplify.population_counts import population_counts
from tests.e2e.harness import run_everywhere
from tests.lowering import after, lowered
from tests.printed import run_printed

UP_TO = pipeline.SIMPLIFY[: pipeline.SIMPLIFY.index(population_counts)]
WORDS = np.array([0, 1, 2, 3, 255, 2**40 + 5, 2**62, 2**63 - 1])


def total(a):
    n = 0
    for i in range(len(a)):
        x = a[i]
        while x:
            x &= x - 1
            n += 1
    return n


def each(a, out):
    # pragma parallel for
    for i in range(len(a)):
        x, n = a[i], 7
        while x != 0:
            n += 1
            x = (x - 1) & x
        out[i] = n - x


def of_positions(a):
    best = 0
    for i in range(len(a)):
        x, n = i, 0
        while x:
            x &= x - 1
            n += 1
        best = max(best, n)
    return best


def clears_another(a):
    x, y, n = int(a[3]), 12, 0
    while x:
        x = y & (x - 1)
        n += 1
    return n


def adds_two(a):
    x, n = int(a[4]), 0
    while x:
        x &= x - 1
        n += 2
    return n


@pytest.mark.parametrize("fn", [total, of_positions], ids=lambda f: f.__name__)
def test_they_have_no_loop(fn):
    found = after(after(lowered(fn, WORDS), *UP_TO), population_counts)
    assert not contains(found.body, While)
    assert run_printed(found, WORDS) == fn(WORDS)


@pytest.mark.parametrize("fn", [clears_another, adds_two], ids=lambda f: f.__name__)
def test_others_stay(fn):
    before = after(lowered(fn, WORDS), *UP_TO)
    assert after(before, population_counts) is before


@pytest.mark.parametrize("fn", [total, of_positions, clears_another, adds_two], ids=lambda f: f.__name__)
def test_results_stay(fn):
    run_everywhere(fn, WORDS)


@pytest.mark.parametrize("words", [WORDS, WORDS.astype(np.uint64), np.array([-1, -(2**63), -5])], ids=str)
def test_words_of_all_signs(words):
    with np.errstate(over="ignore"):
        run_everywhere(each, words, np.zeros(len(words), np.int64))


def test_golden(golden):
    before = after(lowered(total, WORDS), *UP_TO)
    found = after(before, population_counts)
    golden("loops/population_counts.txt", f"{print_function(before)}\n# after\n\n{print_function(found)}")
