"""Quotients and remainders of integers around the widths that processors divide fast."""

from __future__ import annotations

import numpy as np
import pytest

import appyc


def divided(a, b, q, r):
    for i in range(a.shape[0]):
        q[i] = a[i] // b[i]
        r[i] = a[i] % b[i]


def divided_in_turn(a, b, q, r):
    x = a[0]
    for i in range(a.shape[0]):
        q[i] = x // b[i]
        r[i] = x % b[i]
        x = a[i] ^ (r[i] & 1)


@pytest.mark.parametrize("program", [divided, divided_in_turn])
@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.int32, np.uint32, np.int16, np.int8])
def test_they_are_numpys(dtype, program):
    info = np.iinfo(dtype)
    ends = [
        0,
        1,
        2,
        3,
        7,
        10,
        2**31 - 1,
        2**31,
        2**32 - 1,
        2**32,
        2**32 + 1,
        3 * 2**40 + 5,
        info.max,
        info.max - 1,
    ]
    values = sorted({sign * end for end in ends for sign in (1, -1)} | {info.min, info.min + 1})
    numbers = np.array([v for v in values if info.min <= v <= info.max], dtype)
    a, b = (part.ravel() for part in np.meshgrid(numbers, numbers))
    found, wanted = [[np.zeros_like(a) for _ in range(2)] for _ in range(2)]
    appyc.jit(cache=False, target="cpu")(program)(a, b, *found)
    with np.errstate(all="ignore"):
        program(a, b, *wanted)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("divisor", [3, 10, -7, 2**33 + 1])
def test_by_a_constant(divisor):
    def by_a_constant(a, q, r):
        for i in range(a.shape[0]):
            q[i] = a[i] // divisor
            r[i] = a[i] % divisor

    a = np.array([0, 1, -1, 29, -30, 2**32 - 1, 2**32, -(2**32), 2**62, -(2**63), 2**63 - 1])
    q, r = np.zeros_like(a), np.zeros_like(a)
    appyc.jit(cache=False, target="cpu")(by_a_constant)(a, q, r)
    np.testing.assert_array_equal(q, a // divisor)
    np.testing.assert_array_equal(r, a % divisor)
