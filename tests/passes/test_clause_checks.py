"""Clauses that are not the program's: reductions with another operator, and private scalars that are shared."""

from __future__ import annotations

import numpy as np
import pytest

import appyc
from appyc.errors import PragmaError


@appyc.jit(cache=False)
def other_operator(a):
    s = 1.0
    # pragma parallel for reduction(*: s)
    for i in range(a.shape[0]):
        s += a[i]
    return s


@appyc.jit(cache=False)
def nothing_combined(a):
    s = 1.0
    # pragma parallel for reduction(+: s)
    for i in range(a.shape[0]):
        s = a[i]
        a[i] = s + s
    return s


@appyc.jit(cache=False)
def private_sum(a):
    s = 0.0
    # pragma parallel for private(s)
    for i in range(a.shape[0]):
        s += a[i]
    return s


@pytest.mark.parametrize(
    ("fn", "message"),
    [
        (other_operator, r"reduction\(\*: s\) does not fit: the loop combines 's' with '\+'"),
        (nothing_combined, "the loop does not combine anything into 's'"),
        (private_sum, "'s' is not private: iterations combine into it"),
    ],
)
def test_a_clause_that_is_not_the_programs_is_refused(fn, message):
    with pytest.raises(PragmaError, match=message):
        fn(np.ones(4))


def test_clauses_that_fit_are_accepted():
    @appyc.jit(cache=False)
    def summed(a):
        s = 0.0
        # pragma parallel for reduction(+: s) private(t)
        for i in range(a.shape[0]):
            t = a[i] * 2.0
            s += t
        return s

    assert summed(np.arange(5.0)) == 20.0
