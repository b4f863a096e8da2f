"""Indices are checked once, where a check holds for what follows; no access leaves its array."""

from __future__ import annotations

import numpy as np
import pytest

import appyc
from appyc import pipeline
from appyc.ir.array_accesses import array_of, is_access
from appyc.ir.printer import print_function
from appyc.ir.visit import walk
from appyc.passes.checks.redundant_checks import redundant_checks
from appyc.passes.pass_context import PassContext
from tests.e2e.harness import run_everywhere
from tests.lowering import after, lowered

A = np.array([3.0, 1.0, 4.0, 1.5, 9.0, 2.0, 6.0])
K = np.array([5, 2, 6, 0, 3, 1, 4])


def sifted(a, k, n, m):
    i = 0
    while 2 * i + 1 < n:
        c = 2 * i + 1
        if c + 1 < n and a[c + 1] > a[c]:
            c += 1
        if a[i] >= a[c]:
            break
        a[i], a[c] = a[c], a[i]
        i = c
    return i


def counted(a, k, n, m):
    i = 0
    while i < n:
        a[i] = a[i] * 2.0
        a[i] += 1.0
        i = 2 * i + 1


def in_planes(a, k, n, m):
    p = np.zeros((7, 2))
    i = 0
    while i < n:
        j = int(k[i]) & 3
        p[i, j] = 2.0 * a[i]
        if m > 0:
            p[i, j] += 1.0
        i = 2 * i + 1
    return p


FEWER = (sifted, counted, in_planes)
"""Programs in which a check goes."""


def negative(a, k, n, m):
    for i in range(7):
        j = int(k[i]) - n
        x = a[j]
        a[j] = x * x + 1.0


def changed_between(a, k, n, m):
    i = 0
    while i < n:
        x = a[i]
        i = 2 * i + 1
        a[i] = x


def another_array(a, k, n, m):
    o = np.zeros(6)
    i = 0
    while i < n:
        x = a[i]
        o[i] = x
        i = 2 * i + 1
    return o


def in_one_arm(a, k, n, m):
    i = 0
    while i < n:
        if m > 0:
            a[i] = 1.0
        a[i] = a[i + m]
        i = 2 * i + 1


def made_again(a, k, n, m):
    b = np.zeros(n)
    for i in range(7):
        j = abs(int(k[i]))
        b[j] = 1.0
        b = np.zeros(m * m + 1)
        b[j] = 2.0


def made_again_in_a_loop(a, k, n, m):
    b = np.zeros(n)
    i = 0
    while i < n:
        b[i] += 1.0
        for t in range(2):
            b[i] = a[0]
            b = np.zeros(t + 3)
        i = 2 * i + 1


def stored_indices(a, k, n, m):
    i = 0
    while i < n:
        x = a[abs(k[i])]
        k[i] = k[i] * m
        a[abs(k[i])] = x
        i = 2 * i + 1


LEFT = (
    negative,
    changed_between,
    another_array,
    in_one_arm,
    made_again,
    made_again_in_a_loop,
    stored_indices,
)


def checks(fn):
    """The checked accesses of all arrays but `k`."""
    accesses = [n for n in walk(fn.body) if is_access(n) and n.index and n.checked]
    return sum(array_of(n).name != "k" for n in accesses)


def ready(fn):
    passes = (
        *pipeline.SIMPLIFY,
        *pipeline.ANALYSE,
        *pipeline.FOR_C[: pipeline.FOR_C.index(redundant_checks)],
    )
    return after(lowered(fn, A, K, 3, 1), *passes)


@pytest.mark.parametrize("fn", FEWER, ids=lambda fn: fn.__name__)
def test_a_check_goes(fn):
    assert checks(after(ready(fn), redundant_checks)) < checks(ready(fn))


@pytest.mark.parametrize("fn", LEFT, ids=lambda fn: fn.__name__)
def test_each_check_stays(fn):
    fn = ready(fn)
    assert checks(after(fn, redundant_checks)) == checks(fn) >= 2


@pytest.mark.parametrize("m", [1, -3])
@pytest.mark.parametrize("n", [3, 8, 50, -8])
@pytest.mark.parametrize("fn", [*FEWER, *LEFT], ids=lambda fn: fn.__name__)
def test_arrays_hold_what_python_leaves_in_them(fn, n, m):
    run_everywhere(fn, A, K, n, m)


def test_sums_that_were_computed_do_not_overflow():
    def moved(a, k, n, m):
        x = a[n + m]
        a[n + m] = x * 2.0
        return x

    assert appyc.jit(moved).source("c", A, K, 3, 1).count("add_checked(n") <= 1
    run_everywhere(moved, A, K, 3, 1)
    run_everywhere(moved, A, K, 2**62, 2**62)


def test_nothing_is_checked():
    def plain(a, k, n, m):
        return a[0] if len(a) else 0.0

    fn = ready(plain)
    assert redundant_checks(fn, PassContext()) is fn


def test_golden(golden):
    fn = ready(counted)
    golden("loops/redundant_checks.txt", print_function(after(fn, redundant_checks)))
