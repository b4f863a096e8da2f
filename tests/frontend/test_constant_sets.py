"""Sets that are only looked into: named, of the module, of a closure."""

from __future__ import annotations

import numpy as np
import pytest

import appyc
from tests.e2e.harness import run_everywhere

PAIRS = {(0, 3), (3, 0), (1, 2)}
ODD = frozenset({1, 3, 5})


def named(a):
    pairs = {(0, 3), (3, 0), (1, 2)}
    ends = {-1, 2.5, 3}
    found = 0
    # pragma parallel for
    for i in range(len(a) - 1):
        if (a[i], a[i + 1]) in pairs and a[i] not in ends:
            found += 1
    return found


def of_variables(a, x, y):
    both = {(x, y), (y, x)}
    found = 0
    for i in range(len(a) - 1):
        found += (int(a[i]), int(a[i + 1])) in both
    return found


def long(a):
    wanted = {0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 33, 36, 39, 42, 45, 48}
    found = 0
    for x in a:
        if x in wanted:
            found += 1
    return found


def in_a_branch(a, which):
    if which:
        some = {1, 2}
    else:
        some = {0, 3}
    found = 0
    for x in a:
        found += x in some
    return found


def bound_twice(a):
    some = {1, 2}
    found = 0
    for x in a:
        found += x in some
    some = {0, 3}
    for x in a:
        found += 10 * (x in some)
    return found


def of_the_module(a):
    found = 0
    for i in range(len(a) - 1):
        if (a[i], a[i + 1]) in PAIRS or a[i] in ODD:
            found += 1
    return found


def run_over(a):
    """The order of the set shows."""
    found = 0
    for x, y in PAIRS:
        for k in range(len(a)):
            found = (3 * found + (a[k] == x) - y) % 1000003
    return found + sum(2 * x for x in ODD)


def nested(a):
    some = {1, 2}

    def is_there(x):
        return x in some

    found = 0
    for x in a:
        found += is_there(x)
    return found


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("fn", "more"),
    [
        (named, ()), (of_variables, (0, 3)), (long, ()), (in_a_branch, (True,)), (bound_twice, ()),
        (of_the_module, ()), (run_over, ()), (nested, ()),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)  # fmt: skip
def test_as_in_python(fn, more):
    run_everywhere(fn, np.random.default_rng(1).integers(0, 5, 40), *more, strict=True)


@pytest.mark.parametrize("fn", [of_the_module, run_over], ids=lambda fn: fn.__name__)
def test_a_set_of_the_module_may_change(fn):
    compiled = appyc.jit(strict=True, cache=False, target="cpu")(fn)
    a = np.array([4, 4, 0, 3, 4])
    before = fn(a)
    assert compiled(a) == before
    PAIRS.add((4, 4))
    try:
        assert compiled(a) == fn(a) != before
    finally:
        PAIRS.discard((4, 4))
    assert compiled(a) == fn(a) == before


def test_a_set_that_is_returned_is_the_programs():
    def given(a):
        some = {1, 2}
        found = 0
        for x in a:
            found += x in some
        return found, some

    run_everywhere(given, np.arange(4))


def test_comparisons_run_in_lanes():
    compiled = appyc.jit(strict=True, cache=False, target="cpu")(named)
    compiled(np.arange(5))
    assert "for i  parallel" in str(compiled.explain())
