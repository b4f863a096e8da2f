"""Calls with loop-invariant arguments are made once, where they may be."""

from __future__ import annotations

import math

import numpy as np
import pytest

from appyc import pipeline
from appyc.ir.printer import print_function
from appyc.passes.simplify.hoist_invariants import hoist_invariants
from tests.e2e.harness import run_everywhere
from tests.lowering import after, lowered

BEFORE = (
    *pipeline.SIMPLIFY,
    *pipeline.ANALYSE,
    *pipeline.FOR_C[: pipeline.FOR_C.index(hoist_invariants)],
)
A = np.linspace(0.1, 2.0, 70)


def rotated(a, o, t, k):
    for i in range(a.shape[0]):
        o[i] = a[i] * math.cos(t) - math.sin(t) * a[i] + math.cos(t)


def pairs(a, o, t, k):
    for i in range(a.shape[0]):
        s = 0.0
        for j in range(a.shape[0]):
            s += math.cos(a[i]) * math.cos(a[j]) + (math.sin(t) if a[j] > 0.5 else 1.0)
        o[i] = s


def in_no_iteration(a, o, t, k):
    for i in range(min(69 - k, a.shape[0])):
        o[i] = math.exp(a[k]) + a[i]


def chosen_rows(a, o, t, k):
    rows = a.reshape(7, 10)
    out = o.reshape(7, 10)
    for i in range(7):
        for j in range(10):
            out[i, j] = rows[i - 1 if i >= 1 else 6, j] * t


HOISTED = (rotated, pairs, in_no_iteration, chosen_rows)


def under_a_condition(a, o, t, k):
    for i in range(a.shape[0]):
        if k < 70 and a[i] > 0.3:
            o[i] = math.exp(a[k])


def stored_meanwhile(a, o, t, k):
    for i in range(1, a.shape[0]):
        o[0] = math.exp(-o[0]) + a[i]


def changed_meanwhile(a, o, t, k):
    for i in range(a.shape[0]):
        t = a[i] * 2.0
        o[i] = math.exp(t)


def behind_what_raises(a, o, t, k):
    for i in range(a.shape[0]):
        if k >= a.shape[0]:
            raise ValueError(k)
        o[i] = math.exp(a[k]) + a[i]


LEFT = (behind_what_raises, under_a_condition, stored_meanwhile, changed_meanwhile)


def before(fn):
    return after(lowered(fn, A, A, 0.25, 3), *BEFORE)


@pytest.mark.parametrize("fn", HOISTED, ids=lambda fn: fn.__name__)
def test_hoisted(fn):
    assert "ahead" in print_function(after(before(fn), hoist_invariants))


@pytest.mark.parametrize("fn", LEFT, ids=lambda fn: fn.__name__)
def test_left(fn):
    fn = before(fn)
    assert after(fn, hoist_invariants) == fn


@pytest.mark.parametrize("k", [3, 75, -2, 10**9])
@pytest.mark.parametrize("fn", [*HOISTED, *LEFT], ids=lambda fn: fn.__name__)
def test_everywhere(fn, k):
    run_everywhere(fn, A, np.zeros(70), 0.25, k)


def test_under_a_pragma():
    def scaled(a, o, t, k):
        # pragma parallel for
        for i in range(a.shape[0]):
            o[i] = a[i] * math.exp(t)

    run_everywhere(scaled, A, np.zeros(70), 0.25, 3)


def test_golden(golden):
    fn = before(rotated)
    golden(
        "loops/hoisted_calls.txt",
        f"{print_function(fn)}\n# after\n\n{print_function(after(fn, hoist_invariants))}",
    )
