"""Lanes with tests that raise: what arrays hold when one does, and that there are lanes at all."""

from __future__ import annotations

import numpy as np
import pytest

import appyc
from tests.e2e.harness import run_everywhere

N = 5000
TARGETS = ("cpu",)


def scaled(a, k, o, p):
    for i in range(a.shape[0]):
        o[i] = int(a[i] * 255)


def named(a, k, o, p):
    for i in range(a.shape[0]):
        v = round(a[i] * 255)
        p[i] = v + 1
        o[i] = v


def in_place(a, k, o, p):
    for i in range(a.shape[0]):
        p[i] = p[i] + 7
        o[i] = int(a[i] * 100) + o[i] // 2


def under_a_condition(a, k, o, p):
    for i in range(a.shape[0]):
        if a[i] > 0.5:
            o[i] = int(a[i] * 255)
        else:
            p[i] = i


def in_both_arms(a, k, o, p):
    for i in range(a.shape[0]):
        if a[i] > 0.5:
            o[i] = int(a[i] * 255)
        else:
            o[i] = int(a[i] * -3) + 3


def beside(a, k, o, p):
    for i in range(a.shape[0] - 3):
        if a[i] > -1.0:
            o[i + 3] = int(a[i] * 255)


def relied_on(a, k, o, p):
    t = np.arange(256)
    for i in range(a.shape[0]):
        v = int(a[i] * 255)
        o[i] = v
        p[i] = t[o[i]]


def loops_behind(a, k, o, p):
    for i in range(a.shape[0]):
        v = int(a[i] * 255)
        o[i] = v
        while v > 300:
            v = v * 2
        p[i] = v


def counted(a, k, o, p):
    for i in range(a.shape[0]):
        n = 0
        z = 0.0
        while n < 300 and z < a[i] * 255:
            z += 1.0
            n += 1
        o[i] = n


def linear(a, k, o, p):
    for i in range(min(a.shape[0], 100)):
        o[i] = i * k + 1


def offsets(a, k, o, p):
    n = 0
    for i in range(min(a.shape[0], 60)):
        v = n + k
        o[i] = v
        p[i] = v
        n += 3


def summed(a, k, o, p):
    s = 0.0
    for i in range(a.shape[0]):
        o[i] = int(a[i] * 255)
        s += a[i]
    return s


def summed_behind_tests(a, k, o, p):
    s = 0.0
    for i in range(a.shape[0]):
        if a[i] > k - 100:
            s += a[o[i] * 55]
    return s


def summed_beside_what_may_raise(a, k, o, p):
    s = 0.0
    most = a[0]
    for i in range(a.shape[0]):
        s += a[i]
        most = max(most, a[i])
        if a[i] > 0.5:
            s -= p[int(a[i] * 50)]
    return s, most


def columns(a, k, o, p):
    m = o.reshape(50, 100)
    for j in range(100):
        for i in range(50):
            m[i, j] = int(a[i * 100 + j] * 255)


def raised(a, k, o, p):
    for i in range(a.shape[0]):
        if a[i] > 1:
            raise ValueError("too large")
        p[i] = a[i] + 1


def divided(a, k, o, p):
    for i in range(a.shape[0]):
        d = float(a[i]) - 1.3
        p[i] = k / d


def divided_in_one_arm(a, k, o, p):
    for i in range(a.shape[0]):
        if a[i] > 0.5:
            p[i] = k / (float(a[i]) - 1.3) + 1.0
        else:
            p[i] = -p[i]


def divided_by_quotients(a, k, o, p):
    for i in range(a.shape[0]):
        p[i] = 1.0 / (2.0 / (float(a[i]) - 1.3) - 4.0)
        o[i] = (7 * i) % (int(a[i] * 10) - 13) + 20


def divided_where_asked(a, k, o, p):
    for i in range(a.shape[0]):
        d = float(a[i]) - 1.3
        p[i] = k / d if k > 50 or 1.0 / (d - 1.0) > -0.5 else d


def sum_of_quotients(a, k, o, p):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i] + 1.0 / (float(a[i]) - 1.3)
    return s


def in_threes(a, k, o, p):
    for i in range(1, a.shape[0], 3):
        o[i] = int(a[i] * 255)


def backwards(a, k, o, p):
    for i in range(a.shape[0] - 1, 2, -1):
        o[i] = int(a[i] * 255)


def left_behind(a, k, o, p):
    t = 0.0
    # pragma parallel for
    for i in range(a.shape[0]):
        t = a[i] * 2.0
        o[i] = int(a[i] * 255)
    p[0] = t


PROGRAMS = (divided, divided_in_one_arm, divided_by_quotients, divided_where_asked, sum_of_quotients,
            scaled, named, in_place, under_a_condition, in_both_arms, beside, relied_on, loops_behind, counted, linear,
            offsets, summed, summed_behind_tests, summed_beside_what_may_raise, columns, raised, in_threes, backwards,
            left_behind)  # fmt: skip


LANES = (divided, divided_in_one_arm, divided_by_quotients, sum_of_quotients, scaled, named, under_a_condition,
         in_both_arms, in_place, counted, linear, offsets)  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("wrong", [None, 0, 7, 2047, 2048, 4096, N - 4, N - 1])
@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: fn.__name__)
def test_arrays_hold_what_python_leaves_in_them(fn, wrong):
    rng = np.random.default_rng(1)
    a = rng.random(N) * 0.99
    if wrong is not None:
        a[wrong] = 1.3
    k = 1 if wrong is None else wrong % 100
    run_everywhere(fn, a, k, rng.integers(0, 100, N, np.uint8), rng.random(N), targets=TARGETS)


def test_threads_have_blocks_of_their_own():
    def shared(a, o):
        # pragma parallel for
        for i in range(a.shape[0]):
            o[i] = int(a[i] * 255)

    a = np.random.default_rng(1).random(N)
    run_everywhere(shared, a, np.zeros(N, np.uint8), targets=("cpu", "threads"), strict=True)
    assert "unfit" in appyc.jit(shared).source("c", a, np.zeros(N, np.uint8))


@pytest.mark.parametrize("value", [-129, -128, 127, 128, -(2**63), 2**63 - 1])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint32])
def test_each_limit(dtype, value):
    def first(v, o):
        for i in range(v.shape[0]):
            o[i] = int(v[i])

    for number in (
        value,
        *(limit + d for limit in (np.iinfo(dtype).min, np.iinfo(dtype).max) for d in (-1, 0, 1)),
    ):
        v = np.arange(100) % 100
        v[40] = number
        run_everywhere(first, v, np.full(100, 3, dtype), targets=TARGETS)


def test_a_product_that_wraps_between_the_ends():
    def products(k, o):
        for i in range(o.shape[0]):
            o[i] = i * k

    f = appyc.jit(products, exact=False)
    o = np.zeros(9, np.int32)
    with pytest.raises(OverflowError):
        f(2**62, o)


@pytest.mark.sampled
@pytest.mark.parametrize("fn", LANES, ids=lambda fn: fn.__name__)
def test_there_are_lanes(fn):
    f = appyc.jit(fn, cache=False)
    f(np.zeros(N), 1, np.zeros(N, np.uint8), np.zeros(N))
    text = f.source("c")
    assert "unfit" in text
    assert "omp simd" in text
