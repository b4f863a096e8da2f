"""Exchanges between neighbours without a branch."""

from __future__ import annotations

import numpy as np
import pytest

import appyc
from appyc import pipeline
from appyc.ir.nodes import Function, If, Select
from appyc.ir.printer import print_function
from appyc.ir.visit import walk
from appyc.options import Options
from appyc.passes.pass_context import PassContext
from appyc.passes.storage.if_conversion import if_conversion
from tests.e2e.harness import run_everywhere
from tests.lowering import after, lowered
from tests.printed import run_printed

UP_TO = (*pipeline.SIMPLIFY, *pipeline.ANALYSE[: pipeline.ANALYSE.index(if_conversion)])


def bubble(a, m, n):
    for i in range(n):
        swapped = False
        for j in range(n - 1 - i):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
                swapped = True
        if not swapped:
            break


def downwards(a, m, n):
    count = 0
    for j in range(n - 1, 0, -1):
        x, y = a[j - 1], a[j]
        if x > y:
            a[j] = x
            a[j - 1] = y
            count += 1
    return count


def in_columns(a, m, n):
    for k in range(m.shape[1]):
        for j in range(m.shape[0] - 1):
            if m[j, k] < m[j + 1, k]:
                t = m[j, k]
                m[j, k] = m[j + 1, k]
                m[j + 1, k] = t


def spread(a, m, n):
    for j in range(n - 1):
        if a[j] > 3.0 and a[j + 1] != 0.0:
            a[j + 1] = a[j]
            a[j] = 0.0


def counted_before(a, m, n):
    """A scalar under the condition that is read before it is set there."""
    kept = a[n - 1]
    for j in range(n - 1):
        if a[j] > a[j + 1]:
            a[j] = kept
            kept = a[j + 1]
            a[j + 1] = 2.0
    return kept


CONVERTED = (bubble, downwards, in_columns, counted_before)


def with_an_else(a, m, n):
    for j in range(n - 1):
        if a[j] > a[j + 1]:
            a[j + 1] = a[j]
        else:
            a[j] = 0.0


def unread(a, m, n):
    """The store that the next iteration reads is to an element that this one has not read."""
    for j in range(n - 1):
        if a[j] > 2.0:
            a[j + 1] = a[j]


def not_of_neighbours(a, m, n):
    for j in range(n - 1):
        if a[j] > a[n - 1 - j]:
            a[j], a[n - 1 - j] = a[n - 1 - j], a[j]


def of_two_arrays(a, m, n):
    for j in range(n - 1):
        if a[j] > a[j + 1]:
            a[j + 1] = a[j]
            m[0, 0] = a[j]


def at_odds(a, m, n):
    """Elements that may be the same one."""
    for j in range(n - 2):
        if a[j] > a[j + 1] and a[n - 1] > 0.0:
            a[j + 1] = a[j]
            a[n - 1] = a[j + 1]


LEFT = (with_an_else, unread, not_of_neighbours, of_two_arrays, spread, at_odds)


def arguments(seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 6, 9).astype(float), rng.integers(0, 4, (4, 3)), 9


def prepared(fn) -> Function:
    return after(lowered(fn, *arguments()), *UP_TO)


@pytest.mark.parametrize("fn", CONVERTED, ids=lambda f: f.__name__)
def test_converted(fn):
    found = after(prepared(fn), if_conversion)
    assert any(isinstance(n, Select) for n in walk(found))
    for seed in range(5):
        one, other = arguments(seed), arguments(seed)
        fn(*one)
        run_printed(found, *other)
        assert [x.tolist() for x in one[:2]] == [x.tolist() for x in other[:2]]


@pytest.mark.parametrize("fn", LEFT, ids=lambda f: f.__name__)
def test_left(fn):
    before = prepared(fn)
    assert if_conversion(before, PassContext()) is before


def test_only_where_loops_may_be_changed():
    before = prepared(bubble)
    assert if_conversion(before, PassContext(Options(auto=False))) is before


@pytest.mark.sampled
@pytest.mark.parametrize("fn", [*CONVERTED, *LEFT], ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", [float, np.int64, np.uint8])
def test_everywhere(fn, dtype):
    a, m, n = arguments(7)
    a[2] = np.nan if dtype is float else 3
    run_everywhere(fn, a.astype(dtype), m.astype(dtype), n)
    run_everywhere(fn, a.astype(dtype)[::-1], m.astype(dtype).T, 1)


def test_the_branch_is_gone():
    found = after(prepared(bubble), if_conversion)
    [inner] = [n for n in walk(found) if isinstance(n, If) and any(isinstance(s, Select) for s in walk(n))]
    assert not any(isinstance(n, If) for n in walk(inner.then))


def test_a_pragma_is_judged_as_it_is_written():
    def asked(a, n):
        # pragma parallel for
        for j in range(n - 1):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]

    with pytest.raises(appyc.DependenceError, match="'a'"):
        appyc.jit(asked)(np.ones(9), 9)


def test_golden(golden):
    before = prepared(bubble)
    found = after(before, if_conversion)
    golden("loops/exchanges.txt", f"{print_function(before)}\n# after\n\n{print_function(found)}")
