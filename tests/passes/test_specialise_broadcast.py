"""Axes of length 1: what is asked about them is settled, and the calls that it is right for are guarded."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from appyc.ir.nodes import Likely, Select
from appyc.ir.printer import print_function
from appyc.ir.verify import check
from appyc.ir.visit import walk
from appyc.passes.pass_context import PassContext
from appyc.passes.simplify.specialise_broadcast import depends_on_units, specialise_broadcast
from appyc.pipeline import SIMPLIFY
from tests.lowering import after, lowered
from tests.printed import run_printed


def standardised(a, b, c):
    return (a - b) / c


def chained(a, b, c):
    total = a * b
    total += c
    return (total + b).sum(axis=0)


def asked_by_the_program(a, b, c):
    if a.shape[1] == b.shape[1] or c[0, 0] > 2.0:
        return a - b
    return a + c


def each_by_itself(a, b, c):
    return a.sum() + b.sum() * 2 + c[0, 0]


def simplified(fn, args):
    return after(lowered(fn, *args), *SIMPLIFY)


def arrays(*shapes):
    rng = np.random.default_rng(0)
    return tuple(rng.uniform(1, 2, shape) for shape in shapes)


SHAPES = [
    ((5, 4), (1, 4), (5, 1)),
    ((5, 4), (5, 4), (1, 1)),
    ((5, 1), (5, 1), (5, 4)),
    ((1, 4), (1, 4), (1, 4)),
    ((0, 4), (1, 4), (1, 4)),
]
FUNCTIONS = (standardised, chained, asked_by_the_program)


def units_of(args):
    return frozenset((n, k) for n, a in enumerate(args) for k, length in enumerate(a.shape) if length == 1)


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize("fn", FUNCTIONS, ids=lambda fn: fn.__name__)
def test_results_stay(fn, shapes):
    args = arrays(*shapes)
    before = simplified(fn, args)
    out = specialise_broadcast(before, PassContext(), units_of(args))
    check(out, "specialise_broadcast")
    expected, found = (_ending(functools.partial(run_printed, f), args) for f in (before, out))
    assert np.array_equal(expected, found)


def _ending(run, args):
    try:
        return run(*args)
    except ValueError as error:
        return str(error)


def test_nothing_is_left_to_ask_where_shapes_say_all():
    args = arrays(*SHAPES[0])
    out = specialise_broadcast(simplified(standardised, args), PassContext(), units_of(args))
    asked = [node for node in walk(out.body) if isinstance(node, Likely)]
    assert {str(sorted(e.array.name for e in (a.arg.lhs, a.arg.rhs))) for a in asked} == {
        "['a', 'b']", "['a', 'c']"
    }  # fmt: skip
    assert not any(isinstance(node, Select) for node in walk(out.body))


def test_a_condition_that_reads_an_element_is_kept():
    def f(a, b, c):
        return 1.0 if c[9, 0] > 0.0 or a.shape[1] == 1 else 2.0

    args = arrays((5, 1), (5, 1), (3, 1))
    out = specialise_broadcast(simplified(f, args), PassContext(), units_of(args))
    with pytest.raises(IndexError):
        run_printed(out, *args)


def test_lengths_that_nothing_depends_on_make_no_version():
    args = arrays((5, 1), (1, 4), (1, 1))
    assert depends_on_units(simplified(standardised, args), units_of(args))
    assert not depends_on_units(simplified(each_by_itself, args), units_of(args))


def test_text(golden):
    args = arrays(*SHAPES[0])
    before = simplified(standardised, args)
    out = specialise_broadcast(before, PassContext(), units_of(args))
    golden("tensors/unit_lengths.txt", f"{print_function(before)}\n# after\n\n{print_function(out)}")
