"""Lengths that surely are not negative, and the test that stays of an allocation that goes."""

from __future__ import annotations

import pytest

from appyc.ir.nodes import Fail, If
from appyc.passes.checks.lengths import tested as residual
from tests.ir_makers import Program, add, alloc, binary, expr, extent, mul, sub


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda a, n: expr(3), True),
        (lambda a, n: expr(-1), False),
        (lambda a, n: n, False),
        (lambda a, n: mul(add(extent(a, 0), 1), 2), True),
        (lambda a, n: sub(extent(a, 0), 1), False),
        (lambda a, n: binary("max", sub(n, 1), 0), True),
        (lambda a, n: binary("min", n, extent(a, 0)), False),
        (lambda a, n: binary("max", binary("//", n, n, trap=True), 0), False),
    ],
)
def test_lengths(make, expected):
    p = Program()
    size = expr(make(p.array("a", 1), p.integer("n")))
    assert (residual(alloc(p.array("b", 1), size)) == ()) is expected


def test_of_an_allocation_that_goes_the_tests_of_its_lengths_stay():
    p = Program()
    a, b, n = p.array("a", 1), p.array("b", 2), p.integer("n")
    assert residual(alloc(b, extent(a, 0), 4)) == ()
    (test,) = residual(alloc(b, extent(a, 0), n))
    assert isinstance(test, If)
    (fail,) = test.then
    assert isinstance(fail, Fail)
    assert (fail.error, fail.message) == ("ValueError", "negative dimensions are not allowed")
