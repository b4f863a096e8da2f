"""Loop-carried scalars that are equal in each iteration are read from one, and others stay."""

from __future__ import annotations

import numpy as np
import pytest

from appyc.ir.printer import print_function
from appyc.passes.simplify.congruent_scalars import congruent_scalars
from tests.lowering import around
from tests.printed import run_printed


def arguments() -> tuple[np.ndarray, np.ndarray, int]:
    return np.cos(np.arange(30.0)), np.sin(np.arange(30.0)), 30


def shrinking(x, y, n):
    a, b = np.zeros(n), np.ones(n)
    s = 0.0
    while len(a) > 2:
        keep = a + b < 1.5
        keep[0] = False
        keep[1:] = b[1:] > -1.0
        a, b = a[keep], b[keep]
        s += len(a) * 0.5
    return s


def in_scalars(x, y, n):
    a = b = n
    s = 0.0
    while a > 0:
        for i in range(b):
            s += x[i] * a
        m = a - 2
        a = m
        b = m
    return s


def left_early(x, y, n):
    a = b = n
    s = 0.0
    for i in range(n):
        if x[i] < -0.9:
            break
        s += x[b - 1] + a
        m = n - i
        a, b = m, m
    return s + a - b


MERGED = [shrinking, in_scalars, left_early]


@pytest.mark.parametrize("fn", MERGED, ids=lambda fn: fn.__name__)
def test_one_is_read(fn):
    before, after = around(congruent_scalars, fn, *arguments())
    assert after.body != before.body
    assert run_printed(after, *arguments()) == fn(*arguments())


def test_golden(golden):
    after = around(congruent_scalars, in_scalars, *arguments())[1]
    golden("loops/congruent_scalars.txt", print_function(after))


def with_another_start(x, y, n):
    a, b, s = n, n - 1, 0.0
    while a > 0:
        s += x[b] + a
        m = a - 2
        a = b = m
    return s


def with_another_step(x, y, n):
    a = b = n
    s = 0.0
    while a > 3 and b > 3:
        s += x[b - 1] + a
        a, b = a - 2, b - 3
    return s


def written_twice(x, y, n):
    a = b = n
    s = 0.0
    while a > 1:
        s += x[b - 1] + a
        m = a - 1
        a = b = m
        if y[m] > 0.0:
            b = m + 1
    return s


def source_written_between(x, y, n):
    a = b = n
    s = 0.0
    m = n
    while a > 1:
        s += x[b - 1] + a
        m -= 1
        a = m
        m -= 1
        b = m + 1
        b = m
    return s


def under_another_condition(x, y, n):
    a = b = n
    s = 0.0
    for i in range(n - 1):
        s += x[b - 1] + a
        m = n - i - 1
        a = m
        if y[i] > 0.0:
            b = m
    return s


def skipped(x, y, n):
    a = b = n
    s = 0.0
    for i in range(n - 1):
        s += x[b - 1] + a
        m = n - i - 1
        a = m
        if y[i] > 0.0:
            continue
        b = m
    return s


KEPT = [
    with_another_start,
    with_another_step,
    written_twice,
    source_written_between,
    under_another_condition,
    skipped,
]


@pytest.mark.parametrize("fn", KEPT, ids=lambda fn: fn.__name__)
def test_others_stay(fn):
    before, after = around(congruent_scalars, fn, *arguments())
    assert after.body == before.body
    assert run_printed(after, *arguments()) == fn(*arguments())
