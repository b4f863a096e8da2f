"""Divisors that are never zero are not tested; those that may be are, with Python's error."""

from __future__ import annotations

import math

import numpy as np
import pytest

import appyc
from appyc import pipeline
from appyc.ir.printer import print_function
from appyc.passes.checks.prove_tests import prove_tests
from tests.e2e.harness import run_everywhere
from tests.lowering import after, lowered

BEFORE = (*pipeline.SIMPLIFY, *pipeline.ANALYSE[: pipeline.ANALYSE.index(prove_tests)])

A = np.array([0.0, 1.0, -2.0, np.nan, 1e-200, np.inf, 0.5])
K = np.array([0, 1, -1, 3, 2**62, -(2**63), 2**32])


# ---------------------------------------------------------------- proven


def squares(a, k, o, x):
    for i in range(7):
        y = float(a[i])
        o[i] = 4.0 / (1.0 + y * y) + 1.0 / (y**2 + 0.5) - 1.0 / (-(y * y) - 1e-9)


def functions(a, k, o, x):
    for i in range(7):
        y = float(a[i])
        o[i] = (
            1.0 / (1.0 + math.exp(-y)) + 1.0 / math.cosh(y) + 1.0 / (2.0 + math.sin(x)) + 1.0 / (1.0 + abs(y))
        )


def by_nothing(a, k, o, x):
    for i in range(7):
        o[i] = 1.0 / (1.0 + i * abs(x))


def counters(a, k, o, x):
    for i in range(1, 7):
        o[i] = 1.0 / i + 1.0 / (i * i) + x / (i - 7) + 3 // i + 3 % (i + 1)
    for j in range(6, -1, -1):
        o[j] += 1.0 / (j + 1) + 1.0 / (7 - j)


def through_scalars(a, k, o, x):
    for i in range(7):
        d = 0.01
        for j in range(3):
            y = float(a[i]) - j
            d = d + y * y
        r = math.sqrt(d)
        o[i] = 1.0 / d + 1.0 / r


def behind_conditions(a, k, o, x):
    for i in range(7):
        y, n = float(a[i]), int(k[i])
        if y > 0.0:
            o[i] = 1.0 / y
        elif y < 0 and x / y < 3.0:
            o[i] = 2.0 / -y
        o[i] += 5.0 / y if y != 0 else 1.0
        o[i] += 1.0 / n if n else 2.0
        if not (y == 0 or n == 0):
            o[i] -= 1.0 / y + 1.0 / n
        if n == 0:
            continue
        o[i] += 3 % n


def in_a_while(a, k, o, x):
    y = x
    while y > 1e-3:
        o[0] += 1.0 / y
        y = y * 0.5


def clamped(a, k, o, x):
    for i in range(7):
        y = float(a[i])
        o[i] = (
            1.0 / max(y, 1e-12)
            + 1.0 / min(-1e-12, y)
            + 1.0 / (y if y > 0.25 else 1.0)
            + 1.0 / np.maximum(y, 2.0)
        )


def narrow(a, k, o, x):
    m = k.astype(np.uint8)
    for i in range(7):
        o[i] = 1.0 / (int(m[i]) + 1) + 1.0 / ((int(k[i]) & 7) + 1) + 1.0 / (int(k[i]) % 5 - 5)


PROVEN = (
    squares,
    functions,
    by_nothing,
    counters,
    through_scalars,
    behind_conditions,
    in_a_while,
    clamped,
    narrow,
)


def divided_before(a, k, o, x):
    h = x + 1.0
    o[0] = 1.0 / h
    if 2.0 / h > 1.0 and 3.0 / h < 5.0:
        o[1] = 4.0 / h
    o[2] = 5.0 / h


# ---------------------------------------------------------------- left


def a_product_that_vanishes(a, k, o, x):
    y = float(a[4])
    if y > 0.0:
        o[0] = 1.0 / (y * y)


def changed_behind_its_test(a, k, o, x):
    y = x
    if y > 0.0:
        y = y - 2.0
        o[0] = 1.0 / y


def changed_in_a_loop(a, k, o, x):
    y = x
    if y > 0.0:
        for _ in range(3):
            o[0] = 1.0 / y
            y = y - 1.0


def counted_down(a, k, o, x):
    d = 2.0
    for _ in range(4):
        o[0] = x / d
        d = d - 1.0


def in_a_circle(a, k, o, x):
    p, q = 1.0, 2.0
    for _ in range(3):
        o[0] += x / p
        p, q = q - 1.0, p - 1.0


def behind_what_goes_on(a, k, o, x):
    y = x
    if y > 2.0:
        o[0] = 1.0
    elif y < 0.0:
        y = 0.0
    else:
        o[1] = 1.0
    o[2] = 1.0 / y


def behind_a_jump(a, k, o, x):
    for _ in range(2):
        y = x
        if y == 0.0:
            continue
        y = y - 2.0
        o[0] = 1.0 / y


def divided_in_one_arm(a, k, o, x):
    if x > 5.0 and 1.0 / (x - 2.0) > 0.0:
        o[0] = 1.0 / (x - 2.0)
    o[1] = 1.0 / (x - 2.0)


def changed_since(a, k, o, x):
    y = x + 1.0
    o[0] = 1.0 / y
    y = y - 3.0
    o[1] = 1.0 / y


def the_other_way(a, k, o, x):
    if x > 2.0:
        o[0] = 1.0
    else:
        o[0] = 1.0 / (x - 2.0)


def either(a, k, o, x):
    if x > 0.0 or x < 5.0:
        o[0] = 1.0 / (x - 2.0)


def not_a_number(a, k, o, x):
    y = math.cosh(float(a[3]))
    o[0] = 1.0 / max(x - 2.0, y)


def wrapped(a, k, o, x):
    o[0] = 1.0 / int(k[6] * k[6])


def wrapped_and_one(a, k, o, x):
    o[0] = 1.0 / (int(k[4] * k[3] + k[4]) + 0)


def an_argument(a, k, o, x):
    if k[3] > 5:
        x = 2.0
    o[0] = 1.0 / x


def a_byte_that_wraps(a, k, o, x):
    m = np.full(3, 255, np.uint8)
    for i in range(3):
        o[i] = 1.0 / int(m[i] + np.uint8(1))


def a_single_that_vanishes(a, k, o, x):
    t = np.float32(1e-30)
    o[0] = 1.0 / float(t * t)


def above_a_negative_number(a, k, o, x):
    if x > -1.0:
        o[0] = 1.0 / x


def not_a_number_on_the_right(a, k, o, x):
    y = -math.cosh(float(a[3]))
    o[0] = 1.0 / min(x - 2.0, y)


def a_quotient_of_either_sign(a, k, o, x):
    q = 1.0 / (x - 3.0)
    o[0] = 1.0 / (q + 1.0)


def where_the_left_fails(a, k, o, x):
    if x != 0.0 or 1.0 / x > 0.0:
        o[0] = 1.0


def in_the_condition_of_a_while(a, k, o, x):
    y = x
    if y > 0.0:
        while 1.0 / y < 5.0:
            y = y - 1.0
            o[0] += 1.0


def the_other_end(a, k, o, x):
    for i in range(3):
        o[i] = 1.0 / (i - 2)


def downwards(a, k, o, x):
    for i in range(3, -1, -1):
        o[i] = 1.0 / i


LEFT = (a_product_that_vanishes, changed_behind_its_test, changed_in_a_loop, counted_down, in_a_circle,
        behind_what_goes_on, behind_a_jump, the_other_way, either, not_a_number, wrapped, wrapped_and_one,
        an_argument, a_byte_that_wraps, a_single_that_vanishes, above_a_negative_number, not_a_number_on_the_right,
        a_quotient_of_either_sign, where_the_left_fails, in_the_condition_of_a_while,
        divided_in_one_arm, changed_since, the_other_end, downwards)  # fmt: skip


def before(fn):
    return after(lowered(fn, A, K, np.zeros(7), 2.0), *BEFORE)


@pytest.mark.parametrize("fn", PROVEN, ids=lambda f: f.__name__)
def test_proven(fn):
    assert "divisor_" not in appyc.jit(fn).source("c", A, K, np.zeros(7), 2.0)


@pytest.mark.parametrize("fn", LEFT, ids=lambda f: f.__name__)
def test_left(fn):
    assert "divisor_" in appyc.jit(fn).source("c", A, K, np.zeros(7), 2.0)


@pytest.mark.sampled
@pytest.mark.parametrize("x", [2.0, 0.0, -3.0, math.nan])
@pytest.mark.parametrize("fn", [*PROVEN, *LEFT], ids=lambda f: f.__name__)
def test_everywhere(fn, x):
    run_everywhere(fn, A, K, np.zeros(7), x)


def test_a_fact_about_an_element_ends_where_the_array_is_stored_into():
    def stored(v):
        s = 0.0
        for i in range(len(v)):
            if v[i] > 0.0:
                v[i] = v[i] - 1.0
                s += 1.0 / v[i]
        return s

    def kept(v):
        s = 0.0
        for i in range(len(v)):
            if v[i] > 0.0:
                s += 1.0 / v[i]
                v[i] = 0.0
        return s

    for fn in (stored, kept):
        run_everywhere(fn, [3.0, 1.0])


def raised_for_what_is_no_number(a, k, o, x):
    for i in range(7):
        if not math.sin(float(a[i])) <= 2.0:
            raise ValueError("no number")
        o[i] = 1.0


def raised_by_the_condition(a, k, o, x):
    m = np.zeros(7, np.uint8)
    if m[int(x) + 5] > 255:
        raise ValueError("never")
    o[0] = 2.0


def never_raised(a, k, o, x):
    for i in range(7):
        v = int(max(0.0, min(255.0, 0.5 * (k[i] & 255))))
        if v > 255 or v < 0:
            raise ValueError("never")
        o[i] = v


@pytest.mark.parametrize("x", [2.0, 1.0])
@pytest.mark.parametrize("fn", [raised_for_what_is_no_number, raised_by_the_condition, never_raised])
def test_conditions_of_raises(fn, x):
    run_everywhere(fn, A, K, np.zeros(7), x)
    is_left = "raise ValueError" in appyc.jit(fn).source("ir", A, K, np.zeros(7), x)
    assert is_left == (fn is raised_for_what_is_no_number)


def not_below_no_number(a, k, o, x):
    if not x < math.sqrt(abs(a[3])) and x < 0.0:
        raise ValueError("below 0")
    o[0] = 2.0


def unequal_to_no_number(a, k, o, x):
    if x != 0.0 * float(a[5]):
        o[0] = 1.0 / x


def by_a_negative_zero(a, k, o, x):
    if np.float64(1.0) / np.sqrt(-a[0]) < 0.0:
        raise ValueError("below 0")
    o[0] = 2.0


def below_infinity(a, k, o, x):
    if math.inf - abs(x) > 5.0:
        raise ValueError("large")
    o[0] = 2.0


def zero_by_zero(a, k, o, x):
    for i in range(3):
        if k[i] / k[0] >= 5.0:
            continue
        if k[i] / k[0] <= -5.0:
            continue
        if not k[i] / k[0] < 6.0:
            raise ValueError("no number")
        o[i] = 2.0


@pytest.mark.parametrize("x", [-3.0, 0.0])
@pytest.mark.parametrize(
    "fn", [not_below_no_number, unequal_to_no_number, by_a_negative_zero, below_infinity, zero_by_zero]
)
def test_what_a_number_that_is_none_does_not_say(fn, x):
    run_everywhere(fn, A, K, np.zeros(7), x)


def test_an_integer_of_what_may_be_no_number_is_tested():
    def clipped(a, o):
        for i in range(a.shape[0]):
            o[i] = int(min(max(float(a[i]), 0.0), 200.0))

    assert (
        "uint8"
        in appyc.jit(clipped).source("ir", A, np.zeros(7, np.uint8)).partition("raise OverflowError")[2]
    )


def test_a_divisor_is_tested_once():
    source = appyc.jit(divided_before).source("c", A, K, np.zeros(7), 2.0)
    assert source.count("/ divisor_") == 1


def test_golden(golden):
    fn = before(squares)
    golden(
        "loops/proven_tests.txt",
        f"{print_function(fn)}\n# after\n\n{print_function(after(fn, prove_tests))}",
    )
