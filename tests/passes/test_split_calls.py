"""Loops that call functions of sums: split where nothing forbids it, and right in both cases."""

from __future__ import annotations

import math

import numpy as np
import pytest

import appyc
from appyc import pipeline
from appyc.ir.printer import print_function
from appyc.passes.vectorise.split_calls import BLOCK, split_calls
from tests.e2e.harness import run_everywhere
from tests.lowering import after, lowered

BEFORE = (*pipeline.SIMPLIFY, *pipeline.ANALYSE, *pipeline.FOR_C[: pipeline.FOR_C.index(split_calls)])
RNG = np.random.default_rng(3)
X, W = RNG.random((150, 7)) - 0.5, RNG.random(7)


def predicted(x, w, y):
    for i in range(x.shape[0]):
        z = 0.0
        for k in range(x.shape[1]):
            z += x[i, k] * w[k]
        y[i] = 1.0 / (1.0 + math.exp(-z))


def two_sums(x, w, y):
    for i in range(x.shape[0]):
        a, b = 0.0, 1.0
        for k in range(x.shape[1]):
            a += x[i, k] * w[k]
            b += abs(x[i, k])
        c = math.exp(a)
        y[i] = c * b if a > 0.0 else math.log(b) + c


def distances(x, w, y):
    out = np.zeros((x.shape[0], x.shape[0]))
    for i in range(x.shape[0]):
        for j in range(x.shape[0]):
            d = 0.0
            for k in range(x.shape[1]):
                d += (x[i, k] - x[j, k]) ** 2
            out[i, j] = math.exp(-d) * w[0]
    return out


def in_place(x, w, y):
    for i in range(x.shape[0]):
        s = 0.0
        for k in range(x.shape[1]):
            s += x[i, k]
        x[i, 0] = math.exp(s) + x[i, 1]
        y[i] = x[i, 0]


SPLIT = (predicted, two_sums, distances, in_place)


def total(x, w, y):
    t = 0.0
    for i in range(x.shape[0]):
        z = 0.0
        for k in range(x.shape[1]):
            z += x[i, k] * w[k]
        t += math.exp(z)
    y[0] = t


def read_behind(x, w, y):
    z = 0.0
    for i in range(x.shape[0]):
        z = 0.0
        for k in range(x.shape[1]):
            z += x[i, k] * w[k]
        y[i] = math.exp(z)
    y[0] = z


def no_function(x, w, y):
    for i in range(x.shape[0]):
        z = 0.0
        for k in range(x.shape[1]):
            z += x[i, k] * w[k]
        y[i] = math.sqrt(abs(z))


def may_raise(x, w, y):
    for i in range(x.shape[0]):
        z = 0.0
        for k in range(x.shape[1]):
            z += x[i, k] * w[k]
        y[i] = math.exp(z) / float(x[i, 0] - w[0])


def iterated(x, w, y):
    for i in range(x.shape[0]):
        z = x[i, 0]
        for _ in range(9):
            z = z * 0.5 + 0.1
        y[i] = math.exp(z)


def skipped(x, w, y):
    for i in range(x.shape[0]):
        if x[i, 0] > 0.5:
            if x[i, 1] > 0.5:
                continue
            y[i] = 3.0
        else:
            if x[i, 2] > 0.5:
                continue
            y[i] = 4.0
        z = 0.0
        for k in range(x.shape[1]):
            z += x[i, k] * w[k]
        y[i] += math.exp(z)


LEFT = (total, read_behind, no_function, may_raise, iterated, skipped)


def ready(fn):
    return after(lowered(fn, X, W, np.zeros(150)), *BEFORE)


@pytest.mark.parametrize("fn", SPLIT, ids=lambda fn: fn.__name__)
def test_split(fn):
    assert "_kept" in print_function(after(ready(fn), split_calls))


@pytest.mark.parametrize("fn", LEFT, ids=lambda fn: fn.__name__)
def test_left(fn):
    fn = ready(fn)
    assert after(fn, split_calls) is fn


@pytest.mark.parametrize("rows", [0, 1, BLOCK - 1, BLOCK + 1, 150])
@pytest.mark.parametrize("fn", [*SPLIT, *LEFT], ids=lambda fn: fn.__name__)
def test_results(fn, rows):
    run_everywhere(fn, X[:rows].copy(), W, np.zeros(max(rows, 1)), targets=("cpu", "threads"))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_under_a_pragma_on_threads(dtype):
    def rows(x, w, y):
        # pragma parallel for
        for i in range(x.shape[0]):
            z = x[i, 0] * 0
            for k in range(x.shape[1]):
                z += x[i, k] * w[k]
            y[i] = np.exp(z) + np.log(x[i, 1] + 2)

    x = RNG.random((3000, 40)).astype(dtype)
    run_everywhere(rows, x, x[0].copy(), np.zeros(3000, dtype), targets=("cpu", "threads"))
    assert "_kept" in appyc.jit(rows).source("c", x, x[0].copy(), np.zeros(3000, dtype))


def test_golden(golden):
    golden("loops/split_calls.txt", print_function(after(ready(predicted), split_calls)))
