"""The schedule as text: one line a loop, with what was decided about it."""

from __future__ import annotations

import numpy as np
import pytest

import appyc

LINE, PLANE, INDEX = np.ones(9), np.ones((9, 9)), np.arange(9)


def product(a, b):
    c = np.zeros((a.shape[0], b.shape[1]))
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            c[i, j] = 1.0
            for k in range(i):
                c[i, j] += a[i, k] * b[k, j]
    return c


def symmetric(a, c):
    for i in range(a.shape[0]):
        for j in range(i + 1):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * a[j, k]
            c[i, j] = s


def result(x, y):
    return x * 2.0 + y


def least(x):
    return x.min()


def exceeds(x):
    return (x > 3.0).any()


def selected(x, out):
    n = 0
    for i in range(x.shape[0]):
        if x[i] > 0.5:
            out[n] = x[i]
            n += 1
    return n


def gathered(x, index):
    s = 0.0
    for i in index:
        s += x[i]
    return s


def running(x):
    for i in range(1, x.shape[0]):
        x[i] += x[i - 1]


def until(x):
    n = 0
    while x[n] > 0.0:
        for i in range(n):
            x[n] -= x[i] * x[i]
        n += 1


CALLS = [
    (product, PLANE, PLANE), (symmetric, PLANE, PLANE), (result, LINE, LINE), (least, LINE), (exceeds, LINE),
    (selected, LINE, LINE), (gathered, LINE, INDEX), (running, LINE), (until, LINE),
]  # fmt: skip


def test_schedules_of_programs(golden):
    texts = [appyc.jit(cache=False)(fn).source("schedule", *args) for fn, *args in CALLS]
    golden("schedules.txt", "\n\n".join(texts) + "\n")


@pytest.mark.parametrize("kind", ["c", "ir"])
def test_schedule_is_there_beside_the_other_texts(kind):
    assert "lanes" in appyc.jit(cache=False)(result).source("schedule", LINE, LINE)
    assert appyc.jit(cache=False)(result).source(kind, LINE, LINE)
